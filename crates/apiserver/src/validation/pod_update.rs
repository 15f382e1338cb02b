//! What may still change about a pod: images, deadlines, more tolerations, gates, and what only tightens.
//!
//! Upstream: pkg/apis/core/validation, ValidatePodUpdate (v1.37).

use super::{
    field::{Errors, text},
    internal, pod,
};
use kubestep_model::{Container, Pod, PodSpec, text::names};
use serde_json::Value;

const ONLY: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
    tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(super) fn changed_pod(new: &Pod, old: &Pod, whole: &Value) -> Errors {
    let mut errors = Errors::new();
    pod::pod_spec(&mut errors, &whole["spec"], "spec");
    for (part, new, old) in [
        ("containers", &new.spec.containers, &old.spec.containers),
        ("initContainers", &new.spec.init_containers, &old.spec.init_containers),
    ] {
        if new.len() != old.len() {
            errors.forbidden(&format!("spec.{part}"), "pod updates may not add or remove containers");
            return errors;
        }
    }
    images(&mut errors, &new.spec.containers, "containers");
    images(&mut errors, &new.spec.init_containers, "initContainers");
    if deadline(&mut errors, &new.spec, &old.spec) {
        return errors;
    }
    tolerations(&mut errors, new, old);
    gates(&mut errors, &new.spec, &old.spec);
    let rest = all_but_what_may_change(&new.spec, &old.spec);
    if rest != *old.spec {
        let json = |spec: &PodSpec| serde_json::to_value(spec).unwrap_or_default();
        let diff = internal::diff("v1.PodSpec", &json(&old.spec), &json(&rest));
        errors.forbidden("spec", &format!("{ONLY}\n{diff}"));
    }
    errors
}

/// The image of a pod stands without blanks around it; that it is there at all, the general checks have said.
pub(super) fn images(errors: &mut Errors, containers: &[Container], part: &str) {
    for (i, container) in containers.iter().enumerate() {
        if container.image.trim() != container.image {
            let field = format!("spec.{part}[{i}].image");
            errors.invalid_text(&field, &container.image, "must not have leading or trailing whitespace");
        }
    }
}

/// A deadline may come, and may come nearer. Answers whether it is so wrong that nothing else is looked at.
fn deadline(errors: &mut Errors, new: &PodSpec, old: &PodSpec) -> bool {
    const FIELD: &str = "spec.activeDeadlineSeconds";
    match (new.active_deadline_seconds, old.active_deadline_seconds) {
        (Some(new), old) => {
            if !(0..=i64::from(i32::MAX)).contains(&new) {
                errors.invalid_number(FIELD, new, names::is_in_range(new, 0, i32::MAX.into()));
                return true;
            }
            let later = old.is_some_and(|old| old < new);
            if later {
                errors.invalid(FIELD, &new.to_string(), "must be less than or equal to previous value");
            }
            later
        }
        (None, Some(_)) => {
            errors.invalid(FIELD, "null", "must not update from a positive integer to nil value");
            false
        }
        (None, None) => false,
    }
}

/// Tolerations may be added; those that are there stay, in any order.
fn tolerations(errors: &mut Errors, new: &Pod, old: &Pod) {
    let kept = old.spec.tolerations.iter().all(|t| {
        new.spec.tolerations.iter().any(|n| {
            let mut same = n.clone();
            same.toleration_seconds = t.toleration_seconds;
            same == *t
        })
    });
    if !kept {
        errors.forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
}

/// Gates only go; while there are any, the wishes about nodes may be tightened.
///
/// Upstream: validateSchedulingGates of updates, validateNodeSelectorMutation.
fn gates(errors: &mut Errors, new: &PodSpec, old: &PodSpec) {
    for (i, gate) in new.scheduling_gates.iter().enumerate() {
        if !old.scheduling_gates.contains(gate) {
            let why =
                format!("only deletion is allowed, but found new scheduling gate '{}'", text(&gate["name"]));
            errors.forbidden(&format!("spec.schedulingGates[{i}].name"), &why);
        }
    }
    let kept = old.node_selector.iter().all(|(k, v)| new.node_selector.get(k) == Some(v));
    if !old.scheduling_gates.is_empty() && !kept {
        let shown = serde_json::to_string(&new.node_selector).unwrap_or_default();
        let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.invalid("spec.nodeSelector", &shown, why);
    }
}

/// The new spec with the old values of all that may change.
fn all_but_what_may_change(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let mut rest = new.clone();
    for (new, old) in rest.containers.iter_mut().zip(&old.containers) {
        new.image.clone_from(&old.image);
    }
    for (new, old) in rest.init_containers.iter_mut().zip(&old.init_containers) {
        new.image.clone_from(&old.image);
    }
    rest.active_deadline_seconds = old.active_deadline_seconds;
    rest.tolerations.clone_from(&old.tolerations);
    if old.termination_grace_period_seconds.is_some_and(|s| s < 0)
        && rest.termination_grace_period_seconds == Some(1)
    {
        rest.termination_grace_period_seconds = old.termination_grace_period_seconds;
    }
    let gated = !old.scheduling_gates.is_empty();
    // Gates may be removed; while there are any, the wishes about nodes may be tightened.
    rest.scheduling_gates.clone_from(&old.scheduling_gates);
    if gated {
        rest.node_selector.clone_from(&old.node_selector);
        if old.affinity.as_ref().is_none_or(|a| a.node_affinity.is_none()) {
            rest.affinity.clone_from(&old.affinity);
        }
    }
    rest
}
