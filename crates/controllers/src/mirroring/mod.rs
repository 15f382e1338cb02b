//! EndpointSlices for Endpoints that a person writes: services without a selector are found by their slices, too.
//!
//! Upstream: pkg/controller/endpointslicemirroring (v1.37). Each subset and address family has slices of its own;
//! upstream fills slices of a subset up to a thousand addresses, and so does this.

mod desired;

use crate::{claim::controller_ref, sentences::Sentence};
use desired::{Wanted, wanted};
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{
    DeleteOptions, EndpointSlice, Endpoints, Key, Kind, Object, ObjectMeta, Resource, Service, Status,
};
use std::time::Duration;

const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const SERVICE_NAME: &str = "kubernetes.io/service-name";
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// The endpoint slice mirroring controller.
#[derive(Debug)]
pub struct Mirroring;

static WATCHES: [Watch; 3] = [
    Watch { kind: Kind::Endpoints, wakes: same_name },
    Watch { kind: Kind::Service, wakes: same_name },
    Watch { kind: Kind::EndpointSlice, wakes: slice },
];

fn endpoints_key(namespace: &str, name: &str) -> Key {
    Key::new(Kind::Endpoints, namespace, name)
}

/// Only services without a selector concern this loop, now or before.
fn same_name(change: &Change, view: &View) -> Vec<Wake> {
    let free =
        |o: &Option<Object>| o.as_ref().and_then(Service::of).is_some_and(|s| s.spec.selector.is_empty());
    let key = endpoints_key(&change.key.namespace, &change.key.name);
    let concerns = if change.key.kind == Kind::Service {
        (free(&change.old) || free(&change.new)) && view.object(&key).is_some()
    } else {
        let service = view.get::<Service>(&change.key.namespace, &change.key.name);
        service.is_some_and(|s| s.spec.selector.is_empty())
    };
    if concerns { vec![Wake::now(key)] } else { vec![] }
}

fn slice(change: &Change, _: &View) -> Vec<Wake> {
    let slices = [&change.old, &change.new].into_iter().flatten().filter_map(EndpointSlice::of);
    let mut keys: Vec<Key> = slices
        .filter(|s| s.metadata.labels.get(MANAGED_BY).is_some_and(|by| by == MANAGER))
        .filter_map(|s| Some(endpoints_key(&s.metadata.namespace, s.metadata.labels.get(SERVICE_NAME)?)))
        .collect();
    keys.dedup();
    keys.into_iter().map(Wake::now).collect()
}

/// Upstream: shouldMirror.
fn is_mirrored(endpoints: &Endpoints) -> bool {
    let meta = &endpoints.metadata;
    meta.labels.get(SKIP_MIRROR).is_none_or(|v| v != "true") && !meta.annotations.contains_key(LEADER)
}

