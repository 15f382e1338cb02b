//! Security contexts of pods and containers.
//!
//! Upstream: pkg/apis/core/validation, validatePodSpecSecurityContext and ValidateSecurityContext (v1.37).

use super::field::{Errors, flag, number, text};
use kubestep_model::text::names;
use serde_json::Value;

pub(super) fn pod(errors: &mut Errors, spec: &Value, field: &str, _is_pod: bool) {
    let context = &spec["securityContext"];
    let at = format!("{field}.securityContext");
    ids(errors, context, &at);
    if flag(&spec["shareProcessNamespace"]) && flag(&spec["hostPID"]) {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&format!("{field}.shareProcessNamespace"), "true", why);
    }
    if text(&spec["os"]["name"]) == "windows" {
        for part in ["runAsUser", "runAsGroup", "fsGroup", "supplementalGroups", "seLinuxOptions", "sysctls"]
        {
            if !context[part].is_null() {
                errors.forbidden(&format!("{at}.{part}"), "cannot be set for a windows pod");
            }
        }
    }
}

fn ids(errors: &mut Errors, context: &Value, field: &str) {
    for part in ["fsGroup", "runAsUser", "runAsGroup"] {
        if !context[part].is_null() {
            let id = number(&context[part]);
            errors.invalid_number(&format!("{field}.{part}"), id, names::is_in_range(id, 0, i32::MAX.into()));
        }
    }
}

pub(super) fn container(errors: &mut Errors, context: &Value, field: &str) {
    if context.is_null() {
        return;
    }
    ids(errors, context, field);
    if context["allowPrivilegeEscalation"] == Value::Bool(false) {
        if flag(&context["privileged"]) {
            let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid(field, &shown(context), why);
        }
        let added =
            context["capabilities"]["add"].as_array().is_some_and(|a| a.iter().any(|c| c == "CAP_SYS_ADMIN"));
        if added {
            let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid(field, &shown(context), why);
        }
    }
}

/// As Go prints its own form of a security context: every field by its name in Go.
fn shown(context: &Value) -> String {
    const FIELDS: [(&str, &str); 12] = [
        ("Capabilities", "capabilities"),
        ("Privileged", "privileged"),
        ("SELinuxOptions", "seLinuxOptions"),
        ("WindowsOptions", "windowsOptions"),
        ("RunAsUser", "runAsUser"),
        ("RunAsGroup", "runAsGroup"),
        ("RunAsNonRoot", "runAsNonRoot"),
        ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
        ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
        ("ProcMount", "procMount"),
        ("SeccompProfile", "seccompProfile"),
        ("AppArmorProfile", "appArmorProfile"),
    ];
    let each: Vec<String> =
        FIELDS.iter().map(|(go, json)| format!("\"{go}\":{}", in_go(&context[*json]))).collect();
    format!("{{{}}}", each.join(","))
}

/// Nested structs have their fields capitalised; what is not set is not known here and left out.
fn in_go(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let each: Vec<String> = map
                .iter()
                .map(|(key, value)| {
                    let mut letters = key.chars();
                    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
                    format!("\"{first}{}\":{}", letters.as_str(), in_go(value))
                })
                .collect();
            format!("{{{}}}", each.join(","))
        }
        other => other.to_string(),
    }
}
