//! What a person can do to the world. Every act is an input of the session.

use crate::{
    ClientId, FaultAct, Image, NodeSpec, ProcessId, Record, What, World, process::TimerName, world::Trace,
};
use kubestep_control::ProbeKind;
use kubestep_controllers::kubelet::Timer;
use kubestep_model::{Pod, client::Client, text::Selector};
use std::{sync::Arc, time::Duration};

/// How soon a kubelet whose network is back renews its lease, and how soon it says how its node is.
const LEASE_AGAIN: Duration = Duration::from_millis(100);
const REPORT_AGAIN: Duration = Duration::from_millis(700);

/// Which pods an act is about.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Pods {
    /// All with these labels, in every namespace.
    Labelled(Selector),
    /// This one.
    Named { namespace: Arc<str>, name: Arc<str> },
}

impl From<Selector> for Pods {
    fn from(labels: Selector) -> Self {
        Pods::Labelled(labels)
    }
}

impl Pods {
    pub(crate) fn has(&self, pod: &Pod) -> bool {
        match self {
            Pods::Labelled(labels) => labels.matches(&pod.metadata.labels),
            Pods::Named { namespace, name } => {
                pod.metadata.namespace == *namespace && pod.metadata.name == *name
            }
        }
    }
}

/// What a person said that probes answer.
#[derive(Clone, Debug)]
pub(crate) struct ProbeRule {
    pods: Pods,
    container: Option<String>,
    /// Of liveness, readiness and startup probes.
    answers: [Option<bool>; 3],
}

const PROBE_KINDS: [ProbeKind; 3] = [ProbeKind::Liveness, ProbeKind::Readiness, ProbeKind::Startup];

/// So many of these are remembered for pods that are still to come.
const MOST_RULES: usize = 64;

/// An act of a person.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Act {
    /// Start a program, such as a kubectl command, in a terminal. While an exclusive one has not ended and does
    /// not wait, nobody else moves.
    Run {
        terminal: u32,
        program: Arc<dyn Client>,
        exclusive: bool,
    },
    /// Ctrl-C.
    Interrupt {
        terminal: u32,
    },
    /// Push an image to the registry, or (with `None`) take it away.
    Image {
        name: String,
        image: Option<Image>,
    },
    Node(NodeAct),
    /// What exec probes of these pods answer from now on.
    Probe {
        pods: Pods,
        container: Option<String>,
        live: Option<bool>,
        ready: Option<bool>,
        started: Option<bool>,
    },
    /// The process in a container ends now.
    Exit {
        pods: Pods,
        container: Option<String>,
        code: i32,
        oom: bool,
    },
    Fault(FaultAct),
    /// What pods use from now on; from the first of these on there is a metrics server.
    Load(crate::Load),
    /// Switch the API server's selector check off (what-if) or on.
    WhatIf {
        selector_check: bool,
    },
    /// A word that belongs into the record of the run. The cluster does not hear it.
    Remark(String),
}

/// Something done to a node.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum NodeAct {
    Add(NodeSpec),
    /// The kubelet's network is cut.
    Stop(String),
    /// Power is cut: kubelet and containers end at once.
    Crash(String),
    /// Ends a stop or boots after a crash.
    Start(String),
}

impl World {
    /// Carries out an act; its record says what it was. For a program, the record's text is its line.
    pub fn act(&mut self, act: Act) -> Record {
        self.audit.clear();
        let mut trace = Trace::default();
        let text = match act {
            Act::Run { terminal, program, exclusive } => {
                let line = program.line();
                let id = self.start_client(program, terminal);
                // On a slow network the cluster goes on meanwhile.
                let alone = exclusive && self.faults.programs_slow.is_zero();
                self.exclusive = alone.then_some(id);
                line
            }
            Act::Interrupt { terminal } => {
                self.interrupt(terminal);
                "You pressed Ctrl-C.".into()
            }
            Act::Image { name, image: Some(image) } => {
                self.registry.push(&name, image);
                format!("You pushed {name} to the registry.")
            }
            Act::Image { name, image: None } => {
                self.registry.remove(&name);
                format!("You took {name} from the registry.")
            }
            Act::Node(act) => self.node_act(act, &mut trace),
            Act::Probe { pods, container, live, ready, started } => {
                self.set_probes(ProbeRule { pods, container, answers: [live, ready, started] });
                "You changed what probes answer.".into()
            }
            Act::Exit { pods, container, code, oom } => {
                self.end_containers(&pods, container.as_deref(), code, oom, &mut trace);
                format!("You ended a container with code {code}.")
            }
            Act::Load(load) => {
                self.set_load(load);
                "You said what pods use.".into()
            }
            Act::Fault(fault) => self.fault(fault),
            Act::Remark(text) => text,
            Act::WhatIf { selector_check } => {
                self.settings.selector_check = selector_check;
                if selector_check {
                    "You switched the selector check on.".into()
                } else {
                    "What if? You switched the selector check off.".into()
                }
            }
        };
        self.record(What::Act { text }, trace)
    }

    /// The program that was started last.
    pub fn last_client(&self) -> Option<ClientId> {
        self.clients.get_max().map(|(id, _)| *id)
    }

