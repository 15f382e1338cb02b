//! Nothing is made that would exceed a quota; what is made is counted at once.
//!
//! Upstream: k8s.io/apiserver/pkg/admission/plugin/resourcequota, CheckRequest (v1.37).

use crate::turn::Turn;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Instant, Kind, Object, Quantity, ResourceQuota, Status,
    resources::{Amounts, quota},
};
use std::sync::Arc;

/// Checks an object against the quotas of its namespace, and counts it.
pub(super) fn review(turn: &mut Turn<'_>, new: &Object, old: Option<&Object>) -> Result<(), Status> {
    let kind = new.kind();
    if !kind.namespaced() || matches!(kind, Kind::Event) {
        return Ok(());
    }
    if old.is_some() && !(kind == Kind::Service || kind.own_name() == "PersistentVolumeClaim") {
        return Ok(());
    }
    let stored = turn.store.list(Kind::ResourceQuota, Some(&new.meta().namespace));
    let quotas: Vec<Arc<ResourceQuota>> = stored
        .filter_map(|o| if let Object::ResourceQuota(q) = o { Some(q.clone()) } else { None })
        .collect();
    if quotas.is_empty() {
        return Ok(());
    }
    for (quota, used) in check(&quotas, new, old, turn.now)? {
        let mut counted = (*quota).clone();
        counted.status.used = used;
        turn.put_own(counted.into(), "update", "status", 200);
    }
    Ok(())
}

/// The quotas whose use changes, with the new use; or which of them forbids the object.
pub(crate) fn check(
    quotas: &[Arc<ResourceQuota>],
    new: &Object,
    old: Option<&Object>,
    now: Instant,
) -> Result<Vec<(Arc<ResourceQuota>, Amounts)>, Status> {
    let kind = new.kind();
    let forbid = |why: String| Status::forbidden(kind, super::name_or_start(new.meta()), &why);
    let mut matching = vec![];
    for quota in quotas {
        let resources = quota::matching_resources(kind, quota.status.hard.keys().map(String::as_str));
        if resources.is_empty() || !quota::in_scope(quota, new) {
            continue;
        }
        let name = &quota.metadata.name;
        if let Object::Pod(pod) = new {
            let unsaid = quota::unsaid(pod, &resources);
            if !unsaid.is_empty() {
                let each: Vec<String> = unsaid
                    .iter()
                    .map(|(resource, names)| format!("{resource} for: {}", names.join(",")))
                    .gather();
                return Err(forbid(format!("failed quota: {name}: must specify {}", each.join("; "))));
            }
        }
        if resources.iter().any(|r| !quota.status.used.contains_key(*r)) {
            let names = resources.join(",");
            return Err(forbid(format!("status unknown for quota: {name}, resources: {names}")));
        }
        matching.push(quota);
    }
    let delta = delta(new, old, now);
    let negative: Vec<&str> =
        delta.iter().filter(|(_, q)| q.sign() < 0).map(|(name, _)| name.as_str()).collect();
    if old.is_none() && !negative.is_empty() {
        return Err(forbid(format!("quota usage is negative for resource(s): {}", negative.join(","))));
    }
    if delta.is_empty() {
        return Ok(vec![]);
    }
    let mut changed = vec![];
    for quota in matching {
        let hard = &quota.status.hard;
        let requested: Amounts = delta.iter().filter(|(n, _)| hard.contains_key(*n)).map(own).collect();
        let mut used = quota.status.used.clone();
        kubestep_model::resources::add(&mut used, &requested);
        let exceeded: Vec<&String> = requested
            .keys()
            .filter(|name| used.get(*name).zip(hard.get(*name)).is_some_and(|(u, h)| u.cmp(h).is_gt()))
            .collect();
        if !exceeded.is_empty() {
            return Err(forbid(format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                quota.metadata.name,
                print(&requested, &exceeded),
                print(&quota.status.used, &exceeded),
                print(hard, &exceeded)
            )));
        }
        if used != quota.status.used {
            changed.push((quota.clone(), used));
        }
    }
    Ok(changed)
}

fn own((name, amount): (&String, &Quantity)) -> (String, Quantity) {
    (name.clone(), amount.clone())
}

/// What the object adds to what is used.
fn delta(new: &Object, old: Option<&Object>, now: Instant) -> Amounts {
    let mut delta = quota::usage(new, now);
    if let Some(old) = old {
        for (name, amount) in quota::usage(old, now) {
            let there = delta.entry(name).or_default();
            *there = there.sub(&amount);
        }
    }
    delta.retain(|_, amount| !amount.is_zero());
    delta
}

fn print(amounts: &Amounts, names: &[&String]) -> String {
    let each = names.iter().filter_map(|name| amounts.get(*name).map(|amount| format!("{name}={amount}")));
    each.collect::<Vec<_>>().join(",")
}
