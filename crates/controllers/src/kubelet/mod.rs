//! The kubelet: makes the pods bound to its node run, and says how they are.
//!
//! Upstream: pkg/kubelet (v1.37), with its parts: pod workers (`worker`, `sync`, `start`, `terminate`), the relist of
//! the container runtime (`relist`), the status manager (`writer`, `status`, `conditions`, `phase`), the image manager
//! (`images`), the prober (`probes`), admission (`admit`), volumes (`volumes`) and the node's own status (`node`).
//!
//! What it is told about pods comes from the API, what it knows about containers from the last relist of the
//! runtime; a worker syncs one pod at a time and never before it has seen what its last sync did.

mod actions;
mod admit;
mod conditions;
mod environment;
mod hooks;
mod images;
mod network;
mod node;
mod patch;
mod phase;
mod probes;
mod relist;
pub mod sentences;
mod start;
mod status;
mod sync;
mod terminate;
mod turns;
pub mod vectors;
mod volumes;
mod worker;
mod writer;

use kubestep_control::{
    Agent, AgentCx, Change, Input, MachineInfo, Order, ProbeKind, Report, RuntimeImage, RuntimePod, Ticket,
    reference,
};
use kubestep_model::tree::{OrdMap, OrdSet, Vector};
use kubestep_model::{Instant, Kind, Object, ObjectReference, Pod, Reply};
use std::{sync::Arc, time::Duration};

use {images::PullRequest, node::NodeState, relist::Cached, worker::Worker, writer::Writer};

/// A pod's uid.
type Uid = Arc<str>;

/// What the kubelet sees and does while it is told one thing.
type Cx<'a> = AgentCx<'a, Timer>;

/// The kubelet's timers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Timer {
    /// The relist of the runtime; set only while a relist would find or free something.
    Relist,
    /// The tick at which pods whose waiting time is over are synced.
    Sync,
    /// A pod's own next moment: its volumes.
    Pod(Arc<str>),
    /// The status manager's batch.
    Status,
    Heartbeat,
    /// The list of images that heartbeats show.
    HeartbeatImages,
    Lease,
    Probe(Arc<str>, Arc<str>, ProbeKind),
}

/// What a reply that is still to come is for.
#[derive(Clone, Debug, PartialEq)]
enum Ask {
    Status(Uid),
    Look(Uid),
    Delete(Uid),
    Volume(Uid, String),
    Config(Uid),
    PullSecret(Uid, String),
    Node(node::NodeAsk),
}

/// The kubelet of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Kubelet {
    info: Arc<MachineInfo>,
    host_ip: Arc<str>,
    /// Whether the runtime has said what is there.
    listed: bool,
    began: Instant,
    /// Where in each second the relists and the sync ticks lie.
    relist_phase: Duration,
    sync_phase: Duration,
    /// The runtime as it is; the kubelet looks at it only by relists and by the answers to its orders.
    runtime: OrdMap<Uid, RuntimePod>,
    /// Pods whose runtime state was changed since the last relist.
    unseen: OrdSet<Uid>,
    cache: OrdMap<Uid, Cached>,
    /// Counts relists and ended syncs, so that it is known what came after what.
    order: u64,
    relisted: u64,
    relisted_at: Instant,
    workers: OrdMap<Uid, Arc<Worker>>,
    /// Workers that wait for a state newer than their last sync.
    waiting: OrdSet<Uid>,
    /// When each pod is to be synced again.
    work: OrdSet<(Instant, Uid)>,
    writer: Writer,
    asks: OrdMap<Ticket, Ask>,
    images: OrdMap<Arc<str>, RuntimeImage>,
    pulls: Vector<PullRequest>,
    execs: OrdMap<u64, probes::Exec>,
    next_exec: u64,
    node: NodeState,
}

