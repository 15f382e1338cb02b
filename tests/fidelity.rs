//! The recorded sessions, played by the simulator at the recording's pace and compared with both real runs.

use crate::golden;
use kubestep_cli::{
    compare::{Differences, differences},
    record::{pace, record},
};
use kubestep_lessons::script::Script;

/// Of all records that count, so many in a thousand may differ.
const PER_THOUSAND: usize = 30;
/// Of each part, which may be small, more: a pod that is seen between two runs is printed by many commands.
const OF_A_PART: usize = 100;
const PARTS: [&str; 4] = ["commands", "objects", "events", "calls"];

/// How many records of each session may differ. What differs is listed in FIDELITY.md, with its reason.
const FLOORS: [(&str, usize); 65] = [
    ("s01-missing-tag", 80),
    ("s01b-quarter-missing", 28),
    ("s01d-all-defaults", 329),
    ("s02-typo-undo", 17),
    ("s02b-scaled-from-zero", 17),
    ("s03-labels-and-selectors", 8),
    ("s04-relabel-a-pod", 12),
    ("s05-overlapping-selectors", 22),
    ("s06-hand-on-the-replicaset", 17),
    ("s07-apply-and-other-writers", 62),
    ("s08-deleting", 24),
    ("s09-quota-blocks-pods", 76),
    ("s09c-quota-raised", 51),
    ("s10-limit-range", 12),
    ("s11-probes", 13),
    ("s12-crash-loop", 40),
    ("s13-pending-for-cpu", 43),
    ("s14-unmet-wishes", 10),
    ("s15-service-typo", 26),
    ("s15b-namespaces", 60),
    ("s15c-empty-selectors", 12),
    ("s16-endpoints-during-a-rollout", 13),
    ("s17-statefulset", 89),
    ("s18-statefulset-stuck", 49),
    ("s19-daemonset", 75),
    ("s20-jobs", 40),
    ("s21-cronjobs", 29),
    ("s22-revision-history", 35),
    ("s23-pause-resume", 32),
    ("s25-surge-and-unavailable", 143),
    ("s26-restart-and-annotations", 13),
    ("s27-node-stops", 230),
    ("s27c-partial-disruption", 74),
    ("s28-namespace-deletion", 66),
    ("s29-cascading-deletes", 18),
    ("s30-apply-conversation", 780),
    ("s32-spread-and-anti-affinity", 156),
    ("s33-drain-and-budget", 128),
    ("s34-proportional-scaling", 78),
    ("s35-rollover", 37),
    ("s36-min-ready-seconds", 290),
    ("s37-services", 56),
    ("s38-rights", 12),
    ("s39-missing-config", 22),
    ("s40-init-and-sidecar", 16),
    ("s41-claims-and-volumes", 32),
    ("s43-priority-and-preemption", 24),
    ("s44-slow-goodbyes", 13),
    ("s45-adoption", 31),
    ("s47-kubectl-tour", 47),
    ("s48-imperative-commands", 225),
    ("s49-pulling-images", 33),
    ("s50-crashing-containers", 48),
    ("s51-node-limits", 32),
    ("s53-thirty-replicas", 193),
    ("s54-replicaset-alone", 14),
    ("s56-deleting-a-node", 353),
    ("s57-quota-counts", 296),
    ("s58-two-writers", 693),
    ("s60-no-loop-behind-it", 49),
    ("s61-scale-from-zero", 22),
    ("s63-full-quota-rounding", 503),
    ("s65-wrong-neighbours", 8),
    ("s67-fixed-templates", 33),
    ("s69-service-left-behind", 28),
];

fn play(name: &str) -> Result<Differences, String> {
    let script = Script::read(&golden::text(&format!("sessions/{name}.yaml")))?;
    let recording = golden::json(&format!("sessions/{name}.json"));
    let twin = golden::twin(name);
    let pace = pace(&recording).ok_or("the recording has no steps")?;
    let (text, failed) = record(&script, name, 1, Some(&pace));
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    let ours = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    differences(&recording, &ours, twin.as_ref())
}

#[test]
fn sessions_run_as_they_were_recorded() {
    assert_eq!(FLOORS.map(|(name, _)| name), golden::SESSIONS, "a floor for each session");
    let mut wrong = vec![];
    let (mut differ, mut counted) = (0, 0);
    let mut parts = [(0, 0); 4];
    for ((name, floor), found) in FLOORS.iter().zip(golden::on_two_threads(&golden::SESSIONS, |n| play(n))) {
        match found {
            Ok(found) => {
                println!("{name}: {}", found.summary);
                differ += found.differ;
                counted += found.counted;
                for (sum, part) in parts.iter_mut().zip(found.parts) {
                    *sum = (sum.0 + part.0, sum.1 + part.1);
                }
                if found.differ > *floor {
                    wrong.push(format!(
                        "{name}: {} differ, at most {floor} may\n{}",
                        found.differ, found.blocks
                    ));
                }
            }
            Err(text) => wrong.push(format!("{name}: {text}")),
        }
    }
    println!("all: {differ} of {counted} differ");
    for (name, (differ, counted)) in PARTS.iter().zip(parts) {
        println!("  {name}: {differ} of {counted}");
        assert!(differ * 1000 <= counted * OF_A_PART, "{differ} of {counted} {name} differ");
    }
    assert!(counted > 10_000, "only {counted} records were compared");
    assert!(differ * 1000 <= counted * PER_THOUSAND, "{differ} of {counted} records differ");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
