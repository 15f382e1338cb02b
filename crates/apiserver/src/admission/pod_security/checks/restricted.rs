//! The checks of the level `restricted`, sorted by their ids.
//!
//! Upstream: k8s.io/pod-security-admission/policy (v1.37).

use serde_json::Value;

use super::Found;
use super::words::{
    NOT_UNCONFINED, SECCOMP, capabilities, containers, is_confined, is_windows, named, of_containers, plural,
    profile, quoted, setters, sorted, text, these,
};

const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
    "image",
];

/// What `restricted` finds beside what `baseline` does.
pub(super) fn restricted(spec: &Value, minor: u32) -> Vec<Found> {
    let mut found = vec![];
    // Older versions of the policies did not know that there are other systems.
    let skipped = is_windows(spec) && minor >= 25;
    if !skipped && minor >= 8 {
        found.extend(of_containers(
            "allowPrivilegeEscalation != false",
            &named(spec, |c| c["securityContext"]["allowPrivilegeEscalation"] != false),
            "must set securityContext.allowPrivilegeEscalation=false",
        ));
    }
    if !skipped && minor >= 22 {
        found.extend(capabilities(spec, "unrestricted capabilities", &["NET_BIND_SERVICE"], true));
    }
    found.extend(volume_types(spec));
    let own_users = minor >= 35 && spec["hostUsers"] == false;
    if !own_users {
        found.extend(non_root(spec));
        if minor >= 23 {
            found.extend(run_as_user(spec));
        }
    }
    if !skipped && minor >= 19 {
        found.extend(seccomp(spec));
    }
    found
}

fn seccomp(spec: &Value) -> Option<Found> {
    let of_pod = profile(&spec["securityContext"]);
    let bad = named(spec, |c| profile(&c["securityContext"]).is_some_and(|kind| !is_confined(kind)));
    if let Some(who) = setters(of_pod.is_some_and(|kind| !is_confined(kind)), &bad) {
        return Some((SECCOMP, format!("{who} {NOT_UNCONFINED}")));
    }
    let silent = named(spec, |c| profile(&c["securityContext"]).is_none());
    if of_pod.is_some() || silent.is_empty() {
        return None;
    }
    let must = "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
    Some((SECCOMP, format!("pod or {} {must}", these(&silent))))
}

fn volume_types(spec: &Value) -> Option<Found> {
    let volumes = || spec["volumes"].as_array().into_iter().flatten();
    let kind = |v: &Value| {
        let keys = v.as_object().into_iter().flatten();
        keys.map(|(k, _)| k.clone()).find(|k| k != "name" && !v[k.as_str()].is_null()).unwrap_or_default()
    };
    let bad: Vec<&Value> = volumes().filter(|v| !VOLUMES.contains(&kind(v).as_str())).collect();
    let names: Vec<&str> = bad.iter().map(|v| text(&v["name"])).collect();
    let kinds = sorted(bad.iter().map(|v| kind(v)).collect());
    let verb = if names.len() == 1 { "uses" } else { "use" };
    (!names.is_empty()).then(|| {
        let detail = format!(
            "{} {} {verb} restricted volume {} {}",
            plural("volume", names.len()),
            quoted(&names),
            plural("type", kinds.len()),
            quoted(&kinds.iter().map(String::as_str).collect::<Vec<_>>())
        );
        ("restricted volume types", detail)
    })
}

fn non_root(spec: &Value) -> Option<Found> {
    const REASON: &str = "runAsNonRoot != true";
    let of_pod = &spec["securityContext"]["runAsNonRoot"];
    let explicit = named(spec, |c| c["securityContext"]["runAsNonRoot"] == false);
    let by_pod = *of_pod == false && containers(spec).any(|c| c["securityContext"]["runAsNonRoot"] != true);
    if let Some(who) = setters(by_pod, &explicit) {
        return Some((REASON, format!("{who} must not set securityContext.runAsNonRoot=false")));
    }
    let silent = named(spec, |c| c["securityContext"]["runAsNonRoot"].is_null());
    if *of_pod == true || silent.is_empty() {
        return None;
    }
    Some((REASON, format!("pod or {} must set securityContext.runAsNonRoot=true", these(&silent))))
}

fn run_as_user(spec: &Value) -> Option<Found> {
    let root = |context: &Value| context["runAsUser"] == 0;
    let names = named(spec, |c| root(&c["securityContext"]));
    let who = setters(root(&spec["securityContext"]), &names)?;
    Some(("runAsUser=0", format!("{who} must not set runAsUser=0")))
}
