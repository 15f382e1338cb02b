//! What a pod needs from its namespace, and whether what a write was refused for is still so.

use crate::Blocker;
use kubestep_cluster::World;
use kubestep_model::{Key, Kind, Pod};

/// What a volume of a pod that has a node is to be made from and is not there: the container is not even waited for.
pub(crate) fn missing(world: &World, pod: &Pod) -> Option<Blocker> {
    let is_made = pod.condition("PodReadyToStartContainers").is_some_and(|c| c.status == "True");
    if is_made {
        return None;
    }
    let absent = |kind: Kind, name: &str| {
        world.store().get(&Key::new(kind, pod.metadata.namespace.clone(), name)).is_none()
    };
    pod.spec.volumes.iter().find_map(|volume| {
        let name = |field: &str, key: &str| volume.rest.get(field)?.get(key)?.as_str();
        let optional = |field: &str| volume.rest.get(field).is_some_and(|f| f["optional"] == true);
        let secret = name("secret", "secretName").filter(|n| !optional("secret") && absent(Kind::Secret, n));
        let map = name("configMap", "name").filter(|n| !optional("configMap") && absent(Kind::ConfigMap, n));
        let what = secret.map(|n| format!("secret \"{n}\" not found"));
        let what = what.or_else(|| map.map(|n| format!("configmap \"{n}\" not found")))?;
        let volume = &volume.name;
        Some(Blocker::Configuration {
            message: format!("MountVolume.SetUp failed for volume \"{volume}\" : {what}"),
        })
    })
}

/// The word between a text and a quotation mark.
fn quoted<'m>(message: &'m str, before: &str) -> Option<&'m str> {
    let rest = message.split_once(before)?.1;
    Some(rest.split_once('"')?.0)
}

/// Whether what a message complains of is not so any more: then only the next try is waited for.
pub(crate) fn mended(world: &World, namespace: &str, message: &str) -> bool {
    let there = |kind: Kind, name: &str| world.store().get(&Key::new(kind, namespace, name)).is_some();
    let now_there = |before: &str, kind: Kind| quoted(message, before).is_some_and(|name| there(kind, name));
    now_there("serviceaccount \"", Kind::ServiceAccount)
        || now_there("secret \"", Kind::Secret)
        || now_there("configmap \"", Kind::ConfigMap)
        || quota_has_changed(world, namespace, message)
        || (message.contains("usage per") && world.store().list(LIMITS, Some(namespace)).next().is_none())
}

const LIMITS: Kind = Kind::other("", "LimitRange");

/// Whether the quota that a message names is gone, or its limit or what is used of it is another one.
fn quota_has_changed(world: &World, namespace: &str, message: &str) -> bool {
    let Some(rest) = message.split_once("exceeded quota: ").map(|(_, rest)| rest) else { return false };
    let Some((name, rest)) = rest.split_once(", requested: ") else { return false };
    let Some(quota) = world.store().get(&Key::new(Kind::ResourceQuota, namespace, name)) else { return true };
    let value = quota.to_value();
    let Some((_, used)) = rest.split_once(", used: ") else { return false };
    let (used, limited) = used.split_once(", limited: ").unwrap_or((used, ""));
    let is = |part: &str, pointer: &str| {
        let Some((resource, number)) = part.split_once('=') else { return true };
        let now = value.pointer(pointer).and_then(|m| m.get(resource));
        now.is_none_or(|now| now.as_str().map_or_else(|| now.to_string(), Into::into) == number)
    };
    // What is used falls when a pod goes; it counts once it is written.
    !limited.split(',').all(|part| is(part, "/spec/hard"))
        || !used.split(',').all(|part| is(part, "/status/used"))
}
