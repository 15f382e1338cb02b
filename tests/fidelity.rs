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
    ("s01-missing-tag", 82),
    ("s01b-quarter-missing", 13),
    ("s01d-all-defaults", 229),
    ("s02-typo-undo", 14),
    ("s02b-scaled-from-zero", 14),
    ("s03-labels-and-selectors", 4),
    ("s04-relabel-a-pod", 10),
    ("s05-overlapping-selectors", 9),
    ("s06-hand-on-the-replicaset", 9),
    ("s07-apply-and-other-writers", 37),
    ("s08-deleting", 17),
    ("s09-quota-blocks-pods", 31),
    ("s09c-quota-raised", 48),
    ("s10-limit-range", 5),
    ("s11-probes", 13),
    ("s12-crash-loop", 37),
    ("s13-pending-for-cpu", 39),
    ("s14-unmet-wishes", 9),
    ("s15-service-typo", 17),
    ("s15b-namespaces", 56),
    ("s15c-empty-selectors", 6),
    ("s16-endpoints-during-a-rollout", 9),
    ("s17-statefulset", 120),
    ("s18-statefulset-stuck", 25),
    ("s19-daemonset", 58),
    ("s20-jobs", 31),
    ("s21-cronjobs", 47),
    ("s22-revision-history", 25),
    ("s23-pause-resume", 40),
    ("s25-surge-and-unavailable", 93),
    ("s26-restart-and-annotations", 14),
    ("s27-node-stops", 52),
    ("s27c-partial-disruption", 89),
    ("s28-namespace-deletion", 58),
    ("s29-cascading-deletes", 24),
    ("s30-apply-conversation", 778),
    ("s32-spread-and-anti-affinity", 137),
    ("s33-drain-and-budget", 94),
    ("s34-proportional-scaling", 56),
    ("s35-rollover", 22),
    ("s36-min-ready-seconds", 13),
    ("s37-services", 45),
    ("s38-rights", 8),
    ("s39-missing-config", 10),
    ("s40-init-and-sidecar", 20),
    ("s41-claims-and-volumes", 44),
    ("s43-priority-and-preemption", 16),
    ("s44-slow-goodbyes", 5),
    ("s45-adoption", 12),
    ("s47-kubectl-tour", 59),
    ("s48-imperative-commands", 207),
    ("s49-pulling-images", 33),
    ("s50-crashing-containers", 60),
    ("s51-node-limits", 28),
    ("s53-thirty-replicas", 140),
    ("s54-replicaset-alone", 16),
    ("s56-deleting-a-node", 274),
    ("s57-quota-counts", 306),
    ("s58-two-writers", 1054),
    ("s60-no-loop-behind-it", 103),
    ("s61-scale-from-zero", 17),
    ("s63-full-quota-rounding", 469),
    ("s65-wrong-neighbours", 43),
    ("s67-fixed-templates", 31),
    ("s69-service-left-behind", 32),
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