    fn node_act(&mut self, act: NodeAct, trace: &mut Trace) -> String {
        match act {
            NodeAct::Add(spec) if self.machines.contains_key(spec.name.as_str()) => {
                format!("There is a node {} already.", spec.name)
            }
            NodeAct::Add(spec) => {
                self.add_node(&spec);
                format!("You added {}.", spec.name)
            }
            NodeAct::Stop(name) => {
                let id = ProcessId::Kubelet(name.as_str().into());
                self.faults.cut.insert(name.as_str().into());
                self.due.retain(|s| !matches!(s, crate::Step::Deliver(p, _) if *p == id));
                format!("You stopped {name}.")
            }
            NodeAct::Crash(name) => {
                let node: Arc<str> = name.as_str().into();
                self.crash(&ProcessId::Kubelet(node.clone()));
                if let Some(machine) = self.machines.get_mut(&node) {
                    Arc::make_mut(machine).power_off();
                }
                self.offer_runtime(&node, None);
                format!("You cut the power of {name}.")
            }
            NodeAct::Start(name) => {
                let id = ProcessId::Kubelet(name.as_str().into());
                if self.faults.cut.remove(name.as_str()).is_some() {
                    self.hear_again(&id);
                }
                self.restart(&id);
                self.list_what_is_too_old(&id);
                self.offer_deliveries(&id);
                let _ = trace;
                format!("You started {name}.")
            }
        }
    }

    /// A kubelet whose network is back: what it tries again and again goes through.
    fn hear_again(&mut self, id: &ProcessId) {
        if self.process(id).is_none_or(|p| p.health == crate::Health::Down) {
            return;
        }
        for (timer, after) in [(Timer::Lease, LEASE_AGAIN), (Timer::Heartbeat, REPORT_AGAIN)] {
            let step = crate::Step::Timer(id.clone(), TimerName::Kubelet(timer));
            self.due.put_exactly(step, self.now + after);
        }
    }

    fn pods_that_run(&self, pods: &Pods) -> Vec<Pod> {
        let all = self.store.list(kubestep_model::Kind::Pod, None).filter_map(|o| o.get::<Pod>());
        all.filter(|p| pods.has(p) && !p.spec.node_name.is_empty()).cloned().collect()
    }

    fn pods_on_nodes(&self, pods: &Pods) -> Vec<(Arc<str>, Arc<str>)> {
        let pods = self.pods_that_run(pods);
        pods.iter().map(|p| (p.spec.node_name.clone(), p.metadata.uid.clone())).collect()
    }

    fn set_probes(&mut self, rule: ProbeRule) {
        for pod in self.pods_that_run(&rule.pods) {
            self.tell_probe(&pod, &rule);
        }
        let rules = Arc::make_mut(&mut self.probe_rules);
        if matches!(rule.pods, Pods::Labelled(_)) {
            rules.push(rule);
        }
        // More than so many nobody sets by hand.
        if rules.len() > MOST_RULES {
            rules.remove(0);
        }
    }

    /// A pod comes to a node: what was said of pods with its labels holds for it, too.
    pub(crate) fn tell_probes(&mut self, uid: &Arc<str>) {
        let rules = self.probe_rules.clone();
        if rules.is_empty() {
            return;
        }
        let pods = self.store.list(kubestep_model::Kind::Pod, None).filter_map(|o| o.get::<Pod>());
        let Some(pod) = pods.into_iter().find(|p| p.metadata.uid == *uid).cloned() else { return };
        for rule in rules.iter().filter(|r| r.pods.has(&pod)) {
            self.tell_probe(&pod, rule);
        }
    }

    /// Probes are commands in a container: where two of them are the same command, they answer alike.
    fn tell_probe(&mut self, pod: &Pod, rule: &ProbeRule) {
        let Some(machine) = self.machines.get_mut(&pod.spec.node_name) else { return };
        let (machine, uid) = (Arc::make_mut(machine), &pod.metadata.uid);
        let all = pod.spec.init_containers.iter().chain(&pod.spec.containers);
        for container in all.filter(|c| rule.container.as_ref().is_none_or(|name| *name == c.name)) {
            let probes = [&container.liveness_probe, &container.readiness_probe, &container.startup_probe];
            let commands =
                probes.map(|probe| probe.as_ref().and_then(|p| p.exec.as_ref()).map(|e| &e.command));
            for (place, answer) in rule.answers.iter().enumerate() {
                let Some(answer) = *answer else { continue };
                for (other, kind) in PROBE_KINDS.into_iter().enumerate() {
                    if other == place || commands[other].is_some() && commands[other] == commands[place] {
                        machine.set_probe(uid, Some(&container.name), kind, answer);
                    }
                }
            }
        }
    }

    fn end_containers(
        &mut self,
        pods: &Pods,
        container: Option<&str>,
        code: i32,
        oom: bool,
        trace: &mut Trace,
    ) {
        for (node, uid) in self.pods_on_nodes(pods) {
            let Some(machine) = self.machines.get_mut(&node) else { continue };
            let machine = Arc::make_mut(machine);
            machine.in_record(self.next_record);
            let reports = machine.exit(&uid, container, code, oom, self.now);
            let next = machine.next_due();
            self.offer_runtime(&node, next);
            self.pass_on(&node, reports, trace);
        }
    }
}
