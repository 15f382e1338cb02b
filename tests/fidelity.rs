//! The recorded sessions, played by the simulator at the recording's pace and compared with both real runs.

use crate::golden;
use kubestep_cli::{
    compare::{Differences, differences},
    record::{pace, record},
};
use kubestep_lessons::script::Script;
use serde_json::Value;

/// Of all records that count, so many in a thousand may differ.
const PER_THOUSAND: usize = 12;
/// Of each part, which may be small, more: a pod that is seen between two runs is printed by many commands.
const OF_A_PART: usize = 100;
const PARTS: [&str; 4] = ["commands", "objects", "events", "calls"];

/// How many records of each session may differ. What differs is listed in FIDELITY.md, with its reason.
const FLOORS: [(&str, usize); 65] = [
    ("s01-missing-tag", 7),
    ("s01b-quarter-missing", 10),
    ("s01d-all-defaults", 22),
    ("s02-typo-undo", 10),
    ("s02b-scaled-from-zero", 15),
    ("s03-labels-and-selectors", 5),
    ("s04-relabel-a-pod", 9),
    ("s05-overlapping-selectors", 9),
    ("s06-hand-on-the-replicaset", 5),
    ("s07-apply-and-other-writers", 48),
    ("s08-deleting", 19),
    ("s09-quota-blocks-pods", 30),
    ("s09c-quota-raised", 46),
    ("s10-limit-range", 5),
    ("s11-probes", 10),
    ("s12-crash-loop", 10),
    ("s13-pending-for-cpu", 35),
    ("s14-unmet-wishes", 5),
    ("s15-service-typo", 11),
    ("s15b-namespaces", 20),
    ("s15c-empty-selectors", 5),
    ("s16-endpoints-during-a-rollout", 10),
    ("s17-statefulset", 14),
    ("s18-statefulset-stuck", 6),
    ("s19-daemonset", 50),
    ("s20-jobs", 17),
    ("s21-cronjobs", 25),
    ("s22-revision-history", 6),
    ("s23-pause-resume", 30),
    ("s25-surge-and-unavailable", 98),
    ("s26-restart-and-annotations", 12),
    ("s27-node-stops", 40),
    ("s27c-partial-disruption", 54),
    ("s28-namespace-deletion", 44),
    ("s29-cascading-deletes", 24),
    ("s30-apply-conversation", 11),
    ("s32-spread-and-anti-affinity", 92),
    ("s33-drain-and-budget", 21),
    ("s34-proportional-scaling", 66),
    ("s35-rollover", 25),
    ("s36-min-ready-seconds", 15),
    ("s37-services", 42),
    ("s38-rights", 7),
    ("s39-missing-config", 7),
    ("s40-init-and-sidecar", 11),
    ("s41-claims-and-volumes", 5),
    ("s43-priority-and-preemption", 10),
    ("s44-slow-goodbyes", 5),
    ("s45-adoption", 10),
    ("s47-kubectl-tour", 31),
    ("s48-imperative-commands", 80),
    ("s49-pulling-images", 29),
    ("s50-crashing-containers", 47),
    ("s51-node-limits", 15),
    ("s53-thirty-replicas", 121),
    ("s54-replicaset-alone", 17),
    ("s56-deleting-a-node", 39),
    ("s57-quota-counts", 281),
    ("s58-two-writers", 434),
    ("s60-no-loop-behind-it", 14),
    ("s61-scale-from-zero", 15),
    ("s63-full-quota-rounding", 87),
    ("s65-wrong-neighbours", 22),
    ("s67-fixed-templates", 27),
    ("s69-service-left-behind", 29),
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
    ("s12-crash-loop", 10),
    ("s13-pending-for-cpu", 3),
    ("s16-endpoints-during-a-rollout", 9),
    ("s17-statefulset", 14),
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
const OWN: [(&str, usize); 14] = [
    ("starts", 39),
    ("clock", 17),
    ("cron", 14),
    ("pods", 35),
    ("scheduling", 12),
    ("nodes", 230),
    ("jobs", 27),
    ("sets", 37),
    ("ends", 32),
    ("words", 105),
    ("slips", 75),
    ("storage", 15),
    ("goodbye", 25),
    ("images", 12),
];

/// How many commands of some of them may print something else; of the first two most are right or wrong in their words.
const OWN_OUTPUTS: [(&str, usize); 5] =
    [("words", 2), ("slips", 5), ("storage", 2), ("goodbye", 2), ("images", 4)];

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
        let printed =
            OWN_OUTPUTS.iter().find(|(other, _)| other == name).map_or(usize::MAX, |(_, most)| *most);
        assert!(
            found.parts[0].0 <= printed,
            "{name}: {} commands print something else, at most {printed} may\n{}",
            found.parts[0].0,
            found.blocks
        );
    }
}
