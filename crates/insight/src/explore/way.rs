//! The ways that a search finds, in words: a session script whose steps are hand-made choices.

use super::{
    Move, Stub, quiet, small_world_of,
    state::{Reader, subject},
};
use kubestep_cluster::{
    Act, Asker, FaultAct, ProcessId, Step, TimerName, Trouble, World, loops::ALL, loops::scheduler::Timer,
};
use kubestep_model::{Key, Kind};
use serde_json::{Value, json};

/// A world in which moves are made one by one, as a search makes them.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Where it stands.
    pub world: World,
    reader: Reader,
}

impl Walk {
    /// At the beginning, after everything that makes no difference.
    pub fn new(world: &World) -> Self {
        let (mut world, reader) = (world.clone(), Reader::new(world));
        quiet::settle(&mut world, &reader);
        Walk { world, reader }
    }

    /// Makes a move, and then everything that makes no difference.
    pub fn go(&mut self, step: &Move) {
        make(&mut self.world, step);
        quiet::settle(&mut self.world, &self.reader);
    }

    /// The moves that could be made, with their words.
    fn choices(&self) -> Vec<(Move, String)> {
        let steps = self.world.due().map(|(_, s)| Move::Step(s.clone()));
        let lost = self.world.due().map(|(_, s)| Move::Lost(s.clone()));
        let said = Stub::all_moves(&self.world).into_iter().map(Move::Said);
        steps
            .chain([Move::Crash])
            .chain(lost)
            .chain(said)
            .map(|m| (m.clone(), words(&self.world, &m)))
            .collect()
    }
}

/// Makes a move.
pub(super) fn make(world: &mut World, step: &Move) {
    match step {
        Move::Step(step) => drop(world.advance(step)),
        Move::Crash => {
            let process = subject(world);
            world.act(Act::Fault(FaultAct::Crash { process: process.clone() }));
            world.act(Act::Fault(FaultAct::Restart { process }));
        }
        Move::Lost(step) => {
            let (process, trouble) = (subject(world), Trouble::Unanswered);
            world.act(Act::Fault(FaultAct::Requests { process: process.clone(), trouble, next: 1 }));
            drop(world.advance(step));
            world.act(Act::Fault(FaultAct::Requests { process, trouble, next: 0 }));
        }
        Move::Said(said) => said.make(world),
    }
}

/// A move in words. Requests that read alike are told apart by their numbers.
fn words(world: &World, step: &Move) -> String {
    let step = match step {
        Move::Step(step) => step,
        Move::Crash => return format!("crash and restart {}", subject(world)),
        Move::Lost(step) => {
            return format!("{}, and the answer gets lost", words(world, &Move::Step(step.clone())));
        }
        Move::Said(said) => return said.words(),
    };
    let name = |controller: usize| ALL.get(controller).map_or("?", |c| c.name());
    match step {
        Step::Deliver(process, kind) => format!("deliver {} to {process}", told(world, process, *kind)),
        Step::Think(_, controller, key) => format!("{} thinks about {}", name(*controller), path(key)),
        Step::Wake(_, controller) => format!("{} takes up what waited", name(*controller)),
        Step::Serve(id) => match world.flight(*id) {
            Some(flight) => {
                let who = match flight.asker {
                    Asker::Controller { controller, .. } => name(controller),
                    Asker::Agent { .. } => "scheduler",
                    _ => "somebody",
                };
                let verb = &flight.request.verb;
                format!("serve {who}: {} {} (request {id})", verb.name(), verb.kind().resource())
            }
            None => format!("serve request {id}"),
        },
        Step::Timer(_, TimerName::Scheduler(Timer::Cycle)) => "scheduler tries the next pod".into(),
        Step::Timer(_, TimerName::Scheduler(Timer::Backoff)) => "scheduler takes up what waited".into(),
        other => format!("{other:?}"),
    }
}

fn path(key: &Key) -> String {
    format!("{}/{}", key.kind.resource(), key.name)
}

/// What a watch tells next.
fn told(world: &World, process: &ProcessId, kind: Kind) -> String {
    let entry = world.process(process).and_then(|p| p.inbox(kind).next());
    entry.map_or_else(|| kind.resource().into(), |e| format!("{} at {}", path(&e.key), e.revision))
}

/// A way as a session script, which [`play`] plays.
pub fn script(objects: &[Value], start: &World, way: &[Move]) -> Value {
    let mut walk = Walk::new(start);
    let mut steps = vec![];
    for step in way {
        steps.push(json!({"choose": words(&walk.world, step)}));
        walk.go(step);
    }
    let forgets = start.faults().forgets_writes;
    let mut awake: Vec<&str> = start.loops().filter(|(_, l)| !l.stopped).map(|(c, _)| c.name()).collect();
    if subject(start) == ProcessId::Scheduler {
        awake.push("scheduler");
    }
    json!({"world": "small", "forgetsWrites": forgets, "awake": awake, "objects": objects, "steps": steps})
}

/// Plays such a script. Errors: what is not to be had in a small world.
pub fn play(script: &Value) -> Result<World, String> {
    let objects = script["objects"].as_array().ok_or("objects: a list")?;
    let named = script["awake"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let awake: Vec<&str> = named.collect();
    let mut world = small_world_of(objects, if awake.is_empty() { &super::small::USUAL } else { &awake })?;
    if script["forgetsWrites"] == Value::Bool(true) {
        world.forget_writes();
    }
    let mut walk = Walk::new(&world);
    for (i, step) in script["steps"].as_array().ok_or("steps: a list")?.iter().enumerate() {
        let text = step["choose"].as_str().ok_or_else(|| format!("step {i}: choose: a move in words"))?;
        let found = walk.choices().into_iter().find(|(_, words)| words == text);
        let Some((step, _)) = found else {
            let offered: Vec<String> = walk.choices().into_iter().map(|(_, words)| words).collect();
            return Err(format!(
                "step {i}: nobody can {text:?}. What can be chosen:\n{}",
                offered.join("\n")
            ));
        };
        walk.go(&step);
    }
    Ok(walk.world)
}
