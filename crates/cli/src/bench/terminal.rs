//! What a command costs that is typed on the page, with the picture that shows it.

use super::{measure, scene};
use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, NodeAct, Request, Update};

/// Short and long answers, in the order in which they are typed: what was printed before must not make later ones slow.
const LINES: [&str; 9] = [
    "get pods",
    "get pods -o wide",
    "get deploy",
    "get pods -o yaml",
    "get deploy",
    "get pods -o json",
    "get deploy",
    "get pods",
    "get events",
];

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

pub(super) fn run(pods: usize) {
    let mut session = Session { engine: Engine::new(), next: 0 };
    session.ask(Command::LoadScenario("empty".into()));
    for _ in 3..pods.div_ceil(100) {
        session.ask(Command::Node(NodeAct::Add));
    }
    session.ask(Command::Advance { millis: 60_000 });
    let text = scene::manifest(pods, false).replace("web:1", "nginx:1.29");
    session.ask(Command::Apply { doc: Doc { name: "web.yaml".into(), text } });
    session.ask(Command::UntilCalm);
    for line in LINES {
        let typed = Command::Kubectl { terminal: 0, line: format!("kubectl {line}"), files: vec![] };
        let (updates, cpu) = measure::timed(|| session.ask(typed));
        let bytes: usize = updates.iter().map(|u| postcard::to_stdvec(u).map_or(0, |b| b.len())).sum();
        measure::say(
            &format!("{pods} pods, typed: kubectl {line} ({} KiB to the page)", bytes / 1024),
            cpu,
            "ms",
            1,
        );
    }
}
