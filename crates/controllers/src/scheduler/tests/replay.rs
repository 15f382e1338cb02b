//! Recorded sessions, told to the scheduler change by change: it must find the nodes and the words that the real
//! one found. Where the real one drew another of equal nodes, its draw is taken over.

use super::super::{Scheduler, Timer};
use kubestep_control::{Agent, AgentCx, Change, Input, Out, Ticket, View};
use kubestep_model::{Answer, Dice, Instant, Key, Kind, Object, Pod, Time, Verb, yaml::yaml_to_json};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::Path,
    sync::Arc,
};

const BASE: i64 = 946_684_800;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/golden/sessions/{name}"));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// `T+12.3s` as a time of the API.
#[allow(clippy::cast_possible_truncation)]
fn read_times(value: &mut Value) {
    match value {
        Value::String(text) => {
            let offset = text.strip_prefix('T').and_then(|t| t.strip_suffix('s'));
            if let Some(offset) = offset.and_then(|t| t.parse::<f64>().ok()) {
                *value = Time(BASE + offset.floor() as i64).to_string().into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(read_times),
        Value::Object(map) => map.values_mut().for_each(read_times),
        _ => {}
    }
}

fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return into.clone_from(patch) };
    if !into.is_object() {
        *into = json!({});
    }
    let Some(map) = into.as_object_mut() else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
fn instant(at: &Value) -> Instant {
    Instant(BASE * 1_000_000_000 + (at.as_f64().unwrap_or(0.0) * 1e9) as i64)
}

struct Play {
    scheduler: Scheduler,
    view: View,
    now: Instant,
    dice: Dice,
    next_ticket: Ticket,
    timers: BTreeMap<Timer, Instant>,
    /// Where the real scheduler put each pod, by name.
    real: BTreeMap<String, VecDeque<Arc<str>>>,
    /// What ours said, by pod: the kind of event and its text.
    said: BTreeMap<String, Vec<(String, String)>>,
    merged: BTreeSet<(Arc<str>, String, String)>,
    /// Placements that the real scheduler's are not among.
    misplaced: Vec<String>,
    placed: usize,
}

impl Play {
    fn tell(&mut self, input: Input<Timer>) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let (now, view) = (self.now, self.view.clone());
            let out =
                Out { asks: vec![], timers: BTreeMap::new(), orders: vec![], events: vec![], notes: vec![] };
            let mut cx =
                AgentCx { now, view: &view, dice: &mut self.dice, next_ticket: &mut self.next_ticket, out };
            self.scheduler.on(&mut cx, input);
            let out = cx.out;
            for (timer, at) in out.timers {
                match at {
                    Some(at) => drop(self.timers.insert(timer, at)),
                    None => drop(self.timers.remove(&timer)),
                }
            }
            for event in out.events {
                // The recorder merges what is said again of the same state of an object.
                let seen = (event.regarding.uid, event.regarding.resource_version, event.reason.clone());
                if self.merged.insert(seen) {
                    let text = if event.reason == "Scheduled" { String::new() } else { event.message };
                    self.said.entry(event.regarding.name.to_string()).or_default().push((event.reason, text));
                }
            }
            for (ticket, request) in out.asks {
                if let Verb::Bind { pod, uid, node } = &request.verb {
                    self.check(pod, uid, node);
                }
                let reply = Ok(Answer::Json { value: Arc::new(Value::Null), warnings: vec![] });
                inputs.push_back(Input::Answered { ticket, request, reply });
            }
        }
    }

    fn check(&mut self, pod: &Key, uid: &Arc<str>, node: &Arc<str>) {
        let Some(real) = self.real.get_mut(&*pod.name).and_then(VecDeque::pop_front) else { return };
        self.placed += 1;
        let attempt = self.scheduler.attempts(uid).last().cloned();
        let Some(attempt) = attempt else { return self.misplaced.push(format!("{pod:?}: nothing kept")) };
        if *node != real && !attempt.tied.contains(&real) {
            self.misplaced.push(format!("{pod:?}: really {real}, ours {node}: {}", attempt.verdicts()));
        }
        let info = self.scheduler.cache.placed(uid).map(|p| p.pod.clone());
        if let Some(info) = info {
            let mut pod = Pod::clone(&info.pod);
            pod.spec.node_name = real.clone();
            self.scheduler.cache.place(
                &real,
                Arc::new(super::super::node_info::PodInfo::new(Arc::new(pod))),
                true,
            );
        }
    }

    fn until(&mut self, at: Instant) {
        for _ in 0..100_000 {
            let due = self.timers.iter().map(|(t, at)| (*at, t.clone())).min().filter(|(due, _)| *due <= at);
            let Some((due, timer)) = due else { break };
            self.timers.remove(&timer);
            self.now = self.now.max(due);
            self.tell(Input::Due(timer));
        }
        self.now = at;
    }

    fn change(&mut self, key: &Key, new: Option<Object>) {
        let old = self.view.apply(key, new.clone());
        self.tell(Input::Changed(Change { key: key.clone(), old, new }));
    }
}

