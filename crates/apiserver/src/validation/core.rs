//! The smaller core kinds: ConfigMap, Secret, ResourceQuota, and what may change about them.
//!
//! Upstream: pkg/apis/core/validation (v1.37).

use super::{
    endpoints, event,
    field::{Errors, IMMUTABLE, items, text},
    node, resources, small, whole_kinds,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{ConfigMap, Object, ResourceQuota, Secret, text::names};
use serde_json::Value;

/// A ConfigMap's or Secret's data, all together.
const MOST_BYTES: usize = 1024 * 1024;

pub(super) fn object(object: &Object, whole: &Value) -> Errors {
    match object {
        Object::Custom(custom) => whole_kinds::object(custom, whole),
        Object::Endpoints(_) => endpoints::endpoints(whole),
        Object::EndpointSlice(_) => endpoints::slice(whole),
        Object::Lease(_) => small::lease(whole),
        Object::Namespace(_) => small::namespace(whole),
        Object::Node(_) => node::check(whole),
        Object::Event(_) => event::check(whole),
        Object::ConfigMap(map) => config_map(map),
        Object::Secret(secret) => self::secret(secret),
        Object::ResourceQuota(quota) => self::quota(quota),
        _ => Errors::new(),
    }
}

pub(super) fn changed(new: &Object, old: &Object, whole: &Value) -> Errors {
    let mut errors = Errors::new();
    match (new, old) {
        (Object::EndpointSlice(new), Object::EndpointSlice(old)) if new.address_type != old.address_type => {
            errors.invalid("addressType", "null", IMMUTABLE);
        }
        (Object::Node(_), Object::Node(_)) => return node::changed(whole, &old.to_value()),
        (Object::ConfigMap(new), Object::ConfigMap(old)) if old.immutable == Some(true) => {
            stays(&mut errors, new.immutable == Some(true), "immutable");
            stays(&mut errors, new.data == old.data, "data");
            stays(&mut errors, new.binary_data == old.binary_data, "binaryData");
        }
        (Object::Secret(new), Object::Secret(old)) => {
            if new.r#type != old.r#type {
                errors.invalid_text("type", &new.r#type, IMMUTABLE);
            }
            if old.immutable == Some(true) {
                stays(&mut errors, new.immutable == Some(true), "immutable");
                stays(&mut errors, new.data == old.data, "data");
            }
        }
        (Object::ResourceQuota(new), Object::ResourceQuota(old)) => {
            let mut scopes = (new.spec.scopes.clone(), old.spec.scopes.clone());
            scopes.0.arrange();
            scopes.1.arrange();
            if scopes.0 != scopes.1 {
                let shown = serde_json::to_string(&new.spec.scopes).unwrap_or_default();
                errors.invalid("spec.scopes", &shown, IMMUTABLE);
            }
        }
        _ => {}
    }
    errors
}

fn stays(errors: &mut Errors, same: bool, field: &str) {
    if !same {
        errors.forbidden(field, "field is immutable when `immutable` is set");
    }
}

fn config_map(map: &ConfigMap) -> Errors {
    let mut errors = Errors::new();
    for key in map.data.keys() {
        let field = format!("data[{key}]");
        errors.invalid_each(&field, key, names::is_config_map_key(key));
        if map.binary_data.contains_key(key) {
            errors.invalid_text(&field, key, "duplicate of key present in binaryData");
        }
    }
    for key in map.binary_data.keys() {
        errors.invalid_each(&format!("binaryData[{key}]"), key, names::is_config_map_key(key));
    }
    let text: usize = map.data.values().map(String::len).sum();
    let binary: usize = map.binary_data.values().map(|v| decoded_len(v)).sum();
    if text + binary > MOST_BYTES {
        errors.too_long("[]", MOST_BYTES);
    }
    errors
}

fn decoded_len(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

fn secret(secret: &Secret) -> Errors {
    let mut errors = Errors::new();
    let mut bytes = 0;
    for (key, value) in &secret.data {
        errors.invalid_each(&format!("data[{key}]"), key, names::is_config_map_key(key));
        bytes += decoded_len(value);
    }
    if bytes > MOST_BYTES {
        errors.too_long("data", MOST_BYTES);
    }
    let has = |key: &str| secret.data.contains_key(key);
    match secret.r#type.as_str() {
        "kubernetes.io/service-account-token" => {
            let account = secret.metadata.annotations.get("kubernetes.io/service-account.name");
            if account.is_none_or(String::is_empty) {
                errors.required("metadata.annotations[kubernetes.io/service-account.name]", "");
            }
        }
        "kubernetes.io/dockercfg" => docker(&mut errors, secret, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => docker(&mut errors, secret, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            errors.required("data[username]", "");
            errors.required("data[password]", "");
        }
        "kubernetes.io/ssh-auth" if secret.data.get("ssh-privatekey").is_none_or(String::is_empty) => {
            errors.required("data[ssh-privatekey]", "");
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)) {
                errors.required(&format!("data[{key}]"), "");
            }
        }
        _ => {}
    }
    errors
}

