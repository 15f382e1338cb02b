//! The ConfigMaps and Secrets that a container's environment names.
//! Upstream: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables.

use super::{Ask, Cx, Kubelet, Uid, volumes::object_of, worker::Activity};
use kubestep_model::arrange::Gather;
use kubestep_model::{Container, Key, Kind, Object, Reply, Subresource, Verb};
use serde_json::Value;
use std::collections::BTreeSet;

impl Kubelet {
    /// What a container's environment needs: `None` while it is asked for, then whether all of it is there.
    pub(super) fn configuration(
        &mut self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        container: &Container,
    ) -> Option<Result<(), String>> {
        let needed = references(container);
        let worker = self.worker(uid)?;
        if needed.is_empty() {
            return Some(Ok(()));
        }
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
        Some(missing.map_or(Ok(()), Err))
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
