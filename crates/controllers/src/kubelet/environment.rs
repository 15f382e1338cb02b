//! The ConfigMaps and Secrets that a container's environment names.
//! Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables.

use super::{
    Ask, Cx, Kubelet, Uid,
    volumes::{data, object_of},
    worker::Activity,
};
use kubestep_model::arrange::Gather;
use kubestep_model::{Container, Key, Kind, Object, Pod, Reply, Subresource, Verb};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Names and values, in order.
type Variables = Vec<(String, String)>;
/// What the API answered; `None`: not there.
type Config = BTreeMap<(Kind, String), Option<Object>>;

impl Kubelet {
    /// A container's environment: `None` while what it needs is asked for, then it, or what is missing.
    pub(super) fn configuration(
        &mut self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        container: &Container,
    ) -> Option<Result<Variables, String>> {
        let needed = references(container);
        if container.env.is_empty() && container.env_from.is_empty() {
            return Some(Ok(vec![]));
        }
        let (ip, host) = (self.seen(uid).sandbox.map(|s| s.ip), self.host_ip.clone());
        let worker = self.worker(uid)?;
        let namespace = worker.pod.metadata.namespace.clone();
        let objects: BTreeSet<(Kind, String)> = needed.iter().map(|r| (r.kind, r.name.clone())).gather();
        if objects.iter().any(|o| !worker.volumes.config.contains_key(o)) {
            worker.volumes.config.clear();
            worker.volumes.config_left = objects.len();
            for (kind, name) in objects {
                let key = Key::new(kind, namespace.clone(), name.as_str());
                let ticket = cx.ask(Verb::Get { key, subresource: Subresource::None });
                self.asks.insert(ticket, Ask::Config(uid.clone()));
                if let Some(worker) = self.worker(uid) {
                    worker.volumes.config.insert((kind, name), None);
                }
            }
            return None;
        }
        let config = std::mem::take(&mut worker.volumes.config);
        let missing = needed
            .iter()
            .find_map(|r| r.missing(config.get(&(r.kind, r.name.clone()))?.as_ref(), &namespace));
        let ip = ip.filter(|ip| !ip.is_empty()).unwrap_or_else(|| host.clone());
        let pod = &worker.pod;
        Some(missing.map_or_else(|| Ok(variables(pod, container, &config, &ip, &host)), Err))
    }

    /// The API has answered what a container's environment needs.
    pub(super) fn config_answered(&mut self, cx: &mut Cx<'_>, uid: &Uid, reply: Reply) {
        let Some(worker) = self.worker(uid) else { return };
        worker.volumes.config_left = worker.volumes.config_left.saturating_sub(1);
        if let Ok(Some(object)) = object_of(reply) {
            worker.volumes.config.insert((object.kind(), object.meta().name.to_string()), Some(object));
        }
        let left = worker.volumes.config_left;
        let current = if let Activity::Starting(s) = &worker.activity { s.current.clone() } else { None };
        if let (0, Some(name)) = (left, current) {
            self.start_container(cx, uid, &name);
        }
    }
}

/// A ConfigMap or Secret (or one of its keys) in a container's environment.
struct Reference {
    kind: Kind,
    name: String,
    key: Option<String>,
    optional: bool,
}

impl Reference {
    /// What is missing, in the kubelet's words.
    fn missing(&self, object: Option<&Object>, namespace: &str) -> Option<String> {
        if self.optional {
            return None;
        }
        let Some(object) = object else {
            return Some(format!("{} \"{}\" not found", self.kind.singular(), self.name));
        };
        let key = self.key.as_ref()?;
        let there = match object {
            Object::ConfigMap(map) => map.data.contains_key(key) || map.binary_data.contains_key(key),
            Object::Secret(secret) => secret.data.contains_key(key),
            _ => false,
        };
        (!there).then(|| format!("couldn't find key {key} in {} {namespace}/{}", self.kind.name(), self.name))
    }
}

fn references(container: &Container) -> Vec<Reference> {
    let read = |kind: Kind, value: &Value| {
        let name = value["name"].as_str()?.to_string();
        Some(Reference {
            kind,
            name,
            key: value["key"].as_str().map(Into::into),
            optional: value["optional"] == true,
        })
    };
    let mut found = vec![];
    for from in &container.env_from {
        found.extend(read(Kind::ConfigMap, &from["configMapRef"]));
        found.extend(read(Kind::Secret, &from["secretRef"]));
    }
    for from in container.env.iter().filter_map(|e| e.value_from.as_ref()) {
        found.extend(read(Kind::ConfigMap, &from["configMapKeyRef"]));
        found.extend(read(Kind::Secret, &from["secretKeyRef"]));
    }
    found
}

