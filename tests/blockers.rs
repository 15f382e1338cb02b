//! Every blocker that Why can name is proved by forking the world: its remedy closes the gap, and two others do not.

use crate::golden;
use kubestep_cluster::World;
use kubestep_insight::{Code, Gaps, Said, end, why};
use kubestep_lessons::{
    player::start_of,
    script::{Script, ScriptStep},
    stage::{Bare, Files, perform, run_while},
};
use kubestep_model::{Key, Kind, yaml};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

const IMAGES: &str = r#"{
    "registry.example.com/app:1": {"pullSeconds": 1},
    "registry.example.com/app:3": {"pullSeconds": 1},
    "registry.example.com/slow:1": {"pullSeconds": 60},
    "registry.example.com/ends:1": {"pullSeconds": 1, "exit": 0, "afterSeconds": 2},
    "registry.example.com/fails:1": {"pullSeconds": 1, "exit": 1, "afterSeconds": 1},
    "registry.example.com/stays:1": {"pullSeconds": 1, "ignoresTerm": true}}"#;

struct Row {
    name: String,
    code: String,
    key: Key,
    steps: Vec<ScriptStep>,
    remedy: (String, Vec<ScriptStep>),
    others: Vec<(String, Vec<ScriptStep>)>,
    within: Duration,
    others_within: Duration,
    /// Who says so: where, and by whom it was written.
    says: String,
    script: Script,
}

fn steps(value: &Value) -> Vec<ScriptStep> {
    let text = yaml::to_yaml(&json!({"steps": value}));
    Script::read(&text).unwrap_or_else(|e| panic!("{e}: {text}")).steps
}

fn row(value: &Value, remedies: &Value) -> Row {
    let text = |key: &str| value[key].as_str().unwrap_or_else(|| panic!("{key}: {value}")).to_owned();
    let (kind, name) = value["object"].as_str().and_then(|o| o.split_once('/')).expect("Kind/name");
    let kind = Kind::all().find(|k| k.name() == kind).expect("a kind");
    let namespace = if kind.namespaced() { "default" } else { "" };
    let named = |name: &str| (name.to_owned(), steps(&remedies[name]));
    let span = |key: &str| value[key].as_u64().map(Duration::from_secs);
    let images: Value = serde_json::from_str(IMAGES).expect("plain");
    let script = json!({"files": value["files"], "images": images, "steps": []});
    let within = span("within").expect("within");
    Row {
        name: text("name"),
        code: text("code"),
        key: Key::new(kind, namespace, name),
        steps: steps(&value["steps"]),
        remedy: named(&text("remedy")),
        others: value["others"]
            .as_array()
            .expect("others")
            .iter()
            .filter_map(Value::as_str)
            .map(named)
            .collect(),
        within,
        others_within: span("others-within").unwrap_or(within),
        says: text("says"),
        script: Script::read(&yaml::to_yaml(&script)).expect("a script"),
    }
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(golden::root().join("tests/blockers.yaml")).expect("the table");
    let value = yaml::read(&text).documents.into_iter().next().expect("a document").value;
    value["rows"].as_array().expect("rows").iter().map(|r| row(r, &value["remedies"])).collect()
}

/// Tries something in a copy of a world; whether the gap closed in time, and what it waits for if not.
fn closes(
    world: &World,
    gaps: &Gaps,
    key: &Key,
    steps: &[ScriptStep],
    files: &Files,
    within: Duration,
) -> (bool, String) {
    let mut sees = |_: &World, _: &Gaps, _: Option<&kubestep_cluster::Record>| {};
    let mut fork = Bare { world: world.clone(), gaps: gaps.clone(), sees: &mut sees };
    let mut files = files.clone();
    for step in steps {
        if let Err(why) = perform(&mut fork, step, &mut files) {
            return (false, why);
        }
    }
    let until = fork.world.now() + within;
    let closed = run_while(&mut fork, until, &mut |s| s.gaps().get(key).is_some());
    (closed, format!("{:?}", end(&fork.world, &fork.gaps, key)))
}

/// Who says so, as the page quotes it: the last of the chain that does.
fn says(world: &World, gaps: &Gaps, key: &Key) -> String {
    let links = why(world, gaps, key);
    let Some(link) = links.iter().rev().find(|l| l.said != Said::Nobody) else { return "nobody".into() };
    let who = link.writer.as_ref().map_or("?", |(who, _)| who);
    // Drawn by lot, and no part of what is said.
    let who = if who.starts_with("kubelet ") { "kubelet" } else { who };
    match &link.said {
        Said::Field(key, path, _) => format!("{} {path}, {who}", key.kind.name()),
        Said::Event(key, reason, _) => format!("event {reason} about {}, {who}", key.kind.name()),
        Said::Nobody => "nobody".into(),
    }
}

/// What is not as the row says.
fn judge(row: &Row) -> Vec<String> {
    let world = World::boot(&start_of(&row.script, 1));
    let gaps = Gaps::begin(&world);
    let mut sees = |_: &World, _: &Gaps, _: Option<&kubestep_cluster::Record>| {};
    let mut stage = Bare { world, gaps, sees: &mut sees };
    let mut files = row.script.files.clone();
    let mut wrong = vec![];
    for step in &row.steps {
        wrong.extend(perform(&mut stage, step, &mut files).err());
    }
    let Bare { world, gaps, .. } = stage;
    let found = end(&world, &gaps, &row.key).map(|(_, blocker)| blocker);
    if found.as_ref().map(|b| b.full_code().text()) != Some(&*row.code) {
        wrong.push(format!("{} is wanted, Why says {found:?}", row.code));
    }
    let says = says(&world, &gaps, &row.key);
    if says != row.says {
        wrong.push(format!("{} says so, not {}", says, row.says));
    }
    let (name, steps) = &row.remedy;
    let (closed, left) = closes(&world, &gaps, &row.key, steps, &files, row.within);
    if !closed {
        wrong.push(format!("{name} does not close it: {left}"));
    }
    for (name, steps) in &row.others {
        if closes(&world, &gaps, &row.key, steps, &files, row.others_within).0 {
            wrong.push(format!("{name} closes it, too"));
        }
    }
    wrong.into_iter().map(|text| format!("{}: {text}", row.name)).collect()
}

#[test]
fn the_remedy_of_each_blocker_closes_its_gap_and_two_others_do_not() {
    let mut rows = rows();
    if let Ok(only) = std::env::var("BLOCKERS") {
        rows.retain(|r| r.name.contains(&only) || r.code.contains(&only));
    }
    assert!(rows.iter().all(|r| r.others.len() == 2));
    let wrong: Vec<String> = golden::on_two_threads(&rows, judge).into_iter().flatten().collect();
    println!("{} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_has_every_blocker() {
    let proved: BTreeSet<String> = rows().into_iter().map(|r| r.code).collect();
    let all: BTreeSet<String> = Code::ALL.iter().map(|c| c.text().to_owned()).collect();
    println!("{} of {} blockers are proved", proved.intersection(&all).count(), all.len());
    assert_eq!(proved, all);
}
