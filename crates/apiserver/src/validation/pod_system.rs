//! What a pod wants of its operating system and of the node: users, Windows and Linux, devices by claim.
//!
//! Upstream: pkg/apis/core/validation, validateOS, validateWindows, validateHostUsers, validatePodResourceClaims (v1.37).

use super::{
    field::{Errors, flag, given, items, text},
    internal,
};
use kubestep_model::{arrange::Arrange, text::names};
use serde_json::Value;

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
const NOT_IN_WINDOWS_POD: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];
const NOT_IN_WINDOWS_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// All containers with their places.
fn containers<'a>(spec: &'a Value, field: &'a str) -> impl Iterator<Item = (String, &'a Value)> {
    CONTAINERS.into_iter().flat_map(move |list| {
        items(&spec[list]).iter().enumerate().map(move |(i, c)| (format!("{field}.{list}[{i}]"), c))
    })
}

pub(super) fn os(errors: &mut Errors, spec: &Value, field: &str) {
    if !given(&spec["os"]) {
        return;
    }
    match text(&spec["os"]["name"]) {
        "" => errors.required(&format!("{field}.os.name"), ""),
        "linux" => linux(errors, spec, field),
        "windows" => windows(errors, spec, field),
        other => errors.not_supported_text(&format!("{field}.os"), other, &["linux", "windows"]),
    }
}

fn linux(errors: &mut Errors, spec: &Value, field: &str) {
    const WHY: &str = "windows options cannot be set for a linux pod";
    if given(&spec["securityContext"]["windowsOptions"]) {
        errors.forbidden(&format!("{field}.securityContext.windowsOptions"), WHY);
    }
    for (at, container) in containers(spec, field) {
        if given(&container["securityContext"]["windowsOptions"]) {
            errors.forbidden(&format!("{at}.securityContext.windowsOptions"), WHY);
        }
    }
}

fn windows(errors: &mut Errors, spec: &Value, field: &str) {
    const WHY: &str = "cannot be set for a windows pod";
    let mut none_of = |parent: &Value, names: &[&str], field: &str| {
        for name in names.iter().filter(|name| given(&parent[**name]) && parent[**name] != false) {
            errors.forbidden(&format!("{field}.{name}"), WHY);
        }
    };
    none_of(&spec["securityContext"], &NOT_IN_WINDOWS_POD, &format!("{field}.securityContext"));
    if given(&spec["hostUsers"]) {
        none_of(&serde_json::json!({"hostUsers": true}), &["hostUsers"], field);
    }
    none_of(spec, &["hostPID", "hostIPC", "shareProcessNamespace"], field);
    for (at, container) in containers(spec, field) {
        let context = &container["securityContext"];
        // Here it counts that a field is there at all.
        let there: Value = context
            .as_object()
            .map(|map| map.keys().map(|k| (k.clone(), Value::from(true))).collect::<serde_json::Map<_, _>>())
            .unwrap_or_default()
            .into();
        none_of(&there, &NOT_IN_WINDOWS_CONTAINER, &format!("{at}.securityContext"));
    }
}

/// Processes of the host are the host's also in their network.
///
/// Upstream: validateWindowsHostProcessPod.
pub(super) fn host_process(errors: &mut Errors, spec: &Value, field: &str) {
    let own = &spec["securityContext"]["windowsOptions"]["hostProcess"];
    let (mut some, mut all) = (false, true);
    for (at, container) in containers(spec, field) {
        let said = &container["securityContext"]["windowsOptions"]["hostProcess"];
        if given(own) && given(said) && own != said {
            let why =
                format!("pod hostProcess value must be identical if both are specified, was {}", flag(own));
            let at = format!("{at}.securityContext.windowsOptions.hostProcess");
            errors.invalid(&at, &said.to_string(), &why);
        }
        let is = if given(said) { flag(said) } else { flag(own) };
        some |= is;
        all &= is;
    }
    if !some {
        return;
    }
    if !all {
        let why =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(field, "", why);
    }
    if !flag(&spec["hostNetwork"]) {
        let why = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&format!("{field}.hostNetwork"), "false", why);
    }
}

/// Users that are not the node's cannot share what is the node's.
pub(super) fn host_users(errors: &mut Errors, spec: &Value, field: &str) {
    const WHY: &str = "when `hostUsers` is false";
    if spec["hostUsers"] != false {
        return;
    }
    for (name, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if flag(&spec[name]) {
            errors.forbidden(&format!("{field}.{shown}"), WHY);
        }
    }
    for (at, _) in containers(spec, field).filter(|(_, c)| !items(&c["volumeDevices"]).is_empty()) {
        errors.forbidden(&format!("{at}.volumeDevices"), WHY);
    }
}

