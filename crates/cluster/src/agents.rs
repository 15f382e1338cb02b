//! The scheduler and the kubelets: what they are told, and what comes of it. Also what components say in events.

use crate::{Asker, Brain, ProcessId, RecordId, Step, TimerName, What, World, process::Speech, world::Trace};
use kubestep_apiserver::Actor;
use kubestep_control::{Agent, AgentCx, Change, EventNote, Input, Order, Out, Report, Ticket, View};
use kubestep_controllers::ALL;
use kubestep_model::{Dice, Instant, Reply, Request, Verb};
use std::{collections::VecDeque, sync::Arc};

/// What an agent is told, whichever agent it is.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Started,
    Changed(Change),
    Answered { ticket: Ticket, request: Request, reply: Reply },
    Due(TimerName),
    Runtime(Report),
}

impl Told {
    fn input<T>(self, timer: impl Fn(TimerName) -> Option<T>) -> Option<Input<T>> {
        Some(match self {
            Told::Started => Input::Started,
            Told::Changed(change) => Input::Changed(change),
            Told::Answered { ticket, request, reply } => Input::Answered { ticket, request, reply },
            Told::Due(name) => Input::Due(timer(name)?),
            Told::Runtime(report) => Input::Runtime(report),
        })
    }
}

/// What an agent wants done, whichever agent it is.
#[derive(Default)]
struct Wanted {
    asks: Vec<(Ticket, Request)>,
    timers: Vec<(TimerName, Option<Instant>)>,
    orders: Vec<Order>,
    events: Vec<EventNote>,
    notes: Vec<kubestep_control::Note>,
    actor: String,
}

fn hear<A: Agent>(
    agent: &mut A,
    input: Option<Input<A::Timer>>,
    (now, view, dice, next_ticket): (Instant, &View, &mut Dice, &mut Ticket),
    name: impl Fn(A::Timer) -> TimerName,
) -> Wanted {
    let Some(input) = input else { return Wanted::default() };
    let mut cx = AgentCx {
        now,
        view,
        dice,
        next_ticket,
        out: Out { asks: vec![], timers: Default::default(), orders: vec![], events: vec![], notes: vec![] },
    };
    agent.on(&mut cx, input);
    let Out { asks, timers, orders, events, notes } = cx.out;
    let timers = timers.into_iter().map(|(t, at)| (name(t), at)).collect();
    let actor = if asks.is_empty() { String::new() } else { agent.actor() };
    Wanted { asks, timers, orders, events, notes, actor }
}

impl World {
    /// Tells an agent one thing and carries out what it wants; its node's runtime answers at once where it can.
    pub(crate) fn tell(&mut self, id: &ProcessId, told: Told, trace: &mut Trace) {
        let mut queue = VecDeque::from([told]);
        while let Some(told) = queue.pop_front() {
            if !self.is_up(id) {
                return;
            }
            let now = self.now;
            let wanted = self.with_process(id, |p| {
                let view = p.view.clone();
                let senses = (now, &view, &mut p.dice, &mut p.next_ticket);
                match &mut p.brain {
                    Brain::Loops(_) => Wanted::default(),
                    Brain::Scheduler(a) => {
                        let input =
                            told.input(|t| if let TimerName::Scheduler(t) = t { Some(t) } else { None });
                        hear(Arc::make_mut(a), input, senses, TimerName::Scheduler)
                    }
                    Brain::Kubelet(a) => {
                        let input =
                            told.input(|t| if let TimerName::Kubelet(t) = t { Some(t) } else { None });
                        hear(Arc::make_mut(a), input, senses, TimerName::Kubelet)
                    }
                }
            });
            let reports = self.do_wanted(id, wanted.unwrap_or_default(), trace);
            queue.extend(reports.into_iter().map(Told::Runtime));
        }
    }

    fn do_wanted(&mut self, id: &ProcessId, wanted: Wanted, trace: &mut Trace) -> Vec<Report> {
        let record = self.next_record;
        for (name, at) in wanted.timers {
            let step = Step::Timer(id.clone(), name);
            match at {
                Some(at) => self.set_timer(step, at.max(self.now), record, trace),
                None => drop(self.due.take(&step)),
            }
        }
        if !wanted.asks.is_empty() {
            let actor = self.agent_actor(id, &wanted.actor);
            for (ticket, request) in wanted.asks {
                let asker = Asker::Agent { process: id.clone(), ticket };
                self.send_request(asker, request, actor.clone(), Some(record));
            }
        }
        let has_events = !wanted.events.is_empty();
        self.with_process(id, |p| {
            p.last = Some(record);
            if let Some(speech) = &mut p.speech {
                speech.waiting.extend(wanted.events.into_iter().map(|n| Arc::new((n, Some(record)))));
            }
        });
        if has_events {
            self.speak(id, None);
        }
        trace.notes.extend(wanted.notes);
        let mut reports = vec![];
        if let ProcessId::Kubelet(node) = id {
            for order in wanted.orders {
                reports.extend(self.give_order(node, order));
            }
        }
        reports
    }

    /// Sets a timer and notes what led to it. One that sets itself again (a poll, a tick) still has the reason for which
    /// it was first set, and one that is set again to the same time has the one that it had.
    fn set_timer(&mut self, step: Step, at: Instant, record: RecordId, trace: &Trace) {
        let cause = match self.due.take(&step) {
            Some((same, cause)) if same == at => cause,
            _ if trace.timer.as_ref() == Some(&step) => trace.cause,
            _ => Some(record),
        };
        self.due.put_caused(step, at, cause);
    }

