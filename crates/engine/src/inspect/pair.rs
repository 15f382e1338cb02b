//! spec and status side by side, in a few lines.

use crate::session::Session;
use kubestep_insight::look;
use kubestep_model::{Deployment, Object, Pod, ReplicaSet, ResourceQuota};
use kubestep_protocol::{Fact, Pair};

fn fact(name: &str, value: impl ToString, gap: bool) -> Fact {
    Fact { name: name.into(), value: value.to_string(), gap }
}

/// What stands behind the last colon, with the colon.
fn tag(image: &str) -> String {
    image
        .rsplit_once(':')
        .filter(|(_, t)| !t.contains('/'))
        .map_or(image.to_string(), |(_, t)| format!(":{t}"))
}

/// The pair of an object; `None` for kinds without the two.
pub(super) fn pair(session: &Session, object: &Object) -> Option<Pair> {
    let between = session.note().gaps.get(&object.key()).map_or(String::new(), |g| g.measure.text.clone());
    let mut pair = match object {
        Object::Deployment(d) => deployment(session, d),
        Object::ReplicaSet(s) => replica_set(s),
        Object::Pod(p) => pod(p),
        Object::ResourceQuota(q) => quota(q),
        _ => return None,
    };
    pair.between = between;
    Some(pair)
}

fn deployment(session: &Session, d: &Deployment) -> Pair {
    let image = d.spec.template.spec.containers.first().map_or(String::new(), |c| tag(&c.image));
    let status = &d.status;
    let old = (status.replicas - status.updated_replicas).max(0);
    let new_ready =
        look::new_replica_set(session.world().store(), d).map_or(0, |s| s.status.available_replicas);
    let available = if old > 0 {
        format!("{} old", (status.available_replicas - new_ready).max(0))
    } else {
        status.available_replicas.to_string()
    };
    Pair {
        spec: vec![
            fact("replicas", d.replicas(), false),
            fact("image", image, false),
            fact("generation", d.metadata.generation, false),
        ],
        status: vec![
            fact("available", available, status.available_replicas < d.replicas()),
            fact("new, ready", new_ready, new_ready < d.replicas()),
            fact(
                "observed gen.",
                status.observed_generation,
                status.observed_generation < d.metadata.generation,
            ),
        ],
        between: String::new(),
    }
}

fn replica_set(s: &ReplicaSet) -> Pair {
    let image = s.spec.template.spec.containers.first().map_or(String::new(), |c| tag(&c.image));
    let want = s.replicas();
    Pair {
        spec: vec![
            fact("replicas", want, false),
            fact("image", image, false),
            fact("generation", s.metadata.generation, false),
        ],
        status: vec![
            fact("pods", s.status.replicas, s.status.replicas != want),
            fact("ready", s.status.ready_replicas, s.status.ready_replicas != want),
            fact("available", s.status.available_replicas, s.status.available_replicas != want),
        ],
        between: String::new(),
    }
}

fn pod(p: &Pod) -> Pair {
    let image = p.spec.containers.first().map_or(String::new(), |c| tag(&c.image));
    let node = if p.spec.node_name.is_empty() { "none" } else { &p.spec.node_name };
    let restarts: i32 = p.status.container_statuses.iter().map(|c| c.restart_count).sum();
    Pair {
        spec: vec![
            fact("image", image, false),
            fact("node", node, p.spec.node_name.is_empty()),
            fact("restart", &p.spec.restart_policy, false),
        ],
        status: vec![
            fact("phase", &p.status.phase, false),
            fact("ready", if p.is_ready() { "True" } else { "False" }, !p.is_ready()),
            fact("restarts", restarts, restarts > 0),
        ],
        between: String::new(),
    }
}

fn quota(q: &ResourceQuota) -> Pair {
    let spec = q.spec.hard.iter().take(3).map(|(name, hard)| fact(name, hard, false)).collect();
    let full = |name: &String, used: &kubestep_model::Quantity| {
        q.spec.hard.get(name).is_some_and(|hard| used.cmp(hard) != std::cmp::Ordering::Less)
    };
    let status =
        q.status.used.iter().take(3).map(|(name, used)| fact(name, used, full(name, used))).collect();
    Pair { spec, status, between: String::new() }
}
