//! The checks of the level `baseline`, sorted by their ids.
//!
//! Upstream: k8s.io/pod-security-admission/policy (v1.37).

use serde_json::Value;

use super::Found;
use super::words::{
    NOT_UNCONFINED, SECCOMP, capabilities, containers, is_confined, named, of_containers, plural, profile,
    quoted, setters, sorted, text, these,
};

const CAPABILITIES: [&str; 13] = [
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

/// What `baseline` finds; under `restricted` some of its checks are replaced by stricter ones.
pub(super) fn baseline(metadata: &Value, spec: &Value, minor: u32, replaced: bool) -> Vec<Found> {
    let mut found = vec![];
    found.extend(app_armor(metadata, spec));
    // A stricter check that is younger than the version does not replace anything.
    if !replaced || minor < 22 {
        found.extend(capabilities(spec, "non-default capabilities", &CAPABILITIES, false));
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
        found.extend(seccomp(spec));
    }
    found.extend(sysctls(spec, minor));
    found.extend(host_process(spec));
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
    let mut blame = |who: String| {
        details.push(format!("{who} must not set securityContext.appArmorProfile.type to \"Unconfined\""));
    };
    if bad(&spec["securityContext"]) {
        blame("pod".to_owned());
    }
    let names = named(spec, |c| bad(&c["securityContext"]));
    if !names.is_empty() {
        blame(these(&names));
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
    let of_pod = wrong(&spec["securityContext"]);
    let names = named(spec, |c| !wrong(&c["securityContext"]).is_empty());
    let who = setters(!of_pod.is_empty(), &names)?;
    let mut said: Vec<String> = vec![];
    for one in of_pod.into_iter().chain(containers(spec).flat_map(|c| wrong(&c["securityContext"]))) {
        if !said.contains(&one) {
            said.push(one);
        }
    }
    Some((
        "seLinuxOptions",
        format!("{who} set forbidden securityContext.seLinuxOptions: {}", said.join("; ")),
    ))
}

fn seccomp(spec: &Value) -> Option<Found> {
    let bad = |context: &Value| profile(context).is_some_and(|kind| !is_confined(kind));
    let names = named(spec, |c| bad(&c["securityContext"]));
    let who = setters(bad(&spec["securityContext"]), &names)?;
    Some((SECCOMP, format!("{who} {NOT_UNCONFINED}")))
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
    let who = setters(bad(&spec["securityContext"]), &names)?;
    Some(("hostProcess", format!("{who} must not set securityContext.windowsOptions.hostProcess=true")))
}
