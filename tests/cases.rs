//! The situations of `tests/cases`: each a script with questions in between, which all have to come out as written.
//!
//! A case is a session script (nodes, images, files, steps). Beside the steps of a session it understands:
//! `so: QUESTION` (now, or a list of them); `always: {NAME: QUESTION}` (from now on, after every change) until
//! `enough: NAME`; `prints: REGEX` and `lacks: REGEX` of what the last command wrote; `keep: {NAME: LINE}` remembers
//! what a kubectl line prints, and `same: NAME` or `other: NAME` compares with what it prints now; `alike: [NAME, NAME]`
//! and `apart: [NAME, NAME]` compare two that are kept. `request: {service: NAME, says: REGEX}` sends requests to a
//! Service until one ends like that (with `always: true` each of them does); `blames: {KIND/NAME: KIND/NAME}` asks at which object
//! the chain of causes ends.

use crate::golden;
use kubestep_cluster::{Record, World};
use kubestep_insight::{Gaps, end};
use kubestep_lessons::{
    player::{Observer, Player},
    question::Question,
    script::{Script, ScriptStep, one},
};
use kubestep_model::{Instant, Key, Kind, Service, yaml};
use kubestep_protocol::At;
use regex_lite::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One step of a case.
enum Step {
    Play(Box<ScriptStep>),
    So(Vec<String>),
    Always(String, String),
    Enough(String),
    /// What the last command wrote matches, or does not.
    Prints(String, bool),
    Keep(String, String),
    /// A kept line prints the same, or something else.
    Again(String, bool),
    /// Two kept lines printed the same, or not.
    Both(String, String, bool),
    /// Requests to a Service end like this: one of them, or each.
    Request(String, String, bool),
    /// The gap of an object waits for something at another.
    Blames(String, String),
}

struct Case {
    script: Script,
    steps: Vec<Step>,
}

/// Reads a case. Errors: the step and what is wrong with it.
fn read(text: &str) -> Result<Case, String> {
    let mut value = yaml::read(text).documents.into_iter().next().ok_or("empty")?.value;
    let rows = value["steps"].as_array().cloned().ok_or("steps: a list")?;
    for key in ["case", "title", "test"] {
        value[key].as_str().filter(|t| !t.is_empty()).ok_or(format!("{key} is missing"))?;
    }
    value["steps"] = json!([]);
    let script = Script::read(&yaml::to_yaml(&value))?;
    let steps = rows.iter().enumerate().map(|(i, row)| step(row).map_err(|e| format!("step {i}: {e}")));
    Ok(Case { script, steps: steps.collect::<Result<_, _>>()? })
}

fn step(row: &Value) -> Result<Step, String> {
    let map = row.as_object().ok_or("a step is a map")?;
    let (key, body) = map.iter().next().ok_or("a step has a key")?;
    let text = |v: &Value| v.as_str().map(String::from).ok_or(format!("{key}: a text"));
    let pair = |v: &Value| {
        let entry = v.as_object().and_then(|m: &Map<String, Value>| m.iter().next());
        let (name, value) = entry.ok_or(format!("{key}: a name and a text"))?;
        Ok::<_, String>((name.clone(), text(value)?))
    };
    Ok(match key.as_str() {
        "so" => Step::So(match body {
            Value::Array(list) => list.iter().map(text).collect::<Result<_, _>>()?,
            one => vec![text(one)?],
        }),
        "always" => {
            let (name, question) = pair(body)?;
            Step::Always(name, question)
        }
        "enough" => Step::Enough(text(body)?),
        "prints" => Step::Prints(text(body)?, true),
        "lacks" => Step::Prints(text(body)?, false),
        "keep" => {
            let (name, line) = pair(body)?;
            Step::Keep(name, line)
        }
        "alike" | "apart" => {
            let [a, b] = body.as_array().map_or(&[][..], Vec::as_slice) else {
                return Err(format!("{key}: two names"));
            };
            Step::Both(text(a)?, text(b)?, key == "alike")
        }
        "request" => {
            let all = body["always"].as_bool().unwrap_or(false);
            Step::Request(text(&body["service"])?, text(&body["says"])?, all)
        }
        "blames" => {
            let (object, at) = pair(body)?;
            Step::Blames(object, at)
        }
        "same" => Step::Again(text(body)?, true),
        "other" => Step::Again(text(body)?, false),
        _ => Step::Play(Box::new(one(&row.to_string())?)),
    })
}

/// Looks after every change whether what must always be so still is.
struct Watch {
    gaps: Gaps,
    always: BTreeMap<String, Question>,
    broken: Vec<String>,
    last_change: Instant,
}

