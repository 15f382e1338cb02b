//! What an open gap waits for: a closed list, found from objects, the world's faults and its loops.

use crate::look::{children, new_replica_set, pods_of};
use kubestep_cluster::{
    Brain, Mood, ProcessId, World,
    loops::{
        scheduler::queue::Place,
        volume::{CLAIM, claim_names},
    },
};
use kubestep_model::{
    ContainerStatus, Deployment, Instant, Key, Kind, Object, Pod, ReplicaSet, Resource, Time,
};
use std::{sync::Arc, time::Duration};

/// How a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Refusal {
    Quota,
    LimitRange,
    Forbidden,
    Invalid,
    Other,
}

/// The end of a chain of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Blocker {
    /// Its loop has not looked at it yet.
    NotObserved,
    /// Its loop was stopped, has crashed, or is told nothing.
    LoopStopped {
        who: String,
    },
    WatchHeld {
        who: String,
        kind: String,
    },
    /// A write is refused again and again.
    Refused {
        how: Refusal,
        message: String,
    },
    Paused,
    /// Others come first: surge and unavailability.
    Turn,
    /// No node takes the pod.
    NothingFits {
        message: String,
    },
    /// A gate keeps the scheduler from looking at the pod.
    Gated {
        message: String,
    },
    /// An image that does not come.
    Image {
        image: String,
        reason: String,
        absent: bool,
    },
    /// A claim that no volume is bound to.
    Volume {
        claim: String,
        message: String,
    },
    /// A config map, secret or volume that is missing.
    Configuration {
        message: String,
    },
    /// A container that ends again and again.
    Ends {
        container: String,
        code: i32,
        reason: String,
        restarts: i32,
    },
    /// A probe that fails.
    Probe {
        container: String,
    },
    /// It goes on by itself when the clock says so.
    Time {
        what: &'static str,
    },
    /// The pod's node does not answer.
    NodeSilent {
        node: String,
    },
    /// Something holds the object back from going away.
    Finalizer {
        names: Vec<String>,
    },
    /// It is on its way; nothing stands in it.
    UnderWay,
    /// Nothing acts on such objects.
    NoLoop,
}

impl Blocker {
    /// Whether only waiting is left: the gap will not close by what is under way.
    pub fn stalls(&self) -> bool {
        !matches!(self, Blocker::NotObserved | Blocker::Turn | Blocker::Time { .. } | Blocker::UnderWay)
    }

    /// Whether it is tried again and again: one bad result does not make it hopeless.
    pub fn retries(&self) -> bool {
        matches!(
            self,
            Blocker::Image { .. }
                | Blocker::Ends { .. }
                | Blocker::Volume { .. }
                | Blocker::Configuration { .. }
        )
    }

    /// Every end that a chain may have, as [`Blocker::full_code`] says it. `no-loop` is none: what no loop acts on has no gap.
    pub const ALL: [&str; 27] = [
        "not-observed",
        "loop-stopped",
        "watch-held",
        "refused/quota",
        "refused/limit-range",
        "refused/forbidden",
        "refused/invalid",
        "refused/other",
        "paused",
        "turn",
        "nothing-fits",
        "gated",
        "image/absent",
        "image/not-given",
        "volume",
        "configuration",
        "ends",
        "probe",
        "time/pull-back-off",
        "time/throttled",
        "time/retry",
        "time/min-ready",
        "time/job-back-off",
        "time/grace",
        "node-silent",
        "finalizer",
        "under-way",
    ];

    /// Its code, and which sort of it.
    pub fn full_code(&self) -> String {
        let sort = match self {
            Blocker::Refused { how, .. } => match how {
                Refusal::Quota => "quota",
                Refusal::LimitRange => "limit-range",
                Refusal::Forbidden => "forbidden",
                Refusal::Invalid => "invalid",
                Refusal::Other => "other",
            },
            Blocker::Image { absent: true, .. } => "absent",
            Blocker::Image { .. } => "not-given",
            Blocker::Time { what } => what,
            _ => return self.code().into(),
        };
        format!("{}/{sort}", self.code())
    }

