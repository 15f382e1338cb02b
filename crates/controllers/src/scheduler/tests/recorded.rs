//! Each recorded case of the real scheduler's functions.

use super::super::vectors;
use serde_json::Value;
use std::{fs, path::Path};

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/vectors/{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut file: Value = serde_json::from_str(&text).expect("a vector file is JSON");
    match file["cases"].take() {
        Value::Array(cases) => cases,
        other => panic!("no cases in {name}: {other}"),
    }
}

fn differing(name: &str) -> (usize, Vec<String>) {
    let cases = cases(name);
    let wrong = cases.iter().enumerate().filter_map(|(i, case)| {
        let ours = vectors::run(name, &case["in"]).unwrap_or_default();
        (ours != case["out"]).then(|| format!("{name} {i}:\n  real {}\n  ours {ours}", case["out"]))
    });
    let wrong = wrong.collect::<Vec<_>>();
    (cases.len(), wrong)
}

fn at_least(name: &str, floor: usize) {
    let (all, wrong) = differing(name);
    println!("{name}: {} of {all}", all - wrong.len());
    assert!(
        all - wrong.len() >= floor,
        "{} of {all}, at least {floor} expected:\n{}",
        all - wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn scheduler_filters() {
    at_least("scheduler-filters", 129);
}

#[test]
fn scheduler_scores() {
    at_least("scheduler-scores", 96);
}
