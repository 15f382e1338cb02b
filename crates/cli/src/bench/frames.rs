//! The page's pictures: what a frame and its delta cost, and how large they are.

use super::{measure, scene};
use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, NodeAct, Request, Stop, Update};

/// So many pictures are taken while the pods come up.
const FRAMES: usize = 400;

struct Session {
    engine: Engine,
    next: u32,
}

impl Session {
    fn ask(&mut self, command: Command) -> Vec<Update> {
        self.next += 1;
        let mut updates = self.engine.handle(Request { id: CommandId(self.next), command });
        while self.engine.busy() {
            updates.extend(self.engine.idle(10_000));
        }
        updates
    }
}

fn at(pods: usize) {
    let mut session = Session { engine: Engine::new(), next: 0 };
    session.ask(Command::LoadScenario("empty".into()));
    for _ in 3..pods.div_ceil(100) {
        session.ask(Command::Node(NodeAct::Add));
    }
    session.ask(Command::Advance { millis: 60_000 });
    let text = scene::manifest(pods, true).replace("web:1", "nginx:1.29");
    session.ask(Command::Apply { doc: Doc { name: "web.yaml".into(), text } });
    let name = format!("{pods} pods");
    let (mut steps, mut bytes) = (vec![], vec![]);
    let mut run = |session: &mut Session, kept: bool| {
        let command = Command::Step { inner: false };
        let (updates, cpu) = measure::clocked(|| session.ask(command));
        let size: usize = updates.iter().map(size).sum();
        if kept {
            steps.push(cpu);
            bytes.push(f64::from(u32::try_from(size).unwrap_or(u32::MAX)) / 1024.0);
        }
    };
    for _ in 0..FRAMES {
        run(&mut session, true);
    }
    measure::say_spread(&format!("{name} coming up, a step with its picture"), steps, "ms");
    measure::say_spread(&format!("{name} coming up, size of its delta"), bytes, "KiB");
    let (updates, cpu) = measure::timed(|| session.ask(Command::UntilCalm));
    let calm = updates.iter().any(|u| matches!(u, Update::Done { stop: Stop::Calm(_), .. }));
    measure::say(&format!("{name}, until calm with pictures (calm: {calm})"), cpu, "ms", 1);
    let whole: Vec<f64> =
        (0..50).map(|_| measure::clocked(|| std::hint::black_box(session.ask(Command::Whole))).1).collect();
    measure::say_spread(&format!("{name}, a whole picture"), whole, "ms");
    let updates = session.ask(Command::Whole);
    let size = updates.iter().map(size).sum::<usize>();
    measure::say(
        &format!("{name}, size of a whole picture"),
        f64::from(u32::try_from(size).unwrap_or(0)) / 1024.0,
        "KiB",
        1,
    );
}

fn size(update: &Update) -> usize {
    postcard::to_stdvec(update).map_or(0, |bytes| bytes.len())
}

pub(super) fn run() {
    at(300);
    at(1000);
}
