//! The world as one value, and how a step changes it.

use crate::{
    Brain, ClientId, ClientState, Faults, Flight, FlightId, Health, Latencies, Machine, Process, ProcessId,
    Record, RecordId, Registry, Step, What, due::Due,
};
use kubestep_apiserver::{Audit, Settings, Store};
use kubestep_control::Note;
use kubestep_model::tree::OrdMap;
use kubestep_model::{Dice, Instant};
use std::sync::Arc;

/// A cluster at one moment. Cloning is cheap: all parts are shared until they change.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) store: Store,
    pub(crate) processes: OrdMap<ProcessId, Arc<Process>>,
    pub(crate) machines: OrdMap<Arc<str>, Arc<Machine>>,
    pub(crate) clients: OrdMap<ClientId, Arc<ClientState>>,
    pub(crate) flights: OrdMap<FlightId, Arc<Flight>>,
    pub(crate) due: Due,
    pub(crate) now: Instant,
    pub(crate) next_flight: FlightId,
    pub(crate) next_client: ClientId,
    pub(crate) next_record: RecordId,
    pub(crate) dice: Dice,
    pub(crate) faults: Faults,
    pub(crate) settings: Settings,
    pub(crate) latencies: Arc<Latencies>,
    pub(crate) registry: Registry,
    pub(crate) node_count: u32,
    /// What was said that probes of pods with certain labels answer, the latest last.
    pub(crate) probe_rules: Arc<Vec<crate::acts::ProbeRule>>,
    /// What was said that pods use, the latest last.
    pub(crate) loads: Arc<Vec<crate::load::Said>>,
    /// When the cluster was started.
    pub(crate) booted: Instant,
    /// The program that has the cluster to itself until it ends or waits.
    pub(crate) exclusive: Option<ClientId>,
    /// What the API server wrote into the audit log in the last step.
    pub(crate) audit: Vec<Audit>,
}

/// What a step gathers while it runs.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) cause: Option<RecordId>,
    /// The timer that it is about.
    pub(crate) timer: Option<Step>,
    pub(crate) notes: Vec<Note>,
    pub(crate) changes: Vec<crate::ChangeRef>,
}

