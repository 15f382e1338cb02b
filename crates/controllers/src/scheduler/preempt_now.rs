//! Making room: the chosen pods get a condition that says why, then they are deleted; all at once, and the last when the
//! others are. Who is on the way out already is not asked again.
//! Upstream: framework/preemption, Executor.prepareCandidateAsync (v1.37).

use super::{Flight, Room, Scheduler, Sight, preemption::Candidate};
use crate::pods::condition_patch;
use kubestep_control::{Ticket, View, reference};
use kubestep_model::{
    DeleteOptions, Object, PatchKind, Pod, PodCondition, Reply, Resource, Subresource, Verb,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

const MESSAGE: &str = "default-scheduler: preempting to accommodate a higher priority pod";

impl Scheduler {
    /// Asks the victims' end.
    pub(super) fn make_room(&mut self, cx: Sight<'_, '_>, preemptor: &Arc<Pod>, candidate: Candidate) {
        let there = candidate.victims.iter().map(|v| &v.pod).filter(|p| !p.metadata.is_terminating());
        let mut victims: Vec<Arc<Pod>> = there.cloned().collect();
        let Some(last) = victims.pop() else { return };
        let names: Vec<&str> = candidate.victims.iter().map(|v| &*v.pod.metadata.name).collect();
        let about = [("pod", &preemptor.metadata.name), ("node", &candidate.node)];
        let about = about.map(|(name, value)| (name, value.to_string())).into_iter();
        cx.because("scheduler.preempt", about.chain([("victims", names.join(", "))]).collect());
        self.forget_weaker(preemptor, &candidate.node);
        let room =
            |last| Room { preemptor: preemptor.metadata.uid.clone(), node: candidate.node.clone(), last };
        if victims.is_empty() {
            return self.condemn(cx, last, room(None));
        }
        for victim in victims {
            self.condemn(cx, victim, room(Some(last.clone())));
        }
    }

    /// Promises to weaker pods on that node no longer hold. Upstream: getLowerPriorityNominatedPods.
    fn forget_weaker(&mut self, preemptor: &Pod, place: &Arc<str>) {
        let priority = super::node_info::priority(preemptor);
        let weaker: Vec<Arc<str>> = self
            .nominated
            .iter()
            .filter(|(_, (node, pod))| node == place && pod.priority() < priority)
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in weaker {
            self.nominated.remove(&uid);
        }
    }

    /// A victim gets its condition, unless it has it; then it is deleted.
    fn condemn(&mut self, cx: Sight<'_, '_>, victim: Arc<Pod>, room: Room) {
        let known = victim.condition("DisruptionTarget");
        if known.is_some_and(|c| {
            (&*c.status, &*c.reason, &*c.message) == ("True", "PreemptionByScheduler", MESSAGE)
        }) {
            return self.delete(cx, victim, room);
        }
        let condition = PodCondition {
            r#type: "DisruptionTarget".into(),
            status: "True".into(),
            last_transition_time: Some(cx.now.to_time()),
            observed_generation: victim.metadata.generation,
            reason: "PreemptionByScheduler".into(),
            message: MESSAGE.into(),
            ..PodCondition::default()
        };
        let condition = serde_json::to_value(condition).unwrap_or(Value::Null);
        let patch = Arc::new(json!({ "status": condition_patch(&victim, condition) }));
        let (key, subresource, kind) = (victim.key(), Subresource::Status, PatchKind::Strategic);
        let ticket = cx.ask(Verb::Patch { key, subresource, kind, patch });
        self.flights.insert(ticket, Flight::Condemn { victim, room });
    }

    fn delete(&mut self, cx: Sight<'_, '_>, victim: Arc<Pod>, room: Room) {
        let options = DeleteOptions { uid: Some(victim.metadata.uid.clone()), ..DeleteOptions::default() };
        let ticket = cx.ask(Verb::Delete { key: victim.key(), options });
        self.flights.insert(ticket, Flight::Delete { victim, room });
    }

    /// A victim has its condition: now it is deleted.
    pub(super) fn condemned(&mut self, cx: Sight<'_, '_>, victim: Arc<Pod>, room: Room, reply: &Reply) {
        match reply {
            Ok(_) => self.delete(cx, victim, room),
            // It is gone already.
            Err(status) if status.is_not_found() => self.next_victim(cx, room),
            Err(_) => self.retry(cx, &room.preemptor),
        }
    }

    /// A victim was deleted, or not.
    pub(super) fn deleted(&mut self, cx: Sight<'_, '_>, victim: &Arc<Pod>, room: Room, reply: &Reply) {
        match reply {
            Ok(_) => {
                let message = format!("Preempted by pod {} on node {}", room.preemptor, room.node);
                let about = reference(&Object::Pod(victim.clone()));
                cx.event_of("Preempting", about, "Normal", "Preempted", message);
                self.next_victim(cx, room);
            }
            Err(status) if status.is_not_found() => self.next_victim(cx, room),
            Err(_) => self.retry(cx, &room.preemptor),
        }
    }

    /// When all but the last have been asked, the last is.
    fn next_victim(&mut self, cx: Sight<'_, '_>, room: Room) {
        let Some(last) = room.last.clone() else { return };
        if !rooms(self).any(|(r, _)| r.preemptor == room.preemptor) {
            self.condemn(cx, last, Room { last: None, ..room });
        }
    }

    /// Room could not be made: the pod is tried again, and the last victim is left alone. Upstream: Activate after an error.
    fn retry(&mut self, cx: Sight<'_, '_>, preemptor: &Arc<str>) {
        let tickets: Vec<Ticket> = self.flights.keys().copied().collect();
        for ticket in tickets {
            if let Some(Flight::Condemn { room, .. } | Flight::Delete { room, .. }) =
                self.flights.get_mut(&ticket)
                && room.preemptor == *preemptor
            {
                room.last = None;
            }
        }
        self.nominated.remove(preemptor);
        self.queue.requeue(preemptor, cx.now);
    }

    /// Pods for which room is being made: they are not tried before their last victim is on its way out.
    /// Upstream: IsPodRunningPreemption.
    pub(super) fn preempting(&self, view: &View) -> BTreeSet<Arc<str>> {
        let waits = |room: &Room, victim: &Pod| {
            let now = view.object(&victim.key()).map(Object::meta);
            room.last.is_some() || now.is_some_and(|m| m.uid == victim.metadata.uid && !m.is_terminating())
        };
        rooms(self).filter(|(room, victim)| waits(room, victim)).map(|(r, _)| r.preemptor.clone()).collect()
    }
}

/// The victims that are being asked, and for whom.
fn rooms(scheduler: &Scheduler) -> impl Iterator<Item = (&Room, &Arc<Pod>)> {
    scheduler.flights.values().filter_map(|flight| match flight {
        Flight::Condemn { victim, room } | Flight::Delete { victim, room } => Some((room, victim)),
        _ => None,
    })
}
