//! What a kubelet and the container runtime of its node say to each other. Upstream: cri-api, runtime/v1.

use kubestep_model::tree::OrdMap;
use kubestep_model::{Instant, Labels, Quantity, Taint, text::Format};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// A machine that can become a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs)]
pub struct NodeSpec {
    pub name: String,
    pub cpu: Quantity,
    pub memory: Quantity,
    pub pods: i64,
    pub labels: Labels,
    pub taints: Vec<Taint>,
}

impl Default for NodeSpec {
    /// Four cores, 8 GiB, 110 pods.
    fn default() -> Self {
        let (cpu, memory) = (Quantity::new(4, Format::DecimalSI), Quantity::new(8 << 30, Format::BinarySI));
        NodeSpec { name: "node-1".into(), cpu, memory, pods: 110, labels: Labels::new(), taints: vec![] }
    }
}

/// What a kubelet finds on its machine; the boot id changes with every start.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct MachineInfo {
    pub spec: NodeSpec,
    /// Counts the machines of a cluster from 0.
    pub index: u32,
    pub machine_id: Arc<str>,
    pub system_uuid: Arc<str>,
    pub boot_id: Arc<str>,
    /// Whether it comes up with its cluster.
    pub early: bool,
}

/// Files that a container sees on its mounts: absolute path to text.
pub type Files = Arc<BTreeMap<String, Arc<str>>>;

/// What a pod says of a container's memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryBounds {
    /// More than that the kernel does not let it have.
    pub limit: Option<i64>,
    /// What it asks for.
    pub request: i64,
    /// The quality of service of its pod.
    pub qos: String,
}

/// A container to be started.
#[derive(Clone, PartialEq)]
#[allow(missing_docs)]
pub struct ContainerConfig {
    pub pod: Arc<str>,
    pub name: Arc<str>,
    /// How often it was started before.
    pub attempt: i32,
    /// As the pod names it.
    pub image: Arc<str>,
    pub command: Vec<String>,
    pub files: Files,
    /// The variables that the pod gives it, with their values at its start.
    pub env: Vec<(String, String)>,
    pub memory: MemoryBounds,
}

/// Fingerprints are made of this. What is said of memory follows from the pod, which is in them already.
impl std::fmt::Debug for ContainerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContainerConfig")
            .field("pod", &self.pod)
            .field("name", &self.name)
            .field("attempt", &self.attempt)
            .field("image", &self.image)
            .field("command", &self.command)
            .field("files", &self.files)
            .field("env", &self.env)
            .finish()
    }
}

/// An order to the container runtime.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Order {
    /// Say what is there. Answered by `Report::Listed`.
    List,
    /// Make the sandbox of a pod. Answered by `Report::Sandbox`.
    RunSandbox { pod: Arc<str>, host_network: bool },
    /// Pull an image. Answered by `Report::Pulled`.
    Pull { image: Arc<str> },
    /// Create and start a container. Answered by `Report::Container` and `Report::StartDone`.
    Start(Arc<ContainerConfig>),
    /// Ask the process to end, and kill it after the grace period (seconds). Answered by `Report::Stopped`.
    Stop { pod: Arc<str>, id: Arc<str>, grace: i64 },
    /// Stop what still runs in the sandbox, and the sandbox. Answered by `Report::Sandbox`.
    StopSandbox { pod: Arc<str> },
    /// Forget a stopped container.
    RemoveContainer { pod: Arc<str>, id: Arc<str> },
    /// Forget a pod's sandboxes and containers.
    RemovePod { pod: Arc<str> },
    /// Run a command in a container. Answered by `Report::ExecDone` with the same number.
    Exec {
        number: u64,
        pod: Arc<str>,
        id: Arc<str>,
        probe: ProbeKind,
        command: Vec<String>,
        timeout_seconds: i64,
    },
    /// Ask a container over the network. Answered as `Exec` is: 0 is a good answer.
    Net { number: u64, pod: Arc<str>, id: Arc<str>, probe: ProbeKind, ask: NetAsk, timeout_seconds: i64 },
}

/// How a container is asked over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NetKind {
    Http,
    Tcp,
    Grpc,
}

