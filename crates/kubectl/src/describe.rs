//! `kubectl describe`, one file per kind. Upstream: kubectl/pkg/describe (v1.37).

mod config_map;
mod containers;
mod deployment;
mod endpoint_slice;
mod endpoints;
mod events;
mod generic;
mod namespace;
mod node;
mod node_resources;
mod page;
mod pod;
mod quota;
mod replica_set;
mod secret;
mod service;
mod service_account;
mod template;
mod volumes;

use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{Object, PodTemplateSpec};
use page::Page;

/// The description of a template, without columns: as `rollout history --revision` shows it.
pub(crate) fn template(spec: &PodTemplateSpec) -> String {
    let mut page = Page::default();
    template::describe(&mut page, spec);
    page.raw()
}

/// The description of an object. `events` says whether its events are shown.
pub(crate) fn describe(kc: &mut Kc<'_>, object: &Object, events: bool) -> Flow<Result<String, Fault>> {
    let mut page = Page::default();
    let done = match object {
        Object::Pod(o) => pod::describe(kc, &mut page, o, events),
        Object::Deployment(o) => deployment::describe(kc, &mut page, o, events),
        Object::ReplicaSet(o) => replica_set::describe(kc, &mut page, o, events),
        Object::Service(o) => service::describe(kc, &mut page, o, events),
        Object::Node(o) => node::describe(kc, &mut page, o, events),
        Object::ResourceQuota(o) => {
            quota::describe(&mut page, o);
            Ok(Ok(()))
        }
        Object::Namespace(o) => namespace::describe(kc, &mut page, o),
        Object::ConfigMap(o) => config_map::describe(kc, &mut page, o, events),
        Object::Secret(o) => {
            secret::describe(&mut page, o);
            Ok(Ok(()))
        }
        Object::ServiceAccount(o) => service_account::describe(kc, &mut page, o, events),
        Object::Endpoints(o) => endpoints::describe(kc, &mut page, o, events),
        Object::EndpointSlice(o) => endpoint_slice::describe(kc, &mut page, o, events),
        Object::Event(_) | Object::Lease(_) | Object::Custom(_) => {
            generic::describe(kc, &mut page, object, events)
        }
    };
    Ok(done?.map(|()| page.finish()))
}
