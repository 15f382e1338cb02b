//! Requests and limits.
//!
//! Upstream: pkg/apis/core/validation, ValidateContainerResourceRequirements (v1.37).

use super::field::{Errors, NEGATIVE, entries};
use kubestep_model::arrange::Gather;
use kubestep_model::{Quantity, text::names};
use serde_json::Value;
use std::collections::BTreeMap;

const CONTAINER_RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

pub(super) type Amounts = BTreeMap<String, Quantity>;

pub(super) fn amounts(resources: &Value, part: &str) -> Amounts {
    entries(&resources[part])
        .filter_map(|(name, value)| serde_json::from_value(value.clone()).ok().map(|q| (name.clone(), q)))
        .gather()
}

pub(super) fn container(errors: &mut Errors, resources: &Value, field: &str) {
    requirements(errors, resources, field, one);
}

/// What a pod asks for as a whole: fewer resources have a meaning there.
pub(super) fn of_pod(errors: &mut Errors, resources: &Value, field: &str) {
    requirements(errors, resources, field, one_of_pod);
}

type Check = fn(&mut Errors, &str, &Quantity, &str);

fn requirements(errors: &mut Errors, resources: &Value, field: &str, one: Check) {
    let (limits, requests) = (amounts(resources, "limits"), amounts(resources, "requests"));
    for (name, amount) in &limits {
        let field = format!("{field}.limits[{name}]");
        one(errors, name, amount, &field);
        huge_pages(errors, name, amount, &field);
    }
    for (name, amount) in &requests {
        one(errors, name, amount, &format!("{field}.requests[{name}]"));
        let shown = amount.to_string();
        let requests = format!("{field}.requests");
        match limits.get(name) {
            Some(limit) if !overcommitted(name) && !amount.cmp(limit).is_eq() => {
                errors.invalid_text(&requests, &shown, &format!("must be equal to {name} limit of {limit}"));
            }
            Some(limit) if amount.cmp(limit).is_gt() => {
                errors.invalid_text(
                    &requests,
                    &shown,
                    &format!("must be less than or equal to {name} limit of {limit}"),
                );
            }
            None if !overcommitted(name) => {
                errors.required(
                    &format!("{field}.limits"),
                    "Limit must be set for non overcommitable resources",
                );
            }
            _ => {}
        }
        huge_pages(errors, name, amount, &format!("{field}.requests[{name}]"));
    }
    let all = || limits.keys().chain(requests.keys());
    let huge = all().any(|name| name.starts_with("hugepages-"));
    if huge && !all().any(|name| matches!(name.as_str(), "cpu" | "memory")) {
        errors.forbidden(field, "HugePages require cpu or memory");
    }
}

/// Pages come whole. Upstream: validateResourceQuantityHugePageValue.
fn huge_pages(errors: &mut Errors, name: &str, amount: &Quantity, field: &str) {
    let Some(size) = name.strip_prefix("hugepages-").and_then(|size| size.parse::<Quantity>().ok()) else {
        return;
    };
    let (amount, size) = (amount, size.value());
    if size > 0 && (amount.value() % size != 0 || amount.sign() < 0) {
        let why = format!("{amount} is not positive integer multiple of {name}");
        errors.invalid_text(field, &amount.to_string(), &why);
    }
}

fn one_of_pod(errors: &mut Errors, name: &str, amount: &Quantity, field: &str) {
    let wrong = names::is_qualified_name(name);
    let qualified = wrong.is_empty();
    errors.invalid_each(field, name, wrong);
    if qualified && !name.contains('/') && !is_standard(name) {
        errors.invalid_text(field, name, "must be a standard resource type or fully qualified");
    } else if qualified && !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-") {
        errors.not_supported_text(field, name, &["cpu", "hugepages-", "memory"]);
    }
    quantity(errors, name, amount, field);
}

