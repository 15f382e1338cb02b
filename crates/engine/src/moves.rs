//! Who could move next, and what happens when a person chooses.

use crate::{
    session::Session,
    words::{name, who},
};
use kubestep_cluster::{
    Step, TimerName, World,
    control::ProbeKind,
    loops::{ALL, kubelet, scheduler},
};
use kubestep_protocol::{MoveRow, Rich, Span, Who};

/// So many are shown.
const MOST: usize = 200;

/// The name under which a step is chosen and kept.
pub(crate) fn id(step: &Step) -> String {
    format!("{step:?}")
}

/// The step of this name that may happen now.
pub(crate) fn find(world: &World, name: &str) -> Option<Step> {
    world.due().map(|(_, step)| step).find(|step| id(step) == name).cloned()
}

/// All that may happen next, in the order in which it would.
pub(crate) fn rows(session: &Session) -> Vec<MoveRow> {
    let world = session.world();
    let row = |(due, step)| {
        let (who, words) = said(world, step);
        MoveRow { id: id(step), who, words, due: session.at(due), timer: step.is_timer() }
    };
    world.due().take(MOST).map(row).collect()
}

fn controller(place: usize) -> &'static str {
    ALL.get(place).map_or("", |c| c.name())
}

/// What a process does by the clock, after its name.
fn by_clock(timer: &TimerName) -> String {
    match timer {
        TimerName::Scheduler(timer) => match timer {
            scheduler::Timer::Cycle => "takes the next pod from its queue".into(),
            scheduler::Timer::Backoff => "tries a pod again whose back-off ends".into(),
            scheduler::Timer::Flush => "looks for pods that have waited for long".into(),
            scheduler::Timer::Volumes => "looks whether the volumes of placed pods are bound".into(),
        },
        TimerName::Kubelet(timer) => match timer {
            kubelet::Timer::Relist => "looks at its containers".into(),
            kubelet::Timer::Sync => "looks again at pods whose waiting time is over".into(),
            kubelet::Timer::Pod(_) => "looks again at a pod that waits for its volumes".into(),
            kubelet::Timer::Status => "reports how its pods are".into(),
            kubelet::Timer::Heartbeat => "reports how its node is".into(),
            kubelet::Timer::HeartbeatImages => "lists its images for the next report on its node".into(),
            kubelet::Timer::Lease => "renews its node's lease".into(),
            kubelet::Timer::Probe(_, container, kind) => {
                format!("probes the container {container}{}", probed(*kind))
            }
        },
    }
}

fn probed(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Liveness => ": is it alive?",
        ProbeKind::Readiness => ": is it ready?",
        ProbeKind::Startup => ": has it started?",
        ProbeKind::Hook => "",
    }
}

/// Who would move, and what he would do.
fn said(world: &World, step: &Step) -> (Who, Rich) {
    let of_loop = |place: usize| who::of_agent(&format!("{}-controller", controller(place))).0;
    match step {
        Step::Deliver(process, kind) => {
            let next = world.process(process).and_then(|p| p.inbox(*kind).next());
            let words = Rich::words(format!("{process} reads: "));
            let words = match next {
                Some(entry) => words.then(name(&entry.key)).then(Span::Words(" changed.".into())),
                None => words.then(Span::Words(format!("the next {}.", kind.name()))),
            };
            (who::of_process(process).0, words)
        }
        Step::Wake(_, place) => {
            let words = format!("Keys of the {} controller come back into line.", controller(*place));
            (of_loop(*place), Rich::words(words))
        }
        Step::Period(_, place) => {
            let words =
                format!("The {} controller looks around, as it does by the clock.", controller(*place));
            (of_loop(*place), Rich::words(words))
        }
        Step::Think(_, place, key) => {
            let words = Rich::words(format!("The {} controller looks at ", controller(*place)));
            (of_loop(*place), words.then(name(key)).then(Span::Words(".".into())))
        }
        Step::Serve(flight) => match world.flight(*flight) {
            Some(flight) => {
                let agent = &flight.actor.user_agent;
                let words = Rich::words(format!("The API server answers {agent}: "));
                (who::of_agent(agent).0, words.then(Span::Code(flight.words())))
            }
            None => (Who::Api, Rich::words("The API server answers a request.")),
        },
        Step::Timer(process, timer) => {
            let words = Rich::words(format!("{process} {}.", by_clock(timer)));
            (who::of_process(process).0, words)
        }
        Step::Runtime(node) => {
            (Who::Kubelet, Rich::words(format!("Something happens in the containers on {node}.")))
        }
        Step::Client(client) => {
            let line = world.client(*client).map_or(String::new(), |c| c.program.line());
            (Who::Person, Rich::default().then(Span::Code(line)).then(Span::Words(" goes on.".into())))
        }
    }
}
