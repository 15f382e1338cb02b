//! What controllers ask about pods: available, next look, deletion cost, a pod from a template.
//! Upstream: pkg/api/v1/pod and pkg/controller/controller_utils.go (v1.37).

use crate::claim::controller_ref;
use kubestep_model::{Instant, Kind, Labels, ObjectMeta, Pod, PodTemplateSpec, Time, text::names};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Since when the pod is ready; None if it is not, or if nobody wrote down when.
pub fn ready_since(pod: &Pod) -> Option<Time> {
    pod.condition("Ready").filter(|c| c.status == "True").and_then(|c| c.last_transition_time)
}

fn seconds(n: i32) -> Duration {
    Duration::from_secs(u64::try_from(n).unwrap_or(0))
}

/// Whether the pod has been ready for long enough. Upstream: podutil.IsPodAvailable.
pub fn is_available(pod: &Pod, min_ready_seconds: i32, now: Instant) -> bool {
    pod.is_ready()
        && (min_ready_seconds == 0
            || ready_since(pod).is_some_and(|since| since.instant() + seconds(min_ready_seconds) <= now))
}

/// The part of a status patch that sets one condition: where it is new, it stands behind the others.
/// Upstream: pkg/util/pod, PatchPodStatus with podutil.UpdatePodCondition.
pub(crate) fn condition_patch(pod: &Pod, condition: Value) -> Map<String, Value> {
    let r#type = &condition["type"];
    let mut order: Vec<Value> = pod.status.conditions.iter().map(|c| json!({"type": c.r#type})).collect();
    if pod.status.conditions.iter().all(|c| *r#type != *c.r#type) {
        order.push(json!({"type": r#type}));
    }
    let mut patch = Map::new();
    patch.insert("conditions".into(), json!([condition]));
    patch.insert("$setElementOrder/conditions".into(), order.into());
    patch
}

/// Whether the pod is being deleted and still runs. Upstream: controller.IsPodTerminating.
pub fn is_terminating(pod: &Pod) -> bool {
    !pod.is_terminal() && pod.metadata.is_terminating()
}

/// How long until the next of these pods becomes available. Upstream: FindMinNextPodAvailabilityCheck.
pub fn next_availability_check<'a>(
    pods: impl IntoIterator<Item = &'a Pod>,
    min_ready_seconds: i32,
    now: Instant,
) -> Option<Duration> {
    if min_ready_seconds <= 0 {
        return None;
    }
    let due = |pod: &Pod| ready_since(pod).map(|since| since.instant() + seconds(min_ready_seconds));
    pods.into_iter().filter_map(due).filter(|due| *due > now).map(|due| due.since(now)).min()
}

/// What `controller.kubernetes.io/pod-deletion-cost` says; 0 if it is absent or no number as upstream reads them.
pub fn deletion_cost(annotations: &Labels) -> i32 {
    let Some(text) = annotations.get("controller.kubernetes.io/pod-deletion-cost") else { return 0 };
    let first = text.bytes().next();
    let plain = text == "0" || first.is_some_and(|c| c == b'-' || (b'1'..=b'9').contains(&c));
    if plain { text.parse().unwrap_or(0) } else { 0 }
}

/// The start of a pod's name: the owner's name and a dash, or without the dash where that would be no name.
pub fn name_prefix(owner: &str) -> String {
    let prefix = format!("{owner}-");
    // A trailing dash is fine, because a suffix follows: upstream looks at the name with a letter in its place.
    let masked = match owner.char_indices().next_back() {
        Some((last, _)) => format!("{}a", &owner[..last]),
        None => prefix.clone(),
    };
    if names::is_dns1123_subdomain(&masked).is_empty() { prefix } else { owner.to_owned() }
}

/// A new pod for an owner, not named yet. Upstream: controller.GetPodFromTemplate.
pub fn from_template(template: &PodTemplateSpec, owner_kind: Kind, owner: &ObjectMeta) -> Pod {
    let metadata = ObjectMeta {
        generate_name: name_prefix(&owner.name),
        namespace: owner.namespace.clone(),
        labels: template.metadata.labels.clone(),
        annotations: template.metadata.annotations.clone(),
        finalizers: template.metadata.finalizers.clone(),
        owner_references: vec![controller_ref(owner_kind, owner)],
        ..Default::default()
    };
    Pod { metadata, spec: template.spec.clone().into(), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletion_costs_as_upstream_reads_them() {
        let of = |text: &str| {
            let key = "controller.kubernetes.io/pod-deletion-cost".to_owned();
            deletion_cost(&Labels::from([(key, text.to_owned())]))
        };
        assert_eq!(
            [of("5"), of("-3"), of("0"), of("+5"), of("05"), of("x"), of(""), of("99999999999")],
            [5, -3, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(deletion_cost(&Labels::new()), 0);
    }

    #[test]
    fn a_name_that_is_too_long_for_a_dash_goes_without() {
        assert_eq!(name_prefix("web-abc"), "web-abc-");
        assert_eq!(name_prefix(&"a".repeat(253)), format!("{}-", "a".repeat(253)), "the dash is not counted");
        let long = "a".repeat(254);
        assert_eq!(name_prefix(&long), long);
        for odd in ["", "é", "a.", "aé"] {
            assert!(name_prefix(odd).starts_with(odd));
        }
    }
}