impl Observer for Watch {
    fn see(&mut self, world: &World, record: &Record) {
        self.gaps.follow(world, &record.changes);
        let counts = |kind: Kind| !matches!(kind, Kind::Event | Kind::Lease | Kind::Node);
        if record.changes.iter().any(|c| counts(c.key.kind)) {
            self.last_change = world.now();
            for (name, question) in &self.always {
                if self.broken.len() < 3 && !question.holds(world, &self.gaps) {
                    let now = question.now(world, &self.gaps);
                    self.broken.push(format!("{name}: at {:?} it is {now}", world.now()));
                }
            }
        }
    }

    fn last_change(&self) -> Instant {
        self.last_change
    }
}

/// Plays a case; answers what did not come out as written.
fn play(text: &str) -> Result<Vec<String>, String> {
    let case = read(text)?;
    let watch = Watch {
        gaps: Gaps::default(),
        always: BTreeMap::new(),
        broken: vec![],
        last_change: Instant::default(),
    };
    let mut player = Player::new(&case.script, 1, watch, None);
    player.observer.gaps = Gaps::begin(&player.world);
    player.observer.last_change = player.world.now();
    let mut kept = BTreeMap::new();
    let mut wrong = vec![];
    for (i, step) in case.steps.iter().enumerate() {
        let found = go(&mut player, step, &mut kept)?;
        wrong.extend(found.into_iter().map(|text| format!("step {i}: {text}")));
        wrong.extend(player.observer.broken.drain(..).map(|text| format!("step {i}: always {text}")));
        wrong.extend(player.failed.drain(..).map(|text| format!("step {i}: {text}")));
    }
    Ok(wrong)
}

type Kept = BTreeMap<String, (String, String)>;

fn go(player: &mut Player<'_, Watch>, step: &Step, kept: &mut Kept) -> Result<Vec<String>, String> {
    let mut wrong = vec![];
    match step {
        Step::Play(step) => wrong.extend(played(player, step)),
        Step::So(questions) => {
            for text in questions {
                let question = Question::parse(text).map_err(|e| format!("{text}: {e}"))?;
                if !question.holds(&player.world, &player.observer.gaps) {
                    wrong.push(format!(
                        "{text}: it is {}",
                        question.now(&player.world, &player.observer.gaps)
                    ));
                }
            }
        }
        Step::Always(name, text) => {
            let question = Question::parse(text).map_err(|e| format!("{text}: {e}"))?;
            if !question.holds(&player.world, &player.observer.gaps) {
                wrong.push(format!("{name} is not so to begin with: {text}"));
            }
            player.observer.always.insert(name.clone(), question);
        }
        Step::Enough(name) => {
            player.observer.always.remove(name).ok_or(format!("nothing is called {name}"))?;
        }
        Step::Prints(pattern, want) => {
            let (_, out, err) = player.done.last().and_then(|d| d.output.clone()).unwrap_or_default();
            let regex = Regex::new(pattern).map_err(|e| format!("{pattern}: {e}"))?;
            if regex.is_match(&format!("{out}{err}")) != *want {
                wrong.push(format!("{pattern:?}: {out}{err}"));
            }
        }
        Step::Keep(name, line) => {
            let text = printed(player, line)?;
            kept.insert(name.clone(), (line.clone(), text));
        }
        Step::Again(name, want) => {
            let (line, before) = kept.get(name).ok_or(format!("nothing is called {name}"))?.clone();
            let now = printed(player, &line)?;
            if (now == before) != *want {
                wrong.push(format!("{name}: {before:?}, and now {now:?}"));
            }
        }
        Step::Both(a, b, want) => {
            let text = |name| kept.get(name).map(|(_, t)| t).ok_or(format!("nothing is called {name}"));
            let (first, second) = (text(a)?, text(b)?);
            if (first == second) != *want {
                wrong.push(format!("{a} is {first:?}, {b} is {second:?}"));
            }
        }
        Step::Request(service, says, all) => wrong.extend(requests(&player.world, service, says, *all)?),
        Step::Blames(object, at) => {
            let found = end(&player.world, &player.observer.gaps, &key(object)?).map(|(at, _)| at);
            if found != Some(key(at)?) {
                wrong.push(format!("the gap of {object} waits at {found:?}"));
            }
        }
    }
    Ok(wrong)
}

/// `Pod/web-1` in the namespace default.
fn key(text: &str) -> Result<Key, String> {
    let (kind, name) = text.split_once('/').ok_or("KIND/NAME")?;
    let kind = Kind::all().find(|k| k.name() == kind).ok_or(format!("{kind} is no kind"))?;
    Ok(Key::new(kind, "default", name))
}

