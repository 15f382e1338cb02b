//! The comparison held to its promises, on recordings of the real thing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::mutate::{Dice, mutate};
use super::printed::contradictions;
use super::recording::{Recording, read};
use super::report::Report;
use super::table::{Allow, TABLE};
use super::view::View;
use super::{Scope, against, compare};

const EVERYTHING: Scope = Scope { only: None, allow: Allow::everything() };

fn json(folder: &str, session: &str) -> Value {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    read(&golden.join(folder).join(format!("{session}.json"))).expect("a recording")
}

fn pair(session: &str) -> (Recording, Recording) {
    let recording = |folder| Recording::parse(&json(folder, session)).expect("a recording");
    (recording("sessions"), recording("twins"))
}

fn shown(report: &Report) -> String {
    format!("{}{}", report.blocks(), report.summary())
}

#[test]
fn a_recording_equals_itself_and_the_twin_its_twin() {
    for session in
        ["s01-missing-tag", "s13-pending-for-cpu", "s15-service-typo", "s26-restart-and-annotations"]
    {
        let (golden, twin) = pair(session);
        for report in [
            compare(&golden, &golden, None, EVERYTHING),
            compare(&golden, &golden, Some(&twin), EVERYTHING),
            compare(&golden, &twin, Some(&twin), EVERYTHING),
        ] {
            assert!(!report.differs(), "{session}\n{}", shown(&report));
        }
    }
}

#[test]
fn every_row_of_the_table_is_needed_by_its_pair() {
    let mut whole: BTreeMap<&str, usize> = BTreeMap::new();
    for row in TABLE {
        let (golden, twin) = pair(row.pair);
        let differing = |allow| compare(&golden, &twin, None, Scope { only: None, allow }).total().differ;
        let with = *whole.entry(row.pair).or_insert_with(|| differing(Allow::everything()));
        let without = differing(Allow::everything().without(row.may));
        assert!(without > with, "{:?}: {with} differ with the row, {without} without it", row.may);
    }
}

#[test]
fn other_suffixes_and_addresses_are_no_difference() {
    let whole = json("sessions", "s01-missing-tag");
    let golden = Recording::parse(&whole).expect("a recording");
    let mut text = whole.to_string();
    let pods: BTreeSet<String> =
        golden.lives.keys().filter(|i| i.kind == "Pod").map(|i| i.name.clone()).collect();
    for (i, name) in pods.iter().enumerate() {
        let suffix = ["zz9zz", "44444", "mmmmm", "ccccc", "b2b2b", "xwxwx", "ttttt"][i];
        text = text.replace(name, &format!("{}{suffix}", &name[..name.len() - 5]));
    }
    text = text.replace("10.244.1.", "10.244.7.").replace("10.96.", "10.97.");
    let renamed = Recording::parse(&serde_json::from_str(&text).expect("json")).expect("a recording");
    let report = compare(&golden, &renamed, None, EVERYTHING);
    assert!(!report.differs(), "{}", shown(&report));
}

#[test]
fn names_are_mapped_one_to_one() {
    let whole = json("sessions", "s01-missing-tag");
    let golden = Recording::parse(&whole).expect("a recording");
    let mut names = golden.lives.keys().filter(|i| i.kind == "Pod").map(|i| i.name.clone());
    let (one, other) = (names.next().expect("a pod"), names.next().expect("a pod"));
    let mut changed = whole.clone();
    let steps = changed["steps"].as_array_mut().expect("steps");
    let step = steps
        .iter_mut()
        .find(|s| s["stdout"].as_str().is_some_and(|text| text.contains(&one)))
        .expect("a table");
    step["stdout"] = step["stdout"].as_str().expect("a text").replacen(&one, &other, 1).into();
    let report = compare(&golden, &Recording::parse(&changed).expect("a recording"), None, EVERYTHING);
    assert_eq!(report.total().differ, 1, "{}", shown(&report));
}

#[test]
fn real_tables_say_what_the_objects_were() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/sessions");
    let (mut rows, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(golden).expect("recordings").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let recording = Recording::open(&path).expect("a recording");
        for step in &recording.steps {
            rows += step.stdout.lines().count();
            let found = contradictions(&recording, step);
            wrong.extend(
                found.into_iter().map(|wrong| format!("{} {}: {wrong}", path.display(), step.command)),
            );
        }
    }
    assert!(rows > 1_000 && wrong.is_empty(), "of {rows} lines\n{}", wrong.join("\n"));
}

/// Of a thousand seeded single changes at least 990 are noticed, with the twin and without.
#[test]
fn single_changes_are_noticed() {
    let sessions = ["s04-relabel-a-pod", "s14-unmet-wishes", "s15-service-typo"];
    let (mut made, mut missed) = (0, Vec::new());
    let mut dice = Dice(2026);
    for session in sessions {
        let whole = json("sessions", session);
        let (golden, twin) = pair(session);
        let theirs = View::golden(&golden, EVERYTHING.allow);
        let second = View::of(&twin, &golden, EVERYTHING.allow);
        for i in 0..CHANGES / sessions.len() {
            let mut changed = whole.clone();
            let Some(told) = mutate(&mut changed, &mut dice) else { continue };
            made += 1;
            let ours = Recording::parse(&changed).expect("a recording");
            let twin = (i % 2 == 0).then_some(&second);
            if !against(&theirs, &ours, twin, EVERYTHING).differs() {
                missed.push(format!("{session}: {told}"));
            }
        }
    }
    assert!(made >= CHANGES * 9 / 10, "only {made} changes were made");
    assert!(missed.len() * 100 <= made, "{} of {made} are missed:\n{}", missed.len(), missed.join("\n"));
}

const CHANGES: usize = 150;
