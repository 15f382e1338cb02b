//! Cluster addresses and node ports of services.
//!
//! Upstream: pkg/registry/core/service/storage, alloc.go, and pkg/registry/core/service/ipallocator (v1.37).

use crate::turn::Turn;
use kubestep_model::{Custom, Kind, Object, ObjectMeta, Service, Status};
use serde_json::json;
use std::sync::Arc;

/// Addresses are drawn from 10.96.0.0/16; the lowest 256 are left to those who ask for one.
const RANGE: [u8; 2] = [10, 96];
const STATIC_BAND: u32 = 256;
const LAST: u32 = 65_534;

pub(crate) fn for_new(turn: &mut Turn<'_>, service: &mut Service) -> Result<(), Status> {
    if service.spec.cluster_ip.is_empty() && service.spec.r#type != "ExternalName" {
        let address = draw(turn);
        reserve(turn, &address, service);
        service.spec.cluster_ips = vec![address.clone()];
        service.spec.cluster_ip = address;
    }
    Ok(())
}

pub(crate) fn for_changed(_turn: &mut Turn<'_>, new: &mut Service, old: &Service) -> Result<(), Status> {
    if new.spec.cluster_ip.is_empty() {
        new.spec.cluster_ip.clone_from(&old.spec.cluster_ip);
        new.spec.cluster_ips.clone_from(&old.spec.cluster_ips);
    }
    Ok(())
}

/// Gives back the addresses of a service that is gone.
pub(crate) fn release(turn: &mut Turn<'_>, service: &Service) {
    for address in &service.spec.cluster_ips {
        release_one(turn, address);
    }
}

fn kind() -> Option<Kind> {
    Kind::find("networking.k8s.io", "IPAddress")
}

fn release_one(turn: &mut Turn<'_>, address: &str) {
    let object = kind().and_then(|k| turn.store.get(&kubestep_model::Key::new(k, "", address)).cloned());
    if let Some(object) = object {
        turn.remove_own(&object);
    }
}

fn taken(turn: &Turn<'_>, address: &str) -> bool {
    kind().is_some_and(|k| turn.store.get(&kubestep_model::Key::new(k, "", address)).is_some())
}

/// A free address above the static band; below it when all above are taken.
fn draw(turn: &mut Turn<'_>) -> String {
    let text = |n: u32| format!("{}.{}.{}.{}", RANGE[0], RANGE[1], n >> 8, n & 0xff);
    let start = turn.dice.below("address", LAST - STATIC_BAND + 1);
    let upper = (0..=LAST - STATIC_BAND).map(|i| STATIC_BAND + (start + i) % (LAST - STATIC_BAND + 1));
    upper.chain(1..STATIC_BAND).map(text).find(|address| !taken(turn, address)).unwrap_or_default()
}

/// Writes the object that reserves an address.
fn reserve(turn: &mut Turn<'_>, address: &str, service: &Service) {
    let Some(kind) = kind() else { return };
    let mut object = address_object(kind, address, &service.metadata.namespace, &service.metadata.name);
    let uid = turn.draw_uid();
    let meta = object.meta_mut();
    meta.uid = uid;
    meta.creation_timestamp = Some(turn.now.to_time());
    turn.put_own(object, "create", "", 201);
}

/// The object that reserves an address for a service.
pub(crate) fn address_object(kind: Kind, address: &str, namespace: &str, service: &str) -> Object {
    let labels = [
        ("ipaddress.kubernetes.io/ip-family", "IPv4"),
        ("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"),
    ];
    let parent = json!({"parentRef": {"resource": "services", "namespace": namespace, "name": service}});
    let metadata = ObjectMeta {
        name: address.into(),
        labels: labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        ..ObjectMeta::default()
    };
    Object::Custom(Arc::new(Custom {
        kind,
        metadata,
        rest: [("spec".to_owned(), parent)].into_iter().collect(),
    }))
}
