//! What the kubelet knows about containers: the state at the last relist of the runtime.
//! Upstream: pkg/kubelet/pleg, GenericPLEG with on-demand relists.

use super::{
    Cx, Kubelet, Timer, Uid,
    worker::{Activity, Stage},
};
use kubestep_control::{Order, RuntimePod, RuntimeState};
use kubestep_model::Instant;
use kubestep_model::arrange::Arrange;
use std::{sync::Arc, time::Duration};

/// A pod's containers as they were at a relist.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cached {
    pub(super) pod: RuntimePod,
    /// Its place among relists and ended syncs.
    pub(super) at: u64,
}

/// What happened to a pod between two relists.
struct Found {
    /// How many events that are worth a sync.
    events: usize,
    /// Names of containers that ended.
    died: Vec<Arc<str>>,
}

fn compare(old: Option<&RuntimePod>, new: &RuntimePod) -> Found {
    let mut found = Found { events: 0, died: vec![] };
    let ready =
        |pod: Option<&RuntimePod>| pod.and_then(|p| p.sandbox.as_ref()).map(|s| (s.id.clone(), s.ready));
    found.events += usize::from(ready(old) != ready(Some(new)));
    for (id, container) in &new.containers {
        let before = old.and_then(|o| o.containers.get(id)).map(|c| c.state);
        if before == Some(container.state) {
            continue;
        }
        found.events += usize::from(container.state != RuntimeState::Created);
        if container.state == RuntimeState::Exited {
            found.died.push(container.name.clone());
        }
    }
    found
}

impl Kubelet {
    /// When this pod's containers were last looked at.
    pub(super) fn seen_at(&self, uid: &Uid) -> u64 {
        self.cache.get(uid).map_or(self.relisted, |c| c.at.max(self.relisted))
    }

    /// The pod's containers as of the last relist.
    pub(super) fn seen(&self, uid: &Uid) -> RuntimePod {
        self.cache.get(uid).map(|c| c.pod.clone()).unwrap_or_default()
    }

    /// The runtime changed something that the next relist will find.
    pub(super) fn unseen_change(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.unseen.insert(uid.clone());
        self.want_relist(cx);
    }

    /// A relist would find or free something: the next of its seconds is awaited.
    pub(super) fn want_relist(&mut self, cx: &mut Cx<'_>) {
        let after = (self.relisted_at + Duration::from_millis(1)).max(cx.now);
        cx.wake_at(Timer::Relist, Self::at_phase(after, self.relist_phase));
    }

    /// The relist of the second before this one. One that would have found nothing did not take place here, but it
    /// would have told waiting workers that all is as it was.
    pub(super) fn last_tick(&self, now: Instant) -> Instant {
        let next = Self::at_phase(now, self.relist_phase);
        Instant(next.0.saturating_sub(1_000_000_000))
    }

    /// The relist of every second. Looks only at pods that were changed; all others are as they were.
    pub(super) fn relist_all(&mut self, cx: &mut Cx<'_>) {
        (self.relisted, self.relisted_at) = (self.next_order(), cx.now);
        let unseen = std::mem::take(&mut self.unseen);
        for uid in &unseen {
            self.relist(cx, uid);
        }

        let waiting: Vec<Uid> = self.waiting.iter().cloned().collect();
        for uid in waiting {
            if self.workers.get(&uid).is_some_and(|w| w.activity == Activity::Cache) {
                self.run(cx, &uid);
            }
        }
        if !self.unseen.is_empty() || !self.waiting.is_empty() {
            self.want_relist(cx);
        }
    }

    /// Looks at one pod at once, because its worker asks for it after a sync that did something.
    pub(super) fn relist_now(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.unseen.remove(uid);
        self.relist(cx, uid);
        if self.workers.get(uid).is_some_and(|w| w.activity == Activity::Cache) {
            self.run(cx, uid);
        }
    }

    fn relist(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(now) = self.runtime.get(uid).cloned() else { return };
        let found = compare(self.cache.get(uid).map(|c| &c.pod), &now);
        let at = self.next_order();
        self.cache.insert(uid.clone(), Cached { pod: now, at });
        for name in &found.died {
            self.remove_old_runs(cx, uid, name);
        }
        if found.events > 0 {
            self.update(cx, uid);
        }
        // Each event is an update of its own: one more sync, once the runtime was looked at again. Without a death it
        // would find all as it was.
        let syncing = self.workers.get(uid).is_some_and(|worker| worker.stage == Stage::Syncing);
        if found.events > 1 && !found.died.is_empty() && syncing {
            self.update(cx, uid);
        }
    }

    /// Of each container's ended runs one is kept. Upstream: podContainerDeletor.
    fn remove_old_runs(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>) {
        let Some(pod) = self.runtime.get(uid) else { return };
        let mut ended: Vec<_> = pod
            .containers
            .values()
            .filter(|c| c.name == *name && c.state == RuntimeState::Exited)
            .cloned()
            .collect();
        ended.arrange_by_key(|c| std::cmp::Reverse(c.attempt));
        for old in ended.into_iter().skip(1) {
            cx.order(Order::RemoveContainer { pod: uid.clone(), id: old.id.clone() });
        }
    }

    /// Pods that the runtime holds and nobody wants (they were deleted while this kubelet was away) are stopped.
    pub(super) fn remove_orphans(&mut self, cx: &mut Cx<'_>) {
        let orphans: Vec<Uid> =
            self.runtime.keys().filter(|u| !self.workers.contains_key(*u)).cloned().collect();
        for pod in orphans {
            cx.order(Order::StopSandbox { pod: pod.clone() });
            cx.order(Order::RemovePod { pod });
        }
    }
}
