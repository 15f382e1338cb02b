//! What a check costs while a person types: reading, decoding, defaults, validation and admission of a text.

use super::measure;
use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, Request};
use std::fmt::Write;

const TIMES: u32 = 200;

/// A Deployment and a Service as people write them: forty lines.
fn forty_lines(name: &str) -> String {
    let mut text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n    app: {name}\nspec:\n  replicas: 3\n  selector:\n    matchLabels:\n      app: {name}\n  template:\n    metadata:\n      labels:\n        app: {name}\n    spec:\n      containers:\n      - name: {name}\n        image: nginx:1.29\n        ports:\n        - containerPort: 80\n        resources:\n          requests:\n            cpu: 100m\n            memory: 64Mi\n        readinessProbe:\n          httpGet:\n            path: /\n            port: 80\n"
    );
    let _written = write!(
        text,
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  selector:\n    app: {name}\n  ports:\n  - port: 80\n    targetPort: 80\n"
    );
    text
}

/// Fifty documents: twenty-five of these pairs.
fn fifty_documents() -> String {
    let pairs: Vec<String> = (0..25).map(|i| forty_lines(&format!("web{i}"))).collect();
    pairs.join("---\n")
}

fn at(name: &str, text: &str) {
    let mut engine = Engine::new();
    let mut id = 0;
    let mut ask = |command| {
        id += 1;
        engine.handle(Request { id: CommandId(id), command })
    };
    ask(Command::LoadScenario("empty".into()));
    let mut times = vec![];
    for i in 0..TIMES {
        // Another text each time, as while somebody types.
        let doc = Doc { name: "web.yaml".into(), text: format!("{text}# {i}\n") };
        let (said, millis) = measure::clocked(|| ask(Command::Check { doc, version: i }));
        assert!(!said.is_empty(), "a check answers");
        times.push(millis);
    }
    let lines = text.lines().count();
    measure::say_spread(&format!("a check of {name} ({lines} lines)"), times, "ms");
}

pub(super) fn run() {
    at("a manifest", &forty_lines("web"));
    at("a file of 50 documents", &fifty_documents());
    at("the same with a fault in each", &fifty_documents().replace("replicas: 3", "replicas: -3"));
}
