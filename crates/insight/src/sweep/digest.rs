//! What a run came to, names aside. Left out is what a fault leaves behind for good: how often a job's pods failed and
//! whether it did more than it had to, which times a schedule missed, claims and revisions of what was only there for a
//! moment, and pods that failed beside those that took their place.

use kubestep_cluster::World;
use kubestep_model::{
    CronJob, DaemonSet, Deployment, EndpointSlice, HorizontalPodAutoscaler, Job, Kind, Namespace, Node, Pod,
    ReplicationController, StatefulSet, Whole,
};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// What a run came to, names aside.
pub type Digest = BTreeMap<String, String>;

fn all<'w, T: Whole + 'w>(world: &'w World) -> impl Iterator<Item = T> + 'w {
    world.store().list(T::KIND, None).filter_map(T::read)
}

/// What there is at the end of a run.
pub fn digest(world: &World) -> Digest {
    let mut digest = Digest::new();
    owners(world, &mut digest);
    runs(world, &mut digest);
    around(world, &mut digest);
    pods(world, &mut digest);
    digest
}

fn owners(world: &World, digest: &mut Digest) {
    for d in world.store().list(Kind::Deployment, None).filter_map(|o| o.get::<Deployment>()) {
        let s = &d.status;
        let text = format!(
            "{} replicas, {} updated, {} ready, {} available, {:?} terminating",
            s.replicas, s.updated_replicas, s.ready_replicas, s.available_replicas, s.terminating_replicas
        );
        digest.insert(format!("Deployment {}", d.metadata.name), text);
    }
    for set in all::<StatefulSet>(world) {
        let s = &set.status;
        let revision = s.current_revision == s.update_revision;
        let text = format!(
            "{} replicas, {} ready, {} available, {} updated, all of one revision: {revision}",
            s.replicas, s.ready_replicas, s.available_replicas, s.updated_replicas
        );
        digest.insert(format!("StatefulSet {}", set.metadata.name), text);
    }
    for set in all::<DaemonSet>(world) {
        let s = &set.status;
        let text = format!(
            "{} of {} nodes, {} not meant, {} ready, {} available, {} updated",
            s.current_number_scheduled,
            s.desired_number_scheduled,
            s.number_misscheduled,
            s.number_ready,
            s.number_available,
            s.updated_number_scheduled
        );
        digest.insert(format!("DaemonSet {}", set.metadata.name), text);
    }
    for rc in all::<ReplicationController>(world) {
        let s = &rc.status;
        let text = format!(
            "{} replicas, {} ready, {} available",
            s.replicas, s.ready_replicas, s.available_replicas
        );
        digest.insert(format!("ReplicationController {}", rc.metadata.name), text);
    }
}

/// Jobs and what makes them.
fn runs(world: &World, digest: &mut Digest) {
    let of_schedule = |job: &Job| job.metadata.controller().is_some();
    for job in all::<Job>(world).filter(|job| !of_schedule(job)) {
        let s = &job.status;
        let ended: Vec<&str> =
            s.conditions.iter().filter(|c| c.status == "True").map(|c| c.r#type.as_str()).collect();
        let enough = s.succeeded >= job.spec.completions.unwrap_or(1);
        let text =
            format!("{ended:?}, enough: {enough}, {} active, indexes {:?}", s.active, s.completed_indexes);
        digest.insert(format!("Job {}", job.metadata.name), text);
    }
    for cron in all::<CronJob>(world) {
        let late = cron.status.last_schedule_time.map(|at| world.now().since(at.instant()));
        let on_time = late.is_some_and(|late| late < Duration::from_secs(120));
        let jobs = all::<Job>(world).filter(of_schedule);
        let many = jobs.filter(|job| job.finished().is_some()).count();
        digest.insert(
            format!("CronJob {}", cron.metadata.name),
            // Three that are complete are kept, and one more until it is looked at again.
            format!("on time: {on_time}, jobs kept: {}", (1..=4).contains(&many)),
        );
    }
}

/// Autoscalers, budgets, quotas, claims, volumes, nodes and namespaces.
fn around(world: &World, digest: &mut Digest) {
    for hpa in all::<HorizontalPodAutoscaler>(world) {
        let able = hpa.status.conditions.iter().map(|c| format!("{} {}", c.r#type, c.status));
        digest.insert(
            format!("HorizontalPodAutoscaler {}", hpa.metadata.name),
            format!("{} replicas, {:?}", hpa.status.current_replicas, able.collect::<Vec<_>>()),
        );
    }
    let rows: [(&str, &str, &[&str]); 4] = [
        (
            "policy",
            "PodDisruptionBudget",
            &["/currentHealthy", "/desiredHealthy", "/disruptionsAllowed", "/expectedPods"],
        ),
        ("", "ResourceQuota", &["/hard/pods", "/used/pods"]),
        ("", "PersistentVolumeClaim", &["/phase"]),
        ("", "PersistentVolume", &["/phase"]),
    ];
    for (group, kind, fields) in rows {
        for object in Kind::find(group, kind).into_iter().flat_map(|k| world.store().list(k, None)) {
            let name = &object.meta().name;
            // Those of a StatefulSet stay when it gets smaller; their volumes have names that were drawn.
            if kind.starts_with("PersistentVolume") && **name != *"data" && **name != *"disk" {
                continue;
            }
            let status = object.to_value()["status"].clone();
            let values: Vec<&Value> = fields.iter().filter_map(|f| status.pointer(f)).collect();
            digest.insert(format!("{kind} {name}"), format!("{values:?}"));
        }
    }
    for node in world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>()) {
        let taints: Vec<&str> = node.spec.taints.iter().map(|t| &*t.key).collect();
        let text = format!("ready: {}, taints {taints:?}", node.is_ready());
        digest.insert(format!("Node {}", node.metadata.name), text);
    }
    let spaces = world.store().list(Kind::Namespace, None).filter_map(|o| o.get::<Namespace>());
    digest.insert(
        "namespaces".into(),
        spaces.map(|n| format!("{} {} ", n.metadata.name, n.status.phase)).collect(),
    );
}

/// Pods that are to be there, and the addresses of services.
fn pods(world: &World, digest: &mut Digest) {
    let mut pods: BTreeMap<String, u32> = BTreeMap::new();
    let runs =
        |p: &&Pod| p.metadata.controller().is_none_or(|o| o.kind != "Job") && p.status.phase != "Failed";
    for p in world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()).filter(runs) {
        let images: Vec<&str> = p.spec.containers.iter().map(|c| c.image.as_str()).collect();
        let ready = if p.is_ready() { "ready" } else { "not ready" };
        let app = p.metadata.labels.get("app").map_or("", |l| l);
        *pods.entry(format!("{app} {} {} {ready}", p.status.phase, images.join(","))).or_default() += 1;
    }
    digest.insert("pods".into(), format!("{pods:?}"));
    for s in world.store().list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>()) {
        let ready = s.endpoints.iter().filter(|e| e.conditions.ready == Some(true)).count();
        digest.insert(
            format!("EndpointSlice of {:?}", s.metadata.labels.get("kubernetes.io/service-name")),
            format!("{ready} ready of {}", s.endpoints.len()),
        );
    }
}
