//! The neighbours that are not there in a small world: what a scheduler and a kubelet would make of a pod, as moves.

use super::small::ask;
use kubestep_cluster::World;
use kubestep_model::{DeleteOptions, Key, Kind, PatchKind, Pod, Subresource, Verb};
use serde_json::json;
use std::sync::Arc;

/// What becomes of pods in a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stub {
    /// Nothing: they stay as they were made.
    #[default]
    Nothing,
    /// Each becomes ready at some time.
    Ready,
    /// Each ends well at some time.
    Succeeded,
    /// Each that is to go is gone at some time.
    Gone,
}

/// Something is said about a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pod: Key,
    what: Stub,
}

impl Stub {
    /// What may be said next.
    pub(super) fn moves(self, world: &World) -> Vec<Said> {
        let pods = world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>());
        let open = pods.filter(|p| p.metadata.is_terminating() == (self == Stub::Gone) && self.is_open(p));
        open.map(|p| Said {
            pod: Key::new(Kind::Pod, p.metadata.namespace.clone(), p.metadata.name.clone()),
            what: self,
        })
        .collect()
    }

    /// What any stub may say next.
    pub(super) fn all_moves(world: &World) -> Vec<Said> {
        [Stub::Ready, Stub::Succeeded, Stub::Gone].into_iter().flat_map(|stub| stub.moves(world)).collect()
    }

    fn is_open(self, pod: &Pod) -> bool {
        match self {
            Stub::Nothing => false,
            Stub::Ready => !pod.is_ready(),
            Stub::Succeeded => pod.status.phase == "Pending",
            Stub::Gone => true,
        }
    }
}

impl Said {
    /// In words.
    pub(super) fn words(&self) -> String {
        let what = match self.what {
            Stub::Ready => "becomes ready",
            Stub::Gone => "is gone",
            _ => "ends well",
        };
        format!("pods/{} {what}", self.pod.name)
    }

    /// Writes the pod's status, or takes the pod away.
    pub(super) fn make(&self, world: &mut World) {
        if self.what == Stub::Gone {
            let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
            return ask(world, vec![Verb::Delete { key: self.pod.clone(), options }.into()]);
        }
        let place = world.store().list(Kind::Pod, None).position(|o| o.key() == self.pod).unwrap_or(0);
        let status = if self.what == Stub::Ready {
            let address = format!("10.0.0.{}", place + 1);
            let ready = |kind: &str| json!({"type": kind, "status": "True"});
            json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
                "conditions": [ready("Ready"), ready("ContainersReady")]})
        } else {
            json!({"phase": "Succeeded"})
        };
        let verb = Verb::Patch {
            key: self.pod.clone(),
            subresource: Subresource::Status,
            kind: PatchKind::Merge,
            patch: Arc::new(json!({ "status": status })),
        };
        ask(world, vec![verb.into()]);
    }
}
