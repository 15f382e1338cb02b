//! `kubectl describe`, one file per kind. Upstream: kubectl/pkg/describe (v1.37).

mod config_map;
mod containers;
mod deployment;
mod endpoint_slice;
mod endpoints;
mod events;
mod generic;
mod ingress;
mod job;
mod namespace;
mod network_policy;
mod node;
mod node_resources;
mod page;
mod pod;
mod quota;
mod replica_set;
mod rights;
mod scaler;
mod secret;
mod service;
mod service_account;
mod small;
mod stateful;
mod storage;
mod template;
mod volumes;

use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
pub(crate) use events::interval;
use kubestep_model::{Kind, Object, ObjectMeta, Pod, PodTemplateSpec, text::Selector};
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
        Object::Event(_) | Object::Lease(_) => generic::describe(kc, &mut page, object, events),
        Object::Custom(_) => whole(kc, &mut page, object, events),
    };
    Ok(done?.map(|()| page.finish()))
}

/// Kinds that are kept whole. Those without a description of their own show every field.
fn whole(kc: &mut Kc<'_>, page: &mut Page, object: &Object, events: bool) -> Flow<Result<(), Fault>> {
    let (kind, now) = (object.kind().name(), kc.now());
    let mut shows_events = true;
    match kind {
        "StatefulSet" | "DaemonSet" | "ReplicationController" | "PersistentVolumeClaim" => {
            let done = match kind {
                "StatefulSet" => stateful::stateful_set(kc, page, object)?,
                "DaemonSet" => stateful::daemon_set(kc, page, object)?,
                "ReplicationController" => stateful::replication_controller(kc, page, object)?,
                _ => storage::claim(kc, page, object)?,
            };
            if let Err(fault) = done {
                return Ok(Err(fault));
            }
        }
        "Job" => job::job(page, object),
        "CronJob" => job::cron_job(page, object),
        "PersistentVolume" => storage::volume(page, object, now),
        "StorageClass" => storage::class(page, object),
        "VolumeAttributesClass" => storage::attributes_class(page, object),
        "Ingress" => ingress::describe(kc, page, object)?,
        "IngressClass" => ingress::class(page, object),
        "PodDisruptionBudget" => small::budget(page, object),
        "PriorityClass" => small::priority_class(page, object),
        "HorizontalPodAutoscaler" => scaler::describe(page, object),
        "LimitRange" | "NetworkPolicy" | "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding" => {
            shows_events = false;
            match kind {
                "LimitRange" => small::limit_range(page, object),
                "NetworkPolicy" => network_policy::describe(page, object),
                "Role" | "ClusterRole" => rights::role(page, object),
                _ => rights::binding(page, object),
            }
        }
        _ => return generic::describe(kc, page, object, events),
    }
    self::events::show(kc, page, object, events && shows_events)?;
    Ok(Ok(()))
}

/// Writes how many of an owner's pods are in each phase. Upstream: getPodStatusForController.
fn pods_status(
    kc: &mut Kc<'_>,
    page: &mut Page,
    owner: &ObjectMeta,
    selector: Selector,
) -> Flow<Result<(), Fault>> {
    let selector = Some(selector).filter(|s| !s.is_empty());
    Ok(match kc.list(Kind::Pod, Some(owner.namespace.clone()), selector, None)? {
        Ok((pods, _)) => {
            page.field(0, "Pods Status", phases(&pods, &owner.uid));
            Ok(())
        }
        Err(status) => Err(status.into()),
    })
}

/// How many of an owner's pods are in each phase.
fn phases(pods: &[Object], owner: &str) -> String {
    let own = |o: &&Object| o.meta().controller().is_some_and(|c| &*c.uid == owner);
    let own: Vec<&Pod> = pods.iter().filter(own).filter_map(|o| o.get::<Pod>()).collect();
    let phase = |phase: &str| own.iter().filter(|p| p.status.phase == phase).count();
    format!(
        "{} Running / {} Waiting / {} Succeeded / {} Failed",
        phase("Running"),
        phase("Pending"),
        phase("Succeeded"),
        phase("Failed")
    )
}
