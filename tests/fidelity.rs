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
const OF_A_PART: usize = 80;
const PARTS: [&str; 4] = ["commands", "objects", "events", "calls"];

/// How many records of each session may differ. What differs is listed in FIDELITY.md, with its reason.
const FLOORS: [(&str, usize); 43] = [
    ("s01-missing-tag", 72),
    ("s01b-quarter-missing", 22),
    ("s01d-all-defaults", 230),
    ("s02-typo-undo", 10),
    ("s02b-scaled-from-zero", 14),
    ("s03-labels-and-selectors", 9),
    ("s04-relabel-a-pod", 7),
    ("s06-hand-on-the-replicaset", 8),
    ("s07-apply-and-other-writers", 26),
    ("s08-deleting", 17),
    ("s09-quota-blocks-pods", 28),
    ("s10-limit-range", 4),
    ("s11-probes", 12),
    ("s12-crash-loop", 34),
    ("s13-pending-for-cpu", 31),
    ("s14-unmet-wishes", 6),
    ("s15-service-typo", 11),
    ("s15c-empty-selectors", 5),
    ("s16-endpoints-during-a-rollout", 12),
    ("s17-statefulset", 110),
    ("s18-statefulset-stuck", 24),
    ("s19-daemonset", 55),
    ("s20-jobs", 30),
    ("s21-cronjobs", 45),
    ("s22-revision-history", 30),
    ("s23-pause-resume", 32),
    ("s25-surge-and-unavailable", 141),
    ("s26-restart-and-annotations", 10),
    ("s27-node-stops", 60),
    ("s27c-partial-disruption", 80),
    ("s29-cascading-deletes", 24),
    ("s33-drain-and-budget", 85),
    ("s34-proportional-scaling", 52),
    ("s35-rollover", 28),
    ("s36-min-ready-seconds", 12),
    ("s39-missing-config", 10),
    ("s40-init-and-sidecar", 22),
    ("s41-claims-and-volumes", 32),
    ("s44-slow-goodbyes", 4),
    ("s50-crashing-containers", 54),
    ("s51-node-limits", 26),
    ("s54-replicaset-alone", 16),
    ("s67-fixed-templates", 28),
];

fn play(name: &str) -> Result<Differences, String> {
    let script = Script::read(&golden::text(&format!("sessions/{name}.yaml")))?;
    let recording = golden::json(&format!("sessions/{name}.json"));
    let twin = golden::json(&format!("twins/{name}.json"));
    let pace = pace(&recording).ok_or("the recording has no steps")?;
    let (text, failed) = record(&script, name, 1, Some(&pace));
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    let ours = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    differences(&recording, &ours, Some(&twin))
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