fn docker(errors: &mut Errors, secret: &Secret, key: &str) {
    let field = format!("data[{key}]");
    let Some(encoded) = secret.data.get(key) else {
        errors.required(&field, "");
        return;
    };
    let decoded = crate::base64::decode(encoded).unwrap_or_default();
    let text = String::from_utf8_lossy(&decoded).into_owned();
    if let Err(why) = kubestep_model::text::go_json::check(&text) {
        errors.invalid_text(&field, "<secret contents redacted>", &why);
    }
}

/// Upstream: ValidateResourceQuotaSpec.
fn quota(quota: &ResourceQuota) -> Errors {
    let mut errors = Errors::new();
    for (name, amount) in &quota.spec.hard {
        let field = format!("spec.hard[{name}]");
        quota_resource(&mut errors, name, &field);
        resources::quantity(&mut errors, name, amount, &field);
    }
    let known = [
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass",
    ];
    let shown = serde_json::to_string(&quota.spec.scopes).unwrap_or_default();
    for scope in &quota.spec.scopes {
        if !known.contains(&scope.as_str()) {
            errors.invalid("spec.scopes", &shown, "unsupported scope");
        }
        if quota.spec.hard.keys().any(|name| is_standard(name) && !fits(scope, name)) {
            errors.invalid("spec.scopes", &shown, "unsupported scope applied to resource");
        }
    }
    let has = |scope: &str| quota.spec.scopes.iter().any(|s| s == scope);
    if (has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")) {
        errors.invalid("spec.scopes", &shown, "conflicting scopes");
    }
    if let Some(selector) = &quota.spec.scope_selector {
        scope_selector(&mut errors, selector, quota, &known);
    }
    errors
}

/// Resources that a quota with scopes may be about at all. Upstream: IsStandardQuotaResourceName.
fn is_standard(name: &str) -> bool {
    resources::is_standard(name) || name.starts_with("requests.hugepages-")
}

/// Whether a scope tells objects apart that use this resource. Upstream: IsResourceQuotaScopeValidForResource.
fn fits(scope: &str, name: &str) -> bool {
    const OF_PODS: [&str; 10] = [
        "pods",
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
    ];
    match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => {
            matches!(name, "persistentvolumeclaims" | "requests.storage") || name.contains(".storageclass.")
        }
        _ => {
            OF_PODS.contains(&name)
                || name.starts_with("hugepages-")
                || name.starts_with("requests.hugepages-")
        }
    }
}

/// Upstream: validateScopedResourceSelectorRequirement.
fn scope_selector(errors: &mut Errors, selector: &Value, quota: &ResourceQuota, known: &[&str]) {
    const AT: &str = "spec.scopeSelector.matchExpressions";
    const ONLY_EXISTS: [&str; 5] =
        ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
    let terms = items(&selector["matchExpressions"]);
    for term in terms {
        let (scope, operator, values) = (text(&term["scopeName"]), text(&term["operator"]), &term["values"]);
        if !known.contains(&scope) {
            errors.invalid_text(&format!("{AT}.scopeName"), scope, "unsupported scope");
        } else if quota.spec.hard.keys().any(|name| is_standard(name) && !fits(scope, name)) {
            let shown = super::internal::shown("ScopeSelector", selector);
            errors.invalid(AT, &shown, "unsupported scope applied to resource");
        }
        if ONLY_EXISTS.contains(&scope) && operator != "Exists" {
            let why = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid_text(&format!("{AT}.operator"), operator, why);
        }
        match operator {
            "In" | "NotIn" if items(values).is_empty() => {
                let why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.required(&format!("{AT}.values"), why);
            }
            "Exists" | "DoesNotExist" if !items(values).is_empty() => {
                let why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.invalid(&format!("{AT}.values"), &values.to_string(), why);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                errors.invalid_text(&format!("{AT}.operator"), other, "not a valid selector operator");
            }
        }
    }
    let has = |scope: &str| terms.iter().any(|t| text(&t["scopeName"]) == scope);
    if (has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")) {
        let shown = serde_json::to_string(&quota.spec.scopes).unwrap_or_default();
        errors.invalid(AT, &shown, "conflicting scopes");
    }
}

fn quota_resource(errors: &mut Errors, name: &str, field: &str) {
    let wrong = names::is_qualified_name(name);
    let qualified = wrong.is_empty();
    errors.invalid_each(field, name, wrong);
    if !name.contains('/') && !resources::is_standard(name) {
        if qualified {
            errors.invalid_text(field, name, "must be a standard resource type or fully qualified");
        }
        errors.invalid_text(field, name, "must be a standard resource for quota");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_counted_decoded() {
        assert_eq!(decoded_len("aGVsbG8="), 5);
        assert_eq!(decoded_len(""), 0);
    }
}
