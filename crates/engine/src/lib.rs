//! A session: takes `protocol::Command`, returns `protocol::Update`s. The only crate that knows both worlds.

use kubestep_protocol::{Command, Hello, Request, Rich, Stop, Update};

/// A session and everything kept of it.
#[derive(Debug, Default)]
pub struct Engine {}

impl Engine {
    /// An engine with nothing loaded.
    pub fn new() -> Self {
        Engine {}
    }

    /// Answers one request. Total: any command in any state has an answer that ends with `Done`. A run only begins
    /// here; it goes on in [`Engine::idle`] as long as [`Engine::busy`].
    pub fn handle(&mut self, request: Request) -> Vec<Update> {
        let stop = match request.command {
            Command::Hello => Stop::Finished,
            _ => Stop::Refused(Rich::words("Nothing is loaded.")),
        };
        let hello = (stop == Stop::Finished).then(|| {
            Update::Hello(Hello {
                models: "Kubernetes v1.37".into(),
                version: env!("CARGO_PKG_VERSION").into(),
                formats: vec![1],
                scenarios: Vec::new(),
            })
        });
        hello.into_iter().chain([Update::Done { id: request.id, stop, steps: 0 }]).collect()
    }

    /// Whether a run is going on.
    pub fn busy(&self) -> bool {
        false
    }

    /// Goes on with the run by at most `budget` inner steps.
    pub fn idle(&mut self, _budget: u32) -> Vec<Update> {
        Vec::new()
    }
}
