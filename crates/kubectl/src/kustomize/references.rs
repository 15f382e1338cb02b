//! Names that stand in other objects follow when they change.
//! Upstream: kustomize/api/internal/accumulator, namereferencetransformer.

use super::Res;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Kind and earlier name, to the present name.
type Renamed = BTreeMap<(String, String), String>;

/// Where a name of a kind stands: the field that holds it, and the one above that.
const PLACES: [(&str, &str, &str); 20] = [
    ("configMapRef", "name", "ConfigMap"),
    ("configMapKeyRef", "name", "ConfigMap"),
    ("configMap", "name", "ConfigMap"),
    ("secretRef", "name", "Secret"),
    ("secretKeyRef", "name", "Secret"),
    ("secret", "secretName", "Secret"),
    ("secret", "name", "Secret"),
    ("tls", "secretName", "Secret"),
    ("imagePullSecrets", "name", "Secret"),
    ("secrets", "name", "Secret"),
    ("service", "name", "Service"),
    ("spec", "serviceName", "Service"),
    ("spec", "serviceAccountName", "ServiceAccount"),
    ("spec", "serviceAccount", "ServiceAccount"),
    ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
    ("spec", "priorityClassName", "PriorityClass"),
    ("spec", "storageClassName", "StorageClass"),
    ("spec", "volumeName", "PersistentVolume"),
    ("spec", "ingressClassName", "IngressClass"),
    ("spec", "runtimeClassName", "RuntimeClass"),
];
/// Objects that name another by its kind.
const REFERENCES: [&str; 3] = ["scaleTargetRef", "roleRef", "subjects"];

/// Puts the present names in the place of earlier ones.
pub(super) fn mend(all: &mut [Res]) {
    let mut renamed = Renamed::new();
    for res in all.iter() {
        for name in &res.names {
            if name != res.name() {
                renamed.insert((res.kind().to_owned(), name.clone()), res.name().to_owned());
            }
        }
    }
    if renamed.is_empty() {
        return;
    }
    for res in all.iter_mut() {
        let Some(map) = res.value.as_object_mut() else { continue };
        for (key, inner) in map.iter_mut().filter(|(key, _)| *key != "metadata") {
            walk(key, inner, &renamed, 0);
        }
    }
}

fn walk(above: &str, value: &mut Value, renamed: &Renamed, depth: usize) {
    if depth > 32 {
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|v| walk(above, v, renamed, depth + 1)),
        Value::Object(map) => {
            if REFERENCES.contains(&above)
                && let (Some(kind), Some(name)) =
                    (map.get("kind").and_then(Value::as_str), map.get("name").and_then(Value::as_str))
                && let Some(new) = renamed.get(&(kind.to_owned(), name.to_owned()))
            {
                map["name"] = json!(new);
            }
            for (key, inner) in map.iter_mut() {
                let kind = PLACES.iter().find(|(over, field, _)| *over == above && field == key);
                match (kind, inner.as_str()) {
                    (Some((_, _, kind)), Some(name)) => {
                        if let Some(new) = renamed.get(&((*kind).to_owned(), name.to_owned())) {
                            *inner = json!(new);
                        }
                    }
                    _ => walk(key, inner, renamed, depth + 1),
                }
            }
        }
        _ => {}
    }
}
