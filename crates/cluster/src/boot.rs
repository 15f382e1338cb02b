//! How a world begins: a control plane, its nodes, and some seconds in which they find each other.

use crate::{
    Brain, Faults, Health, Latencies, Loop, Machine, NodeSpec, Process, ProcessId, Registry, Step, World,
    agents::Told,
    deliver::{enqueue, manager_kinds},
    due::Due,
    process::Speech,
    world::Trace,
};
use kubestep_apiserver::{Settings, Store};
use kubestep_control::{Agent, Change, Controller, MachineInfo, Recorder, Style, View};
use kubestep_controllers::{ALL, kubelet::Kubelet, scheduler::Scheduler};
use kubestep_model::{
    Dice, Instant, Key, Kind, Object, Pod,
    defined::{DEFINITION, Definition},
};
use std::{sync::Arc, time::Duration};

/// What a session starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Its nodes.
    pub nodes: Vec<NodeSpec>,
    /// The images that can be pulled.
    pub registry: Registry,
    /// What all chance follows from.
    pub seed: u64,
    /// How long things take.
    pub latencies: Latencies,
    /// Whether selectors are checked.
    pub settings: Settings,
}

/// How long before a session's first moment its cluster was started.
const HEAD_START: Duration = Duration::from_millis(10_600);
/// A session's first moment, if nothing else is said. As in the recordings it is a whole second, so that what the API
/// shows in whole seconds falls on the same side of a cut.
const FIRST: Instant = Instant(Instant::START.0 + 11_000_000_000);
/// A node whose kubelet starts so soon after its cluster comes up with it.
const COME_UP: Duration = Duration::from_secs(5);
/// How long before a session's first moment its controllers were started, in every recording.
const CONTROLLERS: Duration = Duration::from_millis(4_750);
/// How long before that moment they had made what every namespace has; the shown times are whole seconds.
fn made_by_controllers(kind: Kind) -> Option<Duration> {
    match kind {
        Kind::ServiceAccount => Some(CONTROLLERS),
        Kind::ConfigMap => Some(CONTROLLERS - BY_TIME),
        _ => None,
    }
}
/// In larger clusters they are there from the beginning: they have more to do than that time allows.
const FEW_NODES: usize = 50;
/// How soon in its first life a controller that runs by time does so first; the one of nodes is the first of them.
const BY_TIME: Duration = Duration::from_millis(800);
const NODES_BY_TIME: Duration = Duration::from_millis(100);
/// How long the last of them gets to become ready, in clusters of many nodes.
const SETTLE: Duration = Duration::from_secs(5);
/// How long the control plane is up before the first node is switched on.
const CONTROL_FIRST: Duration = Duration::from_millis(600);
/// How long after the one before a node is switched on.
const NODE_GAP: Duration = Duration::from_millis(50);

impl World {
    /// A cluster that has been up for ten seconds: nodes registered and ready, nothing else going on.
    pub fn boot(start: &Start) -> World {
        World::boot_at(start, FIRST)
    }

    /// The same, with this as the session's first moment.
    pub fn boot_at(start: &Start, first: Instant) -> World {
        let nodes = NODE_GAP * u32::try_from(start.nodes.len()).unwrap_or(0);
        let now = first - HEAD_START.max(nodes + SETTLE);
        let dice = Dice::new(start.seed);
        let mut world = World {
            store: Store::new(),
            processes: Default::default(),
            machines: Default::default(),
            clients: Default::default(),
            flights: Default::default(),
            due: Due::default(),
            now,
            next_flight: 1,
            next_client: 1,
            next_record: 1,
            dice,
            faults: Faults::default(),
            settings: start.settings,
            latencies: Arc::new(start.latencies.clone()),
            registry: start.registry.clone(),
            node_count: 0,
            booted: now,
            probe_rules: Arc::default(),
            loads: Arc::default(),
            exclusive: None,
            audit: vec![],
        };
        let mut objects = kubestep_apiserver::first_objects(now, &mut world.dice);
        for object in &mut objects {
            if let Some(before) = made_by_controllers(object.kind()) {
                object.meta_mut().creation_timestamp = Some(now.max(first - before).to_time());
            }
        }
        world.store.seed(objects);
        let few = start.nodes.len() <= FEW_NODES;
        if !few {
            world.start_process(ProcessId::Manager);
        }
        world.start_process(ProcessId::Scheduler);
        world.run_until(now + CONTROL_FIRST);
        // One after another, so that ranges of pod addresses follow the order of the nodes.
        for node in &start.nodes {
            world.add_node(node);
            world.run_until(world.now + NODE_GAP);
        }
        if few {
            world.run_until(now + (HEAD_START - CONTROLLERS));
            world.start_process(ProcessId::Manager);
        }
        world.run_until(first);
        world.store.forget(Kind::Event);
        world
    }

    fn run_until(&mut self, end: Instant) {
        while let Some((at, step)) = self.next() {
            if at > end {
                break;
            }
            self.advance(&step);
        }
        self.now = self.now.max(end);
    }

    /// Adds a machine with its kubelet, which registers the node.
    pub(crate) fn add_node(&mut self, spec: &NodeSpec) {
        let name: Arc<str> = spec.name.as_str().into();
        let index = self.node_count;
        self.node_count += 1;
        self.machines.insert(name.clone(), Arc::new(Machine::new(spec, index)));
        self.start_process(ProcessId::Kubelet(name));
    }

    /// Starts a process for the first time or again: it lists what it watches.
    pub(crate) fn start_process(&mut self, id: ProcessId) {
        let (view, seen) = self.list_for(&id);
        self.begin_with(&id, view, seen);
    }

