//! The sources of volumes that stand for a network or a cloud's disk, for pods and for PersistentVolumes.
//!
//! Upstream: pkg/apis/core/validation, validateISCSIVolumeSource and its neighbours (v1.37).

use super::field::{Errors, entries, flag, given, items, number, text};
use kubestep_model::text::names;
use serde_json::Value;

const PARTITION: &str = "must be between 1 and 255, inclusive";
const REGISTRY: &str = "must be a host:port pair or multiple pairs separated by commas";
const MOST_CSI_NAME: usize = 63;
const MOST_TENANT: usize = 65;

/// The texts that a source has to give, in order.
const NEEDED: [(&str, &[&str]); 15] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("gitRepo", &["repository"]),
    ("glusterfs", &["endpoints", "path"]),
    ("iscsi", &["targetPortal"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("rbd", &["monitors", "image"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("storageos", &["volumeName"]),
    ("vsphereVolume", &["volumePath"]),
];

/// Under which name a refusal speaks of a source.
pub(super) fn shown_name(kind: &str) -> &str {
    if kind == "gcePersistentDisk" { "persistentDisk" } else { kind }
}

/// One source; `of_pv` says that it is a PersistentVolume's, where secrets have a namespace.
pub(super) fn check(errors: &mut Errors, kind: &str, source: &Value, field: &str, of_pv: bool) {
    for (_, needed) in NEEDED.iter().filter(|(name, _)| *name == kind) {
        for name in *needed {
            if text(&source[*name]).is_empty() && items(&source[*name]).is_empty() {
                errors.required(&format!("{field}.{name}"), "");
            }
        }
    }
    match kind {
        "iscsi" => iscsi(errors, source, field, of_pv),
        "fc" => fibre_channel(errors, source, field),
        "flocker" => flocker(errors, source, field),
        "quobyte" => quobyte(errors, source, field),
        "azureDisk" => azure_disk(errors, source, field),
        "csi" => csi(errors, source, field, of_pv),
        "flexVolume" => flex_options(errors, source, field),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = number(&source["partition"]);
            if !(0..=255).contains(&partition) {
                errors.invalid(&format!("{field}.partition"), &partition.to_string(), PARTITION);
            }
        }
        "gitRepo" => {
            super::volume::descending_path(errors, text(&source["directory"]), &format!("{field}.directory"));
        }
        "azureFile" if of_pv && source["secretNamespace"] == "" => {
            errors.required(&format!("{field}.secretNamespace"), "");
        }
        "glusterfs" if of_pv && source["endpointsNamespace"] == "" => {
            let why = "if the endpointnamespace is set, it must be a valid namespace name";
            errors.invalid_text(&format!("{field}.endpointsNamespace"), "", why);
        }
        "cinder" | "storageos" => {
            for name in ["volumeName", "volumeNamespace"] {
                if !text(&source[name]).is_empty() {
                    errors.dns_label(&format!("{field}.{name}"), text(&source[name]));
                }
            }
            secret(errors, &source["secretRef"], &format!("{field}.secretRef"), of_pv);
        }
        _ => {}
    }
}

/// A secret that is referred to has a name, and in a PersistentVolume a namespace.
fn secret(errors: &mut Errors, reference: &Value, field: &str, with_namespace: bool) {
    let needed: &[&str] = if with_namespace { &["name", "namespace"] } else { &["name"] };
    for name in needed.iter().filter(|name| given(reference) && text(&reference[**name]).is_empty()) {
        errors.required(&format!("{field}.{name}"), "");
    }
}

fn iscsi(errors: &mut Errors, source: &Value, field: &str, of_pv: bool) {
    let at = |name: &str| format!("{field}.{name}");
    let unknown =
        if of_pv { "must be valid format" } else { "must be valid format starting with iqn, eui, or naa" };
    let check = |errors: &mut Errors, name: &str, at: String| {
        if !["iqn", "eui", "naa"].iter().any(|start| name.starts_with(start)) {
            errors.invalid_text(&at, name, unknown);
        } else if !is_initiator(name) {
            errors.invalid_text(&at, name, "must be valid format");
        }
    };
    match text(&source["iqn"]) {
        "" => errors.required(&at("iqn"), ""),
        name => check(errors, name, at("iqn")),
    }
    let lun = number(&source["lun"]);
    errors.invalid_number(&at("lun"), lun, names::is_in_range(lun, 0, 255));
    let secret_needed = flag(&source["chapAuthDiscovery"]) || flag(&source["chapAuthSession"]);
    if secret_needed && !given(&source["secretRef"]) {
        errors.required(&at("secretRef"), "");
    }
    if of_pv {
        secret(errors, &source["secretRef"], &at("secretRef"), false);
    }
    if given(&source["initiatorName"]) {
        check(errors, text(&source["initiatorName"]), at("initiatorname"));
    }
}

/// `iqn.2001-04.com.example:disk`, or 16 or 32 letters after `eui.` or `naa.`.
fn is_initiator(name: &str) -> bool {
    let plain =
        |rest: &str, length: usize| rest.len() == length && rest.bytes().all(|b| b.is_ascii_alphanumeric());
    if let Some(rest) = name.strip_prefix("iqn.") {
        let Some((naming, unique)) = rest.split_once(':') else { return false };
        let bytes = naming.as_bytes();
        let digits = |from: usize, to: usize| {
            bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
        };
        return digits(0, 4)
            && bytes.get(4) == Some(&b'-')
            && digits(5, 7)
            && bytes.get(7) == Some(&b'.')
            && bytes.len() > 8
            && bytes[8..].iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
            && !unique.is_empty()
            && !unique.contains([',', ';', '*', '&', '$', '|', ' ', '\t', '\n']);
    }
    match name.get(..4) {
        Some("eui.") => plain(&name[4..], 16),
        Some("naa.") => plain(&name[4..], 32),
        _ => false,
    }
}

fn fibre_channel(errors: &mut Errors, source: &Value, field: &str) {
    let (names_of_targets, ids) = (items(&source["targetWWNs"]), items(&source["wwids"]));
    let at = format!("{field}.targetWWNs");
    if names_of_targets.is_empty() && ids.is_empty() {
        errors.required(&at, "must specify either targetWWNs or wwids, but not both");
    }
    if !names_of_targets.is_empty() && !ids.is_empty() {
        let why = "targetWWNs and wwids can not be specified simultaneously";
        errors.invalid(&at, &source["targetWWNs"].to_string(), why);
    }
    if names_of_targets.is_empty() {
        return;
    }
    let at = format!("{field}.lun");
    if given(&source["lun"]) {
        let lun = number(&source["lun"]);
        errors.invalid_number(&at, lun, names::is_in_range(lun, 0, 255));
    } else {
        errors.required(&at, "lun is required if targetWWNs is specified");
    }
}

fn flocker(errors: &mut Errors, source: &Value, field: &str) {
    let (name, uuid) = (text(&source["datasetName"]), text(&source["datasetUUID"]));
    if name.is_empty() && uuid.is_empty() {
        errors.required(field, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        let why = "datasetName and datasetUUID can not be specified simultaneously";
        errors.invalid_text(field, "resource", why);
    }
    if name.contains('/') {
        errors.invalid_text(&format!("{field}.datasetName"), name, "must not contain '/'");
    }
}

fn quobyte(errors: &mut Errors, source: &Value, field: &str) {
    let registry = text(&source["registry"]);
    if registry.is_empty() {
        errors.required(&format!("{field}.registry"), REGISTRY);
    } else if text(&source["tenant"]).len() >= MOST_TENANT {
        let why = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&format!("{field}.tenant"), why);
    } else {
        for _ in registry.split(',').filter(|pair| pair.rsplit_once(':').is_none()) {
            errors.invalid_text(&format!("{field}.registry"), registry, REGISTRY);
        }
    }
    if text(&source["volume"]).is_empty() {
        errors.required(&format!("{field}.volume"), "");
    }
}

fn azure_disk(errors: &mut Errors, source: &Value, field: &str) {
    const MANAGED: &str =
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    for name in ["diskName", "diskURI"].into_iter().filter(|name| text(&source[*name]).is_empty()) {
        errors.required(&format!("{field}.{name}"), "");
    }
    let one_of = |errors: &mut Errors, name: &str, known: &[&str]| {
        if given(&source[name]) && !known.contains(&text(&source[name])) {
            errors.not_supported_text(&format!("{field}.{name}"), text(&source[name]), known);
        }
    };
    one_of(errors, "cachingMode", &["None", "ReadOnly", "ReadWrite"]);
    one_of(errors, "kind", &["Dedicated", "Managed", "Shared"]);
    if given(&source["kind"]) {
        let (start, form) =
            if source["kind"] == "Managed" { ("/subscriptions/", MANAGED) } else { ("https://", BLOB) };
        let uri = text(&source["diskURI"]);
        if !uri.starts_with(start) {
            errors.not_supported_text(&format!("{field}.diskURI"), uri, &[form]);
        }
    }
}

fn csi(errors: &mut Errors, source: &Value, field: &str, of_pv: bool) {
    csi_driver_name(errors, text(&source["driver"]), &format!("{field}.driver"));
    if of_pv {
        if text(&source["volumeHandle"]).is_empty() {
            errors.required(&format!("{field}.volumeHandle"), "");
        }
        for part in ["controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"] {
            let name = format!("{part}SecretRef");
            let (reference, field) = (&source[&name], format!("{field}.{name}"));
            for part in ["name", "namespace"].into_iter().filter(|_| given(reference)) {
                match text(&reference[part]) {
                    "" => errors.required(&format!("{field}.{part}"), ""),
                    name => errors.dns_label(&format!("{field}.{part}"), name),
                }
            }
        }
        return;
    }
    let reference = &source["nodePublishSecretRef"];
    match text(&reference["name"]) {
        _ if !given(reference) => {}
        "" => errors.required(&format!("{field}.nodePublishSecretRef.name"), ""),
        name => errors.invalid_each(&format!("{field}.name"), name, names::is_dns1123_subdomain(name)),
    }
}

/// Upstream: ValidateCSIDriverName.
pub(super) fn csi_driver_name(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    if name.len() > MOST_CSI_NAME {
        errors.too_long(field, MOST_CSI_NAME);
    }
    errors.invalid_each(field, name, names::is_dns1123_subdomain(&name.to_ascii_lowercase()));
}

fn flex_options(errors: &mut Errors, source: &Value, field: &str) {
    for (name, _) in entries(&source["options"]) {
        let namespace = format!(".{}", name.split('/').next().unwrap_or_default().to_ascii_lowercase());
        if namespace.ends_with(".kubernetes.io") || namespace.ends_with(".k8s.io") {
            let why = "kubernetes.io and k8s.io namespaces are reserved";
            errors.invalid_text(&format!("{field}.options[{name}]"), name, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(kind: &str, source: Value, of_pv: bool) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, kind, &source, "v", of_pv);
        errors.into_causes().into_iter().map(|c| format!("{}: {}", c.field, c.message)).collect()
    }

    #[test]
    fn every_source_says_what_it_needs() {
        for (kind, needed) in NEEDED {
            let said = said(kind, json!({}), false);
            for name in needed {
                assert!(said.contains(&format!("v.{name}: Required value")), "{kind}: {said:?}");
            }
        }
    }

    #[test]
    fn initiators_have_one_of_three_forms() {
        for (name, good) in [
            ("iqn.2001-04.com.example:storage", true),
            ("iqn.2001-04.com.example", false),
            ("iqn.01-04.com:x", false),
            ("eui.0123456789abcdef", true),
            ("eui.0123", false),
            ("naa.0123", false),
        ] {
            assert_eq!(is_initiator(name), good, "{name}");
        }
    }

    #[test]
    fn a_disk_of_a_cloud_has_the_form_of_its_kind() {
        let disk = |kind: &str, uri: &str| json!({"diskName": "d", "diskURI": uri, "kind": kind});
        assert!(said("azureDisk", disk("Managed", "/subscriptions/x"), true).is_empty());
        assert!(said("azureDisk", disk("Shared", "https://x"), true).is_empty());
        assert_eq!(said("azureDisk", disk("Shared", "/subscriptions/x"), true).len(), 1);
        assert_eq!(said("csi", json!({"driver": "A b", "volumeHandle": ""}), true).len(), 2);
    }
}
