//! Making room: the chosen pods get a condition that says why, then they are deleted.
//! Upstream: framework/preemption, prepareCandidate (v1.37).

use super::{Flight, Room, Scheduler, Sight, preemption::Candidate};
use kubestep_control::reference;
use kubestep_model::{
    DeleteOptions, Object, PatchKind, Pod, PodCondition, Reply, Resource, Subresource, Verb,
};
use serde_json::{Value, json};
use std::sync::Arc;

impl Scheduler {
    /// Asks the victims' end.
    pub(super) fn make_room(&mut self, cx: Sight<'_, '_>, preemptor: &Arc<Pod>, candidate: Candidate) {
        let names: Vec<&str> = candidate.victims.iter().map(|v| &*v.pod.metadata.name).collect();
        let about = [("pod", &preemptor.metadata.name), ("node", &candidate.node)];
        let about = about.map(|(name, value)| (name, value.to_string())).into_iter();
        cx.because("scheduler.preempt", about.chain([("victims", names.join(", "))]).collect());
        for victim in candidate.victims {
            let pod = victim.pod.clone();
            let condition = PodCondition {
                r#type: "DisruptionTarget".into(),
                status: "True".into(),
                last_transition_time: Some(cx.now.to_time()),
                observed_generation: pod.metadata.generation,
                reason: "PreemptionByScheduler".into(),
                message: "default-scheduler: preempting to accommodate a higher priority pod".into(),
                ..PodCondition::default()
            };
            let condition = serde_json::to_value(condition).unwrap_or(Value::Null);
            let patch = Arc::new(json!({ "status": { "conditions": [condition] } }));
            let (key, subresource, kind) = (pod.key(), Subresource::Status, PatchKind::Strategic);
            let ticket = cx.ask(Verb::Patch { key, subresource, kind, patch });
            let room = Room { preemptor: preemptor.metadata.uid.clone(), node: candidate.node.clone() };
            self.flights.insert(ticket, Flight::Condemn { victim: pod, room });
        }
        // Promises to weaker pods on that node no longer hold. Upstream: GetLowerPriorityNominatedPods.
        let priority = super::node_info::priority(preemptor);
        let weaker: Vec<Arc<str>> = self
            .nominated
            .iter()
            .filter(|(_, (node, pod))| *node == candidate.node && pod.priority() < priority)
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in weaker {
            self.nominated.remove(&uid);
        }
    }

    /// A victim has its condition: now it is deleted.
    pub(super) fn condemned(&mut self, cx: Sight<'_, '_>, victim: Arc<Pod>, room: Room, reply: &Reply) {
        if let Err(status) = reply
            && !status.is_not_found()
        {
            return self.retry(cx, &room.preemptor);
        }
        let options = DeleteOptions { uid: Some(victim.metadata.uid.clone()), ..DeleteOptions::default() };
        let ticket = cx.ask(Verb::Delete { key: victim.key(), options });
        self.flights.insert(ticket, Flight::Delete { victim, room });
    }

    /// A victim was deleted, or not.
    pub(super) fn deleted(&mut self, cx: Sight<'_, '_>, victim: &Arc<Pod>, room: &Room, reply: &Reply) {
        match reply {
            Ok(_) => {
                let message = format!("Preempted by pod {} on node {}", room.preemptor, room.node);
                let about = reference(&Object::Pod(victim.clone()));
                cx.event_of("Preempting", about, "Normal", "Preempted", message);
            }
            Err(status) if status.is_not_found() => {}
            Err(_) => self.retry(cx, &room.preemptor),
        }
    }

    /// Room could not be made: the pod is tried again. Upstream: Activate after an error.
    fn retry(&mut self, cx: Sight<'_, '_>, preemptor: &Arc<str>) {
        self.nominated.remove(preemptor);
        self.queue.requeue(preemptor, cx.now);
    }
}
