//! Every recorded case of every vector that this crate answers must come out equal.

use super::run;
use serde_json::Value;

/// Runs all cases of one recorded vector and demands that each is equal.
fn all_equal(name: &str) {
    let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path);
    let cases = recorded["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty(), "{name} holds no case");
    let mut wrong = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let got = run(name, &case["in"]).expect("a known vector");
        if got != case["out"] {
            wrong.push(format!("case {i}: {}\nwant {}\ngot  {got}", case["in"], case["out"]));
        }
    }
    let equal = cases.len() - wrong.len();
    assert!(
        wrong.is_empty(),
        "{name}: {equal} of {}\n{}",
        cases.len(),
        wrong[..wrong.len().min(4)].join("\n\n")
    );
}

macro_rules! vectors {
    ($($test:ident: $name:literal,)*) => { $(
        #[test]
        fn $test() {
            all_equal($name);
        }
    )* };
}

vectors! {
    deployment_active_or_latest: "deployment-active-or-latest",
    deployment_fenceposts: "deployment-fenceposts",
    deployment_maxima: "deployment-maxima",
    deployment_new_rs_replicas: "deployment-new-rs-replicas",
    deployment_progress: "deployment-progress",
    deployment_proportion: "deployment-proportion",
    deployment_proportional_scale: "deployment-proportional-scale",
    deployment_rolling_step: "deployment-rolling-step",
    deployment_sync: "deployment-sync",
    deployment_timed_out: "deployment-timed-out",
    pod_available: "pod-available",
    pod_deletion_order: "pod-deletion-order",
    disruption_budget: "disruption-budget",
    replicaset_scale_down: "replicaset-scale-down",
    replicaset_sync: "replicaset-sync",
}

#[test]
fn an_unknown_name_and_an_odd_input_are_answered() {
    assert_eq!(run("nothing", &Value::Null), None);
    for name in
        ["deployment-maxima", "deployment-sync", "replicaset-sync", "replicaset-scale-down", "pod-available"]
    {
        assert!(run(name, &Value::Null).is_some(), "{name}");
    }
}

/// Every note of every recorded pass has a sentence, and a value for each name in it.
#[test]
fn notes_fill_their_sentences() {
    let mut seen = std::collections::BTreeSet::new();
    for (name, main, others) in [
        ("deployment-sync", "deployment", &["replicaSets", "pods"][..]),
        ("replicaset-sync", "replicaSet", &["pods"][..]),
    ] {
        let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let recorded: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path);
        for case in recorded["cases"].as_array().expect("cases") {
            for note in super::passes::over_objects(&case["in"], main, others).expect("a pass").notes {
                let sentence =
                    crate::sentences::SENTENCES.iter().find(|s| s.code == note.code).expect(note.code);
                let mut text = sentence.text.to_owned();
                for (name, value) in &note.about {
                    text = text.replace(&format!("{{{name}}}"), value);
                }
                assert!(
                    !text.contains('{') || note.about.iter().any(|(_, v)| v.contains('{')),
                    "{}: {text}",
                    note.code
                );
                seen.insert(note.code);
            }
        }
    }
    assert!(seen.len() > 25, "the passes are about {seen:?}");
}
