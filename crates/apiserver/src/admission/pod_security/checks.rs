//! The checks of the levels, sorted by their ids: those of `baseline`, then those of `restricted`.
//!
//! Upstream: k8s.io/pod-security-admission/policy (v1.37).

use kubestep_model::arrange::Arrange;
use serde_json::Value;

/// Why a pod is refused: the reason, and the details.
pub(super) type Found = (&'static str, String);

const BASELINE_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
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
/// Each with the minor version of the policy from which on it is safe.
const SAFE_SYSCTLS: [(&str, u32); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_notsent_lowat", 37),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
];
const SELINUX_TYPES: [(&str, u32); 5] = [
    ("", 0),
    ("container_t", 0),
    ("container_init_t", 0),
    ("container_kvm_t", 0),
    ("container_engine_t", 31),
];

/// The version of the policies that is the latest.
pub(super) const LATEST: u32 = 37;

/// What a level finds at a minor version of the policies.
pub(super) fn all(level: &str, minor: u32, metadata: &Value, spec: &Value) -> Vec<Found> {
    match level {
        "baseline" => baseline(metadata, spec, minor, false),
        "restricted" => {
            let mut found = baseline(metadata, spec, minor, true);
            found.extend(restricted(spec, minor));
            found
        }
        _ => vec![],
    }
}

/// The reasons alone.
pub(super) fn reasons(level: &str, minor: u32, metadata: &Value, spec: &Value) -> Vec<String> {
    all(level, minor, metadata, spec).into_iter().map(|(reason, _)| reason.to_owned()).collect()
}

fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.into_iter().flat_map(|list| spec[list].as_array().into_iter().flatten())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The names of the containers for which something holds.
fn named<'a>(spec: &'a Value, wrong: impl Fn(&Value) -> bool) -> Vec<&'a str> {
    containers(spec).filter(|c| wrong(c)).map(|c| text(&c["name"])).collect()
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")
}

fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// `container "a"`, `containers "a", "b"`.
fn these(names: &[&str]) -> String {
    format!("{} {}", plural("container", names.len()), quoted(names))
}

/// Each value once, in order.
fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.arrange();
    values.dedup();
    values
}

/// A check that finds nothing where no container is at fault.
fn of_containers(reason: &'static str, names: &[&str], must: &str) -> Option<Found> {
    (!names.is_empty()).then(|| (reason, format!("{} {must}", these(names))))
}

fn is_windows(spec: &Value) -> bool {
    spec["os"]["name"] == "windows"
}

/// What `baseline` finds; under `restricted` some of its checks are replaced by stricter ones.
fn baseline(metadata: &Value, spec: &Value, minor: u32, replaced: bool) -> Vec<Found> {
    let mut found = vec![];
    found.extend(app_armor(metadata, spec));
    // A stricter check that is younger than the version does not replace anything.
    if !replaced || minor < 22 {
        found.extend(capabilities(spec, "non-default capabilities", &BASELINE_CAPABILITIES, false));
    }
    found.extend(host_namespaces(spec));
    if !replaced {
        found.extend(host_paths(spec));
    }
    found.extend(host_ports(spec));
    if minor >= 34 {
        found.extend(hosts(spec));
    }
    found.extend(of_containers(
        "privileged",
        &named(spec, |c| c["securityContext"]["privileged"] == true),
        "must not set securityContext.privileged=true",
    ));
    let own_users = minor >= 35 && spec["hostUsers"] == false;
    if replaced || !own_users {
        found.extend(proc_mount(spec));
    }
    found.extend(selinux(spec, minor));
    if !replaced && minor >= 19 {
        found.extend(seccomp_baseline(spec));
    }
    found.extend(sysctls(spec, minor));
    found.extend(host_process(spec));
    found
}

fn restricted(spec: &Value, minor: u32) -> Vec<Found> {
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
    found.extend(restricted_volumes(spec));
    let own_users = minor >= 35 && spec["hostUsers"] == false;
    if !own_users {
        found.extend(non_root(spec));
        if minor >= 23 {
            found.extend(run_as_user(spec));
        }
    }
    if !skipped && minor >= 19 {
        found.extend(seccomp_restricted(spec));
    }
    found
}

