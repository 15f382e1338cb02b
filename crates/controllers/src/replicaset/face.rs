//! What the loop looks like to the outside: it also keeps pods for replication controllers.
//! Upstream: pkg/controller/replication, conversion.go (v1.37).

use crate::whole;
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Kind, LabelSelector, Object, ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus,
    ReplicationController, ReplicationControllerStatus, Status, Whole, WorkloadCondition,
};

/// The object behind a ReplicaSet as the loop sees it.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    about: Object,
}

impl Face {
    /// A ReplicaSet itself.
    pub(crate) fn of_replica_set(set: &ReplicaSet) -> Self {
        Face { about: set.clone().into() }
    }

    /// A replication controller.
    pub(crate) fn of_controller(controller: &ReplicationController) -> Self {
        Face { about: controller.to_object() }
    }

    /// The object's kind.
    pub(super) fn kind(&self) -> Kind {
        self.about.kind()
    }

    /// The object, for events.
    pub(super) fn about(&self) -> &Object {
        &self.about
    }

    /// A replication controller has no place for the number of pods that are going.
    pub(super) fn counts_terminating(&self) -> bool {
        self.kind() == Kind::ReplicaSet
    }

    /// Writes the status; answers the object as the loop sees it.
    pub(super) fn write_status(
        &self,
        cx: &mut Cx<'_>,
        status: &ReplicaSetStatus,
    ) -> Result<Result<ReplicaSet, Status>, Halt> {
        if let Object::ReplicaSet(set) = &self.about {
            let mut copy = (**set).clone();
            copy.status = status.clone();
            return cx.try_set_status(copy);
        }
        let Some(mut copy) = ReplicationController::read(&self.about) else {
            return Ok(Err(Status::bad_request("not a replication controller")));
        };
        copy.status = to_controller_status(status);
        Ok(whole::set_status(cx, &copy)?.map(|stored| as_replica_set(&stored)))
    }

    /// Reads the object from the API server itself.
    pub(super) fn live(&self, cx: &mut Cx<'_>) -> Result<Result<Face, Status>, Halt> {
        Ok(cx.live_object(self.about.key())?.map(|about| Face { about }))
    }
}

/// Upstream: convertRCtoRS.
pub(crate) fn as_replica_set(controller: &ReplicationController) -> ReplicaSet {
    let (spec, status) = (&controller.spec, &controller.status);
    let condition = |c: &WorkloadCondition| ReplicaSetCondition {
        r#type: c.r#type.clone(),
        status: c.status.clone(),
        last_transition_time: c.last_transition_time,
        reason: c.reason.clone(),
        message: c.message.clone(),
        ..Default::default()
    };
    ReplicaSet {
        metadata: controller.metadata.clone(),
        spec: ReplicaSetSpec {
            replicas: spec.replicas,
            min_ready_seconds: spec.min_ready_seconds,
            selector: Some(LabelSelector::from_labels(&spec.selector)),
            template: spec.template.clone().unwrap_or_default(),
            ..Default::default()
        },
        status: ReplicaSetStatus {
            replicas: status.replicas,
            fully_labeled_replicas: status.fully_labeled_replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            observed_generation: status.observed_generation,
            conditions: status.conditions.iter().map(condition).collect(),
            ..Default::default()
        },
        ..Default::default()
    }
}

/// Upstream: convertRStoRC.
fn to_controller_status(status: &ReplicaSetStatus) -> ReplicationControllerStatus {
    let condition = |c: &ReplicaSetCondition| WorkloadCondition {
        r#type: c.r#type.clone(),
        status: c.status.clone(),
        last_transition_time: c.last_transition_time,
        reason: c.reason.clone(),
        message: c.message.clone(),
        ..Default::default()
    };
    ReplicationControllerStatus {
        replicas: status.replicas,
        fully_labeled_replicas: status.fully_labeled_replicas,
        ready_replicas: status.ready_replicas,
        available_replicas: status.available_replicas,
        observed_generation: status.observed_generation,
        conditions: status.conditions.iter().map(condition).collect(),
        ..Default::default()
    }
}
