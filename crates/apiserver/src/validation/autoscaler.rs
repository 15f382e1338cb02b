//! HorizontalPodAutoscaler.
//!
//! Upstream: pkg/apis/autoscaling/validation (v1.37).

use super::{
    field::{Errors, given, items, number, path_segment, text},
    workload,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{LabelSelector, Quantity};
use serde_json::Value;

const SOURCES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const LONGEST_WINDOW: i64 = 3600;
const LONGEST_PERIOD: i64 = 1800;
const POPULATED: &str = "must populate information for the given metric source";
const BOTH: &str = "may not set both a target raw value and a target utilization";

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let most = number(&spec["maxReplicas"]);
    if let Some(least) = spec["minReplicas"].as_i64() {
        if least < 0 {
            errors.invalid("spec.minReplicas", &least.to_string(), "must be greater than or equal to 0");
        }
        if most < least {
            let why = "must be greater than or equal to `minReplicas`";
            errors.invalid("spec.maxReplicas", &most.to_string(), why);
        }
    }
    if most == 0 {
        errors.required("spec.maxReplicas", "");
    } else if most < 0 {
        errors.invalid("spec.maxReplicas", &most.to_string(), "must be greater than 0");
    }
    reference(&mut errors, &spec["scaleTargetRef"], "spec.scaleTargetRef");
    metrics(&mut errors, spec);
    for side in ["scaleUp", "scaleDown"] {
        let rules = &spec["behavior"][side];
        if given(rules) {
            scaling_rules(&mut errors, rules, &format!("spec.behavior.{side}"));
        }
    }
    errors
}

/// What autoscaling/v1 declares of its fields, which is told last.
///
/// Upstream: pkg/apis/autoscaling/v1/zz_generated.validations.go.
pub(super) fn as_first_version(errors: &mut Errors) {
    errors.declare(&|cause| match (cause.field.as_str(), cause.message.as_str()) {
        ("spec.minReplicas", message) if message.ends_with("than or equal to 0") => Some(message.to_owned()),
        ("spec.maxReplicas", "Required value") => Some("Required value".to_owned()),
        ("spec.maxReplicas", message) if message.ends_with("must be greater than 0") => {
            Some(message.replace("greater than 0", "greater than or equal to 1"))
        }
        _ => None,
    });
}

/// Upstream: ValidateCrossVersionObjectReference.
fn reference(errors: &mut Errors, target: &Value, field: &str) {
    for name in ["kind", "name"] {
        let value = text(&target[name]);
        let at = format!("{field}.{name}");
        if value.is_empty() {
            errors.required(&at, "");
        } else {
            errors.invalid_each(&at, value, path_segment(value));
        }
    }
    let version = text(&target["apiVersion"]);
    if version.split('/').count() > 2 {
        let why = format!("unexpected GroupVersion string: {version}");
        errors.invalid_text(&format!("{field}.apiVersion"), version, &why);
    } else if !version.contains('/')
        && field == "spec.scaleTargetRef"
        && text(&target["kind"]) != "ReplicationController"
    {
        let why = "apiVersion must specify API group";
        errors.invalid_text(&format!("{field}.apiVersion"), version, why);
    }
}

fn metrics(errors: &mut Errors, spec: &Value) {
    let metrics = items(&spec["metrics"]);
    for (i, one) in metrics.iter().enumerate() {
        metric(errors, one, &format!("spec.metrics[{i}]"));
    }
    let to_zero = |m: &Value| matches!(text(&m["type"]), "Object" | "External");
    if spec["minReplicas"] == 0 && !metrics.iter().any(to_zero) {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden("spec.metrics", why);
    }
}

/// The part of a metric that its type calls for.
fn part_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        "External" => "external",
        "ContainerResource" => "containerResource",
        _ => return None,
    })
}

fn metric(errors: &mut Errors, metric: &Value, field: &str) {
    let kind = text(&metric["type"]);
    let expected = part_of(kind);
    if kind.is_empty() {
        errors.required(&format!("{field}.type"), "must specify a metric source type");
    } else if expected.is_none() {
        errors.not_supported_text(&format!("{field}.type"), kind, &SOURCES);
    }
    let all = ["object", "external", "pods", "resource", "containerResource"];
    let there: Vec<&str> = all.into_iter().filter(|part| given(&metric[*part])).collect();
    if let Some(first) = there.first() {
        source(errors, first, &metric[*first], &format!("{field}.{first}"));
    }
    if let Some(expected) = expected
        && !there.contains(&expected)
    {
        errors.required(&format!("{field}.{expected}"), POPULATED);
    }
    if there.len() > 1 {
        let mut others: Vec<&str> = there.into_iter().filter(|part| Some(*part) != expected).collect();
        others.arrange();
        for part in others {
            errors.forbidden(&format!("{field}.{part}"), "must populate the given metric source only");
        }
    }
}

