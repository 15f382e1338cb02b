//! ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings, but for compiling their expressions.
//!
//! Upstream: pkg/apis/admissionregistration/validation (v1.37).

use super::{
    field::{Errors, given, items, path_segment, same, text},
    rules,
};
use kubestep_model::{text::go, text::names};
use serde_json::Value;

const FAILURE: [&str; 2] = ["Fail", "Ignore"];
const MATCH: [&str; 2] = ["Equivalent", "Exact"];
const AGAIN: [&str; 2] = ["IfNeeded", "Never"];
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
/// What is deleted is not changed before.
const MUTATING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];
const MOST_ANNOTATIONS: usize = 20;
const LONGEST_VALUE: usize = 5 * 1024;
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A policy of either kind, new or, with its old state, changed.
pub(super) fn policy(whole: &Value, old: Option<&Value>, mutating: bool) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    if given(&spec["failurePolicy"]) {
        errors.choice("spec.failurePolicy", &spec["failurePolicy"], &FAILURE);
    } else {
        errors.required("spec.failurePolicy", "");
    }
    if given(&spec["paramKind"]) {
        param_kind(&mut errors, &spec["paramKind"]);
    }
    constraints(&mut errors, &spec["matchConstraints"], mutating);
    let seen = |old: &Value| {
        let same = |name: &str| same(&spec[name], &old["spec"][name]);
        same("paramKind") && same("matchConditions")
    };
    if !old.is_some_and(seen) {
        rules::conditions(&mut errors, &spec["matchConditions"], "spec.matchConditions");
    }
    for (i, variable) in items(&spec["variables"]).iter().enumerate() {
        self::variable(&mut errors, variable, &format!("spec.variables[{i}]"));
    }
    if mutating {
        mutations(&mut errors, spec)
    } else {
        validations(&mut errors, whole)
    }
    errors
}

fn constraints(errors: &mut Errors, constraints: &Value, mutating: bool) {
    const FIELD: &str = "spec.matchConstraints";
    if !given(constraints) {
        errors.required(FIELD, "");
        return;
    }
    resources(errors, constraints, FIELD);
    if !rules::given_or_empty(&constraints["resourceRules"]) {
        errors.required(&format!("{FIELD}.resourceRules"), "");
    }
    if mutating {
        operations(errors, constraints, FIELD);
    }
}

fn operations(errors: &mut Errors, resources: &Value, field: &str) {
    for rule in items(&resources["resourceRules"]) {
        for operation in items(&rule["operations"]) {
            errors.choice(&format!("{field}.resourceRules.operations"), operation, &MUTATING);
        }
    }
}

