//! Whether an object may be stored, in Kubernetes' own words and order.

mod meta;
mod workload;

use crate::turn::Turn;
use kubestep_model::{Cause, Object, Status};

/// Checks a new object.
pub(crate) fn new_object(turn: &Turn<'_>, object: &Object) -> Result<(), Status> {
    let mut causes = meta::new_object(object);
    match object {
        Object::Deployment(d) => causes.extend(workload::deployment(d, turn.settings)),
        Object::ReplicaSet(r) => causes.extend(workload::replica_set(r, turn.settings)),
        _ => {}
    }
    answer(object, causes)
}

/// Checks the new state of an object.
pub(crate) fn changed_object(turn: &Turn<'_>, new: &Object, old: &Object) -> Result<(), Status> {
    let mut causes = vec![];
    match (new, old) {
        (Object::Deployment(new), Object::Deployment(old)) => {
            causes.extend(workload::deployment(new, turn.settings));
            causes.extend(workload::same_selector(&new.spec.selector, &old.spec.selector, turn.settings));
        }
        (Object::ReplicaSet(new), Object::ReplicaSet(old)) => {
            causes.extend(workload::replica_set(new, turn.settings));
            causes.extend(workload::same_selector(&new.spec.selector, &old.spec.selector, turn.settings));
        }
        _ => {}
    }
    answer(new, causes)
}

fn answer(object: &Object, causes: Vec<Cause>) -> Result<(), Status> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(object.kind(), &object.meta().name, causes))
}
