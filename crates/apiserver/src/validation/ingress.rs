//! Ingress and IngressClass.
//!
//! Upstream: pkg/apis/networking/validation (v1.37).

use super::{
    field::{Errors, given, items, number, path_segment, text},
    job_policies, pod,
};
use kubestep_model::text::names;
use serde_json::Value;

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const WRONG_PARTS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const WRONG_ENDS: [&str; 2] = ["/..", "/."];
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const LONGEST_CONTROLLER: usize = 250;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let rules = items(&spec["rules"]);
    if rules.is_empty() && !given(&spec["defaultBackend"]) {
        errors.invalid("spec", "null", "either `defaultBackend` or `rules` must be specified");
    }
    if given(&spec["defaultBackend"]) {
        backend(&mut errors, &spec["defaultBackend"], "spec.defaultBackend");
    }
    for (i, rule) in rules.iter().enumerate() {
        self::rule(&mut errors, rule, &format!("spec.rules[{i}]"));
    }
    for (i, tls) in items(&spec["tls"]).iter().enumerate() {
        for (j, host) in items(&tls["hosts"]).iter().enumerate() {
            self::host(&mut errors, text(host), &format!("spec.tls[{i}].hosts[{j}]"));
        }
        let secret = text(&tls["secretName"]);
        if !secret.is_empty() {
            let field = format!("spec.tls[{i}].secretName");
            errors.invalid_each(&field, secret, names::is_dns1123_subdomain(secret));
        }
    }
    let class = &spec["ingressClassName"];
    if given(class) {
        errors.invalid_each("spec.ingressClassName", text(class), names::is_dns1123_subdomain(text(class)));
    }
    errors
}

/// What is asked of a new one only: the old annotation may not say otherwise than the field.
pub(super) fn check_annotation(errors: &mut Errors, whole: &Value) {
    let said = &whole["metadata"]["annotations"][CLASS_ANNOTATION];
    let class = &whole["spec"]["ingressClassName"];
    if given(said) && given(class) && text(said) != text(class) {
        let field = format!("annotations.{CLASS_ANNOTATION}");
        errors.invalid_text(&field, text(said), "must match `ingressClassName` when both are specified");
    }
}

fn host(errors: &mut Errors, host: &str, field: &str) {
    let wrong = if host.contains('*') {
        names::is_wildcard_dns1123_subdomain(host)
    } else {
        names::is_dns1123_subdomain(host)
    };
    errors.invalid_each(field, host, wrong);
}

fn rule(errors: &mut Errors, rule: &Value, field: &str) {
    let host = text(&rule["host"]);
    if !host.is_empty() {
        if pod::is_ip(host) {
            let why = "must be a DNS name, not an IP address";
            errors.invalid_text(&format!("{field}.host"), host, why);
        }
        self::host(errors, host, &format!("{field}.host"));
    }
    if !given(&rule["http"]) {
        return;
    }
    let paths = items(&rule["http"]["paths"]);
    if paths.is_empty() {
        errors.required(&format!("{field}.http.paths"), "");
    }
    for (i, path) in paths.iter().enumerate() {
        self::path(errors, path, &format!("{field}.http.paths[{i}]"));
    }
}

fn path(errors: &mut Errors, path: &Value, field: &str) {
    if !given(&path["pathType"]) {
        errors.required(&format!("{field}.pathType"), "pathType must be specified");
        return;
    }
    let (kind, at, value) = (text(&path["pathType"]), format!("{field}.path"), text(&path["path"]));
    match kind {
        "Exact" | "Prefix" => {
            if !value.starts_with('/') {
                errors.invalid_text(&at, value, "must be an absolute path");
            }
            for part in WRONG_PARTS.iter().filter(|part| value.contains(**part)) {
                errors.invalid_text(&at, value, &format!("must not contain '{part}'"));
            }
            for end in WRONG_ENDS.iter().filter(|end| value.ends_with(**end)) {
                errors.invalid_text(&at, value, &format!("cannot end with '{end}'"));
            }
        }
        "ImplementationSpecific" => {
            if !value.is_empty() && !value.starts_with('/') {
                errors.invalid_text(&at, value, "must be an absolute path");
            }
        }
        other => errors.not_supported_text(&format!("{field}.pathType"), other, &PATH_TYPES),
    }
    backend(errors, &path["backend"], &format!("{field}.backend"));
}

