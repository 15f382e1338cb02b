//! DeviceClass and DeviceTaintRule, and what all kinds of resource.k8s.io are made of.
//!
//! Upstream: pkg/apis/resource/validation (v1.37). Expressions are not compiled.

use super::field::{Errors, given, items, same, text};
use kubestep_model::text::names;
use serde_json::Value;

pub(super) const MOST: usize = 32;
const LONGEST_ID: usize = 32;
const LONGEST_EXPRESSION: usize = 10 * 1024;
pub(super) const LONGEST_PARAMETERS: usize = 10 * 1024;
const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];
const OPERATORS: [&str; 2] = ["Equal", "Exists"];
const OMITTED: &str = "<value omitted>";

/// Checks of what upstream checks by hand, and of what it declares: the second are told last.
pub(super) type Check<'a> = &'a dyn Fn(&mut Errors, &Value, &str);

/// Each item of a list that is not too long; `declared` says by whom its length is checked.
pub(super) fn each(errors: &mut Errors, list: &Value, most: usize, field: &str, check: Check<'_>) {
    let all = items(list);
    if all.len() <= most {
        all.iter().enumerate().for_each(|(i, item)| check(errors, item, &format!("{field}[{i}]")));
    }
}

/// A list that is too long, as upstream declares it. Answers whether it is.
pub(super) fn too_many(errors: &mut Errors, list: &Value, most: usize, field: &str) -> bool {
    let there = items(list).len();
    if there > most {
        errors.too_many(field, there, most);
    }
    there > most
}

/// Items that stand there twice, told apart by some of their fields, shown as the API writes them.
pub(super) fn twice(errors: &mut Errors, list: &Value, keys: &[&str], field: &str, shown: &str) {
    let all = items(list);
    let key = |item: &Value| -> Vec<Value> {
        if keys.is_empty() { vec![item.clone()] } else { keys.iter().map(|k| item[*k].clone()).collect() }
    };
    for (i, item) in all.iter().enumerate() {
        if all[..i].iter().any(|other| key(other) == key(item)) {
            let shown = match shown {
                "" => item.to_string(),
                "name" => Value::from(text(&item["name"])).to_string(),
                kind => kubestep_model::schema::written(kind, item),
            };
            errors.duplicate(&format!("{field}[{i}]"), &shown);
        }
    }
}

pub(super) fn class(whole: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let stored = old.is_some_and(|old| same(&spec["selectors"], &old["spec"]["selectors"]));
    each(&mut errors, &spec["selectors"], MOST, "spec.selectors", &|errors, item, field| {
        selector(errors, item, field, stored);
    });
    let stored = old.is_some_and(|old| same(&spec["config"], &old["spec"]["config"]));
    each(&mut errors, &spec["config"], MOST, "spec.config", &|errors, item, field| {
        configuration(errors, item, field, stored);
    });
    errors.declared(&|errors: &mut Errors| {
        too_many(errors, &spec["selectors"], MOST, "spec.selectors");
        if !too_many(errors, &spec["config"], MOST, "spec.config") {
            each(errors, &spec["config"], MOST, "spec.config", &declared_configuration);
        }
        if given(&spec["extendedResourceName"]) {
            extended_name(errors, text(&spec["extendedResourceName"]), "spec.extendedResourceName");
        }
    });
    errors
}

/// Upstream: apimachinery/pkg/api/validate, ExtendedResourceName.
fn extended_name(errors: &mut Errors, name: &str, field: &str) {
    if !name.contains('/') {
        let why = "a name must be a domain-prefixed path, such as 'example.com/my-prop'";
        errors.invalid_text(field, name, why);
    } else if name.contains("kubernetes.io/") {
        errors.invalid_text(field, name, "must not have \"kubernetes.io/\" domain");
    }
    if name.starts_with("requests.") {
        errors.invalid_text(field, name, "must not have \"requests.\" prefix");
    }
    errors.invalid_each(field, name, names::is_qualified_name(&format!("requests.{name}")));
}

