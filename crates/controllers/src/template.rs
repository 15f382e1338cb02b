//! Pod templates: are two the same, and the hash that names a ReplicaSet.

use kubestep_model::arrange::Gather;
use kubestep_model::{Container, Labels, PodTemplateSpec, Quantity, text::hash::pod_template_hash};
use serde_json::Value;

/// The label that tells a Deployment's ReplicaSets and pods apart.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Whether two templates are the same but for the hash label. Upstream: deploymentutil.EqualIgnoreHash.
///
/// Same means as Kubernetes compares: an empty list or map is as good as none, and quantities count by value.
pub fn equal_ignore_hash(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    let labels = |t: &PodTemplateSpec| {
        t.metadata
            .labels
            .iter()
            .filter(|(k, _)| *k != POD_TEMPLATE_HASH)
            .map(|(k, v)| (k.clone(), v.clone()))
            .gather()
    };
    let (left, right): (Labels, Labels) = (labels(a), labels(b));
    if left != right || plainly_different(a, b) {
        return false;
    }
    if a.spec == b.spec {
        let (mut a, mut b) = (a.metadata.clone(), b.metadata.clone());
        (a.labels, b.labels) = (Labels::new(), Labels::new());
        if a == b {
            return true;
        }
    }
    canonical(a) == canonical(b)
}

/// The hash that names a ReplicaSet, as a number of collisions changes it. Upstream: controller.ComputeHash.
pub(crate) fn compute_hash(template: &PodTemplateSpec, collision_count: Option<i32>) -> String {
    pod_template_hash(&kubestep_model::to_json(template), collision_count)
}

/// Whether texts differ that are compared as they are; most updates show here.
fn plainly_different(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    let (left, right) = (&a.spec.containers, &b.spec.containers);
    let same = |a: &Container, b: &Container| {
        (&a.name, &a.image, &a.command, &a.args) == (&b.name, &b.image, &b.command, &b.args)
    };
    a.metadata.annotations != b.metadata.annotations
        || left.len() != right.len()
        || left.iter().zip(right).any(|(a, b)| !same(a, b))
}

fn canonical(template: &PodTemplateSpec) -> Value {
    let mut template = template.clone();
    template.metadata.labels.remove(POD_TEMPLATE_HASH);
    let mut value = kubestep_model::to_json(&template);
    tidy(&mut value, "", 0);
    value
}

/// Maps of the API: empty is the same as absent. An empty struct (`emptyDir: {}`) is not.
const MAPS: [&str; 8] =
    ["labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests", "overhead", "options"];
const QUANTITIES: [&str; 3] = ["limits", "requests", "overhead"];
/// Objects of the API are not nested deeper; what is, stays as it is.
const DEEPEST: usize = 64;

fn tidy(value: &mut Value, key: &str, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, inner) in map.iter_mut() {
                let quantity = QUANTITIES.contains(&key) || name == "sizeLimit" || name == "divisor";
                match inner.as_str().filter(|_| quantity).map(Quantity::parse) {
                    Some(Ok(parsed)) => *inner = Value::from(parsed.to_string()),
                    _ => tidy(inner, name, depth + 1),
                }
            }
            map.retain(|name, inner| match inner {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(inner) => !inner.is_empty() || !MAPS.contains(&name.as_str()),
                Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy(item, "", depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(value: Value) -> PodTemplateSpec {
        serde_json::from_value(value).expect("a template")
    }

    #[test]
    fn what_makes_a_template_another_one() {
        let base = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}]}});
        let mut hashed = base.clone();
        hashed["metadata"]["labels"]["pod-template-hash"] = json!("abc");
        let mut spelled = base.clone();
        spelled["spec"]["containers"][0]["resources"]["limits"]["cpu"] = json!("1000m");
        let mut empty = base.clone();
        empty["spec"]["containers"][0]["env"] = json!([]);
        empty["spec"]["nodeSelector"] = json!({});
        let mut image = base.clone();
        image["spec"]["containers"][0]["image"] = json!("j");
        let mut context = base.clone();
        context["spec"]["securityContext"] = json!({});
        let rows = [(hashed, true), (spelled, true), (empty, true), (image, false), (context, false)];
        for (other, same) in rows {
            assert_eq!(equal_ignore_hash(&template(base.clone()), &template(other.clone())), same, "{other}");
        }
    }
}