fn source(errors: &mut Errors, part: &str, source: &Value, field: &str) {
    let goal = &source["target"];
    let at = |name: &str| format!("{field}.target.{name}");
    let set = |name: &str| given(&goal[name]);
    match part {
        "object" => {
            reference(errors, &source["describedObject"], &format!("{field}.describedObject"));
            identifier(errors, &source["metric"], &format!("{field}.metric"));
            target(errors, goal, &format!("{field}.target"));
            if !set("value") && !set("averageValue") {
                errors.required(&at("averageValue"), "must set either a target value or averageValue");
            }
        }
        "external" => {
            identifier(errors, &source["metric"], &format!("{field}.metric"));
            target(errors, goal, &format!("{field}.target"));
            if !set("value") && !set("averageValue") {
                let why = "must set either a target value for metric or a per-pod target";
                errors.required(&at("averageValue"), why);
            }
            if set("value") && set("averageValue") {
                let why = "may not set both a target value for metric and a per-pod target";
                errors.forbidden(&at("value"), why);
            }
        }
        "pods" => {
            identifier(errors, &source["metric"], &format!("{field}.metric"));
            target(errors, goal, &format!("{field}.target"));
            if !set("averageValue") {
                errors.required(&at("averageValue"), "must specify a positive target averageValue");
            }
        }
        _ => {
            if text(&source["name"]).is_empty() {
                errors.required(&format!("{field}.name"), "must specify a resource name");
            }
            if part == "containerResource" {
                let name = text(&source["container"]);
                if name.is_empty() {
                    errors.required(&format!("{field}.container"), "must specify a container");
                } else {
                    errors.dns_label(&format!("{field}.container"), name);
                }
            }
            target(errors, goal, &format!("{field}.target"));
            if !set("averageUtilization") && !set("averageValue") {
                let why = "must set either a target raw value or a target utilization";
                errors.required(&at("averageUtilization"), why);
            }
            if set("averageUtilization") && set("averageValue") {
                errors.forbidden(&at("averageValue"), BOTH);
            }
        }
    }
}

fn identifier(errors: &mut Errors, metric: &Value, field: &str) {
    let name = text(&metric["name"]);
    if name.is_empty() {
        errors.required(&format!("{field}.name"), "must specify a metric name");
    } else {
        errors.invalid_each(&format!("{field}.name"), name, path_segment(name));
    }
    if let Ok(Some(selector)) = serde_json::from_value::<Option<LabelSelector>>(metric["selector"].clone()) {
        workload::label_selector(errors, &selector, &format!("{field}.selector"));
    }
}

fn target(errors: &mut Errors, target: &Value, field: &str) {
    let kind = text(&target["type"]);
    if kind.is_empty() {
        errors.required(&format!("{field}.type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let why = "must be either Utilization, Value, or AverageValue";
        errors.invalid_text(&format!("{field}.type"), kind, why);
    }
    for name in ["value", "averageValue"] {
        if let Ok(amount) = serde_json::from_value::<Quantity>(target[name].clone())
            && given(&target[name])
            && amount.sign() != 1
        {
            errors.invalid_text(&format!("{field}.{name}"), &amount.to_string(), "must be positive");
        }
    }
    if let Some(percent) = target["averageUtilization"].as_i64().filter(|p| *p < 1) {
        let at = format!("{field}.averageUtilization");
        errors.invalid(&at, &percent.to_string(), "must be greater than 0");
    }
}

fn scaling_rules(errors: &mut Errors, rules: &Value, field: &str) {
    if let Some(window) = rules["stabilizationWindowSeconds"].as_i64() {
        let at = format!("{field}.stabilizationWindowSeconds");
        if window < 0 {
            errors.invalid(&at, &window.to_string(), "must be greater than or equal to zero");
        }
        if window > LONGEST_WINDOW {
            let why = format!("must be less than or equal to {LONGEST_WINDOW}");
            errors.invalid(&at, &window.to_string(), &why);
        }
    }
    let select = &rules["selectPolicy"];
    if given(select) && !matches!(text(select), "Max" | "Min" | "Disabled") {
        errors.not_supported_text(
            &format!("{field}.selectPolicy"),
            text(select),
            &["Disabled", "Max", "Min"],
        );
    }
    let policies = items(&rules["policies"]);
    if policies.is_empty() {
        errors.required(&format!("{field}.policies"), "must specify at least one Policy");
    }
    for (i, policy) in policies.iter().enumerate() {
        let at = |name: &str| format!("{field}.policies[{i}].{name}");
        let kind = text(&policy["type"]);
        if !matches!(kind, "Pods" | "Percent") {
            errors.not_supported_text(&at("type"), kind, &["Percent", "Pods"]);
        }
        for name in ["value", "periodSeconds"] {
            let value = number(&policy[name]);
            if value <= 0 {
                errors.invalid(&at(name), &value.to_string(), "must be greater than zero");
            }
        }
        let period = number(&policy["periodSeconds"]);
        if period > LONGEST_PERIOD {
            let why = format!("must be less than or equal to {LONGEST_PERIOD}");
            errors.invalid(&at("periodSeconds"), &period.to_string(), &why);
        }
    }
    if let Ok(tolerance) = serde_json::from_value::<Quantity>(rules["tolerance"].clone())
        && given(&rules["tolerance"])
        && tolerance.sign() < 0
    {
        let why = "must be greater than or equal to 0";
        errors.invalid_text(&format!("{field}.tolerance"), &tolerance.to_string(), why);
    }
}
