//! What a job does about pods that fail, and when it counts as done.
//!
//! Upstream: pkg/apis/batch/validation, validatePodFailurePolicy and validateSuccessPolicy (v1.37).

use super::{
    field::{Errors, given, items, number, text},
    internal,
};
use kubestep_model::text::names;
use serde_json::Value;

const MOST_RULES: usize = 20;
const MOST_CODES: usize = 255;
const MOST_PATTERNS: usize = 20;
const MOST_MANAGER: usize = 63;
const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

pub(super) fn managed_by(errors: &mut Errors, name: &str, field: &str) {
    domain_path(errors, name, field);
    if name.len() > MOST_MANAGER {
        errors.too_long(field, MOST_MANAGER);
    }
}

/// Upstream: k8s.io/apimachinery/pkg/util/validation, IsDomainPrefixedPath (v1.37).
pub(super) fn domain_path(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    let Some((host, path)) = name.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty())
    else {
        errors.invalid_text(field, name, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    };
    errors.invalid_each(field, host, names::is_dns1123_subdomain(host));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=:/".contains(c);
    if !path.chars().all(plain) {
        errors.invalid_text(field, path, "Invalid path");
    }
}

pub(super) fn pod_failure(errors: &mut Errors, spec: &Value, field: &str) {
    let rules = items(&spec["podFailurePolicy"]["rules"]);
    let field = format!("{field}.rules");
    if rules.len() > MOST_RULES {
        errors.too_many(&field, rules.len(), MOST_RULES);
    }
    let pod = &spec["template"]["spec"];
    let containers: Vec<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|l| items(&pod[*l]))
        .map(|c| text(&c["name"]))
        .collect();
    for (i, rule) in rules.iter().enumerate() {
        let at = format!("{field}[{i}]");
        action(errors, spec, text(&rule["action"]), &format!("{at}.action"));
        let (codes, conditions) = (&rule["onExitCodes"], items(&rule["onPodConditions"]));
        if given(codes) {
            exit_codes(errors, codes, &containers, &format!("{at}.onExitCodes"));
        }
        patterns(errors, conditions, &format!("{at}.onPodConditions"));
        match (given(codes), conditions.is_empty()) {
            (true, false) => errors
                .invalid_unshown(&at, "specifying both OnExitCodes and OnPodConditions is not supported"),
            (false, true) => {
                errors.invalid_unshown(&at, "specifying one of OnExitCodes and OnPodConditions is required");
            }
            _ => {}
        }
    }
}

fn quoted(names: &[&str]) -> String {
    let each: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    format!("valid values: [{}]", each.join(" "))
}

fn action(errors: &mut Errors, spec: &Value, action: &str, field: &str) {
    if action.is_empty() {
        errors.required(field, &quoted(&ACTIONS));
    } else if action == "FailIndex" {
        if !given(&spec["backoffLimitPerIndex"]) {
            errors.invalid_text(field, action, "requires the backoffLimitPerIndex to be set");
        }
    } else if !ACTIONS.contains(&action) {
        errors.not_supported_text(field, action, &ACTIONS);
    }
}

fn patterns(errors: &mut Errors, patterns: &[Value], field: &str) {
    if patterns.len() > MOST_PATTERNS {
        errors.too_many(field, patterns.len(), MOST_PATTERNS);
    }
    for (j, pattern) in patterns.iter().enumerate() {
        let kind = text(&pattern["type"]);
        errors.invalid_each(&format!("{field}[{j}].type"), kind, names::is_qualified_name(kind));
        let status = text(&pattern["status"]);
        let at = format!("{field}[{j}].status");
        if status.is_empty() {
            errors.required(&at, &quoted(&STATUSES));
        } else if !STATUSES.contains(&status) {
            errors.not_supported_text(&at, status, &STATUSES);
        }
    }
}