    /// Starts a process that knows this much.
    pub(crate) fn begin_with(
        &mut self,
        id: &ProcessId,
        view: View,
        seen: kubestep_model::tree::OrdMap<Kind, u64>,
    ) {
        let id = id.clone();
        let dice = self.dice.split(&id.to_string());
        let Some(brain) = self.new_brain(&id, &dice) else { return };
        let speech = match &brain {
            Brain::Loops(_) => None,
            Brain::Scheduler(a) => Some(speech(Style::Series, a.event_source())),
            Brain::Kubelet(a) => Some(speech(Style::Counted, a.event_source())),
        };
        let old = self.processes.get(&id).cloned();
        let process = Process {
            health: Health::Up,
            view,
            seen,
            inbox: Default::default(),
            brain,
            limits: Default::default(),
            speech,
            // Tickets of an earlier life are never used again: late replies find nobody.
            next_ticket: old.as_ref().map_or(0, |p| p.next_ticket),
            life: old.as_ref().map_or(0, |p| p.life + 1),
            dice: old.map_or(dice, |p| p.dice.clone()),
            last: None,
        };
        self.processes.insert(id.clone(), Arc::new(process));
        if id.is_manager() {
            self.start_loops(&id)
        } else {
            self.tell(&id, Told::Started, &mut Trace::default())
        }
    }

    /// Starts a process that has ended; one that runs is left alone.
    pub(crate) fn restart(&mut self, id: &ProcessId) {
        if self.processes.get(id).is_some_and(|p| p.health == Health::Down) {
            self.start_process(id.clone());
        }
    }

    fn new_brain(&self, id: &ProcessId, dice: &Dice) -> Option<Brain> {
        Some(match id {
            ProcessId::Manager | ProcessId::SecondManager => {
                // A person's stop is a fault: it outlives the process.
                let stopped: Vec<bool> = self.loops().map(|(_, l)| l.stopped).collect();
                let is_stopped = |i: usize| stopped.get(i).copied().unwrap_or(false);
                let new = |(i, c): (usize, &&'static dyn Controller)| new_loop(*c, dice, is_stopped(i));
                Brain::Loops(ALL.iter().enumerate().map(new).map(Arc::new).collect())
            }
            ProcessId::Scheduler => Brain::Scheduler(Arc::new(Scheduler::new())),
            ProcessId::Kubelet(node) => {
                let machine = self.machines.get(node)?;
                let early = self.now.since(self.booted) < COME_UP;
                Brain::Kubelet(Arc::new(Kubelet::new(MachineInfo { early, ..machine.info() })))
            }
        })
    }

    pub(crate) fn list_for(&self, id: &ProcessId) -> (View, kubestep_model::tree::OrdMap<Kind, u64>) {
        let kinds: Vec<Kind> = match id {
            ProcessId::Manager | ProcessId::SecondManager => {
                let definitions = self.store.list(DEFINITION, None).filter_map(Definition::of);
                manager_kinds().into_iter().chain(definitions.map(Definition::stored_kind)).collect()
            }
            ProcessId::Scheduler => kubestep_controllers::scheduler::WATCHES.to_vec(),
            ProcessId::Kubelet(_) => vec![Kind::Pod, Kind::Node],
        };
        let mut view = View::default();
        let mut show = |object: &Object| drop(view.apply(&object.key(), Some(object.clone())));
        if let ProcessId::Kubelet(node) = id {
            let pods = self.store.list(Kind::Pod, None);
            pods.filter(|o| o.get::<Pod>().is_some_and(|p| p.spec.node_name == *node)).for_each(&mut show);
            self.store.get(&Key::new(Kind::Node, "", node.clone())).into_iter().for_each(&mut show);
        } else {
            kinds.iter().flat_map(|k| self.store.list(*k, None)).for_each(&mut show);
        }
        (view, kinds.into_iter().map(|k| (k, self.store.revision())).collect())
    }

    /// Every object that a controller watches is news to it at its start.
    fn start_loops(&mut self, id: &ProcessId) {
        let now = self.now;
        self.with_process(id, |p| {
            let view = p.view.clone();
            let Brain::Loops(loops) = &mut p.brain else { return };
            for (controller, state) in ALL.iter().zip(loops.iter_mut()) {
                let own = controller.watches().iter().flat_map(|w| view.objects_of(w.kind, None));
                let defined = view.iter().map(|(_, o)| o).filter(|o| o.kind().is_defined());
                let defined = defined.filter(|_| controller.of_defined().is_some());
                for object in own.chain(defined) {
                    let change = Change { key: object.key(), old: None, new: Some(object.clone()) };
                    enqueue(*controller, Arc::make_mut(state), &change, &view, now, None);
                }
            }
        });
        let life = self.process(id).map_or(0, |p| p.life);
        let stopped: Vec<bool> = self.loops().map(|(_, l)| l.stopped).collect();
        for ((i, controller), stopped) in ALL.iter().enumerate().zip(stopped) {
            if let Some(period) = controller.period().filter(|_| !stopped) {
                let first = match controller.name() {
                    _ if life > 0 => period,
                    "node-lifecycle" => NODES_BY_TIME,
                    _ => BY_TIME,
                };
                self.due.put(Step::Period(id.clone(), i), now + first);
            }
        }
        self.offer_all_work(id);
    }
}

fn new_loop(controller: &dyn Controller, dice: &Dice, stopped: bool) -> Loop {
    Loop {
        queue: Default::default(),
        working: Default::default(),
        unread: Default::default(),
        memory: Default::default(),
        wrote: Default::default(),
        causes: Default::default(),
        starting: 0,
        stopped,
        last: None,
        speech: speech(Style::Counted, (controller.event_source().into(), String::new())),
        dice: dice.split(controller.name()),
    }
}

fn speech(style: Style, (component, host): (String, String)) -> Speech {
    Speech::new(Recorder::new(style, component, host))
}