/// Upstream: validateMatchResources.
fn resources(errors: &mut Errors, resources: &Value, field: &str) {
    if given(&resources["matchPolicy"]) {
        errors.choice(&format!("{field}.matchPolicy"), &resources["matchPolicy"], &MATCH);
    } else {
        errors.required(&format!("{field}.matchPolicy"), "");
    }
    for name in ["namespaceSelector", "objectSelector"] {
        let field = format!("{field}.{name}");
        if given(&resources[name]) {
            errors.label_selector(&field, &resources[name]);
        } else {
            errors.required(&field, "");
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for (i, rule) in items(&resources[name]).iter().enumerate() {
            rules::rule(errors, rule, &format!("{field}.{name}[{i}]"));
        }
    }
}

fn param_kind(errors: &mut Errors, kind: &Value) {
    const FIELD: &str = "spec.paramKind.apiVersion";
    let version = text(&kind["apiVersion"]);
    let parts: Vec<&str> = version.split('/').collect();
    match parts.as_slice() {
        [""] => errors.required(FIELD, ""),
        ["", ""] => errors.invalid_text(FIELD, version, "version must be specified"),
        [only] => errors.invalid_joined(FIELD, only, &names::is_dns1035_label(only)),
        [group, version_of] => {
            if !group.is_empty() {
                errors.invalid_joined(FIELD, group, &names::is_dns1123_subdomain(group));
            }
            if version_of.is_empty() {
                errors.invalid_text(FIELD, version, "version must be specified");
            } else {
                errors.invalid_joined(FIELD, version_of, &names::is_dns1035_label(version_of));
            }
        }
        _ => errors.invalid_text(FIELD, version, &format!("unexpected GroupVersion string: {version}")),
    }
    let name = text(&kind["kind"]);
    if name.is_empty() {
        errors.required("spec.paramKind.kind", "");
        return;
    }
    let wrong = names::is_dns1035_label(&name.to_ascii_lowercase());
    if !wrong.is_empty() {
        let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
        errors.invalid_text("spec.paramKind.kind", name, &why);
    }
}

fn variable(errors: &mut Errors, variable: &Value, field: &str) {
    let name = text(&variable["name"]);
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.trim().is_empty() {
        errors.required(&format!("{field}.name"), "name is not specified");
    } else if !name.chars().all(letters)
        || name.starts_with(|c: char| c.is_ascii_digit())
        || RESERVED.contains(&name)
    {
        errors.invalid_text(&format!("{field}.name"), name, "must be a valid CEL identifier");
    }
    if text(&variable["expression"]).trim().is_empty() {
        errors.required(&format!("{field}.expression"), "expression is not specified");
    }
}

fn validations(errors: &mut Errors, whole: &Value) {
    let spec = &whole["spec"];
    let (validations, annotations) = (items(&spec["validations"]), items(&spec["auditAnnotations"]));
    if validations.is_empty() && annotations.is_empty() {
        let why = "validations or auditAnnotations must contain at least one item";
        errors.required("spec.validations", why);
        errors.required("spec.auditAnnotations", why);
        return;
    }
    for (i, validation) in validations.iter().enumerate() {
        self::validation(errors, validation, &format!("spec.validations[{i}]"));
    }
    if annotations.len() > MOST_ANNOTATIONS {
        let shown = super::internal::shown("[]AuditAnnotation", &spec["auditAnnotations"]);
        let why = format!("must not have more than {MOST_ANNOTATIONS} auditAnnotations");
        errors.invalid("spec.auditAnnotations", &shown, &why);
    }
    let name = text(&whole["metadata"]["name"]);
    for (i, annotation) in annotations.iter().enumerate() {
        let (field, key) = (format!("spec.auditAnnotations[{i}]"), text(&annotation["key"]));
        if name.is_empty() {
            errors.invalid_text(&format!("{field}.key"), key, "requires metadata.name be non-empty");
        } else {
            errors.qualified_name(&format!("{field}.key"), &format!("{name}/{key}"));
        }
        let value = text(&annotation["valueExpression"]).trim();
        if value.is_empty() {
            errors.required(&format!("{field}.valueExpression"), "valueExpression is not specified");
        } else if value.len() > LONGEST_VALUE {
            let why = format!("must not exceed {LONGEST_VALUE} bytes in length");
            errors.required(&format!("{field}.valueExpression"), &why);
        }
        if annotations[..i].iter().any(|a| text(&a["key"]) == key) {
            errors.duplicate(&format!("{field}.key"), &go::quote(key));
        }
    }
}

fn validation(errors: &mut Errors, validation: &Value, field: &str) {
    if text(&validation["expression"]).trim().is_empty() {
        errors.required(&format!("{field}.expression"), "expression is not specified");
    }
    for name in ["messageExpression", "message"] {
        let said = text(&validation[name]);
        if !said.is_empty() && said.trim().is_empty() {
            errors.invalid_text(&format!("{field}.{name}"), said, "must be non-empty if specified");
        } else if name == "message" && said.trim().contains(['\n', '\r']) {
            errors.invalid_text(&format!("{field}.{name}"), said, "must not contain line breaks");
        }
    }
    errors.choice(&format!("{field}.reason"), &validation["reason"], &REASONS);
}

fn mutations(errors: &mut Errors, spec: &Value) {
    let all = items(&spec["mutations"]);
    if all.is_empty() {
        errors.required("spec.mutations", "mutations must contain at least one item");
    }
    for (i, mutation) in all.iter().enumerate() {
        let field = format!("spec.mutations[{i}]");
        let kind = text(&mutation["patchType"]);
        let (own, other) = match kind {
            "JSONPatch" => ("jsonPatch", "applyConfiguration"),
            "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
            _ => {
                let known = ["ApplyConfiguration", "JSONPatch"];
                errors.needed_choice(&format!("{field}.patchType"), &mutation["patchType"], &known);
                continue;
            }
        };
        if !given(&mutation[own]) {
            errors
                .required(&format!("{field}.{own}"), &format!("must be specified when patchType is {kind}"));
        } else if text(&mutation[own]["expression"]).trim().is_empty() {
            errors.required(&format!("{field}.{own}.expression"), "");
        }
        if given(&mutation[other]) {
            let why = format!("must not be specified when patchType is {kind}");
            errors.invalid_text(&format!("{field}.{other}"), &format!("{{{other}}}"), &why);
        }
    }
    errors.needed_choice("spec.reinvocationPolicy", &spec["reinvocationPolicy"], &AGAIN);
}

/// A binding of a policy of either kind.
pub(super) fn binding(whole: &Value, mutating: bool) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let name = text(&spec["policyName"]);
    let mut missing = Errors::new();
    if name.is_empty() {
        missing.required("spec.policyName", "");
    } else {
        errors.subdomain("spec.policyName", name);
    }
    if mutating {
        errors.append(missing)
    } else {
        errors.append_declared(missing)
    }
    if given(&spec["paramRef"]) {
        parameter(&mut errors, &spec["paramRef"]);
    }
    let resources = &spec["matchResources"];
    if given(resources) {
        self::resources(&mut errors, resources, "spec.matchResources");
        if mutating {
            operations(&mut errors, resources, "spec.matchResources");
        }
    }
    if !mutating {
        actions(&mut errors, &spec["validationActions"]);
    }
    errors
}

