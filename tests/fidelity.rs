//! The recorded sessions, played by the simulator at the recording's pace and compared with both real runs.

use crate::golden;
use kubestep_cli::{
    compare::{Differences, differences},
    record::{pace, record},
};
use kubestep_lessons::script::Script;
use serde_json::Value;

/// Of all records that count, so many in a thousand may differ.
const PER_THOUSAND: usize = 30;
/// Of each part, which may be small, more: a pod that is seen between two runs is printed by many commands.
const OF_A_PART: usize = 100;
const PARTS: [&str; 4] = ["commands", "objects", "events", "calls"];

/// How many records of each session may differ. What differs is listed in FIDELITY.md, with its reason.
const FLOORS: [(&str, usize); 65] = [
    ("s01-missing-tag", 82),
    ("s01b-quarter-missing", 28),
    ("s01d-all-defaults", 344),
    ("s02-typo-undo", 24),
    ("s02b-scaled-from-zero", 25),
    ("s03-labels-and-selectors", 5),
    ("s04-relabel-a-pod", 9),
    ("s05-overlapping-selectors", 10),
    ("s06-hand-on-the-replicaset", 5),
    ("s07-apply-and-other-writers", 48),
    ("s08-deleting", 22),
    ("s09-quota-blocks-pods", 74),
    ("s09c-quota-raised", 49),
    ("s10-limit-range", 5),
    ("s11-probes", 13),
    ("s12-crash-loop", 37),
    ("s13-pending-for-cpu", 40),
    ("s14-unmet-wishes", 5),
    ("s15-service-typo", 16),
    ("s15b-namespaces", 52),
    ("s15c-empty-selectors", 6),
    ("s16-endpoints-during-a-rollout", 10),
    ("s17-statefulset", 89),
    ("s18-statefulset-stuck", 36),
    ("s19-daemonset", 63),
    ("s20-jobs", 29),
    ("s21-cronjobs", 35),
    ("s22-revision-history", 26),
    ("s23-pause-resume", 30),
    ("s25-surge-and-unavailable", 98),
    ("s26-restart-and-annotations", 14),
    ("s27-node-stops", 226),
    ("s27c-partial-disruption", 274),
    ("s28-namespace-deletion", 68),
    ("s29-cascading-deletes", 25),
    ("s30-apply-conversation", 306),
    ("s32-spread-and-anti-affinity", 136),
    ("s33-drain-and-budget", 136),
    ("s34-proportional-scaling", 66),
    ("s35-rollover", 35),
    ("s36-min-ready-seconds", 291),
    ("s37-services", 45),
    ("s38-rights", 9),
    ("s39-missing-config", 25),
    ("s40-init-and-sidecar", 16),
    ("s41-claims-and-volumes", 29),
    ("s43-priority-and-preemption", 21),
    ("s44-slow-goodbyes", 5),
    ("s45-adoption", 24),
    ("s47-kubectl-tour", 58),
    ("s48-imperative-commands", 203),
    ("s49-pulling-images", 33),
    ("s50-crashing-containers", 59),
    ("s51-node-limits", 28),
    ("s53-thirty-replicas", 130),
    ("s54-replicaset-alone", 17),
    ("s56-deleting-a-node", 361),
    ("s57-quota-counts", 295),
    ("s58-two-writers", 468),
    ("s60-no-loop-behind-it", 37),
    ("s61-scale-from-zero", 17),
    ("s63-full-quota-rounding", 508),
    ("s65-wrong-neighbours", 24),
    ("s67-fixed-templates", 32),
    ("s69-service-left-behind", 35),
];

/// How many commands of a session may print something else; of those that are not listed, two.
const OUTPUTS: [(&str, usize); 41] = [
    ("s01-missing-tag", 5),
    ("s01d-all-defaults", 15),
    ("s02b-scaled-from-zero", 3),
    ("s07-apply-and-other-writers", 3),
    ("s08-deleting", 3),
    ("s09c-quota-raised", 5),
    ("s11-probes", 5),
    ("s12-crash-loop", 12),
    ("s13-pending-for-cpu", 3),
    ("s16-endpoints-during-a-rollout", 9),
    ("s17-statefulset", 16),
    ("s18-statefulset-stuck", 6),
    ("s19-daemonset", 7),
    ("s20-jobs", 5),
    ("s21-cronjobs", 5),
    ("s23-pause-resume", 5),
    ("s25-surge-and-unavailable", 4),
    ("s26-restart-and-annotations", 3),
    ("s27-node-stops", 16),
    ("s27c-partial-disruption", 6),
    ("s30-apply-conversation", 4),
    ("s32-spread-and-anti-affinity", 9),
    ("s33-drain-and-budget", 11),
    ("s34-proportional-scaling", 5),
    ("s35-rollover", 3),
    ("s36-min-ready-seconds", 5),
    ("s39-missing-config", 3),
    ("s40-init-and-sidecar", 3),
    ("s41-claims-and-volumes", 3),
    ("s43-priority-and-preemption", 3),
    ("s47-kubectl-tour", 12),
    ("s48-imperative-commands", 5),
    ("s49-pulling-images", 13),
    ("s50-crashing-containers", 15),
    ("s53-thirty-replicas", 3),
    ("s56-deleting-a-node", 13),
    ("s57-quota-counts", 6),
    ("s58-two-writers", 4),
    ("s60-no-loop-behind-it", 3),
    ("s63-full-quota-rounding", 8),
    ("s69-service-left-behind", 3),
];

/// The same for what was recorded for mechanisms that the sessions hardly touch.
const OWN: [(&str, usize); 9] = [
    ("starts", 58),
    ("clock", 28),
    ("cron", 21),
    ("pods", 38),
    ("scheduling", 24),
    ("nodes", 230),
    ("jobs", 60),
    ("sets", 60),
    ("ends", 40),
];

fn play(name: &str) -> Result<Differences, String> {
    compared(name, &format!("sessions/{name}"), golden::twin(name))
}

/// Plays one script as it was recorded, and compares.
fn compared(name: &str, path: &str, twin: Option<Value>) -> Result<Differences, String> {
    let script = Script::read(&golden::text(&format!("{path}.yaml")))?;
    let recording = golden::json(&format!("{path}.json"));
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
                let printed = OUTPUTS.iter().find(|(other, _)| other == name).map_or(2, |(_, most)| *most);
                if found.parts[0].0 > printed {
                    wrong.push(format!(
                        "{name}: {} commands print something else, at most {printed} may\n{}",
                        found.parts[0].0, found.blocks
                    ));
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

#[test]
fn own_recordings_run_as_they_were_recorded() {
    let play = |name: &str| {
        compared(name, &format!("own/{name}"), Some(golden::json(&format!("own/{name}.twin.json"))))
    };
    for ((name, floor), found) in
        OWN.iter().zip(golden::on_two_threads(&OWN.map(|(name, _)| name), |n| play(n)))
    {
        let found = found.unwrap_or_else(|text| panic!("{name}: {text}"));
        println!("{name}: {}", found.summary);
        assert!(found.counted > 1000, "{name}: only {} records were compared", found.counted);
        assert!(
            found.differ <= *floor,
            "{name}: {} differ, at most {floor} may\n{}",
            found.differ,
            found.blocks
        );
    }
}
