//! What a step and its picture cost at so many pods: `cargo run --release -p kubestep-engine --example step_cost [PODS]`.

// It measures real time.
#![allow(clippy::disallowed_types)]

use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, ObjectRef, Request, Stop, Tab, Update};
use std::time::Instant;

struct Page {
    engine: Engine,
    next: u32,
}

impl Page {
    fn send(&mut self, command: Command) -> (Stop, Vec<Update>) {
        self.next += 1;
        let id = CommandId(self.next);
        let mut updates = self.engine.handle(Request { id, command });
        while self.engine.busy() {
            updates.extend(self.engine.idle(200));
        }
        let stop = updates
            .iter()
            .find_map(|u| if let Update::Done { stop, .. } = u { Some(stop.clone()) } else { None });
        (stop.unwrap_or(Stop::Finished), updates)
    }

    fn time(&mut self, name: &str, times: u32, mut command: impl FnMut() -> Command) {
        let mut worst = 0.0f64;
        let begin = Instant::now();
        for _ in 0..times {
            let one = Instant::now();
            self.send(command());
            worst = worst.max(one.elapsed().as_secs_f64() * 1e3);
        }
        let all = begin.elapsed().as_secs_f64() * 1e3;
        println!("{name}: {:.3} ms each, worst {worst:.3} ms", all / f64::from(times));
    }
}

fn main() {
    let pods: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(300);
    let mut page = Page { engine: Engine::new(), next: 0 };
    page.time("load the opening", 1, || Command::LoadScenario("P05".into()));
    let (_, updates) = page.send(Command::LoadScenario("empty".into()));
    let mut doc = Doc::default();
    for update in updates {
        if let Update::Loaded(loaded) = update {
            doc = loaded.files[0].clone();
        }
    }
    doc.text = doc.text.replace("replicas: 2", &format!("replicas: {pods}"));
    let check = doc.clone();
    page.time("check", 20, || Command::Check { doc: check.clone(), version: 1 });
    let mut many = check.clone();
    let one = many.text.clone();
    many.text = (0..50)
        .map(|i| one.replace("name: app", &format!("name: app-{i}")))
        .collect::<Vec<_>>()
        .join("\n---\n");
    let lines = many.text.lines().count();
    page.time(&format!("check of 50 times this file, {lines} lines"), 20, || Command::Check {
        doc: many.clone(),
        version: 1,
    });
    page.time("apply", 1, || Command::Apply { doc: doc.clone() });
    page.time("until calm", 1, || Command::UntilCalm);
    page.time("scale", 1, || Command::Kubectl {
        terminal: 0,
        line: format!("kubectl scale deployment app --replicas={}", pods + 5),
        files: vec![],
    });
    page.time("step", 60, || Command::Step { inner: false });
    page.time("inner step", 60, || Command::Step { inner: true });
    page.time("back", 50, || Command::Back);
    page.time("forward", 50, || Command::Forward);
    page.time("peek", 50, || {
        Command::Peek(kubestep_protocol::Moment { branch: Default::default(), step: 900 })
    });
    for (name, tab) in [
        ("why", Tab::Why),
        ("describe", Tab::Describe),
        ("yaml", Tab::Yaml),
        ("events", Tab::Events),
        ("history", Tab::History),
    ] {
        let object = ObjectRef { kind: "Deployment".into(), namespace: "default".into(), name: "app".into() };
        page.time(name, 5, || Command::Select { object: Some(object.clone()), tab });
    }
    page.time("select nothing", 5, || Command::Select { object: None, tab: Tab::Why });
    page.time("hash", 5, || Command::Hash);
    page.time("sentences", 5, || Command::Sentences { from: 0, to: 500 });
}
