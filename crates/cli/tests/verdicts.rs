//! Every recorded case, with kubectl's real commands in a real world: code, output, requests, warnings and what is stored.

use kubestep_cli::verdicts;

/// The areas, and how many of their cases have to be met in every part. Floors only rise.
const AREAS: [(&str, usize); 11] = [
    ("batch", 63),
    ("config", 37),
    ("deployment", 132),
    ("metadata", 65),
    ("pod", 39),
    ("policy", 79),
    ("sequences", 58),
    ("service", 57),
    ("stateful", 40),
    ("storage", 30),
    ("typos", 137),
];

#[test]
fn recorded_verdicts_are_met_in_every_part() {
    let text = |file: String| {
        let path = format!("{}/../../tests/golden/verdicts/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the recording is there")
    };
    let mut short = vec![];
    for (area, floor) in AREAS {
        let corpus = text(format!("{area}.yaml"));
        let ours = verdicts::judge(&corpus, None).expect("the corpus is read");
        let found =
            verdicts::against_recorded(&corpus, &text(format!("{area}.json")), &ours).expect("a record");
        println!("verdicts of {area}: {} of {}", found.equal, found.all);
        if found.equal < floor {
            let names: Vec<&str> = found.different.iter().map(|(name, _)| name.as_str()).collect();
            short.push(format!(
                "{area}: {} of {}, at least {floor} before: {names:?}",
                found.equal, found.all
            ));
        }
    }
    assert!(short.is_empty(), "{short:#?}");
}

/// Kinds that people define: recorded for this project in the same way.
#[test]
fn recorded_verdicts_on_definitions_are_met_in_every_part() {
    meets_own("definitions");
}

/// Devices, admission policies, certificates, statuses, warnings beside refusals: recorded in the same way.
#[test]
fn recorded_verdicts_on_newer_kinds_and_statuses_are_met_in_every_part() {
    meets_own("newer");
}

/// What may not change, many faults at once, patches, approvals: recorded in the same way.
#[test]
fn recorded_verdicts_on_faults_and_changes_are_met_in_every_part() {
    meets_own("edges");
}

fn meets_own(area: &str) {
    let text = |ext: &str| {
        let path = format!("{}/../../tests/golden/own/{area}.{ext}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the recording is there")
    };
    let corpus = text("yaml");
    let ours = verdicts::judge(&corpus, None).expect("the corpus is read");
    let found = verdicts::against_recorded(&corpus, &text("json"), &ours).expect("a record");
    assert!(found.all > 15 && found.different.is_empty(), "{:#?}", found.different);
}