fn one(errors: &mut Errors, name: &str, amount: &Quantity, field: &str) {
    let wrong = names::is_qualified_name(name);
    let qualified = wrong.is_empty();
    errors.invalid_each(field, name, wrong);
    if !name.contains('/') {
        if qualified && !is_standard(name) {
            errors.invalid_text(field, name, "must be a standard resource type or fully qualified");
        }
        if !CONTAINER_RESOURCES.contains(&name) && !name.starts_with("hugepages-") {
            errors.invalid_text(field, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && name.starts_with("requests.") {
        errors.invalid_text(field, name, "doesn't follow extended resource name standard");
    }
    quantity(errors, name, amount, field);
}

/// An amount that may be negative nowhere, and broken only for divisible resources.
pub(super) fn quantity(errors: &mut Errors, name: &str, amount: &Quantity, field: &str) {
    if amount.sign() < 0 {
        errors.invalid_text(field, &amount.to_string(), NEGATIVE);
    }
    let counted = matches!(
        name,
        "pods"
            | "services"
            | "replicationcontrollers"
            | "resourcequotas"
            | "secrets"
            | "configmaps"
            | "persistentvolumeclaims"
            | "services.nodeports"
            | "services.loadbalancers"
    ) || name.starts_with("count/");
    if (counted || is_extended(name)) && amount.milli_value() % 1000 != 0 {
        errors.invalid_text(field, &amount.to_string(), "must be an integer");
    }
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && !name.starts_with("count/")
}

/// Resources of which more may be promised than there is.
pub(super) fn overcommitted(name: &str) -> bool {
    is_native(name) && !name.starts_with("hugepages-")
}

pub(super) fn is_standard(name: &str) -> bool {
    matches!(
        name,
        "cpu"
            | "memory"
            | "ephemeral-storage"
            | "storage"
            | "requests.cpu"
            | "requests.memory"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
            | "requests.storage"
            | "pods"
            | "services"
            | "replicationcontrollers"
            | "resourcequotas"
            | "secrets"
            | "configmaps"
            | "persistentvolumeclaims"
            | "services.nodeports"
            | "services.loadbalancers"
    ) || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
}

/// A resource that a limit range may speak of.
///
/// Upstream: ValidateLimitRangeResourceName.
pub(super) fn limit_name(errors: &mut Errors, name: &str, kind: &str, field: &str) {
    let wrong = names::is_qualified_name(name);
    let qualified = wrong.is_empty();
    errors.invalid_each(field, name, wrong);
    if name.contains('/') {
        return;
    }
    if qualified && !is_standard(name) {
        errors.invalid_text(field, name, "must be a standard resource type or fully qualified");
    }
    let of_containers = CONTAINER_RESOURCES.contains(&name) || name.starts_with("hugepages-");
    if matches!(kind, "Pod" | "Container") && !of_containers {
        errors.invalid_text(field, name, "must be a standard resource for containers");
    }
}

/// No container may have a limit above the pod's, nor may they together ask for more than the pod asks.
pub(super) fn within_pod(errors: &mut Errors, whole: &Value, containers: &[Value], field: &str) {
    let (limits, requests) = (amounts(whole, "limits"), amounts(whole, "requests"));
    let mut sums = Amounts::new();
    for container in containers {
        kubestep_model::resources::add(&mut sums, &amounts(&container["resources"], "requests"));
    }
    for (name, asked) in &requests {
        if let Some(sum) = sums.get(name).filter(|sum| sum.cmp(asked).is_gt()) {
            let why = format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid_text(&format!("{field}.requests[{name}]"), &asked.to_string(), &why);
        }
    }
    for (i, container) in containers.iter().enumerate() {
        for (name, limit) in amounts(&container["resources"], "limits") {
            if let Some(most) = limits.get(&name).filter(|most| limit.cmp(most).is_gt()) {
                let field = format!("{field}.containers[{i}][{name}].limits");
                errors.invalid_text(
                    &field,
                    &limit.to_string(),
                    &format!("must be less than or equal to pod limits of {most}"),
                );
            }
        }
    }
}
