//! How the loops that own pods hear of them: one set of handlers, with what differs as data.
//!
//! Upstream: addPod, updatePod, deletePod of pkg/controller/{replicaset,statefulset,daemon} (v1.37).

use kubestep_control::{Change, View, Wake};
use kubestep_model::{Key, ObjectMeta, Pod, Resource};
use std::time::Duration;

/// What a change of a pod that is asked to go wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// The same as any other change.
    LikeAny,
    /// Its owner: the replacement need not wait until it is gone.
    Owner,
    /// Its owner and, if its labels changed, the one before.
    OwnerAndFormer,
}

/// One loop's ears for pods.
pub(crate) struct PodWakes {
    /// The owner that manages a pod, and its minReadySeconds.
    pub(crate) owner: fn(&View, &ObjectMeta) -> Option<(Key, i32)>,
    /// All that might want to adopt an orphan.
    pub(crate) candidates: fn(&View, &Pod) -> Vec<Wake>,
    /// So many seconds after minReadySeconds a pod is looked at again.
    pub(crate) margin: u64,
    pub(crate) leaving: Leaving,
}

impl PodWakes {
    /// Whom a change wakes.
    pub(crate) fn of(&self, change: &Change, view: &View) -> Vec<Wake> {
        let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
        match (old, new) {
            (None, None) => Vec::new(),
            (Some(old), None) => self.wake_owner(view, old),
            (None, Some(new)) if new.metadata.controller().is_some() || new.metadata.is_terminating() => {
                self.wake_owner(view, new)
            }
            (None, Some(new)) => (self.candidates)(view, new),
            (Some(old), Some(new)) if old.metadata.resource_version == new.metadata.resource_version => {
                Vec::new()
            }
            (Some(old), Some(new)) if new.metadata.is_terminating() => self.leaves(view, old, new),
            (Some(old), Some(new)) => self.updated(view, old, new),
        }
    }

    fn wake_owner(&self, view: &View, pod: &Pod) -> Vec<Wake> {
        (self.owner)(view, &pod.metadata).map(|(key, _)| Wake::now(key)).into_iter().collect()
    }

    fn leaves(&self, view: &View, old: &Pod, new: &Pod) -> Vec<Wake> {
        if self.leaving == Leaving::LikeAny {
            return self.updated(view, old, new);
        }
        let mut wakes = self.wake_owner(view, new);
        if self.leaving == Leaving::OwnerAndFormer && old.metadata.labels != new.metadata.labels {
            wakes.extend(self.wake_owner(view, old));
        }
        wakes
    }

    fn updated(&self, view: &View, old: &Pod, new: &Pod) -> Vec<Wake> {
        let moved = old.metadata.controller() != new.metadata.controller();
        let mut wakes = if moved { self.wake_owner(view, old) } else { Vec::new() };
        if new.metadata.controller().is_some() {
            let Some((key, min_ready)) = (self.owner)(view, &new.metadata) else { return wakes };
            wakes.push(Wake::now(key.clone()));
            let min_ready = u64::try_from(min_ready).unwrap_or(0);
            if min_ready > 0 && !old.is_ready() && new.is_ready() {
                let after = min_ready.saturating_add(self.margin);
                wakes.push(Wake::after(key, Duration::from_secs(after)));
            }
        } else if moved || old.metadata.labels != new.metadata.labels {
            wakes.extend((self.candidates)(view, new));
        }
        wakes
    }
}
