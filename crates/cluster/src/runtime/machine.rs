//! One node's machine and its container runtime: orders in, reports out, and what happens by itself in between.

mod life;
mod memory;
mod net;

use super::{
    process::{self, Cursor, Disk, Said},
    program,
    registry::{Image, Registry, pull_error},
    sha256,
};
use crate::RecordId;
use kubestep_control::{
    ContainerConfig, ExecAnswer, MachineInfo, NodeSpec, Order, ProbeKind, Report, RuntimeContainer,
    RuntimeImage, RuntimePod, RuntimeState, Sandbox, StartRefusal, full_image_name,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::tree::OrdMap;
use kubestep_model::{Dice, Instant};
use std::{sync::Arc, time::Duration};

/// A sandbox with its network takes about this long.
const SANDBOX: Duration = Duration::from_millis(150);
/// Making and starting a container takes as long as this, and up to as much longer as the second.
const START: (Duration, u32) = (Duration::from_millis(4), 20_000);
/// One round trip to the registry.
const REFUSAL: Duration = Duration::from_millis(300);

/// Something that will happen by itself.
#[derive(Clone, Debug, PartialEq)]
enum Due {
    Sandbox {
        pod: Arc<str>,
        host_network: bool,
    },
    Pull {
        image: Arc<str>,
    },
    Start {
        config: Arc<ContainerConfig>,
    },
    /// The process goes on after a sleep, or ends.
    Process {
        id: Arc<str>,
    },
    /// SIGTERM was answered, or SIGKILL comes.
    Stop {
        id: Arc<str>,
        code: i32,
    },
    Exec {
        number: u64,
        answer: ExecAnswer,
    },
    /// Some process has no more memory to get.
    Memory,
}

#[derive(Clone, Debug, PartialEq)]
struct Held {
    pod: Arc<str>,
    info: Arc<RuntimeContainer>,
    config: Arc<ContainerConfig>,
    image: Option<Arc<Image>>,
    process: Option<Cursor>,
    disk: Disk,
    /// A `Stop` waits for the end; its entry in the due list.
    stop: Option<(Instant, u64)>,
    alarm: Option<(Instant, u64)>,
}

/// The machine of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    spec: NodeSpec,
    index: u32,
    /// When it last did anything.
    now: Instant,
    /// How many images it has asked the registry for.
    pulls: u32,
    next_ip: u32,
    boots: u32,
    sandboxes: OrdMap<Arc<str>, Sandbox>,
    containers: OrdMap<Arc<str>, Held>,
    images: OrdMap<Arc<str>, RuntimeImage>,
    /// What will happen by itself, and the record that led to it.
    due: OrdMap<(Instant, u64), (Due, Option<RecordId>)>,
    sequence: u64,
    /// The record in which it acts now: what it puts into the due list comes of it.
    record: Option<RecordId>,
    /// What probes answer by order of the session: (pod, container, probe).
    answers: OrdMap<(Arc<str>, Arc<str>, ProbeKind), bool>,
}

impl Machine {
    /// A machine that was just switched on. Pods get addresses of 10.244.INDEX.0/24, and so on.
    pub fn new(spec: &NodeSpec, index: u32) -> Self {
        Machine {
            spec: spec.clone(),
            index,
            now: Instant::START,
            pulls: 0,
            next_ip: 2,
            boots: 0,
            sandboxes: OrdMap::new(),
            containers: OrdMap::new(),
            images: OrdMap::new(),
            due: OrdMap::new(),
            sequence: 0,
            record: None,
            answers: OrdMap::new(),
        }
    }

    /// What a kubelet finds on it.
    pub fn info(&self) -> MachineInfo {
        let id = sha256::hex(&format!("machine {}", self.spec.name));
        let boot = sha256::hex(&format!("boot {} of {}", self.boots, self.spec.name));
        MachineInfo {
            spec: self.spec.clone(),
            index: self.index,
            machine_id: id[..32].into(),
            system_uuid: uuid(&id),
            boot_id: uuid(&boot),
            early: true,
        }
    }

    /// Says in which record it acts from now on.
    pub(crate) fn in_record(&mut self, record: RecordId) {
        self.record = Some(record);
    }

    /// The record that led to what happens next by itself.
    pub(crate) fn next_cause(&self) -> Option<RecordId> {
        self.due.get_min().and_then(|(_, (_, cause))| *cause)
    }

