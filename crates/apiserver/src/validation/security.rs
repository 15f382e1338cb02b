//! Security contexts of pods and containers.
//!
//! Upstream: pkg/apis/core/validation, validatePodSpecSecurityContext and ValidateSecurityContext (v1.37).

use super::{
    field::{Errors, flag, given, items, number, text},
    internal, volume,
};
use kubestep_model::text::names;
use serde_json::Value;

const LONGEST_PROFILE: usize = 4095;
const SYSCTL_LENGTH: usize = 253;
const SYSCTL_FORM: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
/// Sysctls of a pod's own network, and of its own inter-process communication.
const IPC_SYSCTLS: [&str; 4] = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."];

pub(super) fn pod(errors: &mut Errors, spec: &Value, field: &str) {
    let context = &spec["securityContext"];
    let at = |name: &str| format!("{field}.securityContext.{name}");
    for part in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(errors, &context[part], &at(part));
    }
    for (i, group) in items(&context["supplementalGroups"]).iter().enumerate() {
        id(errors, group, &format!("{}[{i}]", at("supplementalGroups")));
    }
    sysctls(errors, spec, &at("sysctls"));
    one_of(errors, context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"], &at);
    profiles(errors, context, &at, None);
    one_of(errors, context, "supplementalGroupsPolicy", &["Merge", "Strict"], &at);
    one_of(errors, context, "seLinuxChangePolicy", &["MountOption", "Recursive"], &at);
}

fn id(errors: &mut Errors, id: &Value, field: &str) {
    if given(id) {
        errors.invalid_number(field, number(id), names::is_in_range(number(id), 0, i32::MAX.into()));
    }
}

fn one_of(errors: &mut Errors, context: &Value, name: &str, known: &[&str], at: &dyn Fn(&str) -> String) {
    if given(&context[name]) && !known.contains(&text(&context[name])) {
        errors.not_supported_text(&at(name), text(&context[name]), known);
    }
}

fn sysctls(errors: &mut Errors, spec: &Value, field: &str) {
    let mut seen: Vec<&str> = vec![];
    for (i, sysctl) in items(&spec["securityContext"]["sysctls"]).iter().enumerate() {
        let (name, field) = (text(&sysctl["name"]), format!("{field}[{i}].name"));
        if name.is_empty() {
            errors.required(&field, "");
        } else if !is_sysctl(name) {
            let why = format!("must have at most {SYSCTL_LENGTH} characters and match regex {SYSCTL_FORM}");
            errors.invalid_text(&field, name, &why);
        } else if seen.contains(&name) {
            errors.duplicate(&field, &Value::from(name).to_string());
        }
        let plain = name.replace('/', ".");
        if flag(&spec["hostNetwork"]) && plain.starts_with("net.") {
            errors.invalid_text(&field, name, "may not be specified when 'hostNetwork' is true");
        } else if flag(&spec["hostIPC"]) && IPC_SYSCTLS.iter().any(|start| plain.starts_with(start)) {
            errors.invalid_text(&field, name, "may not be specified when 'hostIPC' is true");
        }
        seen.push(name);
    }
}

fn is_sysctl(name: &str) -> bool {
    let good = |part: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        part.bytes().all(|b| inner(b) || matches!(b, b'-' | b'_'))
            && part.bytes().next().is_some_and(inner)
            && part.bytes().next_back().is_some_and(inner)
    };
    name.len() <= SYSCTL_LENGTH && name.split(['.', '/']).all(good)
}

/// Seccomp, Windows and AppArmor; `escalation` is what a container is asked between the first two.
fn profiles(
    errors: &mut Errors,
    context: &Value,
    at: &dyn Fn(&str) -> String,
    escalation: Option<&dyn Fn(&mut Errors)>,
) {
    seccomp(errors, &context["seccompProfile"], &at("seccompProfile"));
    if let Some(check) = escalation {
        check(errors);
    }
    windows(errors, &context["windowsOptions"], &at("windowsOptions"));
    app_armor(errors, &context["appArmorProfile"], &at("appArmorProfile"));
}

fn seccomp(errors: &mut Errors, profile: &Value, field: &str) {
    const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
    if !given(profile) {
        return;
    }
    let (kind, local) = (text(&profile["type"]), &profile["localhostProfile"]);
    if kind.is_empty() {
        errors.required(&format!("{field}.type"), "type is required when seccompProfile is set");
    } else if !TYPES.contains(&kind) {
        errors.not_supported_text(&format!("{field}.type"), kind, &TYPES);
    }
    let field = format!("{field}.localhostProfile");
    match (kind == "Localhost", given(local)) {
        (true, false) => errors.required(&field, "must be set when seccomp type is Localhost"),
        (true, true) => volume::descending_path(errors, text(local), &field),
        (false, true) => {
            let shown = internal::shown("v1.SeccompProfile", profile);
            errors.invalid(&field, &shown, "can only be set when seccomp type is Localhost");
        }
        (false, false) => {}
    }
}