pub(super) fn selector(errors: &mut Errors, selector: &Value, field: &str, stored: bool) {
    if !given(&selector["cel"]) {
        errors.required(&format!("{field}.cel"), "");
    } else if !stored && text(&selector["cel"]["expression"]).len() > LONGEST_EXPRESSION {
        errors.too_long(&format!("{field}.cel.expression"), LONGEST_EXPRESSION);
    }
}

/// Parameters for a driver.
pub(super) fn configuration(errors: &mut Errors, config: &Value, field: &str, stored: bool) {
    let field = format!("{field}.opaque");
    if !given(&config["opaque"]) {
        errors.required(&field, "");
        return;
    }
    raw(errors, &config["opaque"]["parameters"], &format!("{field}.parameters"), stored, LONGEST_PARAMETERS);
}

pub(super) fn declared_configuration(errors: &mut Errors, config: &Value, field: &str) {
    if given(&config["opaque"]) {
        errors.caseless_driver(&format!("{field}.opaque.driver"), text(&config["opaque"]["driver"]));
    }
}

/// Any JSON, as long as it is an object. Upstream: validateRawExtension.
pub(super) fn raw(errors: &mut Errors, value: &Value, field: &str, stored: bool, longest: usize) {
    if !given(value) {
        errors.required(field, "");
    } else if !stored && value.to_string().len() > longest {
        errors.too_long(field, longest);
    } else if !value.is_object() {
        errors.invalid_text(field, OMITTED, "must be a valid JSON object");
    }
}

pub(super) fn label_value(errors: &mut Errors, value: &str, field: &str) {
    errors.invalid_each(field, value, names::is_valid_label_value(value));
}

pub(super) fn toleration(errors: &mut Errors, toleration: &Value, field: &str) {
    let value = text(&toleration["value"]);
    let field = format!("{field}.value");
    match text(&toleration["operator"]) {
        "Exists" if !value.is_empty() => {
            errors.invalid_text(&field, value, "must be empty for operator `Exists`");
        }
        "Equal" => label_value(errors, value, &field),
        _ => {}
    }
}

pub(super) fn declared_toleration(errors: &mut Errors, toleration: &Value, field: &str) {
    let key = text(&toleration["key"]);
    if !key.is_empty() {
        errors.qualified_name(&format!("{field}.key"), key);
    }
    errors.needed_choice(&format!("{field}.operator"), &toleration["operator"], &OPERATORS);
    if !text(&toleration["effect"]).is_empty() {
        errors.choice(&format!("{field}.effect"), &toleration["effect"], &EFFECTS);
    }
}

/// A taint of a device; its effect is told last.
pub(super) fn taint(errors: &mut Errors, taint: &Value, field: &str) {
    errors.qualified_name(&format!("{field}.key"), text(&taint["key"]));
    let value = text(&taint["value"]);
    if !value.is_empty() {
        label_value(errors, value, &format!("{field}.value"));
    }
}

pub(super) fn declared_taint(errors: &mut Errors, taint: &Value, field: &str) {
    errors.needed_choice(&format!("{field}.effect"), &taint["effect"], &EFFECTS);
}

/// Upstream: validatePoolName.
pub(super) fn pool_name(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    if name.len() > names::SUBDOMAIN_MAX {
        errors.too_long(field, names::SUBDOMAIN_MAX);
    }
    for part in name.split('/') {
        errors.subdomain(field, part);
    }
}

/// The same where upstream declares it.
pub(super) fn declared_pool_name(errors: &mut Errors, name: &str, field: &str) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    if name.len() > names::SUBDOMAIN_MAX {
        errors.too_long(field, names::SUBDOMAIN_MAX);
    }
    for (i, part) in name.split('/').enumerate() {
        if part.is_empty() {
            errors.invalid_text(field, name, &format!("segment {i}: must not be empty"));
            continue;
        }
        for message in names::is_dns1123_subdomain(part) {
            errors.invalid_text(field, part, &format!("segment {i}: {message}"));
        }
    }
}