/// A question to a container over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct NetAsk {
    pub kind: NetKind,
    pub scheme: &'static str,
    pub host: Arc<str>,
    pub port: u16,
    /// Of HTTP only.
    pub path: Arc<str>,
}

/// Which probe a command stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ProbeKind {
    Liveness,
    Readiness,
    Startup,
    /// No probe: a lifecycle hook.
    Hook,
}

/// What the container runtime tells the kubelet.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Report {
    Listed {
        pods: OrdMap<Arc<str>, RuntimePod>,
        images: OrdMap<Arc<str>, RuntimeImage>,
    },
    /// The sandbox was made or stopped.
    Sandbox {
        pod: Arc<str>,
        sandbox: Sandbox,
    },
    /// An image is there (under its full name), or the text of the refusal.
    Pulled {
        image: Arc<str>,
        result: Result<RuntimeImage, Arc<str>>,
    },
    /// A container's state is another than before. The kubelet does not know this before it asks again, but for
    /// the answer to its own order.
    Container {
        pod: Arc<str>,
        container: Arc<RuntimeContainer>,
    },
    /// The answer to `Start`: the container's id, or the text of the refusal and the id if it was created.
    StartDone {
        pod: Arc<str>,
        name: Arc<str>,
        result: Result<Arc<str>, StartRefusal>,
    },
    /// The answer to `Stop`.
    Stopped {
        pod: Arc<str>,
        id: Arc<str>,
    },
    ContainerRemoved {
        pod: Arc<str>,
        id: Arc<str>,
    },
    PodRemoved {
        pod: Arc<str>,
    },
    ExecDone {
        number: u64,
        answer: ExecAnswer,
    },
}

/// A container that could not be started.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct StartRefusal {
    /// If it was created.
    pub id: Option<Arc<str>>,
    pub text: Arc<str>,
}

/// How a command in a container ended.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ExecAnswer {
    Ended {
        code: i32,
        output: Arc<str>,
    },
    /// It did not end in time.
    Late(Arc<str>),
    /// It could not be run.
    Failed(Arc<str>),
    /// It was not even tried: what is asked for makes no sense.
    Untried(Arc<str>),
}

/// A pod as the container runtime holds it.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct RuntimePod {
    pub sandbox: Option<Sandbox>,
    /// By id.
    pub containers: OrdMap<Arc<str>, Arc<RuntimeContainer>>,
}

/// The frame of a pod's containers: its network.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Sandbox {
    pub id: Arc<str>,
    pub ready: bool,
    pub created: Instant,
    /// Empty on the host's network.
    pub ip: Arc<str>,
}

/// Where a container stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RuntimeState {
    #[default]
    Created,
    Running,
    Exited,
}

/// A container as the container runtime holds it.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct RuntimeContainer {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub attempt: i32,
    /// The full name of the image.
    pub image: Arc<str>,
    /// Repository and digest.
    pub image_ref: Arc<str>,
    pub state: RuntimeState,
    pub created: Instant,
    pub started: Option<Instant>,
    pub finished: Option<Instant>,
    pub exit_code: i32,
    pub reason: Arc<str>,
    pub message: Arc<str>,
}

/// An image on a node.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct RuntimeImage {
    /// Full name with tag.
    pub name: Arc<str>,
    pub id: Arc<str>,
    /// Repository and digest.
    pub image_ref: Arc<str>,
    pub size: i64,
}

/// Gives an image name its default registry, folder and tag, as containerd does.
pub fn full_image_name(name: &str) -> String {
    if name.starts_with("sha256:") {
        return name.into();
    }
    let full = match name.split_once('/') {
        None => format!("docker.io/library/{name}"),
        Some((first, _))
            if !first.contains(['.', ':'])
                && first != "localhost"
                && !first.chars().any(char::is_uppercase) =>
        {
            format!("docker.io/{name}")
        }
        Some(("docker.io", rest)) if !rest.contains('/') => format!("docker.io/library/{rest}"),
        Some(_) => name.into(),
    };
    let last = full.rsplit('/').next().unwrap_or(&full);
    if last.contains([':', '@']) { full } else { format!("{full}:latest") }
}
