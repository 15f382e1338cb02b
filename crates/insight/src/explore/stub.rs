//! The neighbours that are not there in a small world: what a scheduler and a kubelet would make of a pod, as moves.

use crate::requests::Requests;
use kubestep_cluster::{Act, World};
use kubestep_model::{Key, Kind, PatchKind, Pod, Subresource, Verb};
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
        let open = pods.filter(|p| !p.metadata.is_terminating() && self.is_open(p));
        open.map(|p| Said {
            pod: Key::new(Kind::Pod, p.metadata.namespace.clone(), p.metadata.name.clone()),
            what: self,
        })
        .collect()
    }

    /// What any stub may say next.
    pub(super) fn all_moves(world: &World) -> Vec<Said> {
        [Stub::Ready, Stub::Succeeded].into_iter().flat_map(|stub| stub.moves(world)).collect()
    }

    fn is_open(self, pod: &Pod) -> bool {
        match self {
            Stub::Nothing => false,
            Stub::Ready => !pod.is_ready(),
            Stub::Succeeded => pod.status.phase == "Pending",
        }
    }
}

impl Said {
    /// In words.
    pub(super) fn words(&self) -> String {
        let what = if self.what == Stub::Ready { "becomes ready" } else { "ends well" };
        format!("pods/{} {what}", self.pod.name)
    }

    /// Writes the pod's status.
    pub(super) fn make(&self, world: &mut World) {
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
        let program = Arc::new(Requests(vec![verb.into()]));
        world.act(Act::Run { terminal: 0, program, exclusive: true });
        while world.is_exclusive() {
            let Some((_, step)) = world.next() else { break };
            world.advance(&step);
        }
    }
}
