//! What webhooks and admission policies are about: rules, conditions, and where to call.
//!
//! Upstream: pkg/apis/admissionregistration/validation, validateRule and validateMatchConditions (v1.37). Expressions
//! are not compiled.

use super::field::{Errors, given, items, path_segment, text};
use kubestep_model::{text::go, text::names};
use serde_json::Value;

pub(super) const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];
const MOST_CONDITIONS: usize = 64;

/// A list in which `*` stands alone.
fn alone(errors: &mut Errors, list: &Value, field: &str, others: &str) {
    if items(list).len() > 1 && items(list).iter().any(|item| text(item) == "*") {
        errors.invalid(
            field,
            &list.to_string(),
            &format!("if '*' is present, must not specify other {others}"),
        );
    }
}

/// A rule with its operations and, in policies, names of objects.
pub(super) fn rule(errors: &mut Errors, rule: &Value, field: &str) {
    let resource_names = items(&rule["resourceNames"]);
    for (i, name) in resource_names.iter().enumerate() {
        let field = format!("{field}.resourceNames[{i}]");
        errors.invalid_each(&field, text(name), path_segment(text(name)));
        if resource_names[..i].contains(name) {
            errors.duplicate(&field, &name.to_string());
        }
    }
    let operations = format!("{field}.operations");
    if items(&rule["operations"]).is_empty() {
        errors.required(&operations, "");
    }
    alone(errors, &rule["operations"], &operations, "operations");
    for (i, operation) in items(&rule["operations"]).iter().enumerate() {
        errors.choice(&format!("{operations}[{i}]"), operation, &OPERATIONS);
    }
    for (name, others) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let field = format!("{field}.{name}");
        if items(&rule[name]).is_empty() {
            errors.required(&field, "");
        }
        alone(errors, &rule[name], &field, others);
    }
    for (i, version) in items(&rule["apiVersions"]).iter().enumerate() {
        if text(version).is_empty() {
            errors.required(&format!("{field}.apiVersions[{i}]"), "");
        }
    }
    resources(errors, &rule["resources"], &format!("{field}.resources"));
    errors.choice(&format!("{field}.scope"), &rule["scope"], &SCOPES);
}

fn resources(errors: &mut Errors, list: &Value, field: &str) {
    let all = items(list);
    if all.is_empty() {
        errors.required(field, "");
    }
    // Which resources have `/*` behind them, and which subresources `*/` before them, so far.
    let (mut every_sub, mut every_resource): (Vec<&str>, Vec<&str>) = (vec![], vec![]);
    let mut plain = false;
    for (i, resource) in all.iter().map(text).enumerate() {
        let field = format!("{field}[{i}]");
        if resource.is_empty() {
            errors.required(&field, "");
            continue;
        }
        let Some((of, sub)) = resource.split_once('/') else {
            plain = resource != "*";
            continue;
        };
        if every_sub.contains(&of) {
            let why = format!("if '{of}/*' is present, must not specify {resource}");
            errors.invalid_text(&field, resource, &why);
        }
        if every_resource.contains(&sub) {
            let why = format!("if '*/{sub}' is present, must not specify {resource}");
            errors.invalid_text(&field, resource, &why);
        }
        if sub == "*" {
            every_sub.push(of);
        }
        if of == "*" {
            every_resource.push(sub);
        }
    }
    let has = |name: &str| all.iter().any(|r| text(r) == name);
    if all.len() > 1 && has("*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        errors.invalid(field, &list.to_string(), why);
    }
    if has("*") && plain {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(field, &list.to_string(), why);
    }
}

/// Conditions under which a webhook or a policy is asked at all.
pub(super) fn conditions(errors: &mut Errors, conditions: &Value, field: &str) {
    let all = items(conditions);
    if all.len() > MOST_CONDITIONS {
        errors.too_many(field, all.len(), MOST_CONDITIONS);
    }
    for (i, condition) in all.iter().enumerate() {
        let field = format!("{field}[{i}]");
        if text(&condition["expression"]).trim().is_empty() {
            errors.required(&format!("{field}.expression"), "");
        }
        let name = text(&condition["name"]);
        if name.is_empty() {
            errors.required(&format!("{field}.name"), "");
            continue;
        }
        errors.qualified_name(&format!("{field}.name"), name);
        if all[..i].iter().any(|c| text(&c["name"]) == name) {
            errors.duplicate(&format!("{field}.name"), &go::quote(name));
        }
    }
}

