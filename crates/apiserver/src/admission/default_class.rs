//! The class that a claim or an ingress gets when it names none.
//!
//! Upstream: plugin/pkg/admission/storage/storageclass/setdefault and plugin/pkg/admission/network/defaultingressclass
//! (v1.37).

use crate::turn::Turn;
use kubestep_model::{Custom, Kind, Object};
use serde_json::{Value, json};

const STORAGE_CLASS: Kind = Kind::other("storage.k8s.io", "StorageClass");
const INGRESS_CLASS: Kind = Kind::other("networking.k8s.io", "IngressClass");
const OLD_STORAGE_DEFAULT: &str = "storageclass.beta.kubernetes.io/is-default-class";

/// Fills in the class of a new object, if its kind has one and it names none.
pub(super) fn admit(turn: &Turn<'_>, object: &mut Custom) {
    let (kind, field, annotation, mark) = match object.kind.own_name() {
        "PersistentVolumeClaim" => (
            STORAGE_CLASS,
            "storageClassName",
            "volume.beta.kubernetes.io/storage-class",
            "storageclass.kubernetes.io/is-default-class",
        ),
        "Ingress" => (
            INGRESS_CLASS,
            "ingressClassName",
            "kubernetes.io/ingress.class",
            "ingressclass.kubernetes.io/is-default-class",
        ),
        _ => return,
    };
    let named = object.rest.get("spec").is_some_and(|s| !s[field].is_null());
    if named || object.metadata.annotations.contains_key(annotation) {
        return;
    }
    let Some(class) = default_of(turn, kind, mark) else { return };
    let spec = object.rest.entry("spec").or_insert_with(|| json!({}));
    if let Value::Object(spec) = spec {
        spec.insert(field.into(), class.into());
    }
}

/// Of several classes that are marked, the newest; of these, the first by name.
fn default_of(turn: &Turn<'_>, kind: Kind, mark: &str) -> Option<String> {
    let marked = |o: &&Object| {
        let says = |name: &str| o.meta().annotations.get(name).is_some_and(|v| v == "true");
        says(mark) || (kind == STORAGE_CLASS && says(OLD_STORAGE_DEFAULT))
    };
    let classes = turn.store.list(kind, None).filter(marked);
    let best = classes.min_by_key(|o| {
        let age = o.meta().creation_timestamp.map(|t| std::cmp::Reverse(t.instant()));
        (age, o.meta().name.clone())
    });
    best.map(|o| o.meta().name.to_string())
}