impl Controller for Mirroring {
    fn name(&self) -> &'static str {
        "endpointslicemirroring"
    }
    fn actor(&self) -> &'static str {
        "endpointslicemirroring-controller"
    }
    fn event_source(&self) -> &'static str {
        "endpoint-slice-mirroring-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::EndpointSlice]
    }
    fn max_retries(&self) -> Option<u32> {
        Some(15)
    }
    fn backoff(&self) -> (Duration, Duration) {
        (Duration::from_secs(1), Duration::from_secs(1000))
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let service = cx.get::<Service>(&key.namespace, &key.name);
        let without_selector = service.is_some_and(|s| s.spec.selector.is_empty());
        let endpoints = cx
            .get::<Endpoints>(&key.namespace, &key.name)
            .filter(|e| without_selector && is_mirrored(e) && !e.metadata.is_terminating());
        let have: Vec<EndpointSlice> = cx
            .list::<EndpointSlice>(Some(&key.namespace))
            .filter(|s| is_ours(s, &key.name))
            .cloned()
            .collect();
        let wanted = endpoints.map(wanted).unwrap_or_default();
        match settle(cx, key, endpoints, have, wanted)? {
            Ok(()) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

fn is_ours(slice: &EndpointSlice, name: &str) -> bool {
    let label = |key: &str, value: &str| slice.metadata.labels.get(key).is_some_and(|v| v == value);
    label(MANAGED_BY, MANAGER) && label(SERVICE_NAME, name)
}

/// Slices that are as wanted stay, others are changed, made and deleted. Upstream: reconciler.reconcile and finalize.
fn settle(
    cx: &mut Cx<'_>,
    key: &Key,
    endpoints: Option<&Endpoints>,
    mut have: Vec<EndpointSlice>,
    mut wanted: Vec<Wanted>,
) -> Result<Result<(), Status>, Halt> {
    let fresh = endpoints.map(|e| meta(e, key)).unwrap_or_default();
    wanted.retain(|w| {
        let same = have.iter().position(|s| {
            let (now, new) = (&s.metadata, &fresh);
            w.is(s) && now.labels == new.labels && now.annotations == new.annotations
        });
        if let Some(i) = same {
            have.remove(i);
        }
        same.is_none()
    });
    let (mut made, mut changed, mut others) = (vec![], vec![], vec![]);
    for wish in wanted {
        let slice = EndpointSlice { metadata: fresh.clone(), ..Default::default() };
        match have.iter().position(|s| wish.fits(s)) {
            // A slice is written anew, without the beginning of its name.
            Some(i) => changed.push((slice, wish, Some(have.remove(i).metadata.name))),
            None => others.push((slice, wish)),
        }
    }
    for (slice, wish) in others {
        // One that would be deleted becomes one that would be made. Upstream: recycleSlices.
        match have.iter().position(|s| wish.is_like(s)) {
            Some(i) => {
                let name = have.remove(i).metadata.name;
                let metadata = ObjectMeta { name, ..slice.metadata };
                changed.push((EndpointSlice { metadata, ..slice }, wish, None));
            }
            None => made.push((slice, wish)),
        }
    }
    let mut refused = None;
    for (mut slice, wish) in made {
        cx.because("mirroring.write", vec![("who", key.name.to_string())]);
        wish.fill(&mut slice);
        refused = refused.or(cx.try_create(slice)?.err());
    }
    for (mut slice, wish, name) in changed {
        cx.because("mirroring.write", vec![("who", key.name.to_string())]);
        if let Some(name) = name {
            slice.metadata.name = name;
            slice.metadata.generate_name.clear();
        }
        wish.fill(&mut slice);
        refused = refused.or(cx.try_replace(slice)?.err());
    }
    for slice in have {
        cx.because("mirroring.delete", vec![("who", key.name.to_string())]);
        let gone = cx.try_delete(slice.key(), DeleteOptions::default())?;
        refused = refused.or(gone.err().filter(|s| !s.is_not_found()));
    }
    Ok(refused.map_or(Ok(()), Err))
}

fn labels(endpoints: &Endpoints, key: &Key) -> kubestep_model::Labels {
    let mut labels = endpoints.metadata.labels.clone();
    labels.insert(SERVICE_NAME.into(), key.name.to_string());
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    labels
}

/// Upstream: newEndpointSlice.
fn meta(endpoints: &Endpoints, key: &Key) -> ObjectMeta {
    let mut annotations = endpoints.metadata.annotations.clone();
    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    annotations.remove("endpoints.kubernetes.io/last-change-trigger-time");
    ObjectMeta {
        generate_name: crate::pods::name_prefix(&key.name),
        namespace: key.namespace.clone(),
        labels: labels(endpoints, key),
        annotations,
        owner_references: vec![controller_ref(Kind::Endpoints, &endpoints.metadata)],
        ..Default::default()
    }
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "mirroring.write",
        text: "A person keeps the Endpoints {who}; the mirroring controller writes the same into an EndpointSlice.",
        upstream: "pkg/controller/endpointslicemirroring/reconciler.go, reconcile",
    },
    Sentence {
        code: "mirroring.delete",
        text: "The Endpoints {who} no longer say this: the mirroring controller deletes the EndpointSlice.",
        upstream: "pkg/controller/endpointslicemirroring/reconciler.go, reconcile",
    },
];
