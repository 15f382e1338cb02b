//! Going back to a revision that the old annotation `deprecated.deployment.rollback.to` asks for.
//! Upstream: rollback.go (v1.37). `kubectl rollout undo` does not use it: it changes the template itself.

use super::{
    history::{ROLLBACK_TO, revision, stays},
    new_set::new_and_old_synced,
    sets::all,
};
use crate::{
    stop::Step,
    template::{POD_TEMPLATE_HASH, equal_ignore_hash},
};
use kubestep_control::{Cx, Done};
use kubestep_model::{Deployment, ReplicaSet};

/// The revision that is asked for; 0 means the one before the present one. Upstream: getRollbackTo.
pub(super) fn wanted(d: &Deployment) -> Option<i64> {
    d.metadata.annotations.get(ROLLBACK_TO)?.parse().ok()
}

/// Upstream: rollback.
pub(super) fn rollback<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    list: &[&'a ReplicaSet],
    to: i64,
) -> Step<Done> {
    let (new, old) = new_and_old_synced(cx, d, list, true)?;
    let sets = all(&old, new.as_ref());
    let to = if to == 0 { last_revision(sets.iter().filter_map(|set| revision(set))) } else { to };
    if to == 0 {
        return give_up(
            cx,
            d,
            "DeploymentRollbackRevisionNotFound",
            "Unable to find last revision.".to_owned(),
        );
    }
    let Some(set) = sets.iter().find(|set| revision(set) == Some(to)) else {
        let message = "Unable to find the revision to rollback to.".to_owned();
        return give_up(cx, d, "DeploymentRollbackRevisionNotFound", message);
    };
    let name = d.metadata.name.clone();
    if equal_ignore_hash(&d.spec.template, &set.spec.template) {
        let message =
            format!("The rollback revision contains the same template as current deployment \"{name}\"");
        return give_up(cx, d, "DeploymentRollbackTemplateUnchanged", message);
    }
    d.spec.template = set.spec.template.clone();
    d.spec.template.metadata.labels.remove(POD_TEMPLATE_HASH);
    d.metadata.annotations.retain(|key, _| stays(key));
    let kept = set.metadata.annotations.iter().filter(|(key, _)| !stays(key));
    d.metadata.annotations.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
    clear(cx, d)?;
    let message = format!("Rolled back deployment \"{name}\" to revision {to}");
    cx.event(&d.clone().into(), "Normal", "DeploymentRollback", message);
    Ok(Done::Settled)
}

/// The second highest revision. Upstream: LastRevision.
fn last_revision(revisions: impl Iterator<Item = i64>) -> i64 {
    let (mut highest, mut second) = (0, 0);
    for revision in revisions {
        if revision >= highest {
            (second, highest) = (highest, revision);
        } else if revision > second {
            second = revision;
        }
    }
    second
}

fn give_up(cx: &mut Cx<'_>, d: &mut Deployment, reason: &str, message: String) -> Step<Done> {
    cx.event(&d.clone().into(), "Warning", reason, message);
    clear(cx, d)?;
    Ok(Done::Settled)
}

fn clear(cx: &mut Cx<'_>, d: &mut Deployment) -> Step<()> {
    cx.because("deploy.rollback", vec![("who", d.metadata.name.to_string())]);
    d.metadata.annotations.remove(ROLLBACK_TO);
    cx.try_replace(d.clone())??;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_before_the_present_one() {
        assert_eq!(last_revision([1, 3, 2].into_iter()), 2);
        assert_eq!(last_revision([1].into_iter()), 0);
        assert_eq!(last_revision([3, 3].into_iter()), 3);
        assert_eq!(last_revision(std::iter::empty()), 0);
    }
}
