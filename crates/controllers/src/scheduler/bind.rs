//! An attempt, and what comes of it: a binding or a refusal. Upstream: pkg/scheduler/schedule_one.go (v1.37).

use super::{
    Flight, KEPT_ATTEMPTS, Scheduler, Sight,
    attempt::Attempt,
    cycle::{self, Failure},
    node_info::PodInfo,
    plugins::{
        Cycle,
        volume_binding::{Bindings, bindings},
    },
    preemption::{Candidate, eligible, preempt},
    queue::Waiting,
};
use kubestep_control::{Ticket, reference};
use kubestep_model::{Key, Kind, Object, PatchKind, Pod, PodCondition, Reply, Resource, Subresource, Verb};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// The longest text of an event. Upstream: validation.NoteLengthLimit.
const LONGEST_NOTE: usize = 1024;

/// How an attempt failed.
struct Failed {
    reason: &'static str,
    message: String,
    rejectors: BTreeSet<&'static str>,
    /// Where room is being made; `None`: nowhere.
    nominated: Option<Arc<str>>,
}

impl Scheduler {
    /// Tries to place the pod whose turn it is.
    pub(super) fn schedule_one(&mut self, cx: Sight<'_, '_>) {
        let Some(waiting) = self.queue.pop() else { return };
        let pod = &waiting.info.pod;
        if pod.metadata.is_terminating() {
            let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
            let message = format!("skip schedule deleting pod: {namespace}/{name}");
            let about = reference(&Object::Pod(pod.clone()));
            cx.event_of("Scheduling", about, "Warning", "FailedScheduling", message);
            return;
        }
        let mut attempt = Attempt::new(pod.key(), pod.metadata.uid.clone(), cx.now, waiting.attempts);
        let judged = {
            let look = Cycle { cache: &self.cache, view: cx.view, pod: &waiting.info };
            let found = cycle::find(&look, &self.nominated, &mut self.start_node, &mut attempt);
            match found {
                Ok(nodes) => Ok(cycle::choose(&look, &nodes, &mut attempt, cx.dice).map(|node| {
                    let bindings =
                        self.cache.node(&node).and_then(|n| Some(bindings(&look, n.node.as_ref()?)));
                    (node, bindings.unwrap_or_default())
                })),
                Err(Failure::NoNodes) => Err((no_nodes(), None)),
                Err(Failure::Fit(mut diagnosis)) => {
                    let (text, candidate) = preempt(&look, &self.nominated, &diagnosis, cx.dice);
                    diagnosis.after = text;
                    let failed = Failed {
                        reason: "Unschedulable",
                        message: diagnosis.message(),
                        // Who may not push anybody aside keeps the place that was made for him. Upstream: ModeNoop.
                        nominated: candidate.as_ref().map(|c| c.node.clone()).or_else(|| {
                            let name = &look.pod.pod.status.nominated_node_name;
                            (!name.is_empty() && eligible(&look).is_err()).then(|| name.as_str().into())
                        }),
                        rejectors: diagnosis.rejectors,
                    };
                    Err((failed, candidate))
                }
            }
        };
        match judged {
            Ok(Some((node, bindings))) => {
                attempt.chosen = Some(node.clone());
                self.keep(cx, attempt);
                self.assume(cx, waiting, node, bindings);
            }
            Ok(None) => {}
            Err((failed, candidate)) => {
                attempt.message = Some(failed.message.clone());
                self.keep(cx, attempt);
                self.telling = self.refused(cx, waiting, failed, candidate);
            }
        }
    }

    fn keep(&mut self, cx: Sight<'_, '_>, attempt: Attempt) {
        let mut about = vec![("pod", attempt.pod.name.to_string()), ("verdicts", attempt.verdicts())];
        let code = match (&attempt.chosen, attempt.tied.is_empty()) {
            (None, _) => "scheduler.no-node",
            (Some(_), true) => "scheduler.attempt",
            (Some(_), false) => "scheduler.tie",
        };
        about.extend(attempt.chosen.iter().map(|node| ("node", node.to_string())));
        about.extend(attempt.message.iter().map(|text| ("message", text.clone())));
        if !attempt.tied.is_empty() {
            about.push(("tied", attempt.tied.join(", ")));
        }
        cx.because(code, about);
        let kept = self.attempts.entry(attempt.uid.clone()).or_default();
        if kept.len() >= KEPT_ATTEMPTS {
            kept.pop_front();
        }
        kept.push_back(Arc::new(attempt));
    }

    /// From now on the pod counts on the node, though the binding is only asked for. Upstream: assume, bindingCycle.
    fn assume(&mut self, cx: Sight<'_, '_>, waiting: Waiting, node: Arc<str>, bindings: Bindings) {
        let mut pod = Pod::clone(&waiting.info.pod);
        pod.spec.node_name = node.clone();
        let uid = pod.metadata.uid.clone();
        let info = PodInfo { pod: Arc::new(pod), ..PodInfo::clone(&waiting.info) };
        self.nominated.remove(&uid);
        self.cache.place(&node, Arc::new(info), true);
        if bindings.is_empty() {
            self.bind(cx, Arc::new(waiting), node);
        } else {
            self.bind_volumes(cx, uid, Arc::new(waiting), node, bindings);
        }
    }

    /// Upstream: DefaultBinder.
    pub(super) fn bind(&mut self, cx: Sight<'_, '_>, waiting: Arc<Waiting>, node: Arc<str>) {
        let pod = &waiting.info.pod;
        let ticket = cx.ask(Verb::Bind { pod: pod.key(), uid: pod.metadata.uid.clone(), node: node.clone() });
        self.flights.insert(ticket, Flight::Bind { waiting, node });
    }

