//! What is stored as asked, but deserves a word.
//!
//! Upstream: WarningsOnCreate and WarningsOnUpdate of pkg/registry/*/*/strategy.go, and pkg/api/pod/warnings.go (v1.37).

use kubestep_model::{Container, ContainerPort, Object, PodSpec, text::go, text::names};

/// Old labels of nodes and what they are called now.
const OLD_LABELS: [(&str, &str, &str); 6] = [
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
    ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
    ("kubernetes.io/ingress.class", "v1.22", "spec.ingressClassName"),
];

/// What is said about a new object.
pub(crate) fn of_new(object: &Object) -> Vec<String> {
    let mut warnings = vec![];
    match object {
        Object::Deployment(d) => {
            warnings.extend(of_name(&d.metadata.name, "Pod names and hostnames"));
            of_pod(&mut warnings, &d.spec.template.spec, "spec.template.spec");
        }
        Object::ReplicaSet(r) => {
            warnings.extend(of_name(&r.metadata.name, "Pod names and hostnames"));
            of_pod(&mut warnings, &r.spec.template.spec, "spec.template.spec");
        }
        Object::Pod(p) => {
            warnings.extend(of_name(&p.metadata.name, "the Pod's hostname"));
            of_pod(&mut warnings, &p.spec, "spec");
        }
        Object::Secret(s) if s.r#type == "kubernetes.io/tls" => {
            let certificate =
                s.data.get("tls.crt").and_then(|v| crate::base64::decode(v).ok()).unwrap_or_default();
            if !String::from_utf8_lossy(&certificate).contains("-----BEGIN ") {
                warnings.push("tls: failed to find any PEM data in certificate input".into());
            }
        }
        _ => {}
    }
    warnings
}

/// What is said about a changed object: as for a new one, where what it wants has changed.
pub(crate) fn of_changed(new: &Object, old: &Object) -> Vec<String> {
    let mut warnings = vec![];
    if new.meta().generation == old.meta().generation {
        return warnings;
    }
    match new {
        Object::Deployment(d) => of_pod(&mut warnings, &d.spec.template.spec, "spec.template.spec"),
        Object::ReplicaSet(r) => of_pod(&mut warnings, &r.spec.template.spec, "spec.template.spec"),
        Object::Pod(p) => of_pod(&mut warnings, &p.spec, "spec"),
        _ => {}
    }
    warnings
}

fn of_name(name: &str, used_in: &str) -> Option<String> {
    let wrong = names::is_dns1123_label(name);
    (!wrong.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            wrong.join(" ")
        )
    })
}

fn of_pod(warnings: &mut Vec<String>, spec: &PodSpec, field: &str) {
    for (old, since, new) in OLD_LABELS {
        if spec.node_selector.contains_key(old) {
            warnings.push(format!(
                "{field}.nodeSelector[{old}]: deprecated since {since}; use \"{new}\" instead"
            ));
        }
    }
    for (i, secret) in spec.image_pull_secrets.iter().enumerate() {
        if secret.name.is_empty() {
            warnings.push(format!("{field}.imagePullSecrets[{i}].name: invalid empty name \"\""));
        }
    }
    for (i, container) in spec.init_containers.iter().enumerate() {
        of_container(warnings, container, &format!("{field}.initContainers[{i}]"));
    }
    for (i, container) in spec.containers.iter().enumerate() {
        of_container(warnings, container, &format!("{field}.containers[{i}]"));
    }
    if spec.termination_grace_period_seconds.is_some_and(|s| s < 0) {
        warnings.push(format!(
            "{field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    same_ports(warnings, spec, field);
}

fn of_container(warnings: &mut Vec<String>, container: &Container, field: &str) {
    for name in ["memory", "ephemeral-storage"] {
        let parts = [("limits", &container.resources.limits), ("requests", &container.resources.requests)];
        for (part, amounts) in parts {
            if let Some(amount) = amounts.get(name).filter(|q| q.milli_value() % 1000 != 0) {
                warnings.push(format!(
                    "{field}.resources.{part}[{name}]: fractional byte value {} is invalid, must be an integer",
                    go::quote(&amount.to_string())
                ));
            }
        }
    }
    for (i, variable) in container.env.iter().enumerate() {
        if container.env[..i].iter().any(|v| v.name == variable.name) {
            let name = go::quote(&variable.name);
            warnings.push(format!(
                "{field}.env[{i}]: hides previous definition of {name}, which may be dropped when using apply"
            ));
        }
    }
}

/// The same port twice, in one container or in several.
fn same_ports(warnings: &mut Vec<String>, spec: &PodSpec, field: &str) {
    let mut seen: Vec<(String, &ContainerPort)> = vec![];
    for (i, container) in spec.containers.iter().enumerate() {
        for (j, port) in container.ports.iter().enumerate() {
            let here = format!("{field}.containers[{i}].ports[{j}]");
            let same =
                |p: &ContainerPort| p.container_port == port.container_port && p.protocol == port.protocol;
            if let Some((there, first)) = seen.iter().find(|(_, p)| same(p)) {
                let words = if first.host_port == port.host_port { "duplicate" } else { "overlapping" };
                warnings.push(format!("{here}: {words} port definition with {there}"));
            }
            seen.push((here, port));
        }
    }
}