fn exit_codes(errors: &mut Errors, codes: &Value, containers: &[&str], field: &str) {
    let operator = text(&codes["operator"]);
    let at = format!("{field}.operator");
    if operator.is_empty() {
        errors.required(&at, &quoted(&OPERATORS));
    } else if !OPERATORS.contains(&operator) {
        errors.not_supported_text(&at, operator, &OPERATORS);
    }
    let name = &codes["containerName"];
    if given(name) && !containers.contains(&text(name)) {
        let why = "must be one of the container or initContainer names in the pod template";
        errors.invalid_text(&format!("{field}.containerName"), text(name), why);
    }
    let values: Vec<i64> = items(&codes["values"]).iter().map(number).collect();
    let at = format!("{field}.values");
    let shown = || if values.is_empty() { "[]".to_owned() } else { codes["values"].to_string() };
    if values.is_empty() {
        errors.invalid(&at, &shown(), "at least one value is required");
    } else if values.len() > MOST_CODES {
        errors.too_many(&at, values.len(), MOST_CODES);
    }
    for (j, value) in values.iter().enumerate() {
        let at = format!("{at}[{j}]");
        if operator == "In" && *value == 0 {
            errors.invalid(&at, "0", "must not be 0 for the In operator");
        }
        if values[..j].contains(value) {
            errors.duplicate(&at, &value.to_string());
        }
    }
    if values.windows(2).any(|pair| pair[0] > pair[1]) {
        errors.invalid(&at, &shown(), "must be ordered");
    }
}

pub(super) fn success(errors: &mut Errors, spec: &Value, field: &str) {
    let policy = &spec["successPolicy"];
    if text(&spec["completionMode"]) != "Indexed" {
        let shown = internal::shown("SuccessPolicy", policy);
        errors.invalid(field, &shown, "requires indexed completion mode");
        return;
    }
    let rules = items(&policy["rules"]);
    let field = format!("{field}.rules");
    if rules.is_empty() {
        errors.required(&field, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > MOST_RULES {
        errors.too_many(&field, rules.len(), MOST_RULES);
    }
    for (i, rule) in rules.iter().enumerate() {
        success_rule(errors, spec, rule, &format!("{field}[{i}]"));
    }
}

fn success_rule(errors: &mut Errors, spec: &Value, rule: &Value, field: &str) {
    let completions = number(&spec["completions"]);
    let (indexes, count) = (&rule["succeededIndexes"], rule["succeededCount"].as_i64());
    if !given(indexes) && count.is_none() {
        errors.required(field, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let mut total = 0;
    if given(indexes) {
        match indexes_of(text(indexes), completions) {
            Ok(found) => total = found,
            Err(why) => {
                let why = format!("error parsing succeededIndexes: {why}");
                errors.invalid_text(&format!("{field}.succeededIndexes"), text(indexes), &why);
            }
        }
    }
    let Some(count) = count else { return };
    let at = format!("{field}.succeededCount");
    errors.not_negative(&at, count);
    if count > completions {
        let why =
            format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.invalid(&at, &count.to_string(), &why);
    }
    if given(indexes) && count > total {
        let why = format!(
            "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        );
        errors.invalid(&at, &count.to_string(), &why);
    }
}

/// How many indexes a text such as `1,3-5` names.
fn indexes_of(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let mut total = 0;
    let mut last: Option<i64> = None;
    for part in text.split(',') {
        let limits: Vec<&str> = part.split('-').collect();
        if limits.len() > 2 {
            return Err(format!(
                "the fragment \"{part}\" violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        let read = |t: &str| {
            let number: i64 =
                t.parse().map_err(|_| format!("cannot convert string to integer for index: \"{t}\""))?;
            if number >= completions {
                return Err(format!("too large index: \"{t}\""));
            }
            Ok(number)
        };
        let first = read(limits[0])?;
        if let Some(last) = last
            && last >= first
        {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        let end = match limits.get(1) {
            Some(end) => read(end)?,
            None => first,
        };
        if limits.len() == 2 && end <= first {
            return Err(format!("non-increasing order, previous: {first}, current: {end}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted_in_order() {
        assert_eq!(indexes_of("1,3-5", 6), Ok(4));
        assert_eq!(indexes_of("", 6), Ok(0));
        assert_eq!(indexes_of("6", 6), Err("too large index: \"6\"".into()));
        assert_eq!(indexes_of("3,1", 6), Err("non-increasing order, previous: 3, current: 1".into()));
        assert!(indexes_of("1-2-3", 6).is_err() && indexes_of("x", 6).is_err());
    }
}