/// What the pod gives a container: first the whole maps, then variable by variable; the last of a name holds.
fn variables(pod: &Pod, container: &Container, config: &Config, ip: &str, host: &str) -> Variables {
    let mut all: Variables = vec![];
    let read = |kind: Kind, name: &Value| -> BTreeMap<String, String> {
        let key = (kind, name.as_str().unwrap_or_default().to_owned());
        config.get(&key).and_then(Option::as_ref).map(data).unwrap_or_default()
    };
    for from in &container.env_from {
        let prefix = from["prefix"].as_str().unwrap_or_default();
        for (kind, name) in [(Kind::ConfigMap, "configMapRef"), (Kind::Secret, "secretRef")] {
            for (key, value) in read(kind, &from[name]["name"]) {
                put(&mut all, format!("{prefix}{key}"), value);
            }
        }
    }
    for variable in &container.env {
        let value = match &variable.value_from {
            None => Some(expand(&variable.value, &all)),
            Some(from) if from["fieldRef"].is_object() => {
                field(pod, from["fieldRef"]["fieldPath"].as_str().unwrap_or_default(), ip, host)
            }
            Some(from) if from["resourceFieldRef"].is_object() => {
                Some(resource(pod, container, &from["resourceFieldRef"]))
            }
            Some(from) => {
                let (kind, place) = match &from["secretKeyRef"] {
                    Value::Null => (Kind::ConfigMap, &from["configMapKeyRef"]),
                    place => (Kind::Secret, place),
                };
                read(kind, &place["name"]).remove(place["key"].as_str().unwrap_or_default())
            }
        };
        if let Some(value) = value {
            put(&mut all, variable.name.clone(), value);
        }
    }
    all
}

fn put(all: &mut Variables, name: String, value: String) {
    match all.iter_mut().find(|(n, _)| *n == name) {
        Some((_, old)) => *old = value,
        None => all.push((name, value)),
    }
}

/// `$(NAME)` of what was set before; `$$` is a dollar; what is not known stays as it is.
/// Upstream: third_party/forked/golang/expansion, Expand.
fn expand(text: &str, all: &Variables) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        done += before;
        let name = after.strip_prefix('(').and_then(|a| a.split_once(')'));
        (done, rest) = match name {
            _ if after.starts_with('$') => (done + "$", &after[1..]),
            Some((name, behind)) => match all.iter().find(|(n, _)| n == name) {
                Some((_, value)) => (done + value, behind),
                None => (format!("{done}$({name})"), behind),
            },
            None => (done + "$", after),
        };
    }
    done + rest
}

/// A field of the pod. Upstream: podFieldSelectorRuntimeValue.
fn field(pod: &Pod, path: &str, ip: &str, host: &str) -> Option<String> {
    let meta = &pod.metadata;
    let entry = |start: &str| path.strip_prefix(start)?.strip_suffix("']");
    Some(match path {
        "metadata.name" => meta.name.to_string(),
        "metadata.namespace" => meta.namespace.to_string(),
        "metadata.uid" => meta.uid.to_string(),
        "spec.nodeName" => pod.spec.node_name.to_string(),
        "spec.serviceAccountName" => pod.spec.service_account_name.clone(),
        "status.hostIP" | "status.hostIPs" => host.to_owned(),
        "status.podIP" | "status.podIPs" => ip.to_owned(),
        _ => match (entry("metadata.labels['"), entry("metadata.annotations['")) {
            (Some(key), _) => meta.labels.get(key).map(|v| v.to_string()).unwrap_or_default(),
            (_, Some(key)) => meta.annotations.get(key).map(|v| v.to_string()).unwrap_or_default(),
            _ => return None,
        },
    })
}

/// What a container asks for or may use at most, in whole divisors; 0 if it says nothing of it.
/// Upstream: pkg/api/v1/resource, ExtractContainerResourceValue.
fn resource(pod: &Pod, container: &Container, from: &Value) -> String {
    let named = from["containerName"].as_str();
    let of = named.and_then(|n| pod.spec.containers.iter().find(|c| c.name == n)).unwrap_or(container);
    let (part, name) = from["resource"].as_str().and_then(|r| r.split_once('.')).unwrap_or_default();
    let amounts = if part == "limits" { &of.resources.limits } else { &of.resources.requests };
    let divisor = from["divisor"].as_str().and_then(|d| kubestep_model::text::Quantity::parse(d).ok());
    let milli = |q: &kubestep_model::text::Quantity| i128::from(q.milli_value());
    let divisor = divisor.map_or(1000, |d| milli(&d)).max(1);
    let divisor = if from["divisor"] == "0" { 1000 } else { divisor };
    let amount =
        amounts.get(name).map_or(0, |q| if name == "cpu" { milli(q) } else { i128::from(q.value()) * 1000 });
    ((amount + divisor - 1).div_euclid(divisor)).to_string()
}
