//! A kubectl command put to the world that is looked at, without an act: for describing and for checking drafts.

use kubestep_cluster::World;
use kubestep_kubectl::Kubectl;
use kubestep_model::client::{Chunk, Client, ClientAsk, ClientTold, ClientTurn, Stream};
use kubestep_model::defined::DEFINITION;
use std::{collections::BTreeMap, sync::Arc};

/// So many questions at most.
const MOST: usize = 2_000;

/// What a command printed, and what it was told.
#[derive(Debug, Default)]
pub struct Answer {
    pub output: Vec<Chunk>,
    pub exit: Option<i32>,
    pub turns: Vec<ClientTurn>,
}

impl Answer {
    /// Everything on one stream.
    pub fn text(&self, stream: Stream) -> String {
        self.output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect()
    }
}

/// Puts a command to a world; nothing is kept, and what would have to wait ends it.
pub fn ask(world: &World, line: &str, files: BTreeMap<String, String>) -> Answer {
    let program = Kubectl::new(line, Arc::new(files), "default");
    let mut answer = Answer::default();
    while answer.turns.len() < MOST {
        let progress = program.run(world.now(), &answer.turns);
        answer.output = progress.output;
        let request = match progress.next {
            Ok(exit) => {
                answer.exit = Some(exit);
                break;
            }
            Err(ClientAsk::Api(request)) => request,
            Err(ClientAsk::Discover) => {
                let found = world.store().list(DEFINITION, None).cloned().collect();
                let told = ClientTold::Definitions(Arc::new(found));
                answer.turns.push(ClientTurn { ask: ClientAsk::Discover, told, at: world.now() });
                continue;
            }
            Err(_) => break,
        };
        let told = ClientTold::Reply(world.check(&request));
        answer.turns.push(ClientTurn { ask: ClientAsk::Api(request), told, at: world.now() });
    }
    answer
}