fn app_armor(errors: &mut Errors, profile: &Value, field: &str) {
    const NEEDED: &str = "must be set when AppArmor type is Localhost";
    if !given(profile) {
        return;
    }
    let local = &profile["localhostProfile"];
    let at = format!("{field}.localhostProfile");
    match text(&profile["type"]) {
        "Localhost" => {
            let name = text(local);
            if name.trim() != name {
                errors.invalid_text(&at, name, "must not be padded with whitespace");
            } else if name.is_empty() {
                errors.required(&at, NEEDED);
            }
            if name.len() > LONGEST_PROFILE {
                errors.too_long(&at, LONGEST_PROFILE);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if given(local) {
                errors.invalid(&at, &local.to_string(), "can only be set when AppArmor type is Localhost");
            }
        }
        "" => errors.required(&format!("{field}.type"), "type is required when appArmorProfile is set"),
        other => {
            let known = ["Localhost", "RuntimeDefault", "Unconfined"];
            errors.not_supported_text(&format!("{field}.type"), other, &known);
        }
    }
}

fn windows(errors: &mut Errors, options: &Value, field: &str) {
    if !given(options) {
        return;
    }
    if given(&options["gmsaCredentialSpecName"]) {
        let name = text(&options["gmsaCredentialSpecName"]);
        let field = format!("{field}.gmsaCredentialSpecName");
        errors.invalid_each(&field, name, names::is_dns1123_subdomain(name));
    }
    if options["gmsaCredentialSpec"] == "" {
        let why = "gmsaCredentialSpec cannot be an empty string";
        errors.invalid_text(&format!("{field}.gmsaCredentialSpec"), "", why);
    }
    let name = &options["runAsUserName"];
    if given(name) {
        windows_user(errors, text(name), &format!("{field}.runAsUserName"));
    }
}

fn windows_user(errors: &mut Errors, name: &str, field: &str) {
    let mut wrong = |why: &str| errors.invalid_text(field, name, &format!("runAsUserName{why}"));
    if name.is_empty() {
        return wrong(" cannot be an empty string");
    }
    if name.chars().any(char::is_control) {
        return wrong(" cannot contain control characters");
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return wrong(" cannot contain more than one backslash"),
    };
    if domain.is_some_and(str::is_empty) {
        wrong("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        wrong("'s User cannot be empty");
    } else if user.len() > 104 {
        wrong("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        wrong("'s User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        wrong("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
}

/// `host_users` says that users of the container are users of the node.
pub(super) fn container(errors: &mut Errors, context: &Value, field: &str, host_users: bool) {
    if !given(context) {
        return;
    }
    let at = |name: &str| format!("{field}.{name}");
    for part in ["runAsUser", "runAsGroup"] {
        id(errors, &context[part], &at(part));
    }
    one_of(errors, context, "procMount", &["Default", "Unmasked"], &at);
    if host_users && context["procMount"] == "Unmasked" {
        let why = "`hostUsers` must be false to use `Unmasked`";
        errors.invalid_text(&at("procMount"), "Unmasked", why);
    }
    profiles(errors, context, &at, Some(&|errors: &mut Errors| escalation(errors, context, field)));
}

fn escalation(errors: &mut Errors, context: &Value, field: &str) {
    if context["allowPrivilegeEscalation"] != Value::Bool(false) {
        return;
    }
    let shown = || internal::shown("v1.SecurityContext", context);
    if flag(&context["privileged"]) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.invalid(field, &shown(), why);
    }
    for _ in items(&context["capabilities"]["add"]).iter().filter(|c| *c == "CAP_SYS_ADMIN") {
        let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.invalid(field, &shown(), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_sysctls() {
        for (name, good) in
            [("net.ipv4.tcp_x", true), ("a/b.c", true), ("a..b", false), ("A", false), ("-a", false)]
        {
            assert_eq!(is_sysctl(name), good, "{name}");
        }
    }

    #[test]
    fn profiles_on_the_node_have_a_name_and_others_have_none() {
        let said = |context: Value| {
            let mut errors = Errors::new();
            container(&mut errors, &context, "c", true);
            errors.into_causes().into_iter().map(|c| c.field).collect::<Vec<String>>()
        };
        assert_eq!(
            said(json!({"seccompProfile": {"type": "Localhost"}})),
            ["c.seccompProfile.localhostProfile"]
        );
        assert!(said(json!({"seccompProfile": {"type": "Localhost", "localhostProfile": "a/b"}})).is_empty());
        assert_eq!(
            said(
                json!({"appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"}, "procMount": "Unmasked"})
            ),
            ["c.procMount", "c.appArmorProfile.localhostProfile"]
        );
    }
}
