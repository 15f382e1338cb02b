//! FlowSchema and PriorityLevelConfiguration.
//!
//! Upstream: pkg/apis/flowcontrol/validation (v1.37).

use super::field::{Errors, flag, given, items, number, text};
use kubestep_model::text::names;
use serde_json::Value;

const HIGHEST: i64 = 10_000;
const MOST_QUEUES: i64 = 10_000_000;
/// So many bits a hash has to choose a hand of queues with.
const HASH_BITS: i64 = 60;
const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const SUBJECTS: [(&str, &str); 3] =
    [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];

pub(super) fn schema(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let precedence = number(&spec["matchingPrecedence"]);
    let why = if precedence <= 0 {
        "must be a positive value"
    } else if precedence > HIGHEST {
        "must not be greater than 10000"
    } else if precedence == 1 && text(&whole["metadata"]["name"]) != "exempt" {
        "only the schema named 'exempt' may have matchingPrecedence 1"
    } else {
        ""
    };
    if !why.is_empty() {
        errors.invalid("spec.matchingPrecedence", &precedence.to_string(), why);
    }
    let method = &spec["distinguisherMethod"];
    if given(method) && !matches!(text(&method["type"]), "ByNamespace" | "ByUser") {
        let shown = format!("{{\"Type\":{}}}", Value::from(text(&method["type"])));
        errors.not_supported("spec.distinguisherMethod.type", &shown, &["ByNamespace", "ByUser"]);
    }
    let level = text(&spec["priorityLevelConfiguration"]["name"]);
    if level.is_empty() {
        errors.required("spec.priorityLevelConfiguration.name", "must reference a priority level");
    } else {
        errors.subdomain("spec.priorityLevelConfiguration.name", level);
    }
    for (i, rule) in items(&spec["rules"]).iter().enumerate() {
        self::rule(&mut errors, rule, &format!("spec.rules[{i}]"));
    }
    conditions(&mut errors, whole);
    errors
}

/// What a status says, of either kind.
pub(super) fn conditions(errors: &mut Errors, whole: &Value) {
    let all = items(&whole["status"]["conditions"]);
    for (i, condition) in all.iter().enumerate() {
        let field = format!("status.conditions[{i}].type");
        let kind = text(&condition["type"]);
        if all[..i].iter().any(|c| text(&c["type"]) == kind) {
            errors.duplicate(&field, &Value::from(kind).to_string());
        }
        if kind.is_empty() {
            errors.required(&field, "");
        }
    }
}