/// The name of an attribute or a capacity. Upstream: validateQualifiedName.
pub(super) fn attribute_name(errors: &mut Errors, name: &str, field: &str) {
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        [only] => identifier(errors, only, field),
        [domain, id] => {
            if domain.is_empty() {
                errors.invalid_text(field, "", "the domain must not be empty");
            } else {
                errors.driver(field, domain);
            }
            if id.is_empty() {
                errors.invalid_text(field, "", "the name must not be empty");
            } else {
                identifier(errors, id, field);
            }
        }
        _ => {}
    }
}

/// The same with a domain, as upstream declares it. Upstream: ResourceFullyQualifiedName.
pub(super) fn declared_full_name(errors: &mut Errors, name: &str, field: &str) {
    let parts: Vec<&str> = name.split('/').collect();
    match parts.as_slice() {
        [only] => identifier(errors, only, field),
        [domain, id] => {
            if domain.is_empty() {
                errors.invalid_text(field, "", "prefix must not be empty");
            } else {
                if domain.len() > names::LABEL_MAX {
                    errors.too_long(field, names::LABEL_MAX);
                }
                for message in names::is_dns1123_subdomain(domain) {
                    errors.invalid_text(field, domain, &format!("prefix: {message}"));
                }
            }
            if id.is_empty() {
                errors.invalid_text(field, "", "name must not be empty");
            } else {
                identifier(errors, id, field);
            }
        }
        _ => {}
    }
    if !name.contains('/') {
        let why = "a fully qualified name must be a domain and a name separated by a slash";
        errors.invalid_text(field, name, why);
    }
}

fn identifier(errors: &mut Errors, id: &str, field: &str) {
    if id.len() > LONGEST_ID {
        errors.too_long(field, LONGEST_ID);
    }
    errors.invalid_each(field, id, names::is_c_identifier(id));
}

/// Conditions that bind, and that fail to: both or neither. Upstream: validateDeviceBindingParameters.
pub(super) fn bindings(errors: &mut Errors, of: &Value, field: &str) {
    const MOST_BINDINGS: usize = 4;
    let lists = ["bindingConditions", "bindingFailureConditions"];
    for name in lists {
        each(errors, &of[name], MOST_BINDINGS, &format!("{field}.{name}"), &|errors, item, field| {
            errors.qualified_name(field, text(item));
        });
    }
    for name in lists {
        let (at, all) = (format!("{field}.{name}"), items(&of[name]));
        for (i, condition) in all.iter().enumerate() {
            let at = format!("{at}[{i}]");
            if all[..i].contains(condition) {
                errors.duplicate(&at, &condition.to_string());
            }
            if name != lists[0] && items(&of[lists[0]]).contains(condition) {
                let why = "bindingFailureConditions must not overlap with bindingConditions";
                errors.invalid_text(&at, text(condition), why);
            }
        }
    }
    let (binding, failing) = (items(&of[lists[0]]).is_empty(), items(&of[lists[1]]).is_empty());
    if binding != failing {
        let (missing, there) = if binding { (lists[0], lists[1]) } else { (lists[1], lists[0]) };
        errors.invalid(
            &format!("{field}.{missing}"),
            "null",
            &format!("{missing} are required to use {there}"),
        );
    }
    errors.declared(&|errors: &mut Errors| {
        for name in lists {
            too_many(errors, &of[name], MOST_BINDINGS, &format!("{field}.{name}"));
        }
    });
}

pub(super) fn taint_rule(whole: &Value, old: Option<&Value>) -> Errors {
    let mut errors = Errors::new();
    let (selector, spec) = (&whole["spec"]["deviceSelector"], &whole["spec"]["taint"]);
    if given(&selector["driver"]) {
        errors.driver("spec.deviceSelector.driver", text(&selector["driver"]));
    }
    if given(&selector["pool"]) {
        pool_name(&mut errors, text(&selector["pool"]), "spec.deviceSelector.pool");
    }
    if given(&selector["device"]) {
        errors.dns_label("spec.deviceSelector.device", text(&selector["device"]));
    }
    taint(&mut errors, spec, "spec.taint");
    if !old.is_some_and(|old| old["spec"]["taint"]["effect"] == spec["effect"]) {
        errors.declared(&|errors: &mut Errors| declared_taint(errors, spec, "spec.taint"));
    }
    errors
}
