//! Endpoints: the older form of the addresses behind a service, still written for each service.
//!
//! Upstream: pkg/controller/endpoint (v1.37). Left out: the cut at 1,000 addresses.

pub(crate) mod order;
mod subsets;

use crate::{
    endpointslice::{
        members::{has_address, has_endpoints, pod_wakes, selected, service_key, service_wakes},
        trigger,
    },
    sentences::Sentence,
    stop::namespace_terminating,
};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{DeleteOptions, Endpoints, Key, Kind, Labels, Object, ObjectMeta, Service};
use subsets::subsets;

/// The endpoints controller.
#[derive(Debug)]
pub struct EndpointsController;

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const HEADLESS: &str = "service.kubernetes.io/headless";

static WATCHES: [Watch; 3] = [
    Watch { kind: Kind::Service, wakes: service_wakes },
    Watch { kind: Kind::Pod, wakes: pod_wakes },
    Watch { kind: Kind::Endpoints, wakes: endpoints_wakes },
];

/// Only a deletion counts. Upstream: onEndpointsDelete.
fn endpoints_wakes(change: &Change, _view: &View) -> Vec<Wake> {
    match change.new {
        None => vec![Wake::now(service_key(&change.key.namespace, &change.key.name))],
        Some(_) => vec![],
    }
}

impl Controller for EndpointsController {
    fn name(&self) -> &'static str {
        "endpoint"
    }
    fn actor(&self) -> &'static str {
        "endpoint-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Endpoints]
    }
    fn max_retries(&self) -> Option<u32> {
        Some(15)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let who = ("who", key.name.to_string());
        let Some(service) = cx.get::<Service>(&key.namespace, &key.name) else {
            cx.because("endpoints.gone", vec![who]);
            let of = Key::new(Kind::Endpoints, key.namespace.clone(), key.name.clone());
            let reply = cx.try_delete(of, DeleteOptions::default())?;
            if let Some(status) = reply.err().filter(|s| !s.is_not_found()) {
                return Err(cx.fail(status));
            }
            trigger::forget(cx, &key.namespace, &key.name);
            return Ok(Done::Settled);
        };
        if !has_endpoints(service) {
            cx.because("endpoints.no-selector", vec![who]);
            return Ok(Done::Settled);
        }
        let known = cx.get::<Endpoints>(&key.namespace, &key.name);
        let found = cx.once(|view| {
            let pods = selected(view, service);
            (trigger::look(cx, service, &pods), subsets(service, &pods, known))
        });
        let (trigger, subsets) = &*found;
        trigger::keep(cx, trigger);
        let mut new = known.map_or_else(|| empty(service), without_subsets);
        new.subsets.clone_from(subsets);
        new.metadata.labels = labels(service);
        if known
            .is_some_and(|k| k.subsets == new.subsets && own(&k.metadata.labels) == own(&new.metadata.labels))
        {
            cx.because("endpoints.unchanged", vec![who]);
            return Ok(Done::Settled);
        }
        trigger::annotate(&mut new.metadata.annotations, trigger.time);
        write(cx, service, new, known.is_none())
    }
}

fn write(cx: &mut Cx<'_>, service: &Service, new: Endpoints, create: bool) -> Flow {
    let count = |f: fn(&kubestep_model::EndpointSubset) -> usize| {
        new.subsets.iter().map(f).sum::<usize>().to_string()
    };
    let about = vec![
        ("who", service.metadata.name.to_string()),
        ("ready", count(|s| s.addresses.len())),
        ("not-ready", count(|s| s.not_ready_addresses.len())),
    ];
    cx.because(if create { "endpoints.create" } else { "endpoints.update" }, about);
    let head = without_subsets(&new);
    let reply = if create { cx.try_create(new)? } else { cx.try_replace(new)? };
    let Err(status) = reply else { return Ok(Done::Settled) };
    if create && namespace_terminating(&status) {
        return Ok(Done::Settled);
    }
    let (namespace, name, why) = (&service.metadata.namespace, &service.metadata.name, &status.message);
    let (reason, text) = if create {
        ("FailedToCreateEndpoint", format!("Failed to create endpoint for service {namespace}/{name}: {why}"))
    } else {
        ("FailedToUpdateEndpoint", format!("Failed to update endpoint {namespace}/{name}: {why}"))
    };
    cx.event(&Object::from(head), "Warning", reason, text);
    Err(cx.fail(status))
}

/// A copy with all but the addresses: they are many, and worked out anew.
fn without_subsets(of: &Endpoints) -> Endpoints {
    Endpoints { metadata: of.metadata.clone(), subsets: vec![], rest: of.rest.clone() }
}

fn empty(service: &Service) -> Endpoints {
    let (namespace, name) = (service.metadata.namespace.clone(), service.metadata.name.clone());
    Endpoints { metadata: ObjectMeta { namespace, name, ..ObjectMeta::default() }, ..Endpoints::default() }
}

/// The labels of a service's endpoints: its own, who manages them, and whether the service has no address.
fn labels(service: &Service) -> Labels {
    let mut labels = service.metadata.labels.clone();
    labels.insert(MANAGED_BY.into(), "endpoint-controller".into());
    if has_address(service) {
        labels.remove(HEADLESS);
    } else {
        labels.insert(HEADLESS.into(), String::new());
    }
    labels
}

/// The labels that are compared; whether the service has an address is not.
fn own(labels: &Labels) -> impl PartialEq {
    labels.iter().filter(|(key, _)| *key != HEADLESS).map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>()
}

/// What the notes say.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "endpoints.create",
        text: "Service {who} gets its Endpoints: {ready} ready addresses, {not-ready} others.",
        upstream: "pkg/controller/endpoint/endpoints_controller.go, syncService",
    },
    Sentence {
        code: "endpoints.gone",
        text: "Service {who} is no longer in the cache: its Endpoints are deleted.",
        upstream: "pkg/controller/endpoint/endpoints_controller.go, syncService",
    },
    Sentence {
        code: "endpoints.no-selector",
        text: "Service {who} selects no pods; its endpoints are somebody else's business.",
        upstream: "pkg/controller/endpoint/endpoints_controller.go, syncService",
    },
    Sentence {
        code: "endpoints.unchanged",
        text: "The Endpoints of service {who} are as they should be.",
        upstream: "pkg/controller/endpoint/endpoints_controller.go, syncService",
    },
    Sentence {
        code: "endpoints.update",
        text: "The Endpoints of service {who} now have {ready} ready addresses and {not-ready} others.",
        upstream: "pkg/controller/endpoint/endpoints_controller.go, syncService",
    },
];
