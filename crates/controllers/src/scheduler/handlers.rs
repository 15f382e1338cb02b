//! What the scheduler does when it is told of a change. Upstream: pkg/scheduler/eventhandlers.go (v1.37).

use super::{
    Scheduler, Sight,
    event::{Event, node_parts, pod_parts},
    node_info::PodInfo,
    plugins::plugin,
    queue::{LONGEST_WAIT, Waiting},
};
use kubestep_control::Change;
use kubestep_model::{Kind, Node, Object, Pod};
use std::sync::Arc;

fn pod_of(object: Option<&Object>) -> Option<&Arc<Pod>> {
    // Upstream's watch leaves out pods that have ended; to the scheduler they are gone.
    if let Some(Object::Pod(pod)) = object { Some(pod).filter(|p| !p.is_terminal()) } else { None }
}

fn node_of(object: Option<&Object>) -> Option<&Arc<Node>> {
    if let Some(Object::Node(node)) = object { Some(node) } else { None }
}

/// Upstream: assignedPod.
fn assigned(pod: &Pod) -> bool {
    !pod.spec.node_name.is_empty()
}

/// Upstream: responsibleForPod, with the default profile only.
fn responsible(pod: &Pod) -> bool {
    matches!(pod.spec.scheduler_name.as_str(), "" | "default-scheduler")
}

impl Scheduler {
    /// Reads everything that is there.
    pub(super) fn start(&mut self, cx: Sight<'_, '_>) {
        *self = Scheduler { started: cx.now, ..Scheduler::new() };
        let nodes = cx.view.objects_of(Kind::Node, None).filter_map(|object| node_of(Some(object)));
        self.cache.set_nodes(nodes.cloned());
        let view = cx.view;
        for pod in view.objects_of(Kind::Pod, None).filter_map(|object| pod_of(Some(object))) {
            self.pod_added(cx, pod);
        }
    }

    /// A watched object changed.
    pub(super) fn changed(&mut self, cx: Sight<'_, '_>, change: &Change) {
        match change.key.kind {
            Kind::Node => {
                self.node_changed(cx, node_of(change.old.as_ref()), node_of(change.new.as_ref()));
            }
            Kind::Pod => match (pod_of(change.old.as_ref()), pod_of(change.new.as_ref())) {
                (None, Some(new)) => self.pod_added(cx, new),
                (Some(old), Some(new)) if old.metadata.uid != new.metadata.uid => {
                    self.pod_gone(cx, old);
                    self.pod_added(cx, new);
                }
                (Some(old), Some(new)) => self.pod_changed(cx, old, new),
                (Some(old), None) => self.pod_gone(cx, old),
                (None, None) => {}
            },
            _ => match &change.new {
                Some(object) if change.old.is_none() => self.happened(cx, Event::OtherAdded(object)),
                Some(object) => self.happened(cx, Event::Other(object)),
                None => {}
            },
        }
        if change.new.is_none()
            && let Some(old) = &change.old
        {
            self.attempts.remove(&old.meta().uid);
        }
    }

    fn node_changed(&mut self, cx: Sight<'_, '_>, old: Option<&Arc<Node>>, new: Option<&Arc<Node>>) {
        match (old, new) {
            (None, Some(new)) => {
                self.cache.set_node(new.clone());
                self.happened(cx, Event::NodeAdded(new));
            }
            (Some(old), Some(new)) => {
                self.cache.set_node(new.clone());
                for part in node_parts(old, new) {
                    self.happened(cx, Event::NodeChanged { part, old, new });
                }
            }
            (Some(old), None) => {
                self.happened(cx, Event::NodeGone(old));
                self.cache.remove_node(&old.metadata.name);
            }
            (None, None) => {}
        }
    }

    fn pod_added(&mut self, cx: Sight<'_, '_>, pod: &Arc<Pod>) {
        let info = Arc::new(PodInfo::new(pod.clone()));
        if assigned(pod) {
            self.cache.place(&pod.spec.node_name, info, false);
            self.happened(cx, Event::PodPlaced(pod));
        } else if responsible(pod) {
            if !pod.status.nominated_node_name.is_empty() {
                let node = pod.status.nominated_node_name.as_str().into();
                self.nominated.insert(pod.metadata.uid.clone(), (node, info.clone()));
            }
            self.queue.add(info, cx.now);
        }
    }

