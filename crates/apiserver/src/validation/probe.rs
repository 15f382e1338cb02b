//! Probes and life-cycle hooks.
//!
//! Upstream: pkg/apis/core/validation, validateProbe and validateLifecycle (v1.37).

use super::field::{Errors, items, number, text};
use kubestep_model::text::names;
use serde_json::Value;

pub(super) fn lifecycle(errors: &mut Errors, lifecycle: &Value, grace: i64, field: &str) {
    for hook in ["postStart", "preStop"] {
        if !lifecycle[hook].is_null() {
            handler(errors, &lifecycle[hook], grace, &format!("{field}.{hook}"));
        }
    }
}

pub(super) fn probes(errors: &mut Errors, container: &Value, grace: i64, field: &str) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = &container[name];
        if probe.is_null() {
            continue;
        }
        let at = |part: &str| format!("{field}.{name}.{part}");
        handler(errors, probe, grace, &format!("{field}.{name}"));
        for part in
            ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
        {
            errors.not_negative(&at(part), number(&probe[part]));
        }
        let own_grace = &probe["terminationGracePeriodSeconds"];
        if !own_grace.is_null() && number(own_grace) <= 0 {
            errors.invalid(
                &at("terminationGracePeriodSeconds"),
                &own_grace.to_string(),
                "must be greater than 0",
            );
        }
        if name == "readinessProbe" {
            if !own_grace.is_null() {
                let why = "must not be set for readinessProbes";
                errors.invalid(&at("terminationGracePeriodSeconds"), &own_grace.to_string(), why);
            }
        } else if number(&probe["successThreshold"]) != 1 {
            errors.invalid(
                &at("successThreshold"),
                &number(&probe["successThreshold"]).to_string(),
                "must be 1",
            );
        }
    }
}

fn handler(errors: &mut Errors, handler: &Value, grace: i64, field: &str) {
    let mut found = false;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = &handler[kind];
        if action.is_null() {
            continue;
        }
        let field = format!("{field}.{kind}");
        if found {
            errors.forbidden(&field, "may not specify more than 1 handler type");
            continue;
        }
        found = true;
        match kind {
            "exec" if items(&action["command"]).is_empty() => {
                errors.required(&format!("{field}.command"), "")
            }
            "httpGet" => http_get(errors, action, &field),
            "tcpSocket" => port(errors, &action["port"], &format!("{field}.port")),
            "grpc" => {
                let n = number(&action["port"]);
                errors.invalid_number(&format!("{field}.port"), n, names::is_valid_port_num(n));
            }
            "sleep" => {
                let seconds = number(&action["seconds"]);
                if seconds < 0 || seconds > grace {
                    let why =
                        format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    errors.invalid(&field, &seconds.to_string(), &why);
                }
            }
            _ => {}
        }
    }
    if !found {
        errors.required(field, "must specify a handler type");
    }
}

fn http_get(errors: &mut Errors, action: &Value, field: &str) {
    if text(&action["path"]).is_empty() {
        errors.required(&format!("{field}.path"), "");
    }
    port(errors, &action["port"], &format!("{field}.port"));
    let scheme = text(&action["scheme"]);
    if !matches!(scheme, "HTTP" | "HTTPS") {
        errors.not_supported_text(&format!("{field}.scheme"), scheme, &["HTTP", "HTTPS"]);
    }
    for header in items(&action["httpHeaders"]) {
        let name = text(&header["name"]);
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            let words = "a valid HTTP header must consist of alphanumeric characters or '-'";
            let why = names::regex_error(words, "[-A-Za-z0-9]+", &["X-Header-Name"]);
            errors.invalid_text(&format!("{field}.httpHeaders"), name, &why);
        }
    }
}

/// A port by number or by name.
pub(super) fn port(errors: &mut Errors, port: &Value, field: &str) {
    match port {
        Value::String(name) => errors.invalid_each(field, name, names::is_valid_port_name(name)),
        other => {
            let n = number(other);
            errors.invalid_number(field, n, names::is_valid_port_num(n));
        }
    }
}
