//! The node's own object: registration, status every ten seconds if there is news, and a lease as the sign of life.
//! Upstream: pkg/kubelet/kubelet_node_status.go, pkg/kubelet/nodestatus, component-helpers' lease controller.

use super::{Ask, Cx, Kubelet, Timer};
use kubestep_control::{Change, RuntimeImage};
use kubestep_model::arrange::Arrange;
use kubestep_model::tree::OrdMap;
use kubestep_model::{
    Answer, Body, ContainerImage, Instant, Key, Kind, Lease, Node, NodeCondition, ObjectMeta,
    ObjectReference, OwnerReference, PatchKind, Reply, Subresource, Verb,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// How often the status is looked at.
const LOOK: Duration = Duration::from_secs(10);
/// How often it is reported without news.
const REPORT: Duration = Duration::from_secs(300);
/// A node is not ready before its CSINode is there; that takes about so long.
const SETTLE: Duration = Duration::from_millis(230);
/// A node is registered so long after its kubelet began.
const REGISTER: Duration = Duration::from_millis(100);
/// The list of images is looked at this often.
const IMAGES: Duration = Duration::from_secs(30);
const LEASE: Duration = Duration::from_secs(10);
const LEASE_SECONDS: i32 = 40;

/// A request about the node that is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeAsk {
    Register,
    CsiNode,
    Status,
    Lease,
    ReadLease,
}

/// What the kubelet knows of its node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeState {
    registered: bool,
    csi: bool,
    /// The newest version known.
    node: Option<Arc<Node>>,
    reported: Instant,
    /// Reports at the next look, news or not.
    again: bool,
    /// That the machine was started anew has been said.
    rebooted: bool,
    images: OrdMap<Arc<str>, RuntimeImage>,
    unschedulable: bool,
    lease: Option<Lease>,
}

const PRESSURES: [(&str, &str, &str, &str); 3] = [
    (
        "MemoryPressure",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
        "NodeHasSufficientMemory",
    ),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"),
    (
        "PIDPressure",
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
        "NodeHasSufficientPID",
    ),
];

impl Kubelet {
    fn node_key(&self) -> Key {
        Key::new(Kind::Node, "", self.name())
    }

    fn node_event(&self, cx: &mut Cx<'_>, reason: &str, message: String) {
        self.node_event_of(cx, "Normal", reason, message);
    }

