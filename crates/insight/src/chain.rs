//! Why: from the gap down to what it waits for, and who says so.

use crate::{
    Blocker, Gaps,
    blocker::{Next, next},
};
use kubestep_cluster::World;
use kubestep_model::{Event, Instant, Key, Kind, Object};

/// Where Kubernetes itself says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A field of an object: path and value.
    Field(Key, String, String),
    /// An event about an object: reason, message, when it last came.
    Event(Key, String, String, Instant),
    /// Nobody says it.
    Nobody,
}

/// One link of the chain, from the object that was asked about to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The object.
    pub object: Key,
    /// Since when its gap has been open.
    pub since: Option<Instant>,
    /// Where Kubernetes says that it is not as asked.
    pub said: Said,
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
        let said = said(world, object);
        match next(world, object) {
            Next::Object(below) => {
                links.push(Link { object: at.clone(), since, said, blocker: None });
                at = below;
            }
            Next::End(blocker) => {
                links.push(Link { object: at.clone(), since, said, blocker: Some(blocker) });
                break;
            }
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

/// The cluster's own word about an object whose gap is open.
fn said(world: &World, object: &Object) -> Said {
    let key = object.key();
    let field = |path: &str, value: String| Said::Field(key.clone(), path.into(), value);
    match object {
        Object::Deployment(d) => {
            let bad = d.status.conditions.iter().find(|c| {
                (c.r#type == "ReplicaFailure" && c.status == "True")
                    || (c.r#type != "ReplicaFailure" && c.status == "False")
            });
            bad.map_or(Said::Nobody, |c| {
                field(
                    &format!("status.conditions[{}]", c.r#type),
                    format!("{} {}: {}", c.status, c.reason, c.message),
                )
            })
        }
        Object::ReplicaSet(s) => {
            let bad = s.condition("ReplicaFailure").filter(|c| c.status == "True");
            bad.map_or_else(
                || last_warning(world, &key),
                |c| field("status.conditions[ReplicaFailure]", format!("{}: {}", c.reason, c.message)),
            )
        }
        Object::Pod(p) => {
            let waiting = p
                .status
                .container_statuses
                .iter()
                .enumerate()
                .find_map(|(i, s)| s.state.waiting.as_ref().map(|w| (i, w)));
            if let Some((i, w)) = waiting.filter(|(_, w)| !w.message.is_empty()) {
                return field(
                    &format!("status.containerStatuses[{i}].state.waiting"),
                    format!("{}: {}", w.reason, w.message),
                );
            }
            match p.condition("PodScheduled").filter(|c| c.status == "False") {
                Some(c) => field("status.conditions[PodScheduled]", c.message.clone()),
                None => last_warning(world, &key),
            }
        }
        Object::Node(n) => {
            let ready = n.condition("Ready").filter(|c| c.status != "True");
            ready.map_or(Said::Nobody, |c| {
                field("status.conditions[Ready]", format!("{}: {}", c.reason, c.message))
            })
        }
        Object::Custom(_) => last_warning(world, &key),
        _ => Said::Nobody,
    }
}

/// The last warning that was written about an object.
fn last_warning(world: &World, key: &Key) -> Said {
    let about = |e: &&Event| {
        e.r#type == "Warning"
            && e.involved_object.name == key.name
            && e.involved_object.kind == key.kind.name()
    };
    let events =
        world.store().list(Kind::Event, Some(&key.namespace)).filter_map(|o| o.get::<Event>()).filter(about);
    let time = |e: &Event| {
        e.last_timestamp.map(|t| t.instant()).or(e.event_time.map(|t| t.instant())).unwrap_or(Instant(0))
    };
    events
        .max_by_key(|e| time(e))
        .map_or(Said::Nobody, |e| Said::Event(key.clone(), e.reason.clone(), e.message.clone(), time(e)))
}
