//! Volumes, in pods and in templates.

use super::Page;
use kubestep_model::Volume;
use kubestep_model::arrange::Gather;
use serde_json::Value;

/// What each source of a volume is, and the fields of it that are shown: title, field, what stands for an absent one.
type Source = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);

const SOURCES: &[Source] = &[
    (
        "hostPath",
        "HostPath (bare host directory volume)",
        &[("Path", "path", ""), ("HostPathType", "type", "<none>")],
    ),
    (
        "emptyDir",
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        &[("Medium", "medium", ""), ("SizeLimit", "sizeLimit", "<unset>")],
    ),
    (
        "secret",
        "Secret (a volume populated by a Secret)",
        &[("SecretName", "secretName", ""), ("Optional", "optional", "false")],
    ),
    (
        "configMap",
        "ConfigMap (a volume populated by a ConfigMap)",
        &[("Name", "name", ""), ("Optional", "optional", "false")],
    ),
    (
        "nfs",
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        &[("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", "false")],
    ),
    (
        "persistentVolumeClaim",
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        &[("ClaimName", "claimName", ""), ("ReadOnly", "readOnly", "false")],
    ),
];

/// Writes volumes; `space` is the indentation of a template.
pub(super) fn describe(page: &mut Page, volumes: &[Volume], space: &str) {
    if volumes.is_empty() {
        page.line(0, format!("{space}Volumes:\t<none>"));
        return;
    }
    page.line(0, format!("{space}Volumes:"));
    for volume in volumes {
        let indent = if space.is_empty() { "" } else { " " };
        page.line(1, format!("{indent}{}:", volume.name));
        source(page, volume);
    }
}

/// The source of a persistent volume, where it is one that pods can have too.
pub(super) fn source_of(page: &mut Page, spec: &Value) {
    let volume = Volume {
        rest: spec.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).gather(),
        ..Volume::default()
    };
    source(page, &volume);
}

fn source(page: &mut Page, volume: &Volume) {
    for (field, kind, rows) in SOURCES {
        if let Some(source) = volume.rest.get(*field) {
            page.field(2, "Type", kind);
            rows.iter()
                .for_each(|(title, field, absent)| page.field(2, title, show(source.get(*field), absent)));
            return;
        }
    }
    if let Some(projected) = volume.rest.get("projected") {
        page.field(2, "Type", "Projected (a volume that contains injected data from multiple sources)");
        let sources =
            projected.get("sources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        sources.iter().for_each(|source| projection(page, source));
    } else if let Some(downward) = volume.rest.get("downwardAPI") {
        page.field(2, "Type", "DownwardAPI (a volume populated by information about the pod)");
        page.line(2, "Items:");
        let items = downward.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for item in items {
            let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str);
            for field in
                [text("/fieldRef/fieldPath"), text("/resourceFieldRef/resource")].into_iter().flatten()
            {
                page.line(3, format!("{field} -> {}", text("/path").unwrap_or_default()));
            }
        }
    } else if let Some(ephemeral) = volume.rest.get("ephemeral") {
        page.field(2, "Type", "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)");
        let class = ephemeral.pointer("/volumeClaimTemplate/spec/storageClassName");
        page.field(2, "StorageClass", show(class, ""));
    } else {
        page.line(1, "<unknown>");
    }
}

fn projection(page: &mut Page, source: &Value) {
    let named = |page: &mut Page, title: &str, of: &Value| {
        page.field(2, title, show(of.get("name"), ""));
        page.field(2, "Optional", show(of.get("optional"), "false"));
    };
    if let Some(secret) = source.get("secret") {
        named(page, "SecretName", secret);
    } else if source.get("downwardAPI").is_some() {
        page.field(2, "DownwardAPI", "true");
    } else if let Some(map) = source.get("configMap") {
        named(page, "ConfigMapName", map);
    } else if let Some(token) = source.get("serviceAccountToken") {
        page.field(2, "TokenExpirationSeconds", show(token.get("expirationSeconds"), "0"));
    }
}

fn show(value: Option<&Value>, absent: &str) -> String {
    match value {
        None | Some(Value::Null) => absent.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
