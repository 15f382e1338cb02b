//! Pods before they are stored: what is not switched on goes, and what depends on the pod's own labels is worked out.
//!
//! Upstream: pkg/registry/core/pod, strategy.go, and pkg/api/pod, DropDisabledPodFields (v1.37).

use kubestep_model::{Labels, Pod, PodIp, PodSpec, PodStatus};
use serde_json::{Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// A pod's one address and the list of its addresses say the same; the first speaks for both.
///
/// Upstream: pkg/apis/core/v1, Convert_v1_PodStatus_To_core_PodStatus (v1.37).
pub(super) fn same_addresses(status: &mut PodStatus) {
    let first = status.pod_ips.first().map(|ip| ip.ip.clone());
    if !status.pod_ip.is_empty() && first.as_ref() != Some(&status.pod_ip) {
        status.pod_ips = vec![PodIp { ip: status.pod_ip.clone(), ..PodIp::default() }];
    } else if status.pod_ip.is_empty()
        && let Some(first) = first
    {
        status.pod_ip = first;
    }
}

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// An old annotation about AppArmor becomes the field of its container; that it is old is told.
///
/// Upstream: pkg/registry/core/pod, applyAppArmorVersionSkew (v1.37).
pub(crate) fn app_armor(pod: &mut Pod) -> Vec<String> {
    let mut warnings = vec![];
    if !pod.metadata.annotations.keys().any(|name| name.starts_with(APP_ARMOR)) {
        return warnings;
    }
    let profile_of = |context: &Option<Value>| {
        context.as_ref().map(|context| context["appArmorProfile"].clone()).unwrap_or_default()
    };
    let of_pod = profile_of(&pod.spec.security_context);
    let spec: &mut PodSpec = &mut pod.spec;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        let key = format!("{APP_ARMOR}{}", container.name);
        let Some(said) = pod.metadata.annotations.get(&key) else { continue };
        if !profile_of(&container.security_context).is_null() {
            continue;
        }
        let profile = match (said.as_str(), said.strip_prefix("localhost/")) {
            ("unconfined", _) => json!({"type": "Unconfined"}),
            ("runtime/default", _) => json!({"type": "RuntimeDefault"}),
            (_, Some(local)) if !local.trim().is_empty() && local.trim() == local && local.len() < 4096 => {
                json!({"type": "Localhost", "localhostProfile": local})
            }
            _ => Value::Null,
        };
        if !profile.is_null() && profile == of_pod {
            continue;
        }
        if !profile.is_null() {
            container.security_context.get_or_insert_with(|| json!({}))["appArmorProfile"] = profile;
        }
        warnings.push(format!(
            "metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"
        ));
    }
    warnings
}

/// Everything that is done to a new pod.
pub(super) fn prepare(pod: &mut Pod) {
    let labels = &pod.metadata.labels;
    let keyed = pod.spec.topology_spread_constraints.iter().any(|c| !c["matchLabelKeys"].is_null());
    if keyed {
        pod.spec.topology_spread_constraints.iter_mut().for_each(|c| add_label_keys(c, labels));
    }
    let has_sides = |pod: &Pod| {
        let affinity = pod.spec.affinity.as_ref();
        affinity.is_some_and(|a| a.pod_affinity.is_some() || a.pod_anti_affinity.is_some())
    };
    if has_sides(pod)
        && let Some(affinity) = &mut pod.spec.affinity
    {
        for side in [&mut affinity.pod_affinity, &mut affinity.pod_anti_affinity].into_iter().flatten() {
            terms(side, labels);
        }
    }
    if has_disabled(&pod.spec) {
        drop_disabled(&mut pod.spec);
    }
}

fn terms(side: &mut Value, labels: &Labels) {
    if let Some(Value::Array(terms)) = side.get_mut(REQUIRED) {
        terms.iter_mut().for_each(|term| add_label_keys(term, labels));
    }
    if let Some(Value::Array(wishes)) = side.get_mut(PREFERRED) {
        for wish in wishes {
            if let Some(term) = wish.get_mut("podAffinityTerm") {
                add_label_keys(term, labels);
            }
        }
    }
}

/// Labels of the pod itself become part of the selector that names them.
fn add_label_keys(term: &mut Value, labels: &Labels) {
    let mut more = vec![];
    for (name, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        for key in term[name].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some(value) = labels.get(key) {
                more.push(json!({"key": key, "operator": operator, "values": [value]}));
            }
        }
    }
    let Some(Value::Object(selector)) = term.get_mut("labelSelector").filter(|_| !more.is_empty()) else {
        return;
    };
    match selector.entry("matchExpressions").or_insert_with(|| json!([])) {
        Value::Array(there) => there.append(&mut more),
        other => *other = more.into(),
    }
}

fn has_disabled(spec: &PodSpec) -> bool {
    let mut lifecycles =
        spec.containers.iter().chain(&spec.init_containers).filter_map(|c| c.lifecycle.as_ref());
    spec.rest.contains_key("schedulingGroup") || lifecycles.any(|l| !l["stopSignal"].is_null())
}

/// Fields of features that are off by default.
pub(super) fn drop_disabled(spec: &mut PodSpec) {
    if !has_disabled(spec) {
        return;
    }
    spec.rest.remove("schedulingGroup");
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        if let Some(Value::Object(lifecycle)) = &mut container.lifecycle
            && lifecycle.remove("stopSignal").is_some()
            && lifecycle.values().all(Value::is_null)
        {
            container.lifecycle = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_labels_become_part_of_selectors() {
        let mut term =
            json!({"labelSelector": {"matchLabels": {"a": "x"}}, "matchLabelKeys": ["k", "absent"]});
        add_label_keys(&mut term, &Labels::from([("k".to_owned(), "v".to_owned())]));
        let want = json!([{"key": "k", "operator": "In", "values": ["v"]}]);
        assert_eq!(term["labelSelector"]["matchExpressions"], want);
        let mut none = json!({"matchLabelKeys": ["k"]});
        add_label_keys(&mut none, &Labels::from([("k".to_owned(), "v".to_owned())]));
        assert_eq!(none, json!({"matchLabelKeys": ["k"]}));
    }
}