/// Probes and hooks that ask another host than the pod's own.
fn hosts(spec: &Value) -> Option<Found> {
    let asked = |c: &Value| -> Vec<String> {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"].iter().map(|name| &c[*name]);
        let hooks = ["postStart", "preStop"].iter().map(|name| &c["lifecycle"][*name]);
        let hosts = probes.chain(hooks).flat_map(|p| [&p["httpGet"]["host"], &p["tcpSocket"]["host"]]);
        hosts.map(|host| text(host).to_owned()).filter(|host| !host.is_empty()).collect()
    };
    let names = sorted(named(spec, |c| !asked(c).is_empty()).into_iter().map(str::to_owned).collect());
    let hosts = sorted(containers(spec).flat_map(asked).collect());
    let list = |all: &[String]| quoted(&all.iter().map(String::as_str).collect::<Vec<_>>());
    (!names.is_empty()).then(|| {
        let detail = format!(
            "{} {} {} {} {}",
            plural("container", names.len()),
            list(&names),
            if names.len() == 1 { "uses" } else { "use" },
            plural("probe or lifecycle host", hosts.len()),
            list(&hosts)
        );
        ("probe or lifecycle host", detail)
    })
}

fn app_armor(metadata: &Value, spec: &Value) -> Option<Found> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let bad = |context: &Value| {
        let kind = &context["appArmorProfile"]["type"];
        !kind.is_null() && !matches!(text(kind), "RuntimeDefault" | "Localhost")
    };
    let mut details = vec![];
    if bad(&spec["securityContext"]) {
        details.push("pod must not set securityContext.appArmorProfile.type to \"Unconfined\"".to_owned());
    }
    let names = named(spec, |c| bad(&c["securityContext"]));
    if !names.is_empty() {
        let which = these(&names);
        details.push(format!("{which} must not set securityContext.appArmorProfile.type to \"Unconfined\""));
    }
    let allowed = |v: &str| v.is_empty() || v == "runtime/default" || v.starts_with("localhost/");
    let notes: Vec<String> = metadata["annotations"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| name.starts_with(ANNOTATION) && !allowed(text(value)))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !notes.is_empty() {
        let word = plural("annotation", notes.len());
        details.push(format!("{word} {}", notes.join(", ")));
    }
    let reason = if details.len() > 1 { "forbidden AppArmor profiles" } else { "forbidden AppArmor profile" };
    (!details.is_empty()).then(|| (reason, details.join(", ")))
}

fn capabilities(spec: &Value, reason: &'static str, allowed: &[&str], drop_all: bool) -> Option<Found> {
    let has = |c: &Value, part: &str| -> Vec<String> {
        let list = c["securityContext"]["capabilities"][part].as_array().cloned().unwrap_or_default();
        list.iter().map(|v| text(v).to_owned()).collect()
    };
    let missing = if drop_all { named(spec, |c| !has(c, "drop").iter().any(|d| d == "ALL")) } else { vec![] };
    let extra = |c: &Value| -> Vec<String> {
        has(c, "add").into_iter().filter(|a| !allowed.contains(&a.as_str())).collect()
    };
    let adding = named(spec, |c| !extra(c).is_empty());
    let mut details = vec![];
    if !missing.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", these(&missing)));
    }
    if !adding.is_empty() {
        let added = sorted(containers(spec).flat_map(extra).collect());
        let added = quoted(&added.iter().map(String::as_str).collect::<Vec<_>>());
        details
            .push(format!("{} must not include {added} in securityContext.capabilities.add", these(&adding)));
    }
    (!details.is_empty()).then(|| (reason, details.join("; ")))
}

fn host_namespaces(spec: &Value) -> Option<Found> {
    let set = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|name| spec[*name] == true);
    let set: Vec<String> = set.map(|name| format!("{name}=true")).collect();
    (!set.is_empty()).then(|| ("host namespaces", set.join(", ")))
}

fn host_paths(spec: &Value) -> Option<Found> {
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let names: Vec<&str> = volumes.filter(|v| !v["hostPath"].is_null()).map(|v| text(&v["name"])).collect();
    (!names.is_empty())
        .then(|| ("hostPath volumes", format!("{} {}", plural("volume", names.len()), quoted(&names))))
}

