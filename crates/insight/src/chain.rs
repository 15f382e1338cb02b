//! Why: from the gap down to what it waits for, and who says so.

use crate::{
    Blocker, Gaps,
    next::{Next, next},
    said::{Said, Writer, said},
};
use kubestep_cluster::World;
use kubestep_model::{Instant, Key, Kind};

/// One link of the chain, from the object that was asked about to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The object.
    pub object: Key,
    /// Since when its gap has been open.
    pub since: Option<Instant>,
    /// Where Kubernetes says that it is not as asked.
    pub said: Said,
    /// Who wrote that, and when.
    pub writer: Option<Writer>,
    /// What it waits for; only at the end of the chain.
    pub blocker: Option<Blocker>,
}

/// So many links at most: owners go three deep.
const LONGEST: usize = 8;

/// Why an object's gap is open. Empty if it has none.
pub fn why(world: &World, gaps: &Gaps, key: &Key) -> Vec<Link> {
    let mut links = vec![];
    let mut at = key.clone();
    while links.len() < LONGEST {
        let Some(object) = world.store().get(&at) else { break };
        let since = gaps.get(&at).map(|g| g.opened);
        if since.is_none() && links.is_empty() {
            break;
        }
        let (below, blocker) = match next(world, object) {
            Next::Object(below) => (Some(below), None),
            Next::End(blocker) => (None, Some(blocker)),
        };
        // Of a node that is silent its own condition tells, if anything does.
        let node = match &blocker {
            Some(Blocker::NodeSilent { node }) => world.store().get(&Key::new(Kind::Node, "", node.as_str())),
            _ => None,
        };
        let (said, writer) = said(world, node.unwrap_or(object));
        links.push(Link { object: at, since, said, writer, blocker });
        match below {
            Some(below) => at = below,
            None => break,
        }
    }
    links
}

/// The end of that chain: what the gap waits for, and the object at which it does.
pub fn end(world: &World, gaps: &Gaps, key: &Key) -> Option<(Key, Blocker)> {
    gaps.get(key)?;
    let mut at = key.clone();
    for _ in 0..LONGEST {
        match next(world, world.store().get(&at)?) {
            Next::Object(below) => at = below,
            Next::End(blocker) => return Some((at, blocker)),
        }
    }
    None
}