    /// When something happens by itself.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.get_min().map(|((at, _), _)| *at)
    }

    /// The containers of all pods: the pod's uid and the container.
    pub fn containers(&self) -> impl Iterator<Item = (&Arc<str>, &RuntimeContainer)> {
        self.containers.values().map(|h| (&h.pod, &*h.info))
    }

    /// Whether a container of the pod with this uid runs.
    pub fn runs(&self, pod: &str) -> bool {
        let running = |c: &RuntimeContainer| matches!(c.state, RuntimeState::Running);
        self.containers().any(|(uid, container)| **uid == *pod && running(container))
    }

    /// The images on the machine.
    pub fn images(&self) -> impl Iterator<Item = &RuntimeImage> {
        self.images.values()
    }

    /// Carries out an order; answers what is known at once.
    pub fn order(&mut self, order: Order, registry: &Registry, now: Instant, dice: &mut Dice) -> Vec<Report> {
        self.now = now;
        match order {
            Order::List => vec![self.list()],
            Order::RunSandbox { pod, host_network } => {
                self.later(now + SANDBOX, Due::Sandbox { pod, host_network })
            }
            Order::Pull { image } => {
                let row = registry.get(&image).filter(|row| !row.denied);
                let takes = row.map_or(REFUSAL, |row| row.pull);
                self.later(now + registry.1.stretch(takes), Due::Pull { image })
            }
            Order::Start(config) => {
                let extra = Duration::from_micros(dice.below("start", START.1).into());
                self.later(now + START.0 + extra, Due::Start { config })
            }
            Order::Stop { pod, id, grace } => self.stop(pod, id, grace, now),
            Order::StopSandbox { pod } => self.stop_sandbox(&pod, now),
            Order::RemoveContainer { pod, id } => {
                if let Some(held) = self.containers.remove(&id) {
                    self.forget(&held);
                    self.freed(&held, now);
                }
                vec![Report::ContainerRemoved { pod, id }]
            }
            Order::RemovePod { pod } => {
                let ids: Vec<_> =
                    self.containers.iter().filter(|(_, h)| h.pod == pod).map(|(id, _)| id.clone()).collect();
                for id in ids {
                    if let Some(held) = self.containers.remove(&id) {
                        self.forget(&held);
                        self.freed(&held, now);
                    }
                }
                self.sandboxes.remove(&pod);
                vec![Report::PodRemoved { pod }]
            }
            Order::Exec { number, pod, id, probe, command, timeout_seconds } => {
                let (after, answer) = self.probe(&pod, &id, probe, &command, timeout_seconds, now);
                if after.is_zero() {
                    return vec![Report::ExecDone { number, answer }];
                }
                self.later(now + after, Due::Exec { number, answer })
            }
            Order::Net { number, pod, id, probe, ask, timeout_seconds } => {
                let (after, answer) = self.net(&pod, &id, probe, &ask, timeout_seconds, now);
                if after.is_zero() {
                    return vec![Report::ExecDone { number, answer }];
                }
                self.later(now + after, Due::Exec { number, answer })
            }
        }
    }

    /// Lets happen what is due first, if its time has come.
    pub fn fire(&mut self, registry: &Registry, now: Instant, dice: &mut Dice) -> Vec<Report> {
        let Some((key, due)) = self.due.get_min().map(|(k, (d, _))| (*k, d.clone())) else { return vec![] };
        if key.0 > now {
            return vec![];
        }
        self.due.remove(&key);
        self.now = now;
        match due {
            Due::Sandbox { pod, host_network } => {
                let ip = if host_network { "".into() } else { self.address() };
                let sandbox = Sandbox { id: new_id(dice), ready: true, created: now, ip };
                self.sandboxes.insert(pod.clone(), sandbox.clone());
                vec![Report::Sandbox { pod, sandbox }]
            }
            Due::Pull { image } => vec![self.pulled(image, registry)],
            Due::Start { config } => self.start(&config, registry, now, dice),
            Due::Process { id } => self.go_on(&id, now),
            Due::Stop { id, code } => self.finish(&id, code, "", now),
            Due::Exec { number, answer } => vec![Report::ExecDone { number, answer }],
            Due::Memory => self.out_of_memory(now),
        }
    }

    /// Ends the process of a pod's containers (or of one of them) with this code.
    pub fn exit(
        &mut self,
        pod: &str,
        container: Option<&str>,
        code: i32,
        oom: bool,
        now: Instant,
    ) -> Vec<Report> {
        let matches = |h: &Held| {
            &*h.pod == pod
                && h.info.state == RuntimeState::Running
                && container.is_none_or(|c| c == &*h.info.name)
        };
        let ids: Vec<_> =
            self.containers.iter().filter(|(_, h)| matches(h)).map(|(id, _)| id.clone()).collect();
        let reason = if oom { "OOMKilled" } else { "" };
        ids.iter().flat_map(|id| self.finish(id, code, reason, now)).collect()
    }

    /// Decides what a probe of a container (or of all of the pod) answers from now on.
    pub fn set_probe(&mut self, pod: &str, container: Option<&str>, probe: ProbeKind, answer: bool) {
        self.answers.insert((pod.into(), container.unwrap_or_default().into(), probe), answer);
    }

    /// A power cut: all processes end at once, nothing is told to anybody.
    pub fn power_off(&mut self) {
        let now = self.now;
        let ids: Vec<_> = self.containers.keys().cloned().collect();
        for id in ids {
            self.finish(&id, 255, "Unknown", now);
        }
        let pods: Vec<_> = self.sandboxes.keys().cloned().collect();
        for pod in pods {
            if let Some(sandbox) = self.sandboxes.get_mut(&pod) {
                sandbox.ready = false;
            }
        }
        self.due.clear();
        self.boots += 1;
    }

    /// The lines that a container printed, each with its newline and time: of the run now, or (`previous`) of the one before.
    pub fn logs(&self, pod: &str, container: &str, previous: bool) -> Option<Vec<(Instant, Arc<str>)>> {
        let mut runs: Vec<&Held> =
            self.containers.values().filter(|h| &*h.pod == pod && &*h.info.name == container).collect();
        runs.arrange_by_key(|h| std::cmp::Reverse(h.info.attempt));
        runs.get(usize::from(previous)).map(|h| h.disk.printed.iter().cloned().collect())
    }

    /// The running container of a pod with this name.
    fn running(&self, pod: &str, container: &str) -> Option<&Held> {
        self.containers
            .values()
            .find(|h| *h.pod == *pod && *h.info.name == *container && h.info.state == RuntimeState::Running)
    }

    /// The environment that a running container was given, and when it started.
    pub(crate) fn environment(&self, pod: &str, container: &str) -> Option<(&[(String, String)], Instant)> {
        let held = self.running(pod, container)?;
        Some((&held.config.env, held.info.started?))
    }

    /// Runs a command in the running container of a pod; what it prints and its exit code. `said` are the answers of
    /// its statements that are not the machine's to give. `Some(None)`: it does not end.
    pub(crate) fn exec(
        &mut self,
        pod: &str,
        container: &str,
        command: &[String],
        now: Instant,
        said: &Said,
    ) -> Option<Option<(String, i32)>> {
        let id = self.running(pod, container)?.info.id.clone();
        let held = self.containers.get_mut(&id)?;
        Some(process::exec(command, &mut held.disk, now, said).ok().map(|(_, code, text)| (text, code)))
    }

    fn list(&self) -> Report {
        let mut pods: OrdMap<Arc<str>, RuntimePod> = OrdMap::new();
        for (pod, sandbox) in &self.sandboxes {
            pods.entry(pod.clone()).or_default().sandbox = Some(sandbox.clone());
        }
        for (id, held) in &self.containers {
            pods.entry(held.pod.clone()).or_default().containers.insert(id.clone(), held.info.clone());
        }
        Report::Listed { pods, images: self.images.clone() }
    }

    fn later(&mut self, at: Instant, due: Due) -> Vec<Report> {
        self.alarm(at, due);
        vec![]
    }

    fn alarm(&mut self, at: Instant, due: Due) -> (Instant, u64) {
        self.sequence += 1;
        self.due.insert((at, self.sequence), (due, self.record));
        (at, self.sequence)
    }

    fn forget(&mut self, held: &Held) {
        for key in held.alarm.iter().chain(&held.stop) {
            self.due.remove(key);
        }
    }

    fn address(&mut self) -> Arc<str> {
        let (second, third) = ((self.index / 256 + 244) % 256, self.index % 256);
        let ip = format!("10.{second}.{third}.{}", self.next_ip).into();
        self.next_ip = if self.next_ip >= 254 { 2 } else { self.next_ip + 1 };
        ip
    }

    fn pulled(&mut self, image: Arc<str>, registry: &Registry) -> Report {
        let name = full_image_name(&image);
        self.pulls = self.pulls.wrapping_add(1);
        if let Some(text) = registry.1.refusal(&name, self.pulls) {
            return Report::Pulled { image, result: Err(text.into()) };
        }
        let result = match registry.get(&name) {
            Some(row) if !row.denied => {
                let pulled = row.pulled(&name);
                self.images.insert(pulled.name.clone(), pulled.clone());
                Ok(pulled)
            }
            row => Err(pull_error(&name, row.is_some()).into()),
        };
        Report::Pulled { image, result }
    }

    fn start(
        &mut self,
        config: &Arc<ContainerConfig>,
        registry: &Registry,
        now: Instant,
        dice: &mut Dice,
    ) -> Vec<Report> {
        let (pod, name) = (config.pod.clone(), config.name.clone());
        let full = full_image_name(&config.image);
        let found = self.images.get(full.as_str()).cloned().or_else(|| {
            self.images.values().find(|i| *i.id == *config.image || *i.image_ref == *config.image).cloned()
        });
        let Some(image) = found else {
            let text = format!("failed to get image from containerd \"{}\": not found", config.image);
            return vec![Report::StartDone {
                pod,
                name,
                result: Err(StartRefusal { id: None, text: text.into() }),
            }];
        };
        let row = registry.get(&image.name).cloned().map(Arc::new);
        let id = new_id(dice);
        let mut info = RuntimeContainer {
            id: id.clone(),
            name: name.clone(),
            attempt: config.attempt,
            image: image.name.clone(),
            image_ref: image.image_ref.clone(),
            state: RuntimeState::Running,
            created: now,
            started: Some(now),
            ..RuntimeContainer::default()
        };
        if let Some(row) = row.as_ref().filter(|row| !row.start_error.is_empty()) {
            let text = start_error(&row.start_error);
            info = RuntimeContainer {
                state: RuntimeState::Exited,
                started: None,
                finished: Some(now),
                exit_code: 128,
                reason: "StartError".into(),
                message: text.as_str().into(),
                ..info
            };
            let info = self.hold(&pod, info, config, Some(row.clone()));
            let refusal = Report::StartDone {
                pod: pod.clone(),
                name,
                result: Err(StartRefusal { id: Some(id), text: text.into() }),
            };
            return vec![Report::Container { pod, container: info }, refusal];
        }
        let info = self.hold(&pod, info, config, row);
        let mut reports = vec![Report::Container { pod: pod.clone(), container: info }];
        // A process that ends at once has ended before anybody looks.
        reports.extend(self.begin(&id, now));
        if self.containers.get(&id).is_some_and(memory::counts) {
            self.watch_memory(now);
        }
        reports.push(Report::StartDone { pod, name, result: Ok(id) });
        reports
    }

    fn hold(
        &mut self,
        pod: &Arc<str>,
        info: RuntimeContainer,
        config: &Arc<ContainerConfig>,
        image: Option<Arc<Image>>,
    ) -> Arc<RuntimeContainer> {
        let info = Arc::new(info);
        let disk = Disk { mounted: config.files.clone(), ..Disk::default() };
        let process = program::parse(&config.command).map(|p| Cursor::new(p, false));
        let held = Held {
            pod: pod.clone(),
            info: info.clone(),
            config: config.clone(),
            image,
            process,
            disk,
            stop: None,
            alarm: None,
        };
        self.containers.insert(info.id.clone(), held);
        info
    }
}

fn start_error(text: &str) -> String {
    let own = text.strip_prefix("runc create failed: ").unwrap_or(text);
    format!(
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: {own}"
    )
}

fn new_id(dice: &mut Dice) -> Arc<str> {
    (0..4).map(|_| format!("{:016x}", dice.bits("container"))).collect::<String>().into()
}

/// In capitals, so that it is not taken for an object's uid.
fn uuid(hex: &str) -> Arc<str> {
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32])
        .to_ascii_uppercase()
        .into()
}
