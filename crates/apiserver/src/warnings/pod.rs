//! Words about pods and templates of pods.
//!
//! Upstream: pkg/api/pod/warnings.go and pkg/api/node/util.go (v1.37).

use kubestep_model::{Quantity, text::go};
use serde_json::Value;

/// Old labels of nodes, since when they are old, and what they are called now.
const OLD_LABELS: [(&str, &str, &str); 5] = [
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
    ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
];
const DEAD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];
const OLD_VOLUMES: [(&str, &str, &str); 9] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF: &str = "container.apparmor.security.beta.kubernetes.io/";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `field` is how the template's own fields begin, with its dot; a pod's begin with nothing.
pub(super) fn of_template(warnings: &mut Vec<String>, template: &Value, field: &str) {
    let (spec, annotations) = (&template["spec"], &template["metadata"]["annotations"]);
    node_labels(warnings, spec, field);
    let annotation = |name: &str| format!("{field}metadata.annotations[{name}]");
    for (name, words) in DEAD_ANNOTATIONS.iter().filter(|(name, _)| !annotations[*name].is_null()) {
        warnings.push(format!("{}: {words}", annotation(name)));
    }
    for (i, volume) in items(&spec["volumes"]).iter().enumerate() {
        for (name, shown, words) in OLD_VOLUMES.iter().filter(|(name, _, _)| !volume[*name].is_null()) {
            let _ = name;
            warnings.push(format!("{field}spec.volumes[{i}].{shown}: {words}"));
        }
    }
    overlaps(warnings, spec);
    twice(warnings, items(&spec["hostAliases"]), "ip", &format!("{field}spec.hostAliases"));
    twice(warnings, items(&spec["imagePullSecrets"]), "name", &format!("{field}spec.imagePullSecrets"));
    for (i, secret) in items(&spec["imagePullSecrets"]).iter().enumerate() {
        if text(&secret["name"]).is_empty() {
            warnings.push(format!("{field}spec.imagePullSecrets[{i}].name: invalid empty name \"\""));
        }
    }
    if spec["securityContext"]["seccompProfile"].is_null() && !annotations[SECCOMP].is_null() {
        let words = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.push(format!("{}: {words}", annotation(SECCOMP)));
    }
    for (at, container) in containers(spec, field) {
        of_container(warnings, container, annotations, &at, &annotation);
    }
    ports(warnings, spec, field);
    if spec["terminationGracePeriodSeconds"].as_i64().is_some_and(|s| s < 0) {
        warnings.push(format!(
            "{field}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    null_selectors(warnings, &spec["affinity"], field);
}

/// All containers with their places, those that start first in front.
fn containers<'a>(spec: &'a Value, field: &'a str) -> impl Iterator<Item = (String, &'a Value)> {
    ["initContainers", "containers"].into_iter().flat_map(move |list| {
        items(&spec[list]).iter().enumerate().map(move |(i, c)| (format!("{field}spec.{list}[{i}]"), c))
    })
}

fn old_label(name: &str) -> Option<String> {
    let (_, since, new) = OLD_LABELS.iter().find(|(old, _, _)| *old == name)?;
    Some(format!("deprecated since {since}; use \"{new}\" instead"))
}

fn node_labels(warnings: &mut Vec<String>, spec: &Value, field: &str) {
    for (name, _) in spec["nodeSelector"].as_object().into_iter().flatten() {
        if let Some(words) = old_label(name) {
            warnings.push(format!("{field}spec.nodeSelector[{name}]: {words}"));
        }
    }
    let affinity = &spec["affinity"]["nodeAffinity"];
    let at = format!("{field}spec.affinity.nodeAffinity");
    let required = items(&affinity[REQUIRED]["nodeSelectorTerms"]).iter().enumerate();
    let required = required.map(|(i, term)| (format!("{at}.{REQUIRED}.nodeSelectorTerms[{i}]"), term));
    let preferred = items(&affinity[PREFERRED]).iter().enumerate();
    let preferred =
        preferred.map(|(i, wish)| (format!("{at}.{PREFERRED}[{i}].preference"), &wish["preference"]));
    for (at, term) in required.chain(preferred) {
        for (j, expression) in items(&term["matchExpressions"]).iter().enumerate() {
            if let Some(words) = old_label(text(&expression["key"])) {
                let key = text(&expression["key"]);
                warnings.push(format!("{at}.matchExpressions[{j}].key: {key} is {words}"));
            }
        }
    }
    for (i, constraint) in items(&spec["topologySpreadConstraints"]).iter().enumerate() {
        let at = format!("{field}spec.topologySpreadConstraints[{i}]");
        let key = text(&constraint["topologyKey"]);
        if let Some(words) = old_label(key) {
            warnings.push(format!("{at}.topologyKey: {key} is {words}"));
        }
        null_selector(warnings, constraint, &at);
    }
}

fn null_selector(warnings: &mut Vec<String>, term: &Value, at: &str) {
    if term["labelSelector"].is_null() {
        warnings.push(format!("{at}.labelSelector: a null labelSelector results in matching no pod"));
    }
}

fn null_selectors(warnings: &mut Vec<String>, affinity: &Value, field: &str) {
    for side in ["podAffinity", "podAntiAffinity"] {
        let at = format!("{field}spec.affinity.{side}");
        for (i, term) in items(&affinity[side][REQUIRED]).iter().enumerate() {
            null_selector(warnings, term, &format!("{at}.{REQUIRED}[{i}]"));
        }
        for (i, wish) in items(&affinity[side][PREFERRED]).iter().enumerate() {
            null_selector(
                warnings,
                &wish["podAffinityTerm"],
                &format!("{at}.{PREFERRED}[{i}].podAffinityTerm"),
            );
        }
    }
}

fn twice(warnings: &mut Vec<String>, list: &[Value], name: &str, field: &str) {
    for (i, item) in list.iter().enumerate() {
        if list[..i].iter().any(|earlier| earlier[name] == item[name]) {
            let shown = go::quote(text(&item[name]));
            warnings.push(format!("{field}[{i}].{name}: duplicate {name} {shown}"));
        }
    }
}

fn of_container(
    warnings: &mut Vec<String>,
    container: &Value,
    annotations: &Value,
    at: &str,
    annotation: &dyn Fn(&str) -> String,
) {
    let (name, context) = (text(&container["name"]), &container["securityContext"]);
    let key = format!("{SECCOMP_OF}{name}");
    if context["seccompProfile"].is_null() && !annotations[&key].is_null() {
        let words = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.push(format!("{}: {words}", annotation(&key)));
    }
    let key = format!("{APP_ARMOR_OF}{name}");
    // Of a pod's own it was told when it became a field.
    let of_template = !annotation("").starts_with("metadata");
    if of_template && context["appArmorProfile"].is_null() && !annotations[&key].is_null() {
        let words = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
        warnings.push(format!("{}: {words}", annotation(&key)));
    }
    of_bytes(warnings, &container["resources"], &["memory", "ephemeral-storage"], &format!("{at}.resources"));
    let variables = items(&container["env"]);
    for (i, variable) in variables.iter().enumerate() {
        let there = variables[..i].iter().any(|v| v["name"] == variable["name"]);
        let own = format!("$({})", text(&variable["name"]));
        let value = text(&variable["value"]);
        let builds_on_it = variable["valueFrom"].is_null() && value != own && value.contains(&own);
        if there && !builds_on_it {
            let name = go::quote(text(&variable["name"]));
            warnings.push(format!(
                "{at}.env[{i}]: hides previous definition of {name}, which may be dropped when using apply"
            ));
        }
    }
}

/// Amounts of bytes are whole numbers.
pub(super) fn of_bytes(warnings: &mut Vec<String>, resources: &Value, names: &[&str], field: &str) {
    for name in names {
        for part in ["limits", "requests"] {
            let amount = &resources[part][*name];
            let Ok(amount) = serde_json::from_value::<Quantity>(amount.clone()) else { continue };
            if amount.milli_value() % 1000 != 0 {
                let shown = go::quote(&amount.to_string());
                warnings.push(format!(
                    "{field}.{part}[{name}]: fractional byte value {shown} is invalid, must be an integer"
                ));
            }
        }
    }
}

/// The same port twice, or its name, in one container or in several.
fn ports(warnings: &mut Vec<String>, spec: &Value, field: &str) {
    let all: Vec<(String, &Value)> = containers(spec, field)
        .flat_map(|(at, c)| {
            items(&c["ports"]).iter().enumerate().map(move |(j, port)| (format!("{at}.ports[{j}]"), port))
        })
        .collect();
    let host = |port: &Value| (text(&port["hostIP"]).to_owned(), port["hostPort"].as_i64().unwrap_or(0));
    for (i, (here, port)) in all.iter().enumerate() {
        let same =
            |p: &Value| p["containerPort"] == port["containerPort"] && p["protocol"] == port["protocol"];
        for (there, other) in all[..i].iter().filter(|(_, p)| same(p)) {
            let (own, theirs) = (host(port), host(other));
            let words = if own == theirs {
                "duplicate"
            } else if own.1 == 0 || theirs.1 == 0 {
                "overlapping"
            } else if own.1 == theirs.1 && own.0.is_empty() != theirs.0.is_empty() {
                "dangerously ambiguous"
            } else {
                continue;
            };
            warnings.push(format!("{here}: {words} port definition with {there}"));
        }
    }
    for (i, (here, port)) in all.iter().enumerate().filter(|(_, (_, p))| !text(&p["name"]).is_empty()) {
        if let Some((first, _)) = all[..i].iter().find(|(_, p)| p["name"] == port["name"]) {
            let name = go::quote(text(&port["name"]));
            warnings.push(format!(
                "{here}: duplicate port name {name} with {first}, services and probes that select ports by name will use {first}"
            ));
        }
    }
}

/// Files of one volume that would lie in the same place.
fn overlaps(warnings: &mut Vec<String>, spec: &Value) {
    for volume in items(&spec["volumes"]) {
        let mut say = |of: &str, body: String| {
            let name = go::quote(text(&volume["name"]));
            warnings.push(format!("volume {name} ({of}): overlapping paths: {body}"));
        };
        let one = [
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ];
        for (kind, shown, named) in one {
            let of = match named {
                "" => shown.to_owned(),
                named => format!("{shown} {}", go::quote(text(&volume[kind][named]))),
            };
            let paths: Vec<&str> = items(&volume[kind]["items"]).iter().map(|i| text(&i["path"])).collect();
            for body in overlapping(&paths) {
                say(&of, body);
            }
        }
        let mut all: Vec<(String, String)> = vec![];
        for source in items(&volume["projected"]["sources"]) {
            for (path, of) in projected(source) {
                if let Some((there, first)) = all.iter().find(|(there, _)| overlap(there, &path)) {
                    let body = format!("{} ({of}) with {} ({first})", go::quote(&path), go::quote(there));
                    say("Projected", body);
                }
                all.push((path, of));
            }
        }
    }
}

/// The paths of one source of a projected volume, each with where it comes from.
fn projected(source: &Value) -> Vec<(String, String)> {
    let mut out = vec![];
    for (kind, shown) in [("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")] {
        let of = match source[kind]["name"].as_str() {
            Some(name) => format!("{shown} {}", go::quote(name)),
            None => shown.to_owned(),
        };
        out.extend(items(&source[kind]["items"]).iter().map(|i| (text(&i["path"]).to_owned(), of.clone())));
    }
    for (kind, shown) in
        [("serviceAccountToken", "ServiceAccountToken"), ("clusterTrustBundle", "ClusterTrustBundle")]
    {
        if let Some(path) = source[kind]["path"].as_str() {
            out.push((path.to_owned(), shown.to_owned()));
        }
    }
    out
}

fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim_end_matches('/'), b.trim_end_matches('/'));
    let below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'));
    a == b || below(a, b) || below(b, a)
}

fn overlapping(paths: &[&str]) -> Vec<String> {
    let mut out = vec![];
    for (i, path) in paths.iter().enumerate() {
        if let Some(first) = paths[..i].iter().find(|first| overlap(first, path)) {
            out.push(format!("{} with {}", go::quote(path), go::quote(first)));
        }
    }
    out
}
