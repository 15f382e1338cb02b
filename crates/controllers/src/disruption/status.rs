//! What a budget's status says. Upstream: updatePdbStatus, pkg/apis/policy helpers (v1.37).

use kubestep_model::{BudgetCondition, PodDisruptionBudget, PodDisruptionBudgetStatus, Time};
use std::collections::BTreeMap;

const ALLOWED: &str = "DisruptionAllowed";

/// What was counted.
pub(super) struct Counted {
    pub(super) healthy: i32,
    pub(super) desired: i32,
    pub(super) expected: i32,
    pub(super) disrupted: BTreeMap<String, Time>,
}

/// The budget with its new status; `None` if it says so already.
pub(super) fn fresh(
    budget: &PodDisruptionBudget,
    counted: Counted,
    now: Time,
) -> Option<PodDisruptionBudget> {
    let left = counted.healthy.saturating_sub(counted.desired);
    let allowed = if counted.expected <= 0 { 0 } else { left.max(0) };
    let mut fresh = budget.clone();
    fresh.status = PodDisruptionBudgetStatus {
        disruptions_allowed: allowed,
        current_healthy: counted.healthy,
        desired_healthy: counted.desired,
        expected_pods: counted.expected,
        observed_generation: budget.metadata.generation,
        disrupted_pods: counted.disrupted,
        conditions: budget.status.conditions.clone(),
        rest: Default::default(),
    };
    if fresh.status == budget.status && is_up_to_date(budget) {
        return None;
    }
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    set(&mut fresh, status, reason, "", now);
    Some(fresh)
}

/// A budget of which nothing is known but why.
pub(super) fn failed(mut budget: PodDisruptionBudget, why: &str, now: Time) -> PodDisruptionBudget {
    budget.status.disruptions_allowed = 0;
    set(&mut budget, "False", "SyncFailed", why, now);
    budget
}

fn is_up_to_date(budget: &PodDisruptionBudget) -> bool {
    let wanted = if budget.status.disruptions_allowed > 0 { "True" } else { "False" };
    budget.status.conditions.iter().any(|c| c.r#type == ALLOWED && c.status == wanted)
}

fn set(budget: &mut PodDisruptionBudget, status: &str, reason: &str, message: &str, now: Time) {
    let observed_generation = budget.status.observed_generation;
    let conditions = &mut budget.status.conditions;
    let since = conditions.iter().find(|c| c.r#type == ALLOWED && c.status == status);
    let fresh = BudgetCondition {
        r#type: ALLOWED.into(),
        status: status.into(),
        last_transition_time: since.map_or(Some(now), |c| c.last_transition_time),
        reason: reason.into(),
        message: message.into(),
        observed_generation,
        rest: Default::default(),
    };
    match conditions.iter_mut().find(|c| c.r#type == ALLOWED) {
        Some(known) => *known = fresh,
        None => conditions.push(fresh),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(healthy: i32, desired: i32, expected: i32) -> Counted {
        Counted { healthy, desired, expected, disrupted: BTreeMap::new() }
    }

    #[test]
    fn what_may_be_taken_away() {
        let allowed = |h, d, e| {
            fresh(&PodDisruptionBudget::default(), counted(h, d, e), Time(1))
                .map(|b| b.status.disruptions_allowed)
        };
        assert_eq!(allowed(3, 2, 3), Some(1));
        assert_eq!(allowed(1, 2, 3), Some(0), "never less than nothing");
        assert_eq!(allowed(3, 0, 0), Some(0), "nothing while no pod is expected");
    }

    #[test]
    fn said_once_and_dated_when_it_turned() {
        let first = fresh(&PodDisruptionBudget::default(), counted(3, 2, 3), Time(1)).expect("it is news");
        assert!(fresh(&first, counted(3, 2, 3), Time(9)).is_none());
        let still = fresh(&first, counted(4, 2, 4), Time(9)).expect("other numbers");
        assert_eq!(still.status.conditions[0].last_transition_time, Some(Time(1)));
        let turned = fresh(&still, counted(2, 2, 4), Time(9)).expect("it turned");
        assert_eq!(turned.status.conditions[0].last_transition_time, Some(Time(9)));
        assert_eq!(turned.status.conditions[0].reason, "InsufficientPods");
    }
}