fn parameter(errors: &mut Errors, parameter: &Value) {
    const FIELD: &str = "spec.paramRef";
    const ONE: &str = "name and selector are mutually exclusive";
    let (name, selector) = (text(&parameter["name"]), &parameter["selector"]);
    if !name.is_empty() {
        errors.invalid_each(&format!("{FIELD}.name"), name, path_segment(name));
        if given(selector) {
            errors.forbidden(&format!("{FIELD}.name"), ONE);
        }
    }
    if given(selector) {
        errors.label_selector(&format!("{FIELD}.selector"), selector);
        if !name.is_empty() {
            errors.forbidden(&format!("{FIELD}.selector"), ONE);
        }
    }
    if name.is_empty() && !given(selector) {
        errors.required(FIELD, "one of name or selector must be specified");
    }
    let field = format!("{FIELD}.parameterNotFoundAction");
    errors.needed_choice(&field, &parameter["parameterNotFoundAction"], &["Deny", "Allow"]);
}

fn actions(errors: &mut Errors, actions: &Value) {
    const FIELD: &str = "spec.validationActions";
    let all = items(actions);
    for (i, action) in all.iter().enumerate() {
        let field = format!("{FIELD}[{i}]");
        errors.choice(&field, action, &ACTIONS);
        if all[..i].contains(action) {
            errors.duplicate(&field, &action.to_string());
        }
    }
    let has = |name: &str| all.iter().any(|a| text(a) == name);
    if has("Deny") && has("Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        errors.invalid(FIELD, &actions.to_string(), why);
    }
    if all.is_empty() {
        errors.declared(&|errors: &mut Errors| errors.required(FIELD, ""));
    }
}
