//! The simulator as the page drives it: a command, and all that comes of it until it rests.

use super::scene;
use kubestep_engine::Engine;
use kubestep_protocol::{Command, CommandId, Doc, NodeAct, Request, Update};

pub(super) struct Page {
    engine: Engine,
    next: u32,
}

impl Page {
    /// Nodes for so many pods, and the Deployment that wants them applied.
    pub(super) fn with(pods: usize, service: bool) -> Self {
        let mut page = Page { engine: Engine::new(), next: 0 };
        page.ask(Command::LoadScenario("empty".into()));
        for _ in 3..pods.div_ceil(100) {
            page.ask(Command::Node(NodeAct::Add));
        }
        page.ask(Command::Advance { millis: 60_000 });
        let text = scene::manifest(pods, service).replace("web:1", "nginx:1.29");
        page.ask(Command::Apply { doc: Doc { name: "web.yaml".into(), text } });
        page
    }

    pub(super) fn ask(&mut self, command: Command) -> Vec<Update> {
        self.next += 1;
        let mut updates = self.engine.handle(Request { id: CommandId(self.next), command });
        while self.engine.busy() {
            updates.extend(self.engine.idle(10_000));
        }
        updates
    }
}

/// So many bytes go to the page.
pub(super) fn size(updates: &[Update]) -> usize {
    updates.iter().map(|update| postcard::to_stdvec(update).map_or(0, |bytes| bytes.len())).sum()
}