impl Kubelet {
    /// A kubelet that has just been started on a machine.
    pub fn new(info: MachineInfo) -> Self {
        Kubelet {
            host_ip: host_ip(info.index.saturating_add(3)),
            info: Arc::new(info),
            listed: false,
            began: Instant(0),
            relist_phase: Duration::ZERO,
            sync_phase: Duration::ZERO,
            runtime: OrdMap::new(),
            unseen: OrdSet::new(),
            cache: OrdMap::new(),
            order: 0,
            relisted: 0,
            relisted_at: Instant(0),
            workers: OrdMap::new(),
            waiting: OrdSet::new(),
            work: OrdSet::new(),
            writer: Writer::default(),
            asks: OrdMap::new(),
            images: OrdMap::new(),
            pulls: Vector::new(),
            execs: OrdMap::new(),
            next_exec: 0,
            node: NodeState::default(),
        }
    }

    fn name(&self) -> &str {
        &self.info.spec.name
    }

    fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    fn worker(&mut self, uid: &Uid) -> Option<&mut Worker> {
        self.workers.get_mut(uid).map(Arc::make_mut)
    }

    /// A draw between 0 and `most`.
    fn jitter(cx: &mut Cx<'_>, purpose: &'static str, most: Duration) -> Duration {
        let nanos = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos((nanos / 1_000_000).saturating_mul(cx.dice.ppm(purpose)))
    }

    /// A span made up to half as long again. Upstream: wait.Jitter with factor 0.5.
    fn jittered(cx: &mut Cx<'_>, purpose: &'static str, span: Duration) -> Duration {
        span + Self::jitter(cx, purpose, span / 2)
    }

    /// The first moment at or after `at` with this place in its second.
    fn at_phase(at: Instant, phase: Duration) -> Instant {
        const SECOND: i64 = 1_000_000_000;
        let phase = i64::try_from(phase.as_nanos()).unwrap_or(0);
        Instant(at.0.saturating_add((phase - at.0).rem_euclid(SECOND)))
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.began = cx.now;
        self.relist_phase = Self::jitter(cx, "kubelet.relist", Duration::from_millis(999));
        self.sync_phase = Self::jitter(cx, "kubelet.sync", Duration::from_millis(999));
        cx.order(Order::List);
    }

    fn found(
        &mut self,
        cx: &mut Cx<'_>,
        pods: OrdMap<Uid, RuntimePod>,
        images: OrdMap<Arc<str>, RuntimeImage>,
    ) {
        let at = self.next_order();
        self.cache = pods.iter().map(|(uid, pod)| (uid.clone(), Cached { pod: pod.clone(), at })).collect();
        self.runtime = pods;
        self.images = images;
        (self.relisted, self.relisted_at) = (at, cx.now);
        self.listed = true;
        self.start_node(cx);
        let pods: Vec<Arc<Pod>> = cx.view.objects_of(Kind::Pod, None).filter_map(as_pod).collect();
        for pod in pods {
            self.pod_told(cx, None, Some(pod));
        }
        self.remove_orphans(cx);
    }

    fn changed(&mut self, cx: &mut Cx<'_>, change: Change) {
        if !self.listed {
            return;
        }
        match change.key.kind {
            Kind::Pod => {
                let [old, new] = [&change.old, &change.new].map(|o| o.as_ref().and_then(as_pod));
                self.pod_told(cx, old, new);
            }
            Kind::Node => self.node_told(cx, &change),
            _ => {}
        }
    }

    fn answered(&mut self, cx: &mut Cx<'_>, ticket: Ticket, reply: Reply) {
        match self.asks.remove(&ticket) {
            Some(Ask::Status(uid)) => self.status_written(cx, &uid, reply),
            Some(Ask::Look(uid)) => self.pod_looked_at(cx, &uid, reply),
            Some(Ask::Delete(uid)) => self.pod_deleted(cx, &uid, reply),
            Some(Ask::Volume(uid, source)) => self.volume_answered(cx, &uid, &source, reply),
            Some(Ask::Config(uid)) => self.config_answered(cx, &uid, reply),
            Some(Ask::PullSecret(uid, name)) => self.pull_secret_answered(cx, &uid, &name, reply.is_ok()),
            Some(Ask::Node(ask)) => self.node_answered(cx, ask, reply),
            None => {}
        }
    }