fn host_ports(spec: &Value) -> Option<Found> {
    let ports = |c: &Value| -> Vec<i64> {
        let all = c["ports"].as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|p| p["hostPort"].as_i64()).filter(|p| *p != 0).collect()
    };
    let names = named(spec, |c| !ports(c).is_empty());
    let used = sorted(containers(spec).flat_map(ports).map(|p| p.to_string()).collect());
    let verb = if names.len() == 1 { "uses" } else { "use" };
    let word = plural("hostPort", used.len());
    (!names.is_empty()).then(|| ("hostPort", format!("{} {verb} {word} {}", these(&names), used.join(", "))))
}

fn proc_mount(spec: &Value) -> Option<Found> {
    let bad = |c: &Value| {
        let mount = &c["securityContext"]["procMount"];
        (!mount.is_null() && mount != "Default").then(|| text(mount).to_owned())
    };
    let names = named(spec, |c| bad(c).is_some());
    let values = sorted(containers(spec).filter_map(bad).collect());
    let values = quoted(&values.iter().map(String::as_str).collect::<Vec<_>>());
    of_containers("procMount", &names, &format!("must not set securityContext.procMount to {values}"))
}

fn selinux(spec: &Value, minor: u32) -> Option<Found> {
    let wrong = |context: &Value| -> Vec<String> {
        let options = &context["seLinuxOptions"];
        let mut wrong = vec![];
        let kind = text(&options["type"]);
        if !SELINUX_TYPES.iter().any(|(known, since)| *known == kind && minor >= *since) {
            wrong.push(format!("type \"{kind}\""));
        }
        for part in ["user", "role"] {
            if !text(&options[part]).is_empty() {
                wrong.push(format!("{part} may not be set"));
            }
        }
        wrong
    };
    let mut setters = vec![];
    let mut all = wrong(&spec["securityContext"]);
    if !all.is_empty() {
        setters.push("pod".to_owned());
    }
    let names = named(spec, |c| !wrong(&c["securityContext"]).is_empty());
    if !names.is_empty() {
        setters.push(these(&names));
        all.extend(containers(spec).flat_map(|c| wrong(&c["securityContext"])));
    }
    let mut said: Vec<String> = vec![];
    for one in all {
        if !said.contains(&one) {
            said.push(one);
        }
    }
    (!setters.is_empty()).then(|| {
        let who = setters.join(" and ");
        ("seLinuxOptions", format!("{who} set forbidden securityContext.seLinuxOptions: {}", said.join("; ")))
    })
}

fn profile(context: &Value) -> Option<&str> {
    context["seccompProfile"]["type"].as_str()
}

fn is_confined(kind: &str) -> bool {
    matches!(kind, "RuntimeDefault" | "Localhost")
}

fn seccomp_baseline(spec: &Value) -> Option<Found> {
    let bad = |context: &Value| profile(context).is_some_and(|kind| !is_confined(kind));
    let names = named(spec, |c| bad(&c["securityContext"]));
    let mut setters = vec![];
    if bad(&spec["securityContext"]) {
        setters.push("pod".to_owned());
    }
    if !names.is_empty() {
        setters.push(these(&names));
    }
    (!setters.is_empty()).then(|| {
        let must = "must not set securityContext.seccompProfile.type to \"Unconfined\"";
        ("seccompProfile", format!("{} {must}", setters.join(" and ")))
    })
}

fn seccomp_restricted(spec: &Value) -> Option<Found> {
    const REASON: &str = "seccompProfile";
    let of_pod = profile(&spec["securityContext"]);
    let bad = named(spec, |c| profile(&c["securityContext"]).is_some_and(|kind| !is_confined(kind)));
    let mut setters = vec![];
    if of_pod.is_some_and(|kind| !is_confined(kind)) {
        setters.push("pod".to_owned());
    }
    if !bad.is_empty() {
        setters.push(these(&bad));
    }
    if !setters.is_empty() {
        let must = "must not set securityContext.seccompProfile.type to \"Unconfined\"";
        return Some((REASON, format!("{} {must}", setters.join(" and "))));
    }
    let silent = named(spec, |c| profile(&c["securityContext"]).is_none());
    if of_pod.is_some() || silent.is_empty() {
        return None;
    }
    let must = "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
    Some((REASON, format!("pod or {} {must}", these(&silent))))
}

