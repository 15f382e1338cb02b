//! ValidatingWebhookConfiguration and MutatingWebhookConfiguration.
//!
//! Upstream: pkg/apis/admissionregistration/validation, validateValidatingWebhook and validateMutatingWebhook (v1.37).

use super::{
    field::{Errors, given, items, same, text},
    rules,
};
use kubestep_model::{text::go, text::names};
use serde_json::Value;

const FAILURE: [&str; 2] = ["Fail", "Ignore"];
const MATCH: [&str; 2] = ["Equivalent", "Exact"];
const NO_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const ALL_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const AGAIN: [&str; 2] = ["IfNeeded", "Never"];
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// What is let pass because it was so before.
#[derive(Default)]
struct Lenient {
    conditions: bool,
    effects: bool,
    reviews: bool,
    names: bool,
}

pub(super) fn check(whole: &Value) -> Errors {
    all(whole, &Lenient::default())
}

pub(super) fn changed(whole: &Value, old: &Value) -> Errors {
    let (new, old) = (items(&whole["webhooks"]), items(&old["webhooks"]));
    let known =
        |hook: &Value| items(&hook["admissionReviewVersions"]).iter().any(|v| REVIEWS.contains(&text(v)));
    let lenient = Lenient {
        conditions: new.len() == old.len()
            && new.iter().zip(old).all(|(n, o)| same(&n["matchConditions"], &o["matchConditions"])),
        effects: old.iter().any(|hook| !NO_EFFECTS.contains(&text(&hook["sideEffects"]))),
        reviews: old.iter().any(|h| !items(&h["admissionReviewVersions"]).is_empty() && !known(h)),
        names: old.iter().enumerate().any(|(i, h)| old[..i].iter().any(|o| o["name"] == h["name"])),
    };
    all(whole, &lenient)
}

fn all(whole: &Value, lenient: &Lenient) -> Errors {
    let mut errors = Errors::new();
    let hooks = items(&whole["webhooks"]);
    for (i, hook) in hooks.iter().enumerate() {
        let field = format!("webhooks[{i}]");
        one(&mut errors, hook, &field, lenient);
        reviews(&mut errors, &hook["admissionReviewVersions"], &field, lenient);
        let name = text(&hook["name"]);
        if !lenient.names && !name.is_empty() && hooks[..i].iter().any(|h| text(&h["name"]) == name) {
            errors.duplicate(&format!("{field}.name"), &go::quote(name));
        }
    }
    errors
}

fn one(errors: &mut Errors, hook: &Value, field: &str, lenient: &Lenient) {
    let at = |name: &str| format!("{field}.{name}");
    full_name(errors, text(&hook["name"]), &at("name"));
    for (i, rule) in items(&hook["rules"]).iter().enumerate() {
        rules::rule(errors, rule, &format!("{field}.rules[{i}]"));
    }
    errors.choice(&at("failurePolicy"), &hook["failurePolicy"], &FAILURE);
    errors.choice(&at("matchPolicy"), &hook["matchPolicy"], &MATCH);
    let effects: &[&str] = if lenient.effects { &ALL_EFFECTS } else { &NO_EFFECTS };
    if given(&hook["sideEffects"]) {
        errors.choice(&at("sideEffects"), &hook["sideEffects"], effects);
    } else {
        errors.required(&at("sideEffects"), &format!("must specify one of {}", effects.join(", ")));
    }
    if let Some(seconds) = hook["timeoutSeconds"].as_i64().filter(|s| !(1..=30).contains(s)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        errors.invalid(&at("timeoutSeconds"), &seconds.to_string(), why);
    }
    errors.label_selector(&at("namespaceSelector"), &hook["namespaceSelector"]);
    errors.label_selector(&at("objectSelector"), &hook["objectSelector"]);
    errors.choice(&at("reinvocationPolicy"), &hook["reinvocationPolicy"], &AGAIN);
    let client = &hook["clientConfig"];
    match (given(&client["url"]), given(&client["service"])) {
        (true, false) => rules::url(errors, text(&client["url"]), &at("clientConfig.url")),
        (false, true) => rules::service(errors, &client["service"], &at("clientConfig.service")),
        _ => errors.required(&at("clientConfig"), "exactly one of url or service is required"),
    }
    if !lenient.conditions {
        rules::conditions(errors, &hook["matchConditions"], &at("matchConditions"));
    }
}

/// Upstream: IsFullyQualifiedName.
fn full_name(errors: &mut Errors, name: &str, field: &str) {
    let wrong = names::is_dns1123_subdomain(name);
    if name.is_empty() {
        errors.required(field, "");
    } else if !wrong.is_empty() {
        errors.invalid_joined(field, name, &wrong);
    } else if name.split('.').count() < 3 {
        let why = "should be a domain with at least three segments separated by dots";
        errors.invalid_text(field, name, why);
    }
}

fn reviews(errors: &mut Errors, versions: &Value, field: &str, lenient: &Lenient) {
    let field = format!("{field}.admissionReviewVersions");
    let all = items(versions);
    if all.is_empty() {
        errors.required(&field, "must specify one of v1, v1beta1");
        return;
    }
    for (i, version) in all.iter().enumerate() {
        let at = format!("{field}[{i}]");
        if all[..i].contains(version) {
            errors.invalid_text(&at, text(version), "duplicate version");
            continue;
        }
        errors.invalid_each(&at, text(version), names::is_dns1035_label(text(version)));
    }
    if !lenient.reviews && !all.iter().any(|v| REVIEWS.contains(&text(v))) {
        errors.invalid(&field, &versions.to_string(), "must include at least one of v1, v1beta1");
    }
}
