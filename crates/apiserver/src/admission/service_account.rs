//! A pod runs as a service account of its namespace and gets that account's token as a volume.
//!
//! Upstream: plugin/pkg/admission/serviceaccount (v1.37).

use crate::turn::Turn;
use kubestep_model::{Key, Kind, Object, Pod, Status, Volume, VolumeMount};
use serde_json::json;

const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
const MIRROR: &str = "kubernetes.io/config.mirror";

pub(super) fn admit(turn: &mut Turn<'_>, pod: &mut Pod) -> Result<(), Status> {
    if pod.metadata.annotations.contains_key(MIRROR) {
        return Ok(());
    }
    if pod.spec.service_account_name.is_empty() {
        pod.spec.service_account_name = "default".into();
    }
    pod.spec.service_account = pod.spec.service_account_name.clone();
    let name = pod.spec.service_account_name.clone();
    let namespace = pod.metadata.namespace.clone();
    let found = turn.store.get(&Key::new(Kind::ServiceAccount, namespace.clone(), name.as_str()));
    let Some(Object::ServiceAccount(account)) = found.cloned() else {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount \"{name}\" not found"
        );
        return Err(Status::forbidden(Kind::Pod, super::name_or_start(&pod.metadata), &why));
    };
    let mounts = pod.spec.automount_service_account_token.or(account.automount_service_account_token);
    if mounts.unwrap_or(true) {
        mount_token(turn, pod);
    }
    if pod.spec.image_pull_secrets.is_empty() {
        pod.spec.image_pull_secrets = account.image_pull_secrets.clone();
    }
    Ok(())
}

/// Adds the volume and mounts it where nothing is mounted there yet.
fn mount_token(turn: &mut Turn<'_>, pod: &mut Pod) {
    let there = pod.spec.volumes.iter().find(|v| v.name.starts_with(VOLUME_PREFIX)).map(|v| v.name.clone());
    let has_volume = there.is_some();
    let needed = pod
        .spec
        .init_containers
        .iter()
        .chain(&pod.spec.containers)
        .any(|c| !c.volume_mounts.iter().any(|m| m.mount_path == MOUNT_PATH));
    if !needed {
        return;
    }
    let volume = there.unwrap_or_else(|| turn.draw_name(VOLUME_PREFIX).to_string());
    let spec: &mut kubestep_model::PodSpec = &mut pod.spec;
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        if container.volume_mounts.iter().any(|m| m.mount_path == MOUNT_PATH) {
            continue;
        }
        container.volume_mounts.push(VolumeMount {
            name: volume.clone(),
            mount_path: MOUNT_PATH.into(),
            read_only: true,
            ..VolumeMount::default()
        });
    }
    if !has_volume {
        pod.spec.volumes.push(token_volume(volume));
    }
}

fn token_volume(name: String) -> Volume {
    let projected = json!({
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
            ]}},
        ],
    });
    Volume { name, rest: [("projected".to_owned(), projected)].into() }
}
