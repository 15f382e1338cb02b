//! Job, and the job inside a CronJob.
//!
//! Upstream: pkg/apis/batch/validation, ValidateJob and ValidateJobUpdate (v1.37).

use super::{
    field::{Errors, flag, given, items, number, same, text},
    internal, job_policies, pod, stateful_set, workload,
};
use kubestep_model::arrange::Gather;
use kubestep_model::{LabelSelector, Labels, text::names};
use serde_json::Value;

const MOST_PARALLEL: i64 = 100_000;
const MOST_FAILED: i64 = 100_000;
const MANY_COMPLETIONS: i64 = 100_000;
const MOST_WITH_MANY: i64 = 10_000;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    job_spec(&mut errors, spec, "spec");
    let selector: Option<LabelSelector> =
        serde_json::from_value(spec["selector"].clone()).unwrap_or_default();
    match &selector {
        None => errors.required("spec.selector", ""),
        Some(selector) => workload::label_selector(&mut errors, selector, "spec.selector"),
    }
    // A selector that is not there matches nothing.
    let labels = template_labels(spec);
    let found = selector.as_ref().is_some_and(|s| s.is_empty() || s.matches(&labels));
    if !found && selector.as_ref().is_none_or(|s| s.to_selector().is_ok()) {
        let why = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", &workload::labels_shown(&labels), why);
    }
    errors
}

/// What is asked of a new one only, before and after the rest.
pub(super) fn check_new(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    generated(&mut errors, whole);
    errors.append(check(whole));
    indexed_names(&mut errors, whole);
    errors
}

fn template_labels(spec: &Value) -> Labels {
    serde_json::from_value(spec["template"]["metadata"]["labels"].clone()).unwrap_or_default()
}

/// The labels and the selector that are made for a job that does not choose its own.
fn generated(errors: &mut Errors, whole: &Value) {
    let spec = &whole["spec"];
    if flag(&spec["manualSelector"]) {
        return;
    }
    let (uid, name) = (text(&whole["metadata"]["uid"]), text(&whole["metadata"]["name"]));
    let labels = template_labels(spec);
    let mut wanted = Labels::new();
    for (key, value) in [
        ("controller-uid", uid),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
    ] {
        let field = "spec.template.metadata.labels";
        match labels.get(key) {
            None => errors.required(&format!("{field}[{key}]"), &format!("must be '{value}'")),
            Some(there) if there != value => {
                let why = format!("must be '{value}'");
                errors.invalid(&format!("{field}[{key}]"), &workload::labels_shown(&labels), &why);
            }
            Some(_) => {}
        }
        wanted.insert(key.into(), value.into());
    }
    let selector: Option<LabelSelector> =
        serde_json::from_value(spec["selector"].clone()).unwrap_or_default();
    if let Some(selector) = selector
        && selector.to_selector().is_ok()
        && !selector.matches(&wanted)
    {
        errors.invalid("spec.selector", &workload::shown(&selector), "`selector` not auto-generated");
    }
}

/// Each pod of an indexed job has its index at the end of its host name.
fn indexed_names(errors: &mut Errors, whole: &Value) {
    let spec = &whole["spec"];
    let completions = number(&spec["completions"]);
    if text(&spec["completionMode"]) != "Indexed" || completions <= 0 {
        return;
    }
    let name = text(&whole["metadata"]["name"]);
    let last = format!("{name}-{}", completions.saturating_sub(1));
    if !names::is_dns1123_label(&last).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {last}");
        errors.invalid_text("metadata.name", name, &why);
    }
}