fn sysctls(spec: &Value, minor: u32) -> Option<Found> {
    let set = spec["securityContext"]["sysctls"].as_array().cloned().unwrap_or_default();
    let safe = |name: &str| SAFE_SYSCTLS.iter().any(|(known, since)| *known == name && minor >= *since);
    let names = set.iter().map(|s| text(&s["name"]).to_owned());
    let bad: Vec<String> = names.filter(|n| !safe(n)).collect();
    (!bad.is_empty()).then(|| ("forbidden sysctls", bad.join(", ")))
}

fn host_process(spec: &Value) -> Option<Found> {
    let bad = |context: &Value| context["windowsOptions"]["hostProcess"] == true;
    let names = named(spec, |c| bad(&c["securityContext"]));
    let mut setters = vec![];
    if bad(&spec["securityContext"]) {
        setters.push("pod".to_owned());
    }
    if !names.is_empty() {
        setters.push(these(&names));
    }
    (!setters.is_empty()).then(|| {
        let must = "must not set securityContext.windowsOptions.hostProcess=true";
        ("hostProcess", format!("{} {must}", setters.join(" and ")))
    })
}

fn restricted_volumes(spec: &Value) -> Option<Found> {
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
    let mut setters = vec![];
    if *of_pod == false && containers(spec).any(|c| c["securityContext"]["runAsNonRoot"] != true) {
        setters.push("pod".to_owned());
    }
    if !explicit.is_empty() {
        setters.push(these(&explicit));
    }
    if !setters.is_empty() {
        let must = "must not set securityContext.runAsNonRoot=false";
        return Some((REASON, format!("{} {must}", setters.join(" and "))));
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
    let mut setters = vec![];
    if root(&spec["securityContext"]) {
        setters.push("pod".to_owned());
    }
    if !names.is_empty() {
        setters.push(these(&names));
    }
    (!setters.is_empty())
        .then(|| ("runAsUser=0", format!("{} must not set runAsUser=0", setters.join(" and "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(level: &str, spec: Value) -> Vec<String> {
        all(level, LATEST, &Value::Null, &spec).into_iter().map(|(r, d)| format!("{r} ({d})")).collect()
    }

    #[test]
    fn baseline_names_what_is_dangerous() {
        let spec = json!({"hostNetwork": true, "hostPID": true, "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
            "containers": [{"name": "a", "ports": [{"hostPort": 80}], "securityContext": {"privileged": true,
                "capabilities": {"add": ["NET_ADMIN", "CHOWN"]}}}]});
        assert_eq!(
            said("baseline", spec),
            [
                "non-default capabilities (container \"a\" must not include \"NET_ADMIN\" in securityContext.capabilities.add)",
                "host namespaces (hostNetwork=true, hostPID=true)",
                "hostPath volumes (volume \"v\")",
                "hostPort (container \"a\" uses hostPort 80)",
                "privileged (container \"a\" must not set securityContext.privileged=true)",
            ]
        );
        assert!(said("baseline", json!({"containers": [{"name": "a"}]})).is_empty());
        assert!(said("privileged", json!({"hostPID": true})).is_empty());
    }

    #[test]
    fn older_policies_know_less() {
        let at = |minor: u32, spec: &Value| all("restricted", minor, &Value::Null, spec).len();
        let spec = json!({"securityContext": {"runAsUser": 0, "sysctls": [{"name": "net.ipv4.tcp_rmem"}]},
            "containers": [{"name": "a", "livenessProbe": {"httpGet": {"host": "x"}}}]});
        let counts: Vec<usize> = [7, 18, 22, 23, 32, 34].iter().map(|minor| at(*minor, &spec)).collect();
        assert_eq!(counts, [2, 3, 5, 6, 5, 6]);
    }

    #[test]
    fn restricted_wants_everything_said() {
        let good = json!({"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "a", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]});
        assert!(said("restricted", good).is_empty());
        let bad = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}], "securityContext": {"runAsUser": 0},
            "containers": [{"name": "a"}, {"name": "b"}]});
        let found = said("restricted", bad);
        assert_eq!(found.len(), 6, "{found:?}");
        assert_eq!(
            found[2],
            "restricted volume types (volume \"v\" uses restricted volume type \"hostPath\")"
        );
        assert!(found[0].contains("(containers \"a\", \"b\" must set"));
    }
}