impl World {
    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }
    /// What the API server holds.
    pub fn store(&self) -> &Store {
        &self.store
    }
    /// The processes.
    pub fn processes(&self) -> impl Iterator<Item = (&ProcessId, &Process)> {
        self.processes.iter().map(|(id, p)| (id, &**p))
    }
    /// One process.
    pub fn process(&self, id: &ProcessId) -> Option<&Process> {
        self.processes.get(id).map(|p| &**p)
    }
    /// Passes over what a process would draw next for a purpose.
    pub fn redraw(&mut self, id: &ProcessId, purpose: &'static str) {
        if let Some(process) = self.processes.get_mut(id) {
            Arc::make_mut(process).dice.bits(purpose);
        }
    }
    /// The machines by node name.
    pub fn machines(&self) -> impl Iterator<Item = (&Arc<str>, &Machine)> {
        self.machines.iter().map(|(n, m)| (n, &**m))
    }
    /// The programs that people started.
    pub fn clients(&self) -> impl Iterator<Item = (&ClientId, &ClientState)> {
        self.clients.iter().map(|(id, c)| (id, &**c))
    }
    /// One program that a person started.
    pub fn client(&self, id: ClientId) -> Option<&ClientState> {
        self.clients.get(&id).map(|c| &**c)
    }
    /// Requests on their way.
    pub fn flights(&self) -> impl Iterator<Item = (&FlightId, &Flight)> {
        self.flights.iter().map(|(id, f)| (id, &**f))
    }
    /// One request on its way.
    pub fn flight(&self, id: FlightId) -> Option<&Flight> {
        self.flights.get(&id).map(|f| &**f)
    }
    /// The images that can be pulled.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
    /// Faults that are in force.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }
    /// Whether the API server checks selectors as upstream does.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// How long things take.
    pub fn latencies(&self) -> &Latencies {
        &self.latencies
    }
    /// What the API server wrote into the audit log in the last step.
    pub fn audit(&self) -> &[Audit] {
        &self.audit
    }
    /// Whether a program has the cluster to itself now.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive.is_some()
    }
    /// The number that the next record will have.
    pub fn next_record(&self) -> RecordId {
        self.next_record
    }

    /// Who could move next and when it would, in the order of time.
    pub fn enabled(&self) -> Vec<(Instant, Step)> {
        self.due().map(|(at, step)| (at, step.clone())).collect()
    }
    /// As [`World::enabled`], one by one and without copies.
    pub fn due(&self) -> impl Iterator<Item = (Instant, &Step)> {
        self.due.iter()
    }
    /// The step that comes next: by time, or of the program that has the cluster to itself.
    pub fn next(&self) -> Option<(Instant, Step)> {
        if let Some(found) = self.exclusive.and_then(|id| self.next_of_client(id)) {
            return Some(found);
        }
        self.due.first().map(|(at, step)| (at, step.clone()))
    }

    /// The world after a step, and its record. A step that is not enabled changes nothing but the record's number.
    pub fn step(&self, step: &Step) -> (World, Record) {
        let mut world = self.clone();
        let record = world.advance(step);
        (world, record)
    }

    /// As [`World::step`], in place.
    pub fn advance(&mut self, step: &Step) -> Record {
        self.audit.clear();
        let mut trace = Trace::default();
        let what = match self.due.take(step) {
            None => What::Act { text: String::new() },
            Some((at, cause)) => {
                self.now = self.now.max(at);
                trace.cause = cause;
                self.dispatch(step, &mut trace)
            }
        };
        self.record(what, trace)
    }

    fn dispatch(&mut self, step: &Step, trace: &mut Trace) -> What {
        match step {
            Step::Deliver(process, kind) => self.deliver(process, *kind, trace),
            Step::Wake(process, controller) => self.wake(process, *controller),
            Step::Period(process, controller) => self.period(process, *controller),
            Step::Think(process, controller, key) => self.think(process, *controller, key, trace),
            Step::Serve(flight) => self.serve(*flight, trace),
            Step::Timer(process, timer) => self.timer(process, timer, trace),
            Step::Runtime(node) => self.fire_runtime(node, trace),
            Step::Client(id) => self.client_turn(*id, trace),
        }
    }

    pub(crate) fn record(&mut self, what: What, trace: Trace) -> Record {
        let id = self.next_record;
        self.next_record += 1;
        Record { id, at: self.now, cause: trace.cause, what, notes: trace.notes, changes: trace.changes }
    }

    /// Lets the clock run up to a moment without a step. Time never goes back, and never past what is due.
    pub fn idle_until(&mut self, at: Instant) {
        let bound = self.due.first().map_or(at, |(due, _)| at.min(due));
        self.now = self.now.max(bound);
    }

    /// What the API server would answer a person's request now. Nothing is kept.
    pub fn check(&self, request: &kubestep_model::Request) -> kubestep_model::Reply {
        let person = kubestep_apiserver::Actor::new("kubectl", "kubernetes-admin");
        kubestep_apiserver::check(&self.store, request, &person, self.now, &self.settings)
    }

    /// Changes a process; one that is not there is left alone.
    pub(crate) fn with_process<T>(&mut self, id: &ProcessId, f: impl FnOnce(&mut Process) -> T) -> Option<T> {
        self.processes.get_mut(id).map(|p| f(Arc::make_mut(p)))
    }

    /// Whether a process can do anything now.
    pub(crate) fn is_up(&self, id: &ProcessId) -> bool {
        self.processes.get(id).is_some_and(|p| p.health == Health::Up)
    }

    /// The controllers of the controller manager, with their state.
    pub fn loops(&self) -> impl Iterator<Item = (&'static dyn kubestep_control::Controller, &crate::Loop)> {
        let loops = self.process(&ProcessId::Manager).map(|p| &p.brain);
        let loops = if let Some(Brain::Loops(loops)) = loops { Some(loops.iter()) } else { None };
        kubestep_controllers::ALL.iter().copied().zip(loops.into_iter().flatten().map(|l| &**l))
    }
}