    /// A placed pod could not be bound after all. Upstream: handleBindingCycleError.
    pub(super) fn unplaced(&mut self, cx: Sight<'_, '_>, waiting: &Waiting, message: String) {
        let uid = &waiting.info.pod.metadata.uid;
        self.cache.drop_promises(uid);
        // It may have been seen on its node all the same, or be gone.
        if self.cache.placed(uid).is_some_and(|p| p.assumed) {
            self.forget(cx, uid);
        }
        let failed =
            Failed { reason: "SchedulerError", message, rejectors: BTreeSet::new(), nominated: None };
        let _answer_that_nobody_waits_for = self.refused(cx, waiting.clone(), failed, None);
    }

    /// A request was answered.
    pub(super) fn answered(&mut self, cx: Sight<'_, '_>, ticket: Ticket, reply: &Reply) {
        if self.telling == Some(ticket) {
            self.telling = None;
        }
        match self.flights.remove(&ticket) {
            Some(Flight::Bind { waiting, node }) => self.bound(cx, &waiting, &node, reply),
            Some(Flight::Volume { pod }) => self.volume_written(cx, &pod, reply),
            Some(Flight::Condemn { victim, room }) => self.condemned(cx, victim, room, reply),
            Some(Flight::Delete { victim, room }) => self.deleted(cx, &victim, room, reply),
            None => {}
        }
    }

    fn bound(&mut self, cx: Sight<'_, '_>, waiting: &Waiting, node: &Arc<str>, reply: &Reply) {
        let pod = &waiting.info.pod;
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        match reply {
            Ok(_) => {
                let message = format!("Successfully assigned {namespace}/{name} to {node}");
                let about = reference(&Object::Pod(pod.clone()));
                cx.event_of("Binding", about, "Normal", "Scheduled", message);
            }
            Err(status) => {
                let text = format!("running Bind plugin \"DefaultBinder\": {}", status.message);
                self.unplaced(cx, waiting, text);
            }
        }
    }

    /// Puts the pod back into line and says why. Answers the request that says it, if it is news. Upstream:
    /// handleSchedulingFailure.
    fn refused(
        &mut self,
        cx: Sight<'_, '_>,
        mut waiting: Waiting,
        failed: Failed,
        candidate: Option<Candidate>,
    ) -> Option<Ticket> {
        let pod = waiting.info.pod.clone();
        let known = cx.view.object(&pod.key()).cloned();
        let current = known.as_ref().and_then(Pod::of).filter(|p| p.metadata.uid == pod.metadata.uid);
        if let (Some(current), Some(Object::Pod(shared))) = (current, &known)
            && current.spec.node_name.is_empty()
        {
            waiting.info = Arc::new(PodInfo::new(shared.clone()));
            let info = waiting.info.clone();
            self.queue.add_unschedulable(waiting, failed.rejectors.clone(), cx.now);
            match &failed.nominated {
                Some(node) => drop(self.nominated.insert(pod.metadata.uid.clone(), (node.clone(), info))),
                None => drop(self.nominated.remove(&pod.metadata.uid)),
            }
        }
        cx.event_of(
            "Scheduling",
            reference(&Object::Pod(pod.clone())),
            "Warning",
            "FailedScheduling",
            shortened(&failed.message),
        );
        let status = current.map_or(&pod.status, |p| &p.status);
        let nominated = failed.nominated.as_deref().unwrap_or("");
        let told = status_patch(cx, &pod, status, &failed, nominated).map(|patch| cx.ask(patch));
        if let Some(candidate) = candidate {
            self.make_room(cx, &pod, candidate);
        }
        told
    }
}

fn no_nodes() -> Failed {
    Failed {
        reason: "Unschedulable",
        message: "no nodes available to schedule pods".into(),
        rejectors: BTreeSet::new(),
        nominated: None,
    }
}

/// Upstream: truncateMessage.
fn shortened(message: &str) -> String {
    if message.len() <= LONGEST_NOTE {
        return message.to_owned();
    }
    const SUFFIX: &str = " ...";
    let mut end = LONGEST_NOTE - SUFFIX.len();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{SUFFIX}", message.get(..end).unwrap_or_default())
}

/// The write of condition PodScheduled, if it says anything new. Upstream: updatePod, UpdatePodCondition.
fn status_patch(
    cx: Sight<'_, '_>,
    pod: &Pod,
    status: &kubestep_model::PodStatus,
    failed: &Failed,
    nominated: &str,
) -> Option<Verb> {
    let known = status.conditions.iter().find(|c| c.r#type == "PodScheduled");
    let fresh = PodCondition {
        r#type: "PodScheduled".into(),
        status: "False".into(),
        last_probe_time: None,
        last_transition_time: known
            .filter(|c| c.status == "False")
            .map_or(Some(cx.now.to_time()), |c| c.last_transition_time),
        observed_generation: pod.metadata.generation,
        reason: failed.reason.into(),
        message: failed.message.clone(),
        ..PodCondition::default()
    };
    let renamed = status.nominated_node_name != nominated;
    if known == Some(&fresh) && !renamed {
        return None;
    }
    let mut fields = json!({ "conditions": [kubestep_model::to_json(&fresh)] });
    if renamed {
        let name = if nominated.is_empty() { Value::Null } else { nominated.into() };
        fields["nominatedNodeName"] = name;
    }
    let key = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let patch = Arc::new(json!({ "status": fields }));
    Some(Verb::Patch { key, subresource: Subresource::Status, kind: PatchKind::Strategic, patch })
}