fn rule(errors: &mut Errors, rule: &Value, field: &str) {
    let subjects = items(&rule["subjects"]);
    for (i, subject) in subjects.iter().enumerate() {
        self::subject(errors, subject, &format!("{field}.subjects[{i}]"));
    }
    if subjects.is_empty() {
        errors.required(&format!("{field}.subjects"), "subjects must contain at least one value");
    }
    let (resources, others) = (items(&rule["resourceRules"]), items(&rule["nonResourceRules"]));
    if resources.is_empty() && others.is_empty() {
        errors.required(field, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for (i, rule) in resources.iter().enumerate() {
        resource_rule(errors, rule, &format!("{field}.resourceRules[{i}]"));
    }
    for (i, rule) in others.iter().enumerate() {
        let field = format!("{field}.nonResourceRules[{i}]");
        verbs(errors, &rule["verbs"], &field);
        urls(errors, &rule["nonResourceURLs"], &format!("{field}.nonResourceURLs"));
    }
}

fn subject(errors: &mut Errors, subject: &Value, field: &str) {
    let kind = text(&subject["kind"]);
    let Some((_, own)) = SUBJECTS.iter().find(|(name, _)| *name == kind) else {
        errors.not_supported_text(&format!("{field}.kind"), kind, &["Group", "ServiceAccount", "User"]);
        return;
    };
    let at = format!("{field}.{own}");
    let (named, name) = (&subject[*own], text(&subject[*own]["name"]));
    if !given(named) {
        errors.required(&at, &format!("{own} is required when subject kind is '{kind}'"));
    } else {
        if name.is_empty() {
            errors.required(&format!("{at}.name"), "");
        } else if kind == "ServiceAccount" && name != "*" {
            errors.subdomain(&format!("{at}.name"), name);
        }
        if kind == "ServiceAccount" {
            let namespace = text(&named["namespace"]);
            if namespace.is_empty() {
                errors.required(&format!("{at}.namespace"), "must specify namespace for service account");
            } else {
                errors.dns_label(&format!("{at}.namespace"), namespace);
            }
        }
    }
    let order: [usize; 3] = if kind == "ServiceAccount" { [1, 2, 0] } else { [0, 1, 2] };
    for (other, name) in order.map(|i| SUBJECTS[i]) {
        if other != kind && given(&subject[name]) {
            let why = format!("{name} is forbidden when subject kind is not '{other}'");
            errors.forbidden(&format!("{field}.{name}"), &why);
        }
    }
}

fn has_star(list: &Value) -> bool {
    items(list).iter().any(|item| text(item) == "*")
}

fn verbs(errors: &mut Errors, verbs: &Value, field: &str) {
    let field = format!("{field}.verbs");
    if items(verbs).is_empty() {
        errors.required(&field, "verbs must contain at least one value");
    } else if has_star(verbs) {
        if items(verbs).len() > 1 {
            let why = "if '*' is present, must not specify other verbs";
            errors.invalid(&field, &verbs.to_string(), why);
        }
    } else if !items(verbs).iter().all(|verb| VERBS.contains(&text(verb))) {
        errors.not_supported(&field, &verbs.to_string(), &VERBS);
    }
}

fn urls(errors: &mut Errors, urls: &Value, field: &str) {
    if items(urls).is_empty() {
        errors.required(field, "nonResourceURLs must contain at least one value");
    } else if has_star(urls) {
        if items(urls).len() > 1 {
            let why = "if '*' is present, must not specify other non-resource URLs";
            errors.invalid(field, &urls.to_string(), why);
        }
    } else {
        for (i, url) in items(urls).iter().map(text).enumerate() {
            let stars = url.matches('*').count();
            let why = match url {
                "" => "must not be empty",
                "/" => continue,
                _ if !url.starts_with('/') => "must start with slash",
                _ if url.contains(' ') => "must not contain white-space",
                _ if url.contains("//") => "must not contain double slash",
                _ if stars > 1 || (stars == 1 && !url.ends_with("/*")) => {
                    "wildcard can only do suffix matching"
                }
                _ => continue,
            };
            errors.invalid_text(&format!("{field}[{i}]"), url, why);
        }
    }
}

fn resource_rule(errors: &mut Errors, rule: &Value, field: &str) {
    verbs(errors, &rule["verbs"], field);
    for (name, one, more) in [
        ("apiGroups", "resource rules must supply at least one api group", "api groups"),
        ("resources", "resource rules must supply at least one resource", "resources"),
    ] {
        let (field, list) = (format!("{field}.{name}"), &rule[name]);
        if items(list).is_empty() {
            errors.required(&field, one);
        } else if items(list).len() > 1 && has_star(list) {
            let why = format!("if '*' is present, must not specify other {more}");
            errors.invalid(&field, &list.to_string(), &why);
        }
    }
    let (field, list) = (format!("{field}.namespaces"), &rule["namespaces"]);
    if items(list).is_empty() && !flag(&rule["clusterScope"]) {
        let why = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&field, why);
    } else if has_star(list) {
        if items(list).len() > 1 {
            let why = "if '*' is present, must not specify other namespaces";
            errors.invalid(&field, &list.to_string(), why);
        }
    } else {
        for (i, name) in items(list).iter().map(text).enumerate() {
            for message in names::is_dns1123_label(name) {
                let why = format!("each member of this list must be '*' or a DNS-1123 label; {message}");
                errors.invalid_text(&format!("{field}[{i}]"), name, &why);
            }
        }
    }
}

pub(super) fn level(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let kind = text(&spec["type"]);
    if (text(&whole["metadata"]["name"]) == "exempt") != (kind == "Exempt") {
        let why = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.invalid_text("spec.type", kind, why);
    }
    match kind {
        "Exempt" => shares(&mut errors, &spec["exempt"], "spec.exempt"),
        "Limited" if given(&spec["limited"]) => limited(&mut errors, &spec["limited"]),
        "Limited" | "" => {}
        _ => errors.not_supported_text("spec.type", kind, &["Exempt", "Limited"]),
    }
    declared(&mut errors, spec);
    conditions(&mut errors, whole);
    errors
}

/// What goes with which type. Upstream declares it, and tells it last.
fn declared(errors: &mut Errors, spec: &Value) {
    let kind = text(&spec["type"]);
    let mut own = Errors::new();
    if kind == "Limited" && given(&spec["exempt"]) {
        own.forbidden_bare("spec.exempt");
    }
    if kind != "Limited" && given(&spec["limited"]) {
        own.forbidden_bare("spec.limited");
    }
    if kind == "Limited" && !given(&spec["limited"]) {
        own.required("spec.limited", "");
    }
    if kind.is_empty() {
        own.required("spec.type", "");
    }
    if given(&spec["limited"]) {
        let response = &spec["limited"]["limitResponse"];
        const FIELD: &str = "spec.limited.limitResponse";
        match (text(&response["type"]), given(&response["queuing"])) {
            ("Queue", false) => own.required(&format!("{FIELD}.queuing"), ""),
            ("Queue", true) => {}
            (_, true) => own.forbidden_bare(&format!("{FIELD}.queuing")),
            _ => {}
        }
        if text(&response["type"]).is_empty() {
            own.required(&format!("{FIELD}.type"), "");
        }
    }
    errors.append_declared(own);
}

fn shares(errors: &mut Errors, limits: &Value, field: &str) {
    if let Some(shares) = limits["nominalConcurrencyShares"].as_i64().filter(|n| *n < 0) {
        let why = "must be a non-negative integer";
        errors.invalid(&format!("{field}.nominalConcurrencyShares"), &shares.to_string(), why);
    }
}

fn lendable(errors: &mut Errors, limits: &Value, field: &str) {
    if let Some(percent) = limits["lendablePercent"].as_i64().filter(|n| !(0..=100).contains(n)) {
        let why = "must be between 0 and 100, inclusive";
        errors.invalid(&format!("{field}.lendablePercent"), &percent.to_string(), why);
    }
}

fn limited(errors: &mut Errors, limited: &Value) {
    const FIELD: &str = "spec.limited";
    shares(errors, limited, FIELD);
    let response = &limited["limitResponse"];
    match text(&response["type"]) {
        "Queue" if given(&response["queuing"]) => queuing(errors, &response["queuing"]),
        "Queue" | "Reject" | "" => {}
        other => {
            let field = format!("{FIELD}.limitResponse.type");
            errors.not_supported_text(&field, other, &["Queue", "Reject"]);
        }
    }
    lendable(errors, limited, FIELD);
    if let Some(percent) = limited["borrowingLimitPercent"].as_i64().filter(|n| *n < 0) {
        let why = "if specified, must be a non-negative integer";
        errors.invalid(&format!("{FIELD}.borrowingLimitPercent"), &percent.to_string(), why);
    }
}

fn queuing(errors: &mut Errors, queuing: &Value) {
    const FIELD: &str = "spec.limited.limitResponse.queuing";
    let (length, queues, hand) =
        (number(&queuing["queueLengthLimit"]), number(&queuing["queues"]), number(&queuing["handSize"]));
    if length <= 0 {
        errors.invalid(&format!("{FIELD}.queueLengthLimit"), &length.to_string(), "must be positive");
    }
    if queues <= 0 {
        errors.invalid(&format!("{FIELD}.queues"), &queues.to_string(), "must be positive");
    } else if queues > MOST_QUEUES {
        let why = format!("must not be greater than {MOST_QUEUES}");
        errors.invalid(&format!("{FIELD}.queues"), &queues.to_string(), &why);
    }
    let why = if hand <= 0 {
        "must be positive".to_owned()
    } else if hand > queues {
        format!("should not be greater than queues ({queues})")
    } else if entropy(queues, hand) > HASH_BITS {
        format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {HASH_BITS}"
        )
    } else {
        return;
    };
    errors.invalid(&format!("{FIELD}.handSize"), &hand.to_string(), &why);
}

