//! Metadata of all kinds.
//!
//! Upstream: k8s.io/apimachinery/pkg/api/validation, objectmeta.go (v1.37).

use super::field::{Errors, IMMUTABLE, path_segment};
use kubestep_model::{Kind, Labels, ObjectMeta, OwnerReference, defined::DEFINITION, text::go, text::names};

/// All annotations together.
const ANNOTATIONS_BYTES: usize = 256 * 1024;

/// A check of a name; the second argument says that more letters will follow.
type NameCheck = fn(&str, bool) -> Vec<String>;

/// Checks the metadata of a new object.
pub(crate) fn new_meta(kind: Kind, meta: &ObjectMeta) -> Errors {
    let mut errors = Errors::new();
    let check = name_check(kind);
    if !meta.generate_name.is_empty() {
        errors.invalid_each("metadata.generateName", &meta.generate_name, check(&meta.generate_name, true));
    }
    if meta.name.is_empty() {
        errors.required("metadata.name", "name or generateName is required");
    } else {
        errors.invalid_each("metadata.name", &meta.name, check(&meta.name, false));
    }
    if kind.namespaced() {
        if meta.namespace.is_empty() {
            errors.required("metadata.namespace", "");
        } else {
            errors.invalid_each(
                "metadata.namespace",
                &meta.namespace,
                names::is_dns1123_label(&meta.namespace),
            );
        }
    }
    labels(&mut errors, &meta.labels, "metadata.labels");
    annotations(&mut errors, &meta.annotations, "metadata.annotations");
    owners(&mut errors, &meta.owner_references);
    finalizers(&mut errors, kind, &meta.finalizers);
    errors
}

/// Checks the metadata of a changed object.
pub(crate) fn changed_meta(kind: Kind, new: &ObjectMeta, old: &ObjectMeta) -> Errors {
    let mut errors = Errors::new();
    labels(&mut errors, &new.labels, "metadata.labels");
    annotations(&mut errors, &new.annotations, "metadata.annotations");
    owners(&mut errors, &new.owner_references);
    finalizers(&mut errors, kind, &new.finalizers);
    if old.deletion_timestamp.is_some() {
        let fresh: Vec<&String> = new.finalizers.iter().filter(|f| !old.finalizers.contains(f)).collect();
        if !fresh.is_empty() {
            let shown: Vec<String> = fresh.iter().map(|f| go::quote(f)).collect();
            errors.forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    shown.join(", ")
                ),
            );
        }
    }
    if new.name != old.name {
        errors.invalid_text("metadata.name", &new.name, IMMUTABLE);
    }
    errors
}

/// Which names a kind allows.
fn name_check(kind: Kind) -> NameCheck {
    match kind.own_name() {
        "Namespace" | "Service" => |name, more| names::is_dns1123_label(&masked(name, more)),
        "Event"
        | "CertificateSigningRequest"
        | "Role"
        | "RoleBinding"
        | "ClusterRole"
        | "ClusterRoleBinding" => |name, _| path_segment(name),
        "StatefulSet" => |name, more| names::is_dns1123_label(&masked(name, more)),
        "IPAddress" => |name, _| super::service_range::address_name(name),
        // Their names follow from what they say.
        "APIService" | "ClusterTrustBundle" => |_, _| vec![],
        _ => |name, more| names::is_dns1123_subdomain(&masked(name, more)),
    }
}

/// The beginning of a name may end in a dash, because more letters follow.
fn masked(name: &str, more: bool) -> String {
    match name.strip_suffix('-') {
        Some(rest) if more && !rest.is_empty() => {
            format!("{}a", &rest[..rest.len() - rest.chars().next_back().map_or(0, char::len_utf8)])
        }
        _ => name.to_owned(),
    }
}

/// Labels of an object or a template.
pub(crate) fn labels(errors: &mut Errors, labels: &Labels, field: &str) {
    for (key, value) in labels {
        errors.invalid_each(field, key, names::is_qualified_name(key));
        errors.invalid_each(field, value, names::is_valid_label_value(value));
    }
}

/// Annotations of an object or a template.
pub(crate) fn annotations(errors: &mut Errors, annotations: &Labels, field: &str) {
    for key in annotations.keys() {
        errors.invalid_each(field, key, names::is_qualified_name(&key.to_ascii_lowercase()));
    }
    let bytes: usize = annotations.iter().map(|(k, v)| k.len() + v.len()).sum();
    if bytes > ANNOTATIONS_BYTES {
        errors.too_long(field, ANNOTATIONS_BYTES);
    }
}

fn owners(errors: &mut Errors, owners: &[OwnerReference]) {
    const FIELD: &str = "metadata.ownerReferences";
    let mut controller: Option<&OwnerReference> = None;
    for (i, owner) in owners.iter().enumerate() {
        let field = format!("{FIELD}[{i}]");
        if owner.api_version.is_empty() {
            errors.required(&format!("{field}.apiVersion"), "must not be empty");
        } else if owner.api_version.starts_with('/') {
            errors.invalid_text(
                &format!("{field}.apiVersion"),
                &owner.api_version,
                "version must not be empty",
            );
        }
        for (name, value) in [("kind", &*owner.kind), ("name", &*owner.name), ("uid", &*owner.uid)] {
            if value.is_empty() {
                errors.required(&format!("{field}.{name}"), "must not be empty");
            }
        }
        if owner.kind == "Event" && owner.api_version == "v1" {
            let shown = serde_json::to_string(owner).unwrap_or_default();
            errors.invalid(&field, &shown, "/v1, Kind=Event is disallowed from being an owner");
        }
        if owner.controller == Some(true) {
            match controller {
                Some(first) => errors.invalid(
                    FIELD,
                    &serde_json::to_string(owners).unwrap_or_default(),
                    &format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
                        first.kind, first.name, owner.kind, owner.name
                    ),
                ),
                None => controller = Some(owner),
            }
        }
    }
}

fn finalizers(errors: &mut Errors, kind: Kind, finalizers: &[String]) {
    const FIELD: &str = "metadata.finalizers";
    let has = |name: &str| finalizers.iter().any(|f| f == name);
    for finalizer in finalizers {
        errors.qualified_name(FIELD, finalizer);
    }
    if has("orphan") && has("foregroundDeletion") {
        let shown = serde_json::to_string(finalizers).unwrap_or_default();
        errors.invalid(FIELD, &shown, "finalizer orphan and foregroundDeletion cannot be both set");
    }
    // Kinds that are defined, and their definitions, only warn of a name that may be another's.
    if kind.is_defined() || kind == DEFINITION {
        return;
    }
    for (i, finalizer) in finalizers.iter().enumerate() {
        let known = matches!(finalizer.as_str(), "kubernetes" | "orphan" | "foregroundDeletion");
        if names::is_qualified_name(finalizer).is_empty() && !finalizer.contains('/') && !known {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid_text(&format!("{FIELD}[{i}]"), finalizer, why);
        }
    }
}