/// The address that a webhook is called at. Upstream: apiserver/pkg/util/webhook, ValidateWebhookURL.
pub(super) fn url(errors: &mut Errors, url: &str, field: &str) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        _ => (String::new(), url),
    };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.strip_prefix("//").map(|rest| rest.split('/').next().unwrap_or_default());
    let authority = authority.unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(u, h)| (Some(u), h));
    if scheme != "https" {
        errors.invalid_text(field, &scheme, &format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if host.is_empty() {
        errors.invalid_text(field, host, &format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        errors.invalid_text(field, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        errors.invalid_text(field, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        errors.invalid_text(field, query, "query parameters are not permitted in the URL");
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The service that a webhook is called at. Upstream: ValidateWebhookService, which its callers give name and
/// namespace the wrong way round.
pub(super) fn service(errors: &mut Errors, service: &Value, field: &str) {
    for (reported, field_of) in [("name", "namespace"), ("namespace", "name")] {
        if text(&service[field_of]).is_empty() {
            errors.required(&format!("{field}.{reported}"), "");
        }
    }
    let port = service["port"].as_i64().unwrap_or(0);
    let wrong = names::is_valid_port_num(port);
    if !wrong.is_empty() {
        let why = format!("port is not valid: {}", wrong.join(", "));
        errors.invalid(&format!("{field}.port"), &port.to_string(), &why);
    }
    let path = text(&service["path"]);
    if matches!(path, "" | "/") {
        return;
    }
    let field = format!("{field}.path");
    if path == "//" {
        errors.invalid_text(&field, path, "segment[0] may not be empty");
        return;
    }
    if !path.starts_with('/') {
        errors.invalid_text(&field, path, "must start with a '/'");
    }
    let mut letters = path.chars();
    letters.next();
    let steps = letters.as_str();
    for (i, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            errors.invalid_text(&field, path, &format!("segment[{i}] may not be empty"));
            continue;
        }
        for message in names::is_dns1123_subdomain(step) {
            errors.invalid_text(&field, path, &format!("segment[{i}]: {message}"));
        }
    }
}

/// Whether two lists of conditions are the same, so that they are not looked at again.
pub(super) fn given_or_empty(value: &Value) -> bool {
    given(value) && !items(value).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(check: impl Fn(&mut Errors)) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors);
        errors.into_causes().into_iter().map(|c| format!("{}: {}", c.field, c.message)).collect()
    }

    #[test]
    fn a_star_stands_alone() {
        let rule = |operations: Value, resources: Value| json!({"operations": operations, "apiGroups": [""], "apiVersions": ["v1"], "resources": resources});
        for (operations, resources, wrong) in [
            (json!(["CREATE"]), json!(["pods", "pods/status"]), 0),
            (json!(["*"]), json!(["*"]), 0),
            (json!(["*", "CREATE"]), json!(["pods"]), 1),
            (json!(["X"]), json!([]), 2),
            (json!(["CREATE"]), json!(["pods/*", "pods/status"]), 1),
            (json!(["CREATE"]), json!(["*/status", "pods/status"]), 1),
            (json!(["CREATE"]), json!(["*/*", "pods"]), 1),
            (json!(["CREATE"]), json!(["*", "pods"]), 1),
        ] {
            let rule = rule(operations, resources);
            assert_eq!(said(|e| self::rule(e, &rule, "r")).len(), wrong, "{rule}");
        }
    }

    #[test]
    fn an_address_is_https_and_nothing_more() {
        for (address, wrong) in [
            ("https://example.com", 0),
            ("https://example.com:443/a/b", 0),
            ("http://example.com", 1),
            ("example.com", 2),
            ("https://", 1),
            ("https://a@example.com?x=1#y", 3),
        ] {
            assert_eq!(said(|e| url(e, address, "u")).len(), wrong, "{address}");
        }
    }

    #[test]
    fn a_path_is_made_of_names() {
        for (path, wrong) in
            [("/", 0), ("/a/b/", 0), ("//", 1), ("a/b", 2), ("/a//b", 1), ("/A", 1), ("é", 2), ("", 0)]
        {
            let at = json!({"name": "s", "namespace": "n", "port": 443, "path": path});
            assert_eq!(said(|e| service(e, &at, "s")).len(), wrong, "{path}");
        }
    }
}