/// How many bits choose a hand from a deck. Upstream: shufflesharding.RequiredEntropyBits.
fn entropy(deck: i64, hand: i64) -> i64 {
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    let bits = ((deck as f64).log2() * hand as f64).ceil() as i64;
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| c.field).collect()
    }

    #[test]
    fn a_level_is_limited_or_exempt() {
        let level = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
        let reject = json!({"limitResponse": {"type": "Reject"}, "lendablePercent": 0});
        for (name, spec, wrong) in [
            ("a", json!({"type": "Limited", "limited": reject}), vec![]),
            ("exempt", json!({"type": "Exempt"}), vec![]),
            ("a", json!({"type": "Exempt"}), vec!["spec.type"]),
            ("a", json!({"type": "Limited"}), vec!["spec.limited"]),
            ("a", json!({}), vec!["spec.type"]),
            (
                "a",
                json!({"type": "Limited", "limited": {"limitResponse": {"type": "Queue"}}}),
                vec!["spec.limited.limitResponse.queuing"],
            ),
        ] {
            assert_eq!(said(self::level(&level(name, spec.clone()))), wrong, "{spec}");
        }
    }

    #[test]
    fn hands_are_small_enough_for_a_hash() {
        assert_eq!(entropy(64, 8), 48);
        assert_eq!(entropy(128, 6), 42);
        assert!(entropy(1_000_000, 4) > HASH_BITS);
    }

    #[test]
    fn addresses_end_in_a_star() {
        let rule = |url: &str| json!([url]);
        for (url, good) in
            [("/healthz", true), ("/a/*", true), ("/a*", false), ("a", false), ("/a//b", false)]
        {
            let mut errors = Errors::new();
            urls(&mut errors, &rule(url), "u");
            assert_eq!(errors.is_empty(), good, "{url}");
        }
    }
}