    fn agent_actor(&self, id: &ProcessId, name: &str) -> Actor {
        let user: Arc<str> = match id {
            ProcessId::Kubelet(node) => format!("system:node:{node}").into(),
            ProcessId::Scheduler => "system:kube-scheduler".into(),
            ProcessId::Manager | ProcessId::SecondManager => "system:kube-controller-manager".into(),
        };
        Actor { user_agent: name.into(), user }
    }

    fn give_order(&mut self, node: &Arc<str>, order: Order) -> Vec<Report> {
        if let Order::RunSandbox { pod, .. } = &order {
            self.tell_probes(pod);
        }
        let Some(machine) = self.machines.get_mut(node) else { return vec![] };
        let machine = Arc::make_mut(machine);
        machine.in_record(self.next_record);
        let reports = machine.order(order, &self.registry, self.now, &mut self.dice);
        let next = machine.next_due();
        self.offer_runtime(node, next);
        reports
    }

    pub(crate) fn offer_runtime(&mut self, node: &Arc<str>, next: Option<Instant>) {
        match next {
            Some(at) => self.due.put_exactly(Step::Runtime(node.clone()), at.max(self.now)),
            None => drop(self.due.take(&Step::Runtime(node.clone()))),
        }
    }

    /// Something happens in a node's container runtime.
    pub(crate) fn fire_runtime(&mut self, node: &Arc<str>, trace: &mut Trace) -> What {
        let Some(machine) = self.machines.get_mut(node) else { return What::Act { text: String::new() } };
        let machine = Arc::make_mut(machine);
        trace.cause = machine.next_cause();
        machine.in_record(self.next_record);
        let reports = machine.fire(&self.registry, self.now, &mut self.dice);
        let next = machine.next_due();
        self.offer_runtime(node, next);
        self.pass_on(node, reports, trace)
    }

    /// Passes reports of a runtime to its kubelet.
    pub(crate) fn pass_on(&mut self, node: &Arc<str>, reports: Vec<Report>, trace: &mut Trace) -> What {
        for report in &reports {
            self.tell(&ProcessId::Kubelet(node.clone()), Told::Runtime(report.clone()), trace);
        }
        What::Runtime { node: node.clone(), reports }
    }

    /// A timer of an agent has come.
    pub(crate) fn timer(&mut self, id: &ProcessId, timer: &TimerName, trace: &mut Trace) -> What {
        let step = Step::Timer(id.clone(), timer.clone());
        trace.timer = Some(step);
        self.tell(id, Told::Due(timer.clone()), trace);
        What::ByClock { process: id.clone(), timer: timer.clone() }
    }

    fn with_speech<T>(
        &mut self,
        id: &ProcessId,
        controller: Option<usize>,
        f: impl FnOnce(&mut Speech) -> T,
    ) -> Option<T> {
        self.with_process(id, |p| match (controller, &mut p.brain) {
            (Some(i), Brain::Loops(loops)) => loops.get_mut(i).map(|l| f(&mut Arc::make_mut(l).speech)),
            (None, _) => p.speech.as_mut().map(f),
            (Some(_), _) => None,
        })?
    }

    /// Writes the next event of a component, unless one is on its way.
    pub(crate) fn speak(&mut self, id: &ProcessId, controller: Option<usize>) {
        let now = self.now;
        let next = self.with_speech(id, controller, |speech| {
            if speech.writing.is_some() {
                return None;
            }
            while let Some(next) = speech.waiting.pop_front() {
                let (note, cause) = Arc::unwrap_or_clone(next);
                if let Some(request) = speech.recorder.note(&note, now) {
                    speech.writing = Some(note);
                    return Some((request, cause));
                }
            }
            None
        });
        if let Some(Some((request, cause))) = next {
            self.send_event(id, controller, request, cause);
        }
    }

    fn send_event(
        &mut self,
        id: &ProcessId,
        controller: Option<usize>,
        request: Request,
        cause: Option<RecordId>,
    ) {
        let actor = match controller.and_then(|i| ALL.get(i)) {
            Some(c) => Actor {
                user_agent: c.actor().into(),
                user: format!("system:serviceaccount:kube-system:{}", c.actor()).into(),
            },
            None => self.agent_actor(id, &agent_name(id)),
        };
        self.send_request(Asker::Events { process: id.clone(), controller }, request, actor, cause);
    }

    /// An event was written, or not: one that was to be counted but is gone is written anew.
    pub(crate) fn spoken(
        &mut self,
        id: &ProcessId,
        controller: Option<usize>,
        reply: &Reply,
        cause: Option<RecordId>,
    ) {
        let now = self.now;
        let gone = reply.as_ref().is_err_and(|s| s.is_not_found());
        let again = self.with_speech(id, controller, |speech| {
            let note = speech.writing.take()?;
            let request = gone.then(|| speech.recorder.recreate(&note, now))?;
            speech.writing = Some(note);
            matches!(request.verb, Verb::Create { .. }).then_some(request)
        });
        match again.flatten() {
            Some(request) => self.send_event(id, controller, request, cause),
            None => self.speak(id, controller),
        }
    }
}

fn agent_name(id: &ProcessId) -> String {
    match id {
        ProcessId::Manager | ProcessId::SecondManager => "kube-controller-manager".into(),
        ProcessId::Scheduler => "kube-scheduler".into(),
        ProcessId::Kubelet(node) => format!("kubelet {node}"),
    }
}