    /// Its code, for tables of sentences.
    pub fn code(&self) -> &'static str {
        match self {
            Blocker::NotObserved => "not-observed",
            Blocker::LoopStopped { .. } => "loop-stopped",
            Blocker::WatchHeld { .. } => "watch-held",
            Blocker::Refused { .. } => "refused",
            Blocker::Paused => "paused",
            Blocker::Turn => "turn",
            Blocker::NothingFits { .. } => "nothing-fits",
            Blocker::Gated { .. } => "gated",
            Blocker::Image { .. } => "image",
            Blocker::Volume { .. } => "volume",
            Blocker::Configuration { .. } => "configuration",
            Blocker::Ends { .. } => "ends",
            Blocker::Probe { .. } => "probe",
            Blocker::Time { .. } => "time",
            Blocker::NodeSilent { .. } => "node-silent",
            Blocker::Finalizer { .. } => "finalizer",
            Blocker::UnderWay => "under-way",
            Blocker::NoLoop => "no-loop",
        }
    }
}

/// The object that an open gap goes back to one step further down, or what it waits for.
pub(crate) enum Next {
    Object(Key),
    End(Blocker),
}

/// One step down from an object with an open gap.
pub(crate) fn next(world: &World, object: &Object) -> Next {
    if object.meta().is_terminating() {
        return match object {
            Object::Namespace(ns) => emptying(world, &ns.metadata.name),
            _ => Next::End(ending(world, object)),
        };
    }
    match object {
        Object::Deployment(d) => deployment(world, object, d),
        Object::ReplicaSet(set) => replica_set(world, object, set),
        Object::Pod(pod) => match claim_of(world, pod) {
            Some(claim) => Next::Object(claim),
            None => Next::End(of_pod(world, pod)),
        },
        Object::Node(node) if is_silent(world, &node.metadata.name) => {
            Next::End(Blocker::NodeSilent { node: node.metadata.name.to_string() })
        }
        Object::Node(_) => Next::End(Blocker::UnderWay),
        Object::Namespace(_) => Next::End(Blocker::UnderWay),
        Object::Custom(custom) => crate::whole::next(world, object, custom),
        _ => Next::End(Blocker::NoLoop),
    }
}

/// The claim without a volume that a pod waits for before it can have a node.
fn claim_of(world: &World, pod: &Pod) -> Option<Key> {
    let waits = pod.spec.node_name.is_empty()
        && pod.condition("PodScheduled").is_some_and(|c| c.message.contains("PersistentVolumeClaim"));
    let claims = waits.then(|| claim_names(pod))?;
    let key = |name: String| Key::new(CLAIM, pod.metadata.namespace.clone(), name);
    let open = |key: &Key| world.store().get(key).is_some_and(|o| crate::measure(o).is_some());
    claims.into_iter().map(key).find(open)
}

/// A namespace that ends waits for what is in it: for what is held back before the rest.
fn emptying(world: &World, namespace: &str) -> Next {
    let inside = || world.store().all().filter(|o| &*o.meta().namespace == namespace);
    let held = |o: &&Object| o.meta().is_terminating() && !o.meta().finalizers.is_empty();
    match inside().find(held) {
        Some(held) => Next::Object(held.key()),
        None => Next::End(
            loop_fault(world, "namespace", &[Kind::Namespace]).unwrap_or(Blocker::Time { what: "grace" }),
        ),
    }
}

fn ending(world: &World, object: &Object) -> Blocker {
    if let Object::Pod(pod) = object
        && node_is_silent(world, pod)
    {
        return Blocker::NodeSilent { node: pod.spec.node_name.to_string() };
    }
    let meta = object.meta();
    if meta.finalizers.is_empty() {
        Blocker::Time { what: "grace" }
    } else {
        Blocker::Finalizer { names: meta.finalizers.clone() }
    }
}

/// A loop of the controller manager that cannot act, or the whole process.
pub(crate) fn loop_fault(world: &World, name: &str, kinds: &[Kind]) -> Option<Blocker> {
    let manager = world.process(&ProcessId::Manager)?;
    if manager.health != kubestep_cluster::Health::Up {
        return Some(Blocker::LoopStopped { who: "kube-controller-manager".into() });
    }
    if world.loops().any(|(c, l)| c.name() == name && l.stopped) {
        return Some(Blocker::LoopStopped { who: name.into() });
    }
    held(world, &ProcessId::Manager, name, kinds)
}

fn held(world: &World, process: &ProcessId, who: &str, kinds: &[Kind]) -> Option<Blocker> {
    let state = world.process(process)?;
    let kind = kinds.iter().find(|k| world.faults().holds(process, **k) && state.behind(**k) > 0)?;
    Some(Blocker::WatchHeld { who: who.into(), kind: kind.resource().into() })
}