    fn pod_changed(&mut self, cx: Sight<'_, '_>, old: &Arc<Pod>, new: &Arc<Pod>) {
        if assigned(old) {
            let known = self.cache.placed(&new.metadata.uid).map(|placed| placed.pod.newer(new.clone()));
            let info = Arc::new(known.unwrap_or_else(|| PodInfo::new(new.clone())));
            self.cache.place(&new.spec.node_name, info, false);
            for part in pod_parts(old, new) {
                self.happened(cx, Event::PodChanged { part, old, new });
            }
        } else if assigned(new) {
            // It was bound. Its place in the queue, if somebody else bound it, is no longer needed.
            self.queue.remove(&new.metadata.uid);
            self.nominated.remove(&new.metadata.uid);
            self.pod_added(cx, new);
        } else if responsible(old) {
            self.waiting_changed(cx, old, new);
        }
    }

    /// Upstream: updatePodInSchedulingQueue and PriorityQueue.Update.
    fn waiting_changed(&mut self, cx: Sight<'_, '_>, old: &Arc<Pod>, new: &Arc<Pod>) {
        let uid = &new.metadata.uid;
        if self.cache.placed(uid).is_some_and(|p| p.assumed) {
            if new.metadata.is_terminating() && !old.metadata.is_terminating() {
                self.forget(cx, uid);
            }
            return;
        }
        let info = Arc::new(PodInfo::new(new.clone()));
        self.nominate(new, &info);
        if !self.queue.update(info.clone()) {
            self.queue.add(info, cx.now);
            return;
        }
        let worth = |w: &Waiting| {
            pod_parts(old, new)
                .into_iter()
                .any(|part| worth_trying(w, &Event::WaitingChanged { part, old, new }))
        };
        let busy = self.preempting(cx.view).contains(uid);
        if !busy
            && self.queue.get(uid).is_some_and(|w| w.place == super::queue::Place::Unschedulable && worth(w))
        {
            self.queue.requeue(uid, cx.now);
        }
    }

    fn nominate(&mut self, pod: &Pod, info: &Arc<PodInfo>) {
        let node = &pod.status.nominated_node_name;
        if node.is_empty() {
            // What was promised but is not written yet stands.
            if let Some((_, known)) = self.nominated.get_mut(&pod.metadata.uid) {
                *known = info.clone();
            }
        } else {
            self.nominated.insert(pod.metadata.uid.clone(), (node.as_str().into(), info.clone()));
        }
    }

    fn pod_gone(&mut self, cx: Sight<'_, '_>, pod: &Arc<Pod>) {
        let uid = &pod.metadata.uid;
        let nominated = self.nominated.remove(uid).is_some();
        if assigned(pod) {
            self.cache.remove_pod(uid);
            self.happened(cx, Event::PodGone(pod));
        } else if responsible(pod) {
            self.queue.remove(uid);
            if self.cache.placed(uid).is_some_and(|p| p.assumed) {
                self.forget(cx, uid);
            } else if nominated {
                self.happened(cx, Event::PodGone(pod));
            }
        }
    }

    /// Takes back the assumption that a pod is on a node. Upstream: handleAssumedPodDeletion, ForgetPod.
    pub(super) fn forget(&mut self, cx: Sight<'_, '_>, uid: &Arc<str>) {
        if let Some(placed) = self.cache.remove_pod(uid) {
            self.happened(cx, Event::PodGone(&placed.pod.pod));
        }
    }

    /// Something happened: pods for which it may make a difference come into line again.
    /// Upstream: MoveAllToActiveOrBackoffQueue.
    pub(super) fn happened(&mut self, cx: Sight<'_, '_>, event: Event<'_>) {
        let busy = self.preempting(cx.view);
        let worth = |w: &Waiting| !busy.contains(w.info.uid()) && worth_trying(w, &event);
        let moved = self.queue.move_where(cx.now, worth);
        if moved > 0 {
            cx.because("scheduler.event", vec![("event", event.label()), ("pods", moved.to_string())]);
        }
    }

    /// Pods that have waited for long are tried whatever happened. Upstream: flushUnschedulablePodsLeftover.
    pub(super) fn flush(&mut self, cx: Sight<'_, '_>) {
        let now = cx.now;
        let event = Event::Timeout;
        let busy = self.preempting(cx.view);
        let late = |w: &Waiting| now.since(w.since) > LONGEST_WAIT && worth_trying(w, &event);
        let worth = |w: &Waiting| late(w) && !busy.contains(w.info.uid());
        let moved = self.queue.move_where(now, worth);
        if moved > 0 {
            cx.because("scheduler.event", vec![("event", event.label()), ("pods", moved.to_string())]);
        }
    }
}

/// Whether an event may help a pod, by the plugins that rejected it. Upstream: isPodWorthRequeuing.
fn worth_trying(waiting: &Waiting, event: &Event<'_>) -> bool {
    if waiting.rejectors.is_empty() || matches!(event, Event::Timeout) {
        return true;
    }
    waiting.rejectors.iter().any(|name| plugin(name).is_some_and(|p| p.hint(&waiting.info, event)))
}
