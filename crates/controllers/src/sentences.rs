//! What each note's code means, in plain English, and where upstream decides it.

/// The sentence of one code: `{name}` stands for a value of the note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Sentence {
    pub code: &'static str,
    pub text: &'static str,
    pub upstream: &'static str,
}

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

/// Every code of the controllers in this crate that take keys from a queue.
pub static SENTENCES: &[Sentence] = &[
    of(
        "claim.adopt",
        "{who} adopts the {kind} {object}: it has no owner and its labels match.",
        "pkg/controller/controller_ref_manager.go, ClaimObject",
    ),
    of(
        "claim.release",
        "{who} lets go of the {kind} {object}: its labels no longer match.",
        "pkg/controller/controller_ref_manager.go, ClaimObject",
    ),
    of(
        "deploy.annotate",
        "{who} brings the notes on its ReplicaSet {set} up to date.",
        "pkg/controller/deployment/sync.go, getNewReplicaSet",
    ),
    of(
        "deploy.clean-unhealthy",
        "{who} takes {count} pods that are not available away from the old ReplicaSet {set} first: nobody misses them.",
        "pkg/controller/deployment/rolling.go, cleanupUnhealthyReplicas",
    ),
    of(
        "deploy.collision",
        "The name {set} is taken by something else, so {who} counts collision {count} and will try another hash.",
        "pkg/controller/deployment/sync.go, getNewReplicaSet",
    ),
    of(
        "deploy.complete",
        "{who} is complete: all wanted pods are of the new version and available.",
        "pkg/controller/deployment/progress.go, syncRolloutStatus",
    ),
    of(
        "deploy.create-refused",
        "The API server refused the new ReplicaSet {set} of {who}: {why}",
        "pkg/controller/deployment/sync.go, getNewReplicaSet",
    ),
    of(
        "deploy.deleting",
        "{who} is being deleted: only its status is counted.",
        "pkg/controller/deployment/deployment_controller.go, syncDeployment",
    ),
    of(
        "deploy.found-set",
        "{who} finds that the ReplicaSet {set} has its present template.",
        "pkg/controller/deployment/sync.go, getNewReplicaSet",
    ),
    of(
        "deploy.gone",
        "{who} is no longer in the cache: there is nothing to do.",
        "pkg/controller/deployment/deployment_controller.go, syncDeployment",
    ),
    of(
        "deploy.keep-available",
        "{who} has {have} available pods and must keep {min}: no old pod may go yet.",
        "pkg/controller/deployment/rolling.go, reconcileOldReplicaSets",
    ),
    of(
        "deploy.new-set",
        "{who} has no ReplicaSet with its present template: it creates {set} with {want} pods.",
        "pkg/controller/deployment/sync.go, getNewReplicaSet",
    ),
    of(
        "deploy.paused",
        "{who} is paused: time does not count against its deadline.",
        "pkg/controller/deployment/sync.go, checkPausedConditions",
    ),
    of(
        "deploy.progress-check",
        "{who} sees no progress; it looks again at its deadline, in {after} s.",
        "pkg/controller/deployment/progress.go, requeueStuckDeployment",
    ),
    of(
        "deploy.progressing",
        "{who} is getting on: there are more new or fewer old pods, or more are ready.",
        "pkg/controller/deployment/progress.go, syncRolloutStatus",
    ),
    of(
        "deploy.proportion",
        "{who} was scaled in the middle of a rollout: it shares {change} pods out among its ReplicaSets by their size.",
        "pkg/controller/deployment/sync.go, scale",
    ),
    of(
        "deploy.resumed",
        "{who} is resumed: its deadline counts from now.",
        "pkg/controller/deployment/sync.go, checkPausedConditions",
    ),
    of(
        "deploy.rollback",
        "{who} answers an old-style request to go back and clears it.",
        "pkg/controller/deployment/rollback.go, rollback",
    ),
    of(
        "deploy.scale-down",
        "{who} scales {set} down from {have} to {want}.",
        "pkg/controller/deployment/sync.go, scaleReplicaSet",
    ),
    of(
        "deploy.scale-down-failed",
        "{who} could not scale an old ReplicaSet down in this pass: {why}",
        "pkg/controller/deployment/rolling.go, reconcileOldReplicaSets",
    ),
    of(
        "deploy.scale-up",
        "{who} scales {set} up from {have} to {want}.",
        "pkg/controller/deployment/sync.go, scaleReplicaSet",
    ),
    of(
        "deploy.scaled",
        "{who} was scaled from {have} to {want}: that comes before any rollout.",
        "pkg/controller/deployment/sync.go, isScalingEvent",
    ),
    of(
        "deploy.selects-all",
        "{who} has an empty selector and does nothing.",
        "pkg/controller/deployment/deployment_controller.go, syncDeployment",
    ),
    of(
        "deploy.status",
        "{who} writes its status: {replicas} pods, {updated} of the new version, {available} available.",
        "pkg/controller/deployment/sync.go, calculateStatus",
    ),
    of(
        "deploy.surge-full",
        "{who} has {total} pods and may have {most}: {set} cannot grow yet.",
        "pkg/controller/deployment/util/deployment_util.go, NewRSNewReplicas",
    ),
    of(
        "deploy.timed-out",
        "{who} has made no progress for {deadline} s: it says that its deadline is exceeded.",
        "pkg/controller/deployment/progress.go, syncRolloutStatus",
    ),
    of(
        "deploy.trim-history",
        "{who} keeps {limit} old ReplicaSets and deletes the oldest, {set}.",
        "pkg/controller/deployment/sync.go, cleanupDeployment",
    ),
    of(
        "deploy.unchanged",
        "{who} is as it should be: there is nothing to do.",
        "pkg/controller/deployment/progress.go, syncRolloutStatus",
    ),
    of(
        "deploy.wait-old-pods",
        "{who} waits until its old pods are gone (Recreate).",
        "pkg/controller/deployment/recreate.go, oldPodsRunning",
    ),
    of(
        "rs.chosen",
        "{who} chose to delete {pods}.",
        "pkg/controller/controller_utils.go, ActivePodsWithRanks",
    ),
    of(
        "rs.deleting",
        "{who} is being deleted: it creates and deletes no pods.",
        "pkg/controller/replicaset/replica_set.go, syncReplicaSet",
    ),
    of(
        "rs.enough",
        "{who} has the {want} pods it wants.",
        "pkg/controller/replicaset/replica_set.go, manageReplicas",
    ),
    of(
        "rs.gone",
        "{who} is no longer in the cache: there is nothing to do.",
        "pkg/controller/replicaset/replica_set.go, syncReplicaSet",
    ),
    of(
        "rs.slow-start-ends",
        "{who} stops after a refusal, with {left} pods not tried: {why}",
        "pkg/controller/replicaset/replica_set.go, slowStartBatch",
    ),
    of(
        "rs.status",
        "{who} writes its status: {replicas} pods, {ready} ready, {available} available.",
        "pkg/controller/replicaset/replica_set_utils.go, updateReplicaSetStatus",
    ),
    of(
        "rs.stray-limit",
        "{who} does not select the pods it makes; it stops at {most} (a bound of this simulator).",
        "pkg/controller/replicaset/replica_set.go, manageReplicas",
    ),
    of(
        "rs.too-few",
        "{who} has {have} pods and wants {want}: it creates {change}.",
        "pkg/controller/replicaset/replica_set.go, manageReplicas",
    ),
    of(
        "rs.too-many",
        "{who} has {have} pods and wants {want}: it deletes {change}.",
        "pkg/controller/replicaset/replica_set.go, manageReplicas",
    ),
    of(
        "rs.unchanged",
        "{who} has nothing new to say in its status.",
        "pkg/controller/replicaset/replica_set_utils.go, updateReplicaSetStatus",
    ),
    of(
        "rs.wait-available",
        "{who} waits {after} s until a ready pod counts as available.",
        "pkg/controller/replicaset/replica_set.go, syncReplicaSet",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    /// Texts in quotes in these files that look like a code: `rs.too-few`.
    fn codes_in(dir: &str, names: &[&str], into: &mut BTreeSet<String>) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(dir);
        for name in names {
            let text = fs::read_to_string(folder.join(name)).expect(name);
            let looks = |t: &&str| {
                let parts: Vec<&str> = t.split('.').collect();
                matches!(parts[..], ["claim" | "deploy" | "rs", code] if !code.is_empty()
                    && code.bytes().all(|c| c.is_ascii_lowercase() || c == b'-'))
            };
            into.extend(text.split('"').filter(looks).map(str::to_owned));
        }
    }

    #[test]
    fn every_code_has_one_sentence_and_every_sentence_a_code() {
        let mut used = BTreeSet::new();
        codes_in("", &["claim.rs"], &mut used);
        let deployment = [
            "mod.rs",
            "new_set.rs",
            "progress.rs",
            "recreate.rs",
            "rollback.rs",
            "rolling.rs",
            "scaling.rs",
            "status.rs",
            "sync.rs",
        ];
        codes_in("deployment", &deployment, &mut used);
        codes_in("replicaset", &["mod.rs", "manage.rs", "status.rs"], &mut used);
        let told: BTreeSet<String> = SENTENCES.iter().map(|s| s.code.to_owned()).collect();
        assert_eq!(told.len(), SENTENCES.len(), "a code stands twice");
        assert_eq!(used, told);
        assert!(SENTENCES.is_sorted_by(|a, b| a.code < b.code), "the table is sorted by code");
        for sentence in SENTENCES {
            assert!(sentence.upstream.starts_with("pkg/controller/"), "{}", sentence.code);
        }
    }
}
