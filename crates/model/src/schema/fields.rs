//! Which fields stand beside a field: what a person may have meant who wrote one that does not exist.

use super::types::{Shape, Type, schema};

/// The fields of the struct that a path's last step lies in, such as those of a container for
/// `spec.template.spec.containers[0].imge`. None if the path leaves what the kind has.
#[must_use]
pub fn beside(api_version: &str, kind: &str, path: &str) -> Vec<&'static str> {
    fields(api_version, kind, path).unwrap_or_default()
}

/// Whether any kind has a field of this name, at any depth.
#[must_use]
pub fn has_field(name: &str) -> bool {
    schema().all().any(|declared| declared.field(name).is_some())
}

fn fields(api_version: &str, kind: &str, path: &str) -> Option<Vec<&'static str>> {
    let schema = schema();
    let mut at = schema.declared(schema.kind(api_version, kind)?)?;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            let Shape::Struct(fields) = &at.shape else { return None };
            return Some(fields.iter().map(|f| f.name).collect());
        }
        let (name, indices) = step.split_once('[').unwrap_or((step, ""));
        let mut ty = schema.resolve(&at.field(name)?.ty);
        for _ in indices.split(']').filter(|i| !i.is_empty()) {
            ty = match ty {
                Type::List(item) => schema.resolve(item),
                Type::Map(_, value) => schema.resolve(value),
                _ => return None,
            };
        }
        let Type::Declared(id) = ty else { return None };
        at = schema.declared(*id)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn the_fields_of_the_struct_around() {
        for (path, there) in [
            ("spec.replica", "replicas"),
            ("spec.template.spec.containers[0].imge", "image"),
            ("spec.template.spec.containers[0].readinessProbe.httpget", "httpGet"),
            ("Spec", "spec"),
            ("metadata.label", "labels"),
        ] {
            assert!(beside("apps/v1", "Deployment", path).contains(&there), "{path}");
        }
        for path in ["", "nothing.here.at.all", "spec.replicas.x", "spec.template.spec.containers[0][1].x"] {
            let found = beside("apps/v1", "Deployment", path);
            assert!(path.is_empty() || found.is_empty(), "{path}: {found:?}");
        }
        assert!(beside("v1", "Nothing", "spec.x").is_empty());
    }
}