fn deployment(world: &World, object: &Object, d: &Deployment) -> Next {
    if d.status.observed_generation < d.metadata.generation {
        let fault = loop_fault(world, "deployment", &[Kind::Deployment, Kind::ReplicaSet]);
        return Next::End(fault.unwrap_or(Blocker::NotObserved));
    }
    if let Some(failure) = d.condition("ReplicaFailure").filter(|c| c.status == "True")
        && new_replica_set(world.store(), d).is_none()
    {
        return Next::End(refused(world, &d.metadata.namespace, &failure.message));
    }
    let new = new_replica_set(world.store(), d);
    if let Some(set) = new
        && crate::gap::is_short(set)
    {
        return Next::Object(set.key());
    }
    let old = children(world.store(), object, Kind::ReplicaSet).find(|o| crate::measure(o).is_some());
    if let Some(set) = old {
        return Next::Object(set.key());
    }
    if d.spec.paused {
        return Next::End(Blocker::Paused);
    }
    Next::End(loop_fault(world, "deployment", &[Kind::Deployment, Kind::ReplicaSet]).unwrap_or(Blocker::Turn))
}

fn replica_set(world: &World, object: &Object, set: &ReplicaSet) -> Next {
    let pods = pods_of(world.store(), object);
    let short =
        i32::try_from(pods.iter().filter(|p| p.is_active()).count()).unwrap_or(i32::MAX) < set.replicas();
    if let Some(failure) = set.condition("ReplicaFailure").filter(|c| c.status == "True" && short) {
        return Next::End(refused(world, &set.metadata.namespace, &failure.message));
    }
    if let Some(pod) = worst(world, &pods) {
        return Next::Object(pod.key());
    }
    let fault = loop_fault(world, "replicaset", &[Kind::ReplicaSet, Kind::Pod]);
    let waits = if set.status.available_replicas < set.status.ready_replicas {
        Blocker::Time { what: "min-ready" }
    } else {
        Blocker::NotObserved
    };
    Next::End(fault.unwrap_or(waits))
}

/// Of pods that are not where they are to be: one that stalls says more than one that is under way; of those, the oldest.
pub(crate) fn worst<'a>(world: &World, pods: &[&'a Pod]) -> Option<&'a Pod> {
    let open = |p: &&Pod| crate::gap::is_open(p) && !p.metadata.is_terminating();
    let key = |p: &&Pod| (of_pod(world, p).stalls(), std::cmp::Reverse(p.metadata.creation_timestamp));
    pods.iter().copied().filter(open).max_by_key(key)
}

/// A write that was refused, as long as the reason for it still stands; after that only the next try is waited for.
pub(crate) fn refused(world: &World, namespace: &str, message: &str) -> Blocker {
    if crate::needs::mended(world, namespace, message) {
        return Blocker::Time { what: "retry" };
    }
    let how = if message.contains("exceeded quota") || message.contains("failed quota") {
        Refusal::Quota
    } else if message.contains("usage per") {
        Refusal::LimitRange
    } else if message.contains("is invalid") {
        Refusal::Invalid
    } else if message.contains("forbidden") {
        Refusal::Forbidden
    } else {
        Refusal::Other
    };
    Blocker::Refused { how, message: message.into() }
}

fn node_is_silent(world: &World, pod: &Pod) -> bool {
    !pod.spec.node_name.is_empty() && is_silent(world, &pod.spec.node_name)
}

/// Whether a node's kubelet does not run or is not heard.
pub(crate) fn is_silent(world: &World, node: &Arc<str>) -> bool {
    let kubelet = ProcessId::Kubelet(node.clone());
    let down = world.process(&kubelet).is_none_or(|p| p.health != kubestep_cluster::Health::Up);
    down || world.faults().is_cut(&kubelet)
}

/// What a pod that is not ready waits for.
pub(crate) fn of_pod(world: &World, pod: &Pod) -> Blocker {
    if pod.spec.node_name.is_empty() {
        return unscheduled(world, pod);
    }
    if node_is_silent(world, pod) {
        return Blocker::NodeSilent { node: pod.spec.node_name.to_string() };
    }
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    let found =
        statuses.filter(|s| !s.ready || s.state.running.is_none()).find_map(|s| of_container(world, pod, s));
    found.or_else(|| crate::needs::missing(world, pod)).unwrap_or(Blocker::UnderWay)
}