fn first_nodes(session: &Value) -> Vec<Value> {
    let default = json!([{ "name": "node-1" }, { "name": "node-2" }, { "name": "node-3" }]);
    let nodes = session.get("nodes").unwrap_or(&default);
    let of = |node: &Value| {
        let or = |name: &str, default: Value| node.get(name).cloned().unwrap_or(default);
        let amounts = json!({ "cpu": or("cpu", "4".into()).as_str().map_or_else(|| or("cpu", "4".into()).to_string(), str::to_owned),
            "memory": or("memory", "8Gi".into()), "pods": or("pods", 110.into()).to_string() });
        let mut labels = json!({ "kubernetes.io/hostname": node["name"], "kubernetes.io/os": "linux" });
        merge(&mut labels, &or("labels", json!({})));
        json!({ "metadata": { "name": node["name"], "labels": labels, "uid": format!("uid-{}", node["name"]) },
            "spec": { "taints": or("taints", json!([])) },
            "status": { "allocatable": amounts, "capacity": amounts } })
    };
    nodes.as_array().into_iter().flatten().map(of).collect()
}

fn play(name: &str) -> (Play, Value) {
    let mut recording: Value =
        serde_json::from_str(&file(&format!("{name}.json"))).expect("a recording is JSON");
    read_times(&mut recording["changes"]);
    let session = yaml_to_json(&file(&format!("{name}.yaml")), false).expect("a session is YAML");
    let mut play = Play {
        scheduler: Scheduler::new(),
        view: View::default(),
        now: Instant(BASE * 1_000_000_000),
        dice: Dice::new(1),
        next_ticket: 0,
        timers: BTreeMap::new(),
        real: BTreeMap::new(),
        said: BTreeMap::new(),
        merged: BTreeSet::new(),
        misplaced: vec![],
        placed: 0,
    };
    for node in first_nodes(&session) {
        let node = Object::from_value(Kind::Node, node).expect("a node");
        play.view.apply(&node.key(), Some(node));
    }
    for event in recording["events"].as_array().into_iter().flatten().filter(|e| e["reason"] == "Scheduled") {
        let pod = event["regarding"].as_str().unwrap_or("").trim_start_matches("Pod/").to_owned();
        let node = event["message"].as_str().and_then(|m| m.rsplit(' ').next()).unwrap_or("");
        play.real.entry(pod).or_default().push_back(node.into());
    }
    play.tell(Input::Started);
    let mut raw: BTreeMap<Key, Value> = BTreeMap::new();
    for change in recording["changes"].as_array().into_iter().flatten() {
        let text = |name: &str| change[name].as_str().unwrap_or("");
        let Some(kind) = super::super::WATCHES.iter().find(|k| k.name() == text("kind")) else { continue };
        let key = Key::new(*kind, text("namespace"), text("name"));
        play.until(instant(&change["at"]));
        if change["type"] == "DELETED" {
            raw.remove(&key);
            play.change(&key, None);
            continue;
        }
        let value = raw.entry(key.clone()).or_insert(Value::Null);
        match change.get("object") {
            Some(object) => value.clone_from(object),
            None => merge(value, &change["patch"]),
        }
        let object = Object::from_value(*kind, value.clone()).expect("a recorded object decodes");
        play.change(&key, Some(object));
    }
    (play, recording)
}

/// The texts of both, by pod, where they differ.
fn compare(name: &str) -> (usize, usize, Vec<String>) {
    let (play, recording) = play(name);
    let mut real: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for event in
        recording["events"].as_array().into_iter().flatten().filter(|e| e["from"] == "default-scheduler")
    {
        let text = |name: &str| event[name].as_str().unwrap_or("").to_owned();
        let (reason, message) = (text("reason"), text("message"));
        let text_of = if reason == "Scheduled" { String::new() } else { message };
        if event["count"] == 1 {
            let said = real.entry(text("regarding").trim_start_matches("Pod/").to_owned()).or_default();
            said.push((reason, text_of));
        }
    }
    let mut wrong = play.misplaced.clone();
    let mut pods = 0;
    for pod in real.keys().chain(play.said.keys()).collect::<BTreeSet<_>>() {
        pods += 1;
        let (theirs, ours) = (real.get(pod), play.said.get(pod));
        if theirs != ours {
            wrong.push(format!("{pod}:\n  real {theirs:?}\n  ours {ours:?}"));
        }
    }
    (pods, play.placed, wrong)
}

/// Sessions that cannot come out equal: a binding that the API server refused, a draw among victims, and pods
/// that were placed at once in an order that the recording does not show.
const EXCEPTIONS: [&str; 3] =
    ["s05-overlapping-selectors", "s43-priority-and-preemption", "s56-deleting-a-node"];

#[test]
fn recorded_sessions() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/sessions");
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{dir}: {e}"))
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    let (mut pods, mut placed, mut differing) = (0, 0, vec![]);
    for name in names.iter().filter(|name| !EXCEPTIONS.contains(&name.as_str())) {
        let (of_pods, of_placed, wrong) = compare(name);
        pods += of_pods;
        placed += of_placed;
        differing.extend(wrong.iter().map(|text| format!("{name}: {text}")));
    }
    println!("{pods} pods of {} sessions, {placed} placed, {} differ", names.len(), differing.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(placed > 100, "only {placed} placed");
}
