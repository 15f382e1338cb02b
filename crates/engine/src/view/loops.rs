//! The loops view: controllers, scheduler, kubelets, with their real queues and caches.

use super::sorted;
use crate::{session::Session, words};
use kubestep_cluster::control::Controller;
use kubestep_cluster::{
    Asker, Brain, ClientId, Flight, Health, Loop as State, Process, ProcessId, Step, TimerName, World,
    loops::{ALL, kubelet, scheduler},
};
use kubestep_insight::{Blocker, Kind, Verdict};
use kubestep_model::{Instant, Key, Kind as ObjectKind};
use kubestep_protocol::{Ask, Loop, LoopState, Rich, Span, Who};
use std::{collections::BTreeMap, sync::Arc};

/// So many keys of a queue are named.
const KEYS: usize = 8;

/// The loops, in the order of first sight.
pub(super) fn loops(session: &mut Session, found: &Verdict) -> Vec<Arc<Loop>> {
    let stuck = stuck_loop(session, found);
    let timers = timers(session);
    let flights = Flights::of(session.world());
    let mut rows: Vec<(String, Loop)> = vec![];
    for (i, controller) in ALL.iter().enumerate() {
        if let Some(row) = controller_row(session, i, *controller, &flights) {
            rows.push((format!("loop:{}", controller.name()), row));
        }
    }
    let ids: Vec<ProcessId> =
        session.world().processes().map(|(id, _)| id.clone()).filter(|id| !id.is_manager()).collect();
    for id in ids {
        if let Some(row) = agent_row(session, &id, timers.get(&id).copied(), &flights) {
            rows.push((format!("loop:{id}"), row));
        }
    }
    let programs: Vec<_> =
        session.world().clients().filter(|(_, c)| c.goes_on()).map(|(id, _)| *id).collect();
    for id in programs {
        rows.extend(program_row(session, id).map(|row| (format!("loop:program:{id}"), row)));
    }
    let mut out = vec![];
    for (name, mut row) in rows {
        row.id = session.ids.of(&name);
        row.stuck = stuck.as_ref().is_some_and(|(who, detail)| *who == row.name && *detail == row.detail);
        if !row.watches.is_empty() {
            row.name = words::who::long(&row.name);
        }
        out.push(row);
    }
    sorted(out, |r| r.id)
}

/// The loop that the teacher names when all is stalled.
fn stuck_loop(session: &Session, found: &Verdict) -> Option<(String, String)> {
    let (at, blocker) = found.blocker.clone().filter(|_| found.kind == Kind::Stalled)?;
    let node = || {
        session
            .world()
            .store()
            .get(&at)
            .and_then(|o| o.get::<kubestep_model::Pod>())
            .map(|p| p.spec.node_name.to_string())
            .unwrap_or_default()
    };
    Some(match blocker {
        Blocker::Image { .. }
        | Blocker::Ends { .. }
        | Blocker::Probe { .. }
        | Blocker::Configuration { .. } => ("kubelet".into(), node()),
        Blocker::NodeSilent { node } => ("kubelet".into(), node),
        Blocker::NothingFits { .. } | Blocker::Gated { .. } => ("scheduler".into(), String::new()),
        Blocker::Refused { .. } => ("replicaset".into(), String::new()),
        Blocker::LoopStopped { who } | Blocker::WatchHeld { who, .. } => {
            (who.trim_start_matches("kube-").into(), String::new())
        }
        _ => return None,
    })
}