/// Upstream: validatePodHostName.
pub(super) fn host_name(errors: &mut Errors, spec: &Value, field: &str) {
    let name = &spec["hostnameOverride"];
    if !given(name) {
        return;
    }
    let field = format!("{field}.hostnameOverride");
    for other in ["setHostnameAsFQDN", "hostNetwork"].into_iter().filter(|other| flag(&spec[*other])) {
        errors.forbidden(&field, &format!("may not be specified when {other} is true"));
    }
    errors.invalid_each(&field, text(name), names::is_dns1123_subdomain(text(name)));
    const MOST: usize = 64;
    if text(name).len() > MOST {
        errors.too_long(&field, MOST);
    }
}

/// Claims to devices, each under its own name. Upstream: validatePodResourceClaims.
pub(super) fn claims(errors: &mut Errors, spec: &Value, field: &str) {
    let mut seen: Vec<&str> = vec![];
    for (i, claim) in items(&spec["resourceClaims"]).iter().enumerate() {
        let at = format!("{field}.resourceClaims[{i}]");
        let name = text(&claim["name"]);
        let field = format!("{at}.name");
        if name.is_empty() {
            errors.required(&field, "");
        } else if seen.contains(&name) {
            errors.duplicate(&field, &Value::from(name).to_string());
        } else {
            errors.dns_label(&field, name);
            seen.push(name);
        }
        let ways = ["resourceClaimName", "resourceClaimTemplateName"];
        let shown = || internal::shown("v1.PodResourceClaim", claim);
        match ways.iter().filter(|way| given(&claim[**way])).count() {
            2 => {
                let why =
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                errors.invalid(&at, &shown(), why);
            }
            0 => {
                let why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid(&at, &shown(), why);
            }
            _ => {}
        }
        for way in ways.into_iter().filter(|way| given(&claim[*way])) {
            let name = text(&claim[way]);
            errors.invalid_each(&format!("{at}.{way}"), name, names::is_dns1123_subdomain(name));
        }
    }
}

/// The claims that a container uses are the pod's. Upstream: validateResourceClaimNames.
pub(super) fn used_claims(errors: &mut Errors, resources: &Value, spec: &Value, field: &str) {
    let mut known: Vec<&str> = items(&spec["resourceClaims"]).iter().map(|c| text(&c["name"])).collect();
    known.arrange();
    known.dedup();
    let mut seen: Vec<String> = vec![];
    for (i, claim) in items(&resources["claims"]).iter().enumerate() {
        let (name, request) = (text(&claim["name"]), text(&claim["request"]));
        let at = format!("{field}.claims[{i}]");
        if name.is_empty() {
            errors.required(&at, "");
            continue;
        }
        if !request.is_empty() {
            errors.dns_label(&format!("{at}.request"), request);
        }
        let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
        let twice = seen.contains(&name.to_owned())
            || seen.contains(&key)
            || (request.is_empty() && seen.iter().any(|s| s.split('/').next() == Some(name)));
        if twice {
            let shown = if seen.contains(&name.to_owned()) { name } else { &key };
            errors.duplicate(&at, &Value::from(shown).to_string());
        }
        seen.push(key);
        if !known.contains(&name) {
            let those =
                if known.is_empty() { " which is empty".into() } else { format!(": {}", known.join(", ")) };
            let why = format!("must be one of the names in pod.spec.resourceClaims{those}");
            errors.not_found_because(&at, name, &why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(check: fn(&mut Errors, &Value, &str), spec: Value) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, &spec, "spec");
        errors.into_causes().into_iter().map(|c| format!("{}: {}", c.field, c.message)).collect()
    }

    #[test]
    fn a_pod_has_one_operating_system() {
        assert!(said(os, json!({"os": {"name": "linux"}})).is_empty());
        assert_eq!(said(os, json!({"os": {}})), ["spec.os.name: Required value"]);
        let windows = json!({"os": {"name": "windows"}, "hostPID": true,
            "containers": [{"securityContext": {"privileged": false}}]});
        assert_eq!(said(os, windows).len(), 2);
    }

    #[test]
    fn own_users_share_nothing_with_the_node() {
        let spec = json!({"hostUsers": false, "hostPID": true});
        assert_eq!(said(host_users, spec), ["spec.HostPID: Forbidden: when `hostUsers` is false"]);
        assert!(said(host_users, json!({"hostPID": true})).is_empty());
    }

    #[test]
    fn a_container_uses_claims_of_its_pod() {
        let spec = json!({"resourceClaims": [{"name": "r"}]});
        let mut errors = Errors::new();
        let resources = json!({"claims": [{"name": "r"}, {"name": "x"}, {"name": "r"}]});
        used_claims(&mut errors, &resources, &spec, "c");
        let fields: Vec<String> = errors.into_causes().into_iter().map(|c| c.field).collect();
        assert_eq!(fields, ["c.claims[1]", "c.claims[2]"]);
    }
}
