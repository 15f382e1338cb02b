//! How many pods an update may have more and fewer, and who gets how many when a rollout is scaled.
//! Upstream: pkg/controller/deployment/util/deployment_util.go (v1.37). Numbers wrap as Go's int32 does.

use super::history::{MAX_REPLICAS, number_annotation};
use crate::stop::error;
use kubestep_model::{Deployment, IntOrString, ReplicaSet, Status};

/// Whether old pods are replaced step by step.
pub(super) fn is_rolling_update(d: &Deployment) -> bool {
    d.spec.strategy.r#type == "RollingUpdate"
}

fn limits(d: &Deployment) -> (Option<&IntOrString>, Option<&IntOrString>) {
    let rolling = d.spec.strategy.rolling_update.as_ref();
    (rolling.and_then(|r| r.max_surge.as_ref()), rolling.and_then(|r| r.max_unavailable.as_ref()))
}

#[allow(clippy::cast_possible_truncation)]
fn scaled(value: Option<&IntOrString>, total: i32, round_up: bool) -> Result<i32, String> {
    value.map_or(Ok(0), |value| value.scaled_value(i64::from(total), round_up).map(|n| n as i32))
}

/// Surge (rounded up) and unavailable (rounded down) as numbers; both 0 becomes 1 unavailable.
/// Upstream: ResolveFenceposts.
pub fn resolve_fenceposts(
    max_surge: Option<&IntOrString>,
    max_unavailable: Option<&IntOrString>,
    desired: i32,
) -> Result<(i32, i32), String> {
    let surge = scaled(max_surge, desired, true)?;
    let unavailable = scaled(max_unavailable, desired, false)?;
    Ok(if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) })
}

fn fenceposts(d: &Deployment) -> (i32, i32) {
    let (surge, unavailable) = limits(d);
    resolve_fenceposts(surge, unavailable, d.replicas()).unwrap_or((0, 0))
}

/// How many pods more than wanted an update may have. Upstream: MaxSurge.
pub fn max_surge(d: &Deployment) -> i32 {
    if is_rolling_update(d) { fenceposts(d).0 } else { 0 }
}

/// How many pods of those wanted an update may go without. Upstream: MaxUnavailable.
pub fn max_unavailable(d: &Deployment) -> i32 {
    if !is_rolling_update(d) || d.replicas() == 0 {
        return 0;
    }
    fenceposts(d).1.min(d.replicas())
}

/// How many pods must stay available. Upstream: MinAvailable.
pub fn min_available(d: &Deployment) -> i32 {
    if is_rolling_update(d) { d.replicas().wrapping_sub(max_unavailable(d)) } else { 0 }
}

/// Wanted pods and surge together, as the `max-replicas` annotation says it.
pub(super) fn max_replicas(d: &Deployment) -> i32 {
    d.replicas().wrapping_add(max_surge(d))
}

/// The next size of the new ReplicaSet; `total` is the size of all together. Upstream: NewRSNewReplicas.
pub fn new_set_replicas(d: &Deployment, total: i32, new_size: i32) -> Result<i32, Status> {
    match d.spec.strategy.r#type.as_str() {
        "RollingUpdate" => {
            let surge = limits(d).0.ok_or_else(|| error("nil value for IntOrString".to_owned()))?;
            let surge = scaled(Some(surge), d.replicas(), true).map_err(error)?;
            let most = d.replicas().wrapping_add(surge);
            if total >= most {
                return Ok(new_size);
            }
            let more = most.wrapping_sub(total).min(d.replicas().wrapping_sub(new_size));
            Ok(new_size.wrapping_add(more))
        }
        "Recreate" => Ok(d.replicas()),
        other => Err(error(format!("deployment type {other} isn't supported"))),
    }
}

/// By how much one ReplicaSet changes when `to_add` pods are shared out and `added` are given out already.
/// Upstream: GetReplicaSetProportion.
pub fn proportion(set: &ReplicaSet, d: &Deployment, to_add: i32, added: i32) -> i32 {
    if set.replicas() == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let fraction = fraction_of(set, d);
    let allowed = to_add.wrapping_sub(added);
    if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) }
}

/// The change that keeps a ReplicaSet's share of the whole. Upstream: getReplicaSetFraction.
pub fn fraction_of(set: &ReplicaSet, d: &Deployment) -> i32 {
    let size = set.replicas();
    if d.replicas() == 0 {
        return size.wrapping_neg();
    }
    let before = match number_annotation(set, MAX_REPLICAS) {
        None | Some(0) => d.status.replicas,
        Some(before) => before,
    };
    if before == 0 {
        return 0;
    }
    let scaled = i64::from(size.wrapping_mul(max_replicas(d)));
    rounded(scaled, i64::from(before)).wrapping_sub(size)
}

/// The quotient, rounded half away from zero, in whole numbers.
#[allow(clippy::cast_possible_truncation)]
fn rounded(part: i64, whole: i64) -> i32 {
    let (part, whole) = if whole < 0 { (-part, -whole) } else { (part, whole) };
    let half_up = (part.abs() * 2 + whole) / (whole * 2);
    (if part < 0 { -half_up } else { half_up }) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_half_away_from_zero() {
        let rows = [(7, 2, 4), (5, 2, 3), (4, 3, 1), (-5, 2, -3), (-4, 3, -1), (0, 5, 0), (5, -2, -3)];
        for (part, whole, want) in rows {
            assert_eq!(rounded(part, whole), want, "{part}/{whole}");
        }
    }
}