    fn node_event_of(&self, cx: &mut Cx<'_>, r#type: &'static str, reason: &str, message: String) {
        // Before it has registered the kubelet does not know the node's uid. Upstream: nodeRefWithUID.
        let known = self.node.node.as_ref().filter(|_| self.node.registered);
        let about = ObjectReference {
            kind: "Node".into(),
            name: self.name().into(),
            uid: known.map_or_else(|| "".into(), |node| node.metadata.uid.clone()),
            api_version: "v1".into(),
            ..ObjectReference::default()
        };
        cx.event(about, r#type, reason, message);
    }

    fn ask_node(&mut self, cx: &mut Cx<'_>, ask: NodeAsk, verb: Verb) {
        let ticket = cx.ask(verb);
        self.asks.insert(ticket, Ask::Node(ask));
    }

    /// Registers the node and begins to report.
    pub(super) fn start_node(&mut self, cx: &mut Cx<'_>) {
        self.node_event(cx, "Starting", "Starting kubelet.".into());
        // Nodes that come up with their cluster report once more at their first look, though they have no news: in
        // every recording, and never for a node that joins later.
        self.node.again = self.info.early;
        self.node.images = self.images.clone();
        if let Some(node) = cx.view.get::<Node>("", self.name()) {
            // It was here before, and so was its CSINode.
            self.node.node = Some(Arc::new(node.clone()));
            self.node.csi = true;
        } else {
            // The node is made up once for whoever asks before it is registered, and its events are written for that, too.
            self.initial_node(cx);
        }
        cx.wake_at(Timer::Lease, cx.now);
        cx.wake_at(Timer::HeartbeatImages, cx.now + IMAGES);
        cx.wake_at(Timer::Heartbeat, cx.now + REGISTER);
    }

    fn register(&mut self, cx: &mut Cx<'_>) {
        let node = self.initial_node(cx);
        cx.because("kubelet.register", vec![("node", self.name().into())]);
        self.ask_node(
            cx,
            NodeAsk::Register,
            Verb::Create { kind: Kind::Node, namespace: "".into(), body: Body::Typed(node.into()) },
        );
    }

    /// Every half minute the kubelet lists the images that the runtime holds.
    pub(super) fn list_images(&mut self, cx: &mut Cx<'_>) {
        self.node.images = self.images.clone();
        cx.wake_at(Timer::HeartbeatImages, cx.now + IMAGES);
    }

    fn initial_node(&mut self, cx: &mut Cx<'_>) -> Node {
        let info = self.info.clone();
        let name = self.name();
        let mut labels = info.spec.labels.clone();
        let well_known = [
            ("beta.kubernetes.io/arch", "amd64"),
            ("beta.kubernetes.io/os", "linux"),
            ("kubernetes.io/arch", "amd64"),
            ("kubernetes.io/hostname", name),
            ("kubernetes.io/os", "linux"),
        ];
        labels.extend(well_known.map(|(k, v)| (k.to_string(), v.to_string())));
        let annotation =
            ("volumes.kubernetes.io/controller-managed-attach-detach".to_string(), "true".to_string());
        // A machine has whole cores.
        let cores =
            kubestep_model::Quantity::new(info.spec.cpu.value(), kubestep_model::text::Format::DecimalSI);
        let resources = json!({
            "cpu": cores, "memory": info.spec.memory, "pods": info.spec.pods.to_string(),
            "ephemeral-storage": "100Gi", "hugepages-1Gi": "0", "hugepages-2Mi": "0"});
        let handler = |name: &str| json!({"name": name, "features": {"recursiveReadOnlyMounts": true, "userNamespaces": true}});
        let status = json!({
            "capacity": resources, "allocatable": resources,
            "addresses": [{"type": "InternalIP", "address": self.host_ip}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "declaredFeatures": ["ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling",
                "InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits"],
            "features": {"supplementalGroupsPolicy": true},
            "runtimeHandlers": [handler(""), handler("runc")],
            "nodeInfo": {
                "machineID": info.machine_id, "systemUUID": info.system_uuid, "bootID": info.boot_id,
                "kernelVersion": "6.1.0-31-amd64", "osImage": "Debian GNU/Linux 12 (bookworm)",
                "containerRuntimeVersion": "containerd://2.2.1", "kubeletVersion": "v1.37.2", "kubeProxyVersion": "",
                "operatingSystem": "linux", "architecture": "amd64", "runningInUserNamespace": false}});
        let mut node = Node {
            metadata: ObjectMeta {
                name: name.into(),
                labels,
                annotations: [annotation].into(),
                ..ObjectMeta::default()
            },
            status: serde_json::from_value(status).unwrap_or_default(),
            ..Node::default()
        };
        node.status.images = serde_json::from_value(self.image_list()).unwrap_or_default();
        node.spec.taints.clone_from(&info.spec.taints);
        node.status.conditions = self.conditions(cx, None, false);
        node
    }

    /// The conditions as they are now, and events about those that turned.
    fn conditions(&self, cx: &mut Cx<'_>, old: Option<&Node>, ready: bool) -> Vec<NodeCondition> {
        let now = cx.now.to_time();
        let mut made = vec![];
        let mut turned = vec![];
        let ready = match ready {
            true => ("Ready", "True", "KubeletReady", "kubelet is posting ready status", "NodeReady"),
            false => ("Ready", "False", "KubeletNotReady", "CSINode is not yet initialized", ""),
        };
        let rows = PRESSURES.map(|(t, r, m, e)| (t, "False", r, m, e)).into_iter().chain([ready]);
        for (r#type, status, reason, message, event) in rows {
            let same = old.and_then(|n| n.condition(r#type)).filter(|c| c.status == status);
            if same.is_none() && !event.is_empty() {
                turned.push(event);
            }
            made.push(NodeCondition {
                r#type: r#type.into(),
                status: status.into(),
                reason: reason.into(),
                message: message.into(),
                last_heartbeat_time: Some(now),
                last_transition_time: same.map_or(Some(now), |c| c.last_transition_time),
                ..NodeCondition::default()
            });
        }
        for event in turned {
            self.node_event(cx, event, format!("Node {} status is now: {event}", self.name()));
        }
        made
    }

    /// The API says something new about the node.
    pub(super) fn node_told(&mut self, _cx: &mut Cx<'_>, change: &Change) {
        if *change.key.name != *self.name() {
            return;
        }
        self.node.node = change.new.as_ref().and_then(|o| o.get::<Node>()).map(|n| Arc::new(n.clone()));
    }

    pub(super) fn node_answered(&mut self, cx: &mut Cx<'_>, ask: NodeAsk, reply: Reply) {
        let object = match reply {
            Ok(Answer::Object { object, .. }) => Ok(Some(object)),
            Ok(_) => Ok(None),
            Err(status) => Err(status),
        };
        match (ask, object) {
            (NodeAsk::Register, Ok(object)) => {
                if let Some(node) = object.as_ref().and_then(|o| o.get::<Node>()) {
                    self.node.node = Some(Arc::new(node.clone()));
                }
                self.registered(cx);
            }
            (NodeAsk::Register, Err(status)) if status.is_already_exists() => self.registered(cx),
            (NodeAsk::Register, Err(_)) => cx.wake_at(Timer::Heartbeat, cx.now + Duration::from_secs(1)),
            (NodeAsk::CsiNode, _) => {
                self.node.csi = true;
                cx.because("kubelet.ready", vec![("node", self.name().into())]);
                self.report(cx, true);
            }
            (NodeAsk::Status, Ok(Some(object))) => {
                if let Some(node) = object.get::<Node>() {
                    self.node.node = Some(Arc::new(node.clone()));
                }
            }
            (NodeAsk::Lease | NodeAsk::ReadLease, Ok(Some(object))) => {
                self.node.lease = object.get::<Lease>().cloned()
            }
            (NodeAsk::Lease, Err(status)) if status.is_already_exists() || status.is_conflict() => {
                let key = Key::new(Kind::Lease, "kube-node-lease", self.name());
                self.ask_node(cx, NodeAsk::ReadLease, Verb::Get { key, subresource: Subresource::None });
            }
            (NodeAsk::Lease | NodeAsk::ReadLease, Err(_)) => self.node.lease = None,
            (NodeAsk::Status, _) | (NodeAsk::Lease | NodeAsk::ReadLease, Ok(None)) => {}
        }
    }

    fn registered(&mut self, cx: &mut Cx<'_>) {
        self.node.registered = true;
        self.report(cx, true);
        cx.wake_at(Timer::Heartbeat, cx.now + SETTLE);
    }

    fn make_csi_node(&mut self, cx: &mut Cx<'_>) {
        let Some(kind) = Kind::find("storage.k8s.io", "CSINode") else { return };
        let uid = self.node.node.as_ref().map(|n| n.metadata.uid.clone());
        let body = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": self.name(), "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": self.name(), "uid": uid}]},
            "spec": {"drivers": null}});
        self.ask_node(
            cx,
            NodeAsk::CsiNode,
            Verb::Create { kind, namespace: "".into(), body: Body::Json(Arc::new(body)) },
        );
    }

    /// Every ten seconds: report the node's status if there is news, or none for a long time.
    pub(super) fn heartbeat(&mut self, cx: &mut Cx<'_>) {
        if !self.node.registered {
            self.register(cx);
            return cx.wake_at(Timer::Heartbeat, cx.now + LOOK);
        }
        let jitter = Self::jitter(cx, "kubelet.look", LOOK / 25);
        cx.wake_at(Timer::Heartbeat, cx.now + LOOK + jitter);
        if !self.node.csi {
            return self.make_csi_node(cx);
        }
        let again = std::mem::take(&mut self.node.again);
        self.report(cx, again);
    }

    fn report(&mut self, cx: &mut Cx<'_>, anyway: bool) {
        let Some(node) = self.node.node.clone() else { return };
        if node.spec.unschedulable != self.node.unschedulable {
            self.node.unschedulable = node.spec.unschedulable;
            let event = if node.spec.unschedulable { "NodeNotSchedulable" } else { "NodeSchedulable" };
            self.node_event(cx, event, format!("Node {} status is now: {event}", self.name()));
        }
        let conditions = self.conditions(cx, Some(&node), self.node.csi);
        let turned = |c: &NodeCondition| {
            node.condition(&c.r#type).is_none_or(|o| o.status != c.status || o.reason != c.reason)
        };
        let mut news = conditions.iter().any(turned);
        let mut status = json!({});
        if !self.shows_images(&node) {
            status["images"] = self.image_list();
            news = true;
        }
        let boot = &node.status.node_info.boot_id;
        if !boot.is_empty() && *boot != *self.info.boot_id {
            if !std::mem::replace(&mut self.node.rebooted, true) {
                let text = format!("Node {} has been rebooted, boot id: {}", self.name(), self.info.boot_id);
                self.node_event_of(cx, "Warning", "Rebooted", text);
            }
            status["nodeInfo"] = json!({"bootID": self.info.boot_id});
            news = true;
        }
        if status_differs(&node, &self.host_ip) {
            status["addresses"] = json!([{"type": "InternalIP", "address": self.host_ip}, {"type": "Hostname", "address": self.name()}]);
            news = true;
        }
        if !news && !anyway && cx.now.since(self.node.reported) < REPORT {
            return;
        }
        self.node.reported = cx.now;
        status["conditions"] = json!(conditions);
        let (key, subresource, kind) = (self.node_key(), Subresource::Status, PatchKind::Strategic);
        let patch = Arc::new(json!({"metadata": {"uid": node.metadata.uid}, "status": status}));
        self.ask_node(cx, NodeAsk::Status, Verb::Patch { key, subresource, kind, patch });
    }

    /// The largest fifty images.
    fn largest_images(&self) -> Vec<&RuntimeImage> {
        let mut images: Vec<&RuntimeImage> = self.node.images.values().collect();
        images.arrange_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
        images.truncate(50);
        images
    }

    fn image_list(&self) -> Value {
        let shown = |i: &RuntimeImage| json!({"names": [i.image_ref, i.name], "sizeBytes": i.size});
        self.largest_images().into_iter().map(shown).collect()
    }

    /// Whether the node's object says which images there are.
    fn shows_images(&self, node: &Node) -> bool {
        let images = self.largest_images();
        let same = |shown: &ContainerImage, image: &RuntimeImage| {
            let names = shown.names.iter().map(String::as_str);
            names.eq([&*image.image_ref, &*image.name]) && shown.size_bytes == image.size
        };
        let shown = &node.status.images;
        shown.len() == images.len() && shown.iter().zip(images).all(|(shown, image)| same(shown, image))
    }

    /// Every ten seconds: the sign of life.
    pub(super) fn renew_lease(&mut self, cx: &mut Cx<'_>) {
        let jitter = Self::jitter(cx, "kubelet.lease", LEASE / 25);
        cx.wake_at(Timer::Lease, cx.now + LEASE + jitter);
        let renew_time = Some(cx.now.to_micro());
        let namespace: Arc<str> = "kube-node-lease".into();
        if let Some(lease) = &self.node.lease {
            let mut lease = lease.clone();
            lease.spec.renew_time = renew_time;
            let key = Key::new(Kind::Lease, namespace, self.name());
            let body = Body::Typed(lease.into());
            return self.ask_node(
                cx,
                NodeAsk::Lease,
                Verb::Replace { key, subresource: Subresource::None, body },
            );
        }
        let Some(node) = &self.node.node else { return };
        let owner = OwnerReference {
            api_version: "v1".into(),
            kind: "Node".into(),
            name: node.metadata.name.clone(),
            uid: node.metadata.uid.clone(),
            ..OwnerReference::default()
        };
        let mut lease = Lease {
            metadata: ObjectMeta {
                name: self.name().into(),
                namespace: namespace.clone(),
                owner_references: vec![owner],
                ..ObjectMeta::default()
            },
            ..Lease::default()
        };
        lease.spec.holder_identity = Some(self.name().into());
        lease.spec.lease_duration_seconds = Some(LEASE_SECONDS);
        lease.spec.renew_time = renew_time;
        self.ask_node(
            cx,
            NodeAsk::Lease,
            Verb::Create { kind: Kind::Lease, namespace, body: Body::Typed(lease.into()) },
        );
    }
}

fn status_differs(node: &Node, host_ip: &str) -> bool {
    !node.status.addresses.iter().any(|a| &*a.address == host_ip)
}