fn backend(errors: &mut Errors, backend: &Value, field: &str) {
    let (resource, service) = (&backend["resource"], &backend["service"]);
    match (given(resource), given(service)) {
        (true, true) => {
            errors.invalid_text(field, "", "cannot set both resource and service backends");
        }
        (true, false) => typed_reference(errors, resource, &format!("{field}.resource")),
        (false, true) => self::service(errors, service, field),
        (false, false) => errors.invalid_text(field, "", "resource or service backend is required"),
    }
}

fn service(errors: &mut Errors, service: &Value, field: &str) {
    let name = text(&service["name"]);
    let at = format!("{field}.service.name");
    if name.is_empty() {
        errors.required(&at, "");
    } else {
        errors.invalid_each(&at, name, names::is_dns1123_label(name));
    }
    let (name, port) = (text(&service["port"]["name"]), number(&service["port"]["number"]));
    match (!name.is_empty(), port != 0) {
        (true, true) => errors.invalid_text(field, "", "cannot set both port name & port number"),
        (true, false) => {
            let at = format!("{field}.service.port.name");
            errors.invalid_each(&at, name, names::is_valid_port_name(name));
        }
        (false, true) => {
            let at = format!("{field}.service.port.number");
            errors.invalid_number(&at, port, names::is_valid_port_num(port));
        }
        (false, false) => errors.required(field, "port name or number is required"),
    }
}

fn typed_reference(errors: &mut Errors, reference: &Value, field: &str) {
    let mut missing = Errors::new();
    if given(&reference["apiGroup"]) {
        let group = text(&reference["apiGroup"]);
        errors.invalid_each(&format!("{field}.apiGroup"), group, names::is_dns1123_subdomain(group));
    }
    for name in ["kind", "name"] {
        let value = text(&reference[name]);
        let at = format!("{field}.{name}");
        // Of a class's parameters it is declared what has to be there, and told last.
        match value {
            "" if field == PARAMETERS => missing.required(&at, ""),
            "" => errors.required(&at, ""),
            _ => errors.invalid_each(&at, value, path_segment(value)),
        }
    }
    errors.append_declared(missing);
}

const PARAMETERS: &str = "spec.parameters";

pub(super) fn class(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let controller = text(&whole["spec"]["controller"]);
    if controller.len() > LONGEST_CONTROLLER {
        errors.too_long("spec.controller", LONGEST_CONTROLLER);
    }
    job_policies::domain_path(&mut errors, controller, "spec.controller");
    let parameters = &whole["spec"]["parameters"];
    if !given(parameters) {
        return errors;
    }
    typed_reference(&mut errors, parameters, PARAMETERS);
    match (text(&parameters["scope"]), given(&parameters["namespace"])) {
        ("", _) => errors.required("spec.parameters.scope", ""),
        ("Namespace", false) => {
            errors.required("spec.parameters.namespace", "`parameters.scope` is set to 'Namespace'");
        }
        ("Namespace", true) => {
            let name = text(&parameters["namespace"]);
            errors.invalid_each("spec.parameters.namespace", name, names::is_dns1123_label(name));
        }
        ("Cluster", true) => {
            errors.forbidden("spec.parameters.namespace", "`parameters.scope` is set to 'Cluster'");
        }
        ("Cluster", false) => {}
        (other, _) => errors.not_supported_text("spec.parameters.scope", other, &["Cluster", "Namespace"]),
    }
    errors
}

pub(super) fn changed_class(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (controller, before) = (&new["spec"]["controller"], &old["spec"]["controller"]);
    errors.immutable("spec.controller", controller, before, &controller.to_string());
    errors
}