fn unscheduled(world: &World, pod: &Pod) -> Blocker {
    let scheduler = world.process(&ProcessId::Scheduler);
    if scheduler.is_some_and(|p| p.health != kubestep_cluster::Health::Up) {
        return Blocker::LoopStopped { who: "kube-scheduler".into() };
    }
    if let Some(held) = held(world, &ProcessId::Scheduler, "kube-scheduler", &[Kind::Pod, Kind::Node]) {
        return held;
    }
    match pod.condition("PodScheduled") {
        Some(c) if c.status == "False" && c.reason == "SchedulingGated" => {
            Blocker::Gated { message: c.message.clone() }
        }
        Some(c) if c.status == "False" && !is_tried_again(world, pod) => {
            Blocker::NothingFits { message: c.message.clone() }
        }
        _ => Blocker::UnderWay,
    }
}

/// Whether the scheduler has taken a pod up again and will look at it by itself.
fn is_tried_again(world: &World, pod: &Pod) -> bool {
    let Some(Brain::Scheduler(scheduler)) = world.process(&ProcessId::Scheduler).map(|p| &p.brain) else {
        return false;
    };
    scheduler.place_of(&pod.metadata.uid).is_some_and(|place| place != Place::Unschedulable)
}

fn of_container(world: &World, pod: &Pod, status: &ContainerStatus) -> Option<Blocker> {
    if let Some(waiting) = &status.state.waiting {
        return of_waiting(world, pod, status, &waiting.reason, &waiting.message);
    }
    if let Some(ended) = &status.state.terminated {
        if pod.spec.restart_policy == "Never"
            || (pod.spec.restart_policy == "OnFailure" && ended.exit_code == 0)
        {
            return None;
        }
        return Some(ends(status));
    }
    let started = status.state.running.as_ref().and_then(|r| r.started_at);
    let container = pod.spec.containers.iter().find(|c| c.name == status.name)?;
    let probe = container.readiness_probe.as_ref().or(container.startup_probe.as_ref())?;
    let patience = i64::from(probe.initial_delay_seconds)
        + i64::from(probe.period_seconds.max(1)) * i64::from(probe.failure_threshold.max(1));
    let over = started.is_some_and(|s| past(world.now(), s, patience));
    Some(if over { Blocker::Probe { container: status.name.clone() } } else { Blocker::UnderWay })
}

fn past(now: Instant, since: Time, seconds: i64) -> bool {
    now.since(since.instant()) > Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

fn of_waiting(
    world: &World,
    pod: &Pod,
    status: &ContainerStatus,
    reason: &str,
    message: &str,
) -> Option<Blocker> {
    let image = || {
        pod.spec
            .containers
            .iter()
            .chain(&pod.spec.init_containers)
            .find(|c| c.name == status.name)
            .map(|c| c.image.clone())
            .unwrap_or_default()
    };
    Some(match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "RegistryUnavailable" => {
            let image = image();
            let row = world.registry().get(&image);
            match world.registry().1 {
                Mood::Away => return Some(Blocker::Image { image, reason: reason.into(), absent: false }),
                Mood::Throttling(_) if row.is_some_and(|r| !r.denied) => {
                    return Some(Blocker::Time { what: "throttled" });
                }
                _ => {}
            }
            if row.is_some_and(|r| !r.denied) && matches!(reason, "ErrImagePull" | "ImagePullBackOff") {
                return Some(Blocker::Time { what: "pull-back-off" });
            }
            Blocker::Image { absent: row.is_none(), image, reason: reason.into() }
        }
        "CrashLoopBackOff" => ends(status),
        "CreateContainerConfigError" if crate::needs::mended(world, &pod.metadata.namespace, message) => {
            Blocker::Time { what: "retry" }
        }
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
            Blocker::Configuration { message: message.into() }
        }
        _ => return None,
    })
}

fn ends(status: &ContainerStatus) -> Blocker {
    let last = status.state.terminated.as_ref().or(status.last_state.terminated.as_ref());
    let (code, reason) = last.map_or((0, String::new()), |t| (t.exit_code, t.reason.clone()));
    let restarts = status.restart_count;
    if restarts == 0 {
        return Blocker::UnderWay;
    }
    Blocker::Ends { container: status.name.clone(), code, reason, restarts }
}