    fn due(&mut self, cx: &mut Cx<'_>, timer: Timer) {
        match timer {
            Timer::Relist => self.relist_all(cx),
            Timer::Sync => self.sync_tick(cx),
            Timer::Pod(uid) => self.volumes_due(cx, &uid),
            Timer::Status => self.status_batch(cx),
            Timer::Heartbeat => self.heartbeat(cx),
            Timer::HeartbeatImages => self.list_images(cx),
            Timer::Lease => self.renew_lease(cx),
            Timer::Probe(uid, container, kind) => self.probe_due(cx, &uid, &container, kind),
        }
    }

    fn told_by_runtime(&mut self, cx: &mut Cx<'_>, report: Report) {
        match report {
            Report::Listed { pods, images } => self.found(cx, pods, images),
            Report::Sandbox { pod, sandbox } => {
                let made = sandbox.ready;
                self.runtime.entry(pod.clone()).or_default().sandbox = Some(sandbox);
                self.unseen_change(cx, &pod);
                if made { self.sandbox_made(cx, &pod) } else { self.sandbox_stopped(cx, &pod) }
            }
            Report::Pulled { image, result } => self.pulled(cx, &image, result),
            Report::Container { pod, container } => {
                self.runtime
                    .entry(pod.clone())
                    .or_default()
                    .containers
                    .insert(container.id.clone(), container);
                self.unseen_change(cx, &pod);
            }
            Report::StartDone { pod, name, result } => self.start_done(cx, &pod, &name, result),
            Report::Stopped { pod, id } => self.container_stopped(cx, &pod, &id),
            Report::ContainerRemoved { pod, id } => {
                if let Some(held) = self.runtime.get_mut(&pod) {
                    held.containers.remove(&id);
                    // No event, but the next relist knows it.
                    self.unseen_change(cx, &pod);
                }
            }
            Report::PodRemoved { pod } => {
                self.runtime.remove(&pod);
                self.cache.remove(&pod);
            }
            Report::ExecDone { number, answer } => self.exec_done(cx, number, answer),
        }
    }
}

impl Agent for Kubelet {
    type Timer = Timer;

    fn name(&self) -> &'static str {
        "kubelet"
    }
    fn actor(&self) -> String {
        format!("kubelet {}", Kubelet::name(self))
    }
    fn event_source(&self) -> (String, String) {
        ("kubelet".into(), Kubelet::name(self).into())
    }
    fn on(&mut self, cx: &mut Cx<'_>, input: Input<Timer>) {
        match input {
            Input::Started => self.start(cx),
            Input::Changed(change) => self.changed(cx, change),
            Input::Answered { ticket, reply, .. } => self.answered(cx, ticket, reply),
            Input::Due(timer) => self.due(cx, timer),
            Input::Runtime(report) => self.told_by_runtime(cx, report),
        }
    }
}

/// The address of a machine in the network that all share.
fn host_ip(number: u32) -> Arc<str> {
    format!("172.18.{}.{}", number / 256 % 256, number % 256).into()
}

fn as_pod(object: &Object) -> Option<Arc<Pod>> {
    if let Object::Pod(pod) = object { Some(pod.clone()) } else { None }
}

/// A reference to a pod, or to one of its containers, as events carry it.
fn pod_reference(pod: &Arc<Pod>, container: Option<&str>) -> ObjectReference {
    let mut about = reference(&Object::Pod(pod.clone()));
    if let Some(name) = container {
        let init = pod.spec.init_containers.iter().any(|c| c.name == name);
        about.field_path = format!("spec.{}{{{name}}}", if init { "initContainers" } else { "containers" });
    }
    about
}

/// `name_namespace(uid)`, as the kubelet writes pods in messages.
fn described(pod: &Pod) -> String {
    format!("{}_{}({})", pod.metadata.name, pod.metadata.namespace, pod.metadata.uid)
}