fn empty(who: Who, name: &str, detail: &str) -> Loop {
    Loop {
        id: Default::default(),
        who,
        name: name.into(),
        detail: detail.into(),
        state: LoopState::Idle,
        stuck: false,
        watches: String::new(),
        seen: 0,
        behind: 0,
        unread: 0,
        queue: vec![],
        queued: 0,
        did: None,
        waits: Rich::default(),
        asks: None,
        fault: String::new(),
        copies: 1,
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The first request under way of each controller and of each agent.
struct Flights<'w> {
    controllers: Vec<Option<&'w Flight>>,
    agents: BTreeMap<&'w ProcessId, &'w Flight>,
}

impl<'w> Flights<'w> {
    fn of(world: &'w World) -> Self {
        let mut found = Flights { controllers: vec![None; ALL.len()], agents: BTreeMap::new() };
        for (_, flight) in world.flights() {
            match &flight.asker {
                Asker::Controller { controller, .. } => {
                    if let Some(first) = found.controllers.get_mut(*controller) {
                        first.get_or_insert(flight);
                    }
                }
                Asker::Agent { process, .. } | Asker::Events { process, .. } => {
                    found.agents.entry(process).or_insert(flight);
                }
                Asker::Client(_) => {}
            }
        }
        found
    }
}

fn controller_row(
    session: &Session,
    index: usize,
    controller: &dyn Controller,
    flights: &Flights<'_>,
) -> Option<Loop> {
    let world = session.world();
    let process = world.process(&ProcessId::Manager)?;
    let Brain::Loops(loops) = &process.brain else { return None };
    let state = loops.get(index)?;
    let (who, _) = words::who::of_agent(controller.actor());
    let mut row = empty(who, controller.name(), "");
    let kinds: Vec<ObjectKind> = controller.watches().iter().map(|w| w.kind).collect();
    row.watches = if kinds.len() > 6 {
        "every kind".into()
    } else {
        kinds.iter().map(|k| k.name()).collect::<Vec<_>>().join(", ")
    };
    row.behind = count(kinds.iter().map(|k| process.behind(*k)).sum());
    row.seen = seen(world, process, &kinds);
    row.unread = count(state.unread.len()).saturating_add(row.behind);
    let keys: Vec<&Key> =
        state.queue.ready().chain(state.working.keys()).filter(|k| !k.name.is_empty()).collect();
    row.queued = count(keys.len());
    row.queue = keys.iter().take(KEYS).map(|k| words::tail(&k.name).to_string()).collect();
    row.did = did(session, state.last);
    row.asks = asks(state, flights.controllers.get(index).copied().flatten());
    let held = kinds.iter().any(|k| world.faults().holds(&ProcessId::Manager, *k));
    row.state = match () {
        () if process.health == Health::Down => LoopState::Crashed,
        () if state.stopped => LoopState::Stopped,
        () if held => LoopState::Held,
        () if row.asks.is_some() => LoopState::Asking,
        () if !keys.is_empty() => LoopState::Queued,
        () if row.behind > 0 => LoopState::Reading,
        () if state.queue.delayed().next().is_some() => LoopState::Waiting,
        () => LoopState::Idle,
    };
    row.fault = match row.state {
        LoopState::Crashed => "crash:manager".into(),
        _ => format!("stop:{}", controller.name()),
    };
    row.waits = waits_of_loop(session, state, row.state);
    Some(row)
}

/// Up to which revision all watched kinds have been read.
fn seen(world: &World, process: &Process, kinds: &[ObjectKind]) -> u64 {
    let behind = kinds.iter().filter(|k| process.behind(**k) > 0).filter_map(|k| process.seen.get(k)).min();
    behind.copied().unwrap_or(world.store().revision())
}

fn did(session: &Session, record: Option<u64>) -> Option<(kubestep_protocol::At, String)> {
    let record = session.history.record(record?)?;
    (record.at <= session.world().now()).then(|| (session.at(record.at), words::short_deed(record)))
}

fn asks(state: &State, flight: Option<&Flight>) -> Option<Ask> {
    if let Some(flight) = flight {
        return Some(Ask { words: words::request(&flight.request), sent: true });
    }
    // What was answered is not asked any more.
    let open = state.working.values().find_map(|w| w.asked.iter().zip(&w.replies).find(|(_, r)| r.is_none()));
    Some(Ask { words: words::request(open?.0), sent: false })
}

fn waits_of_loop(session: &Session, state: &State, how: LoopState) -> Rich {
    match how {
        LoopState::Stopped => Rich::words("a person who lets it go on"),
        LoopState::Crashed => Rich::words("a person who starts it again"),
        LoopState::Held => Rich::words("its watch, which is held"),
        _ => {
            let next = state.queue.delayed().filter(|(k, _)| !k.name.is_empty()).min_by_key(|(_, at)| **at);
            next.map_or_else(
                || Rich::words("nothing"),
                |(key, at)| {
                    Rich::words(format!("clock: {} in ", words::tail(&key.name)))
                        .then(Span::Until(session.at(*at)))
                },
            )
        }
    }
}

/// When each agent's next timer comes, but for those that only say that a node is alive.
fn timers(session: &Session) -> BTreeMap<ProcessId, Instant> {
    let mut found = BTreeMap::new();
    for (at, step) in session.world().due() {
        let Step::Timer(process, name) = step else { continue };
        let background = matches!(
            name,
            TimerName::Kubelet(
                kubelet::Timer::Lease | kubelet::Timer::Heartbeat | kubelet::Timer::HeartbeatImages
            ) | TimerName::Scheduler(scheduler::Timer::Flush)
        );
        if !background && !found.contains_key(process) {
            found.insert(process.clone(), at);
        }
    }
    found
}

fn agent_row(
    session: &Session,
    id: &ProcessId,
    timer: Option<Instant>,
    flights: &Flights<'_>,
) -> Option<Loop> {
    let world = session.world();
    let process = world.process(id)?;
    let (who, name, detail) = match id {
        ProcessId::Scheduler => (Who::Scheduler, "scheduler", String::new()),
        ProcessId::Kubelet(node) => (Who::Kubelet, "kubelet", node.to_string()),
        ProcessId::Manager | ProcessId::SecondManager => return None,
    };
    let mut row = empty(who, name, &detail);
    let kinds: &[ObjectKind] =
        if *id == ProcessId::Scheduler { &[ObjectKind::Pod, ObjectKind::Node] } else { &[ObjectKind::Pod] };
    row.watches = if *id == ProcessId::Scheduler { "Pod, Node".into() } else { "Pods of its node".into() };
    row.behind = count(process.behind_all());
    row.unread = row.behind;
    row.seen = seen(world, process, kinds);
    row.did = did(session, process.last);
    row.asks = flights.agents.get(id).map(|f| Ask { words: words::request(&f.request), sent: true });
    let held = kinds.iter().any(|k| world.faults().holds(id, *k));
    row.state = match () {
        () if process.health == Health::Down => LoopState::Crashed,
        () if world.faults().is_cut(id) => LoopState::Stopped,
        () if held => LoopState::Held,
        () if row.asks.is_some() => LoopState::Asking,
        () if row.behind > 0 => LoopState::Reading,
        () if timer.is_some() => LoopState::Waiting,
        () => LoopState::Idle,
    };
    row.fault = match id {
        // What starts a machine lets its network through, too.
        ProcessId::Kubelet(node) if matches!(row.state, LoopState::Crashed | LoopState::Stopped) => {
            format!("power:{node}")
        }
        ProcessId::Kubelet(node) => format!("crash:{node}"),
        _ => "crash:scheduler".into(),
    };
    row.waits = timer.map_or_else(
        || Rich::words("nothing"),
        |at| Rich::words("clock: ").then(Span::Until(session.at(at))),
    );
    Some(row)
}

/// A program outside of the cluster that goes on for ever: it watches nothing and looks by the clock.
fn program_row(session: &Session, id: ClientId) -> Option<Loop> {
    let world = session.world();
    let client = world.client(id)?;
    let mut row = empty(Who::Other, client.program.user_agent(), &client.program.line());
    row.seen = world.store().revision();
    row.did = client.output.last().map(|chunk| (session.at(client.begun), chunk.text.trim().to_owned()));
    let flight = world.flights().find(|(_, f)| f.asker == Asker::Client(id));
    row.asks = flight.map(|(_, f)| Ask { words: words::request(&f.request), sent: true });
    row.state = if row.asks.is_some() { LoopState::Asking } else { LoopState::Waiting };
    let due = world.due().find(|(_, step)| **step == Step::Client(id)).map(|(at, _)| at);
    row.waits = due.map_or_else(
        || Rich::words("an answer"),
        |at| Rich::words("clock: looks again in ").then(Span::Until(session.at(at))),
    );
    Some(row)
}