/// Sends so many requests to a Service.
const REQUESTS: u32 = 20;

fn requests(world: &World, name: &str, says: &str, all: bool) -> Result<Option<String>, String> {
    let service = world.store().get(&key(&format!("Service/{name}"))?).and_then(|o| o.get::<Service>());
    let service = service.ok_or(format!("there is no Service {name}"))?;
    let regex = Regex::new(says).map_err(|e| format!("{says}: {e}"))?;
    let said = (0..REQUESTS).map(|n| kubestep_engine::request(world, service, n).plain(At::default()));
    let said: Vec<String> = said.collect();
    let fits = said.iter().filter(|text| regex.is_match(text)).count();
    let so = if all { fits == said.len() } else { fits > 0 };
    Ok((!so).then(|| format!("{says:?}: {fits} of {REQUESTS}, the last: {}", said.last().map_or("", |s| s))))
}

/// Plays a step of a session. Commands end with 0 unless the step says otherwise.
fn played(player: &mut Player<'_, Watch>, step: &ScriptStep) -> Option<String> {
    let before = player.done.len();
    player.go_on(std::slice::from_ref(step));
    let ended = player.done.get(before..)?.iter().find_map(|done| {
        let (exit, out, err) = done.output.as_ref()?;
        (*exit != step.exit.unwrap_or(0)).then(|| format!("{}: exit {exit}\n{out}{err}", done.command))
    });
    ended.or_else(|| {
        let last = player.done.last()?;
        (last.matched == Some(false)).then(|| format!("{}: not in time", last.command))
    })
}

fn printed(player: &mut Player<'_, Watch>, line: &str) -> Result<String, String> {
    let step = one(&json!({"kubectl": line}).to_string())?;
    if let Some(text) = played(player, &step) {
        return Err(text);
    }
    Ok(player.done.last().and_then(|d| d.output.clone()).map(|(_, out, _)| out).unwrap_or_default())
}

#[test]
fn every_case_comes_out_as_written() {
    let folder = golden::root().join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/cases")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    if let Ok(only) = std::env::var("CASES") {
        files.retain(|f| f.file_stem().is_some_and(|s| only.split(',').any(|o| s.to_string_lossy() == o)));
    }
    let found = golden::on_two_threads(&files, |file| {
        play(&std::fs::read_to_string(file).expect("a case")).unwrap_or_else(|e| vec![e])
    });
    let mut wrong = vec![];
    for (file, found) in files.iter().zip(found) {
        let name = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        wrong.extend(found.into_iter().map(|text| format!("{name}: {text}")));
    }
    println!("{} cases, {} wrong", files.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_case_that_is_not_so_is_noticed() {
    let start = "case: x\ntitle: x\ntest: x\nsteps:\n";
    let wrong = |steps: &str| play(&format!("{start}{steps}")).expect("a case").len();
    assert_eq!(wrong("- so: nodes ready == 3\n"), 0);
    assert_eq!(wrong("- so: nodes ready == 2\n"), 1);
    assert_eq!(wrong("- kubectl: get pods nobody\n"), 1);
    assert_eq!(wrong("- {kubectl: get pods nobody, exit: 1}\n- prints: not found\n- lacks: Running\n"), 0);
    assert_eq!(wrong("- kubectl: get nodes\n- prints: node-9\n"), 1);
    assert_eq!(wrong("- keep: {nodes: get nodes -o name}\n- other: nodes\n"), 1);
    let pod = "- kubectl: run x --image=x\n- wait: 5\n";
    assert!(wrong(&format!("- always: {{none: pods count == 0}}\n{pod}")) > 0);
    assert_eq!(wrong(&format!("- always: {{none: pods count == 0}}\n- enough: none\n{pod}")), 0);
    assert_eq!(wrong("- keep: {a: get nodes}\n- keep: {b: get pods}\n- apart: [a, b]\n- alike: [a, a]\n"), 0);
    assert_eq!(wrong("- keep: {a: get nodes}\n- keep: {b: get pods}\n- alike: [a, b]\n- apart: [a, a]\n"), 2);
    let service = "- kubectl: create service clusterip x --tcp=80\n- wait: 2\n";
    assert_eq!(wrong(&format!("{service}- request: {{service: x, says: refused, always: true}}\n")), 0);
    assert_eq!(wrong(&format!("{service}- request: {{service: x, says: answered}}\n")), 1);
    assert_eq!(wrong("- blames: {Node/node-1: Node/node-1}\n"), 1);
    assert!(play(&format!("{start}- so: pods\n")).is_err());
    assert!(play("steps: []\n").is_err());
}