/// What holds for a job wherever it stands.
pub(super) fn job_spec(errors: &mut Errors, spec: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        errors.not_negative_in(spec, name, field);
    }
    if given(&spec["maxFailedIndexes"]) && !given(&spec["backoffLimitPerIndex"]) {
        errors.required(&at("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    let managed = &spec["managedBy"];
    if given(managed) {
        job_policies::managed_by(errors, text(managed), &at("managedBy"));
    }
    completion_mode(errors, spec, field);
    if given(&spec["podFailurePolicy"]) {
        job_policies::pod_failure(errors, spec, &at("podFailurePolicy"));
    }
    if given(&spec["successPolicy"]) {
        job_policies::success(errors, spec, &at("successPolicy"));
    }
    replacement(errors, spec, &at("podReplacementPolicy"));
    pod::template(errors, &spec["template"], &at("template"));
    restart_policy(errors, spec, &at("template.spec.restartPolicy"));
}

fn completion_mode(errors: &mut Errors, spec: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    let mode = text(&spec["completionMode"]);
    if given(&spec["completionMode"]) && !matches!(mode, "NonIndexed" | "Indexed") {
        errors.not_supported_text(&at("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    if mode == "Indexed" {
        indexed(errors, spec, field);
    } else if !given(&spec["completionMode"]) || mode == "NonIndexed" {
        for name in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if given(&spec[name]) {
                errors.invalid(&at(name), &spec[name].to_string(), "requires indexed completion mode");
            }
        }
    }
}

fn indexed(errors: &mut Errors, spec: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    let amount = |name: &str| spec[name].as_i64();
    let (completions, parallel, failed) =
        (amount("completions"), amount("parallelism"), amount("maxFailedIndexes"));
    if completions.is_none() {
        errors.required(&at("completions"), "when completion mode is Indexed");
    }
    let mut above = |name: &str, value: Option<i64>, most: i64, why: String| {
        if let Some(value) = value.filter(|v| *v > most) {
            errors.invalid(&at(name), &value.to_string(), &why);
        }
    };
    let why = format!("must be less than or equal to {MOST_PARALLEL} when completion mode is Indexed");
    above("parallelism", parallel, MOST_PARALLEL, why);
    if let Some(completions) = completions {
        let why = "must be less than or equal to completions".to_owned();
        above("maxFailedIndexes", failed, completions, why);
    }
    above("maxFailedIndexes", failed, MOST_FAILED, format!("must be less than or equal to {MOST_FAILED}"));
    if completions.is_some_and(|c| c > MANY_COMPLETIONS) && given(&spec["backoffLimitPerIndex"]) {
        let why = format!(
            "must be less than or equal to {MOST_WITH_MANY} when completions are above {MANY_COMPLETIONS} and used with backoff limit per index"
        );
        if failed.is_none() {
            let why = format!("must be specified when completions is above {MANY_COMPLETIONS}");
            errors.required(&at("maxFailedIndexes"), &why);
        }
        for (name, value) in [("parallelism", parallel), ("maxFailedIndexes", failed)] {
            if let Some(value) = value.filter(|v| *v > MOST_WITH_MANY) {
                errors.invalid(&at(name), &value.to_string(), &why);
            }
        }
    }
}

fn replacement(errors: &mut Errors, spec: &Value, field: &str) {
    let policy = &spec["podReplacementPolicy"];
    if !given(policy) {
        return;
    }
    if given(&spec["podFailurePolicy"]) {
        if text(policy) != "Failed" {
            errors.not_supported_text(field, text(policy), &["Failed"]);
        }
    } else if !matches!(text(policy), "Failed" | "TerminatingOrFailed") {
        errors.not_supported_text(field, text(policy), &["Failed", "TerminatingOrFailed"]);
    }
}

fn restart_policy(errors: &mut Errors, spec: &Value, field: &str) {
    match text(&spec["template"]["spec"]["restartPolicy"]) {
        "" | "Always" => errors.required(field, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        "OnFailure" => {
            if given(&spec["podFailurePolicy"]) {
                let why = "only \"Never\" is supported when podFailurePolicy is specified";
                errors.invalid_text(field, "OnFailure", why);
            }
        }
        other => errors.not_supported_text(field, other, &["OnFailure", "Never"]),
    }
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (spec, before) = (&new["spec"], &old["spec"]);
    completions(&mut errors, spec, before);
    let shown = stateful_set::selector_shown(&spec["selector"]);
    errors.immutable("spec.selector", &spec["selector"], &before["selector"], &shown);
    template(&mut errors, spec, old);
    for (name, kind) in [
        ("completionMode", ""),
        ("podFailurePolicy", "PodFailurePolicy"),
        ("backoffLimitPerIndex", ""),
        ("managedBy", ""),
        ("successPolicy", "SuccessPolicy"),
    ] {
        let shown = internal::shown(kind, &spec[name]);
        errors.immutable(&format!("spec.{name}"), &spec[name], &before[name], &shown);
    }
    errors
}

fn completions(errors: &mut Errors, spec: &Value, before: &Value) {
    let field = "spec.completions";
    if text(&spec["completionMode"]) != "Indexed" {
        let shown = spec["completions"].to_string();
        errors.immutable(field, &spec["completions"], &before["completions"], &shown);
    } else if given(&spec["completions"])
        && spec["completions"] != before["completions"]
        && spec["completions"] != spec["parallelism"]
    {
        let why = "can only be modified in tandem with spec.parallelism";
        errors.invalid(field, &spec["completions"].to_string(), why);
    }
}

/// While a job is suspended and has not started, where its pods go may still be changed.
fn template(errors: &mut Errors, spec: &Value, old: &Value) {
    let mut before = old["spec"]["template"].clone();
    let new = &spec["template"];
    let suspended = flag(&old["spec"]["suspend"]) && !given(&old["status"]["startTime"]);
    if suspended {
        resources_of(new, &mut before);
        for name in ["nodeSelector", "tolerations", "schedulingGates"] {
            before["spec"][name] = new["spec"][name].clone();
        }
        for name in ["annotations", "labels"] {
            before["metadata"][name] = new["metadata"][name].clone();
        }
        if given(&new["spec"]["affinity"]) || given(&before["spec"]["affinity"]) {
            let affinity = new["spec"]["affinity"]["nodeAffinity"].clone();
            before["spec"]["affinity"]["nodeAffinity"] = affinity;
        }
    }
    if !same(&pruned(new), &pruned(&before)) {
        errors.invalid("spec.template", &internal::shown("v1.PodTemplateSpec", new), super::field::IMMUTABLE);
    }
}

/// What the containers ask for may change, too.
fn resources_of(new: &Value, before: &mut Value) {
    for list in ["containers", "initContainers"] {
        let there = items(&new["spec"][list]);
        for (i, old) in before["spec"][list].as_array_mut().into_iter().flatten().enumerate() {
            if let Some(new) = there.get(i).filter(|n| n["name"] == old["name"]) {
                old["resources"] = new["resources"].clone();
            }
        }
    }
}

/// Without what is null or empty.
fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(k, v)| (k.clone(), pruned(v)));
            Value::Object(kept.filter(|(_, v)| !same(v, &Value::Null)).gather())
        }
        Value::Array(items) => items.iter().map(pruned).collect(),
        other => other.clone(),
    }
}
