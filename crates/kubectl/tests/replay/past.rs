//! The state of a recording at any of its moments, and the answers that it gives to requests.

use crate::text::{absolute, same};
use kubestep_kubectl::Kubectl;
use kubestep_model::{
    Answer, Instant, Kind, Object, Reply, Request, Status, Subresource, Verb,
    client::{Chunk, Client, ClientAsk, ClientTold, ClientTurn, WatchEvent},
};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Kind, namespace, name.
pub(crate) type Name = (String, String, String);

struct Change {
    at: f64,
    name: Name,
    /// The object after the change; None if it is gone.
    object: Option<Arc<Object>>,
    before: bool,
}

pub(crate) struct Past {
    changes: Vec<Change>,
    /// Objects that were there all the time.
    always: BTreeMap<Name, Arc<Object>>,
    /// Objects of which the state before their first change is not known.
    unknown: BTreeMap<Name, f64>,
    pub(crate) events: Vec<(f64, Name, Arc<Object>)>,
}

fn name_of(value: &Value) -> Name {
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("namespace"), text("name"))
}

fn object(kind: &str, value: &Value) -> Option<Arc<Object>> {
    let kind = Kind::all().find(|k| k.name() == kind)?;
    Some(Arc::new(Object::from_value(kind, absolute(value)).expect("a recorded object can be read")))
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let map = target.as_object_mut().expect("it is a map");
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

impl Past {
    pub(crate) fn of(recording: &Value) -> Past {
        let mut now: BTreeMap<Name, Value> = BTreeMap::new();
        let mut past =
            Past { changes: vec![], always: BTreeMap::new(), unknown: BTreeMap::new(), events: vec![] };
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        for change in recording["changes"].as_array().expect("there are changes") {
            let name = name_of(change);
            let at = change["at"].as_f64().unwrap_or_default();
            let first = seen.insert(name.clone());
            if first && change["type"] != "ADDED" {
                past.unknown.insert(name.clone(), at);
            }
            let before = now.contains_key(&name);
            if change["type"] == "DELETED" {
                now.remove(&name);
                past.changes.push(Change { at, name, object: None, before });
                continue;
            }
            let value = now.entry(name.clone()).or_insert(Value::Null);
            if change["object"].is_null() {
                merge(value, &change["patch"])
            } else {
                *value = change["object"].clone()
            }
            let object = object(&name.0, value);
            past.changes.push(Change { at, name, object, before });
        }
        for value in recording["final"].as_array().expect("there is an end") {
            let meta = &value["metadata"];
            let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
            let name = (text(&value["kind"]), text(&meta["namespace"]), text(&meta["name"]));
            if !seen.contains(&name)
                && let Some(object) = object(&name.0, value)
            {
                past.always.insert(name, object);
            }
        }
        past.changes.sort_by(|a, b| a.at.total_cmp(&b.at));
        past.add_leases();
        past.add_kubernetes();
        past.read_events(recording);
        past
    }

    /// The service of the API server itself, which is there before any session.
    fn add_kubernetes(&mut self) {
        let meta = |more: Value| {
            let mut meta =
                json!({"name": "kubernetes", "namespace": "default", "creationTimestamp": "T-10.0s"});
            merge(&mut meta, &more);
            meta
        };
        let address = json!([{"addresses": ["172.18.0.2"], "conditions": {"ready": true}}]);
        let labels = json!({"labels": {"kubernetes.io/service-name": "kubernetes"}});
        let port = json!([{"name": "https", "port": 6443, "protocol": "TCP"}]);
        let objects = [
            (
                "Service",
                json!({
                    "metadata": meta(json!({})),
                    "spec": {"clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"], "type": "ClusterIP",
                        "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]},
                }),
            ),
            (
                "EndpointSlice",
                json!({"metadata": meta(labels), "addressType": "IPv4", "endpoints": address, "ports": port}),
            ),
            (
                "Endpoints",
                json!({
                    "metadata": meta(json!({})),
                    "subsets": [{"addresses": [{"ip": "172.18.0.2"}], "ports": port}],
                }),
            ),
        ];
        for (kind, value) in objects {
            let name = (kind.to_owned(), "default".to_owned(), "kubernetes".to_owned());
            self.always.extend(object(kind, &value).map(|o| (name, o)));
        }
    }

    /// Leases of the nodes, which the recordings leave out. When they were renewed is not compared.
    fn add_leases(&mut self) {
        let all = self.always.keys().chain(self.changes.iter().map(|c| &c.name));
        let nodes: BTreeSet<String> = all.filter(|n| n.0 == "Node").map(|n| n.2.clone()).collect();
        for node in nodes {
            let lease = json!({
                "metadata": {"name": node, "namespace": "kube-node-lease"},
                "spec": {"holderIdentity": node, "renewTime": "T+0.000000s"},
            });
            let name = ("Lease".to_owned(), "kube-node-lease".to_owned(), node);
            self.always.extend(object("Lease", &lease).map(|lease| (name, lease)));
        }
    }

    /// The state of an object at a moment, or its first one after it.
    pub(crate) fn find_at(&self, kind: &str, namespace: &str, name: &str, at: f64) -> Option<Arc<Object>> {
        let wanted = |c: &&Change| {
            c.name.0 == kind
                && c.name.2 == name
                && (c.name.1 == namespace || c.name.1.is_empty())
                && c.object.is_some()
        };
        let before = self.changes.iter().rev().filter(|c| c.at <= at).find(wanted);
        let found = before.or_else(|| self.changes.iter().find(wanted)).and_then(|c| c.object.clone());
        found.or_else(|| self.find(kind, namespace, name))
    }

    /// The last state of an object.
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<Object>> {
        let wanted = |n: &Name| n.0 == kind && n.2 == name && (n.1 == namespace || n.1.is_empty());
        let changed = self.changes.iter().rev().find(|c| wanted(&c.name) && c.object.is_some());
        let changed = changed.and_then(|c| c.object.clone());
        changed.or_else(|| self.always.iter().find(|(n, _)| wanted(n)).map(|(_, o)| o.clone()))
    }

    /// All objects of a kind at a moment.
    fn state(&self, kind: Kind, at: f64) -> Vec<Arc<Object>> {
        let mut now: BTreeMap<(String, String), Arc<Object>> = BTreeMap::new();
        if kind == Kind::Event {
            for (_, name, object) in self.events.iter().filter(|(when, _, _)| *when <= at) {
                now.insert((name.1.clone(), name.2.clone()), object.clone());
            }
            return now.into_values().collect();
        }
        for (name, object) in self.always.iter().filter(|(n, _)| n.0 == kind.name()) {
            now.insert((name.1.clone(), name.2.clone()), object.clone());
        }
        for (name, first) in self.unknown.iter().filter(|(n, first)| n.0 == kind.name() && **first > at) {
            // Better the state after the first change than none.
            if let Some(change) = self.changes.iter().find(|c| c.name == *name && c.at >= *first)
                && let Some(object) = &change.object
            {
                now.insert((name.1.clone(), name.2.clone()), object.clone());
            }
        }
        for change in self.changes.iter().filter(|c| c.name.0 == kind.name() && c.at <= at) {
            let key = (change.name.1.clone(), change.name.2.clone());
            match &change.object {
                Some(object) => now.insert(key, object.clone()),
                None => now.remove(&key),
            };
        }
        now.into_values().collect()
    }

    /// An object at a moment.
    pub(crate) fn named(&self, kind: &str, namespace: &str, name: &str, at: f64) -> Option<Object> {
        let kind = Kind::all().find(|k| k.name() == kind)?;
        let fits = |o: &Arc<Object>| {
            *o.meta().name == *name && (o.meta().namespace.is_empty() || *o.meta().namespace == *namespace)
        };
        self.state(kind, at).into_iter().find(fits).map(|o| (*o).clone())
    }

    /// All states that an object had between two moments.
    pub(crate) fn states(&self, kind: &str, namespace: &str, name: &str, from: f64, to: f64) -> Vec<Object> {
        let wanted = |c: &&Change| {
            c.name.0 == kind
                && c.name.2 == name
                && (c.name.1.is_empty() || c.name.1 == namespace)
                && c.at >= from
                && c.at <= to
        };
        let changes = self.changes.iter().filter(wanted).filter_map(|c| c.object.as_deref().cloned());
        self.named(kind, namespace, name, from).into_iter().chain(changes).collect()
    }

    /// Answers what only reads.
    pub(crate) fn answer(&self, verb: &Verb, at: f64) -> Reply {
        match verb {
            Verb::Get { key, subresource: Subresource::Scale } => {
                let found = self.named(key.kind.name(), &key.namespace, &key.name, at);
                let value = found.ok_or_else(|| Status::not_found(key.kind, &key.name))?.to_value();
                let scale = json!({"metadata": {"name": &*key.name}, "spec": {"replicas": value["spec"]["replicas"]}});
                Ok(Answer::Json { value: scale.into(), warnings: vec![] })
            }
            Verb::Get { key, .. } => {
                if key.kind == Kind::Namespace {
                    let value = json!({"metadata": {"name": &*key.name}, "status": {"phase": "Active"}});
                    let object = Object::from_value(Kind::Namespace, value).expect("a namespace can be read");
                    return Ok(Answer::Object { object, warnings: vec![] });
                }
                let found = self.state(key.kind, at).into_iter().find(|o| o.key() == *key);
                let object = found.ok_or_else(|| Status::not_found(key.kind, &key.name))?;
                Ok(Answer::Object { object: (*object).clone(), warnings: vec![] })
            }
            Verb::List { kind, namespace, labels, fields } => {
                let fits = |o: &Arc<Object>| {
                    namespace.as_ref().is_none_or(|n| o.meta().namespace == *n)
                        && labels.as_ref().is_none_or(|l| l.matches(&o.meta().labels))
                        && fields.as_ref().is_none_or(|f| {
                            f.terms().all(|(field, equal, value)| (field_of(o, field) == value) == equal)
                        })
                };
                let items = self.state(*kind, at).into_iter().filter(fits).map(|o| (*o).clone()).collect();
                Ok(Answer::List { items, revision: self.revision(at) })
            }
            other => panic!("a reading command asked for {other:?}"),
        }
    }

    fn revision(&self, at: f64) -> u64 {
        self.changes.iter().filter(|c| c.at <= at).count() as u64
    }

    /// Runs a command that began at a moment. None if the recording ended before it did.
    pub(crate) fn run(
        &self,
        command: &str,
        files: &BTreeMap<String, String>,
        at: f64,
        answer: &dyn Fn(&Request, f64) -> Reply,
    ) -> Option<(Vec<Chunk>, i32)> {
        let client = Kubectl::new(command, Arc::new(files.clone()), "default");
        let mut now = at;
        let mut told: Vec<ClientTurn> = Vec::new();
        loop {
            let progress = client.run(instant(at), &told);
            let ask = match progress.next {
                Ok(code) => return Some((progress.output, code)),
                Err(ask) => ask,
            };
            let answer = match &ask {
                ClientAsk::Api(request) => ClientTold::Reply(answer(request, now)),
                ClientAsk::Watch { kind, namespace, name, from, until, .. } => {
                    let end = until.map(seconds).unwrap_or(f64::INFINITY);
                    let fits = |c: &&Change| {
                        c.name.0 == kind.name()
                            && namespace.as_ref().is_none_or(|n| **n == *c.name.1)
                            && name.as_ref().is_none_or(|n| **n == *c.name.2)
                    };
                    let of_object =
                        |c: &Change| c.object.as_ref().is_some_and(|o| o.meta().revision() == *from);
                    let start = match self.changes.iter().position(of_object) {
                        Some(index) => index + 1,
                        None => usize::try_from(*from).ok()?,
                    };
                    let next = self.changes.iter().enumerate().skip(start).find(|(_, c)| fits(c));
                    match next {
                        Some((index, change)) if change.at <= end => {
                            now = now.max(change.at);
                            let event = match &change.object {
                                Some(o) if change.before => WatchEvent::Modified((**o).clone()),
                                Some(o) => WatchEvent::Added((**o).clone()),
                                None => WatchEvent::Deleted(
                                    (*self.find(&change.name.0, &change.name.1, &change.name.2)?).clone(),
                                ),
                            };
                            ClientTold::Events { events: vec![event], revision: index as u64 + 1 }
                        }
                        _ if end.is_finite() => {
                            now = now.max(end);
                            ClientTold::Events { events: vec![], revision: *from }
                        }
                        _ => return None,
                    }
                }
                ClientAsk::Sleep(duration) | ClientAsk::Again(duration) => {
                    now += duration.as_secs_f64();
                    ClientTold::Slept
                }
                ClientAsk::Discover => ClientTold::Definitions(Default::default()),
                ClientAsk::Logs { .. } | ClientAsk::Exec { .. } => return None,
            };
            told.push(ClientTurn { ask, told: answer, at: instant(now) });
            assert!(told.len() < 10_000, "{command} does not end");
        }
    }

    /// Whether some moment of a recorded command's time gives its output.
    pub(crate) fn try_command(&self, step: &Value) -> Result<(), String> {
        let command = step["command"].as_str().unwrap_or_default();
        let (at, took) = (step["at"].as_f64().unwrap_or_default(), step["took"].as_f64().unwrap_or_default());
        let text = |field: &str| step[field].as_str().unwrap_or_default();
        let (stdout, stderr) = (text("stdout"), text("stderr"));
        let exit = step["exit"].as_i64().unwrap_or_default();
        let waits = command.contains("rollout status") && step["matched"].is_null();
        let end = if waits { at + took.min(0.6) } else { at + took };
        // A step that was repeated until its output matched shows its last try.
        let at = if step["matched"].is_null() { at } else { at.max(end - 1.5) };
        let mut moments: Vec<f64> = (0..=20).map(|n| at + (end - at) * f64::from(n) / 20.0).collect();
        let within = self
            .changes
            .iter()
            .map(|c| c.at)
            .chain(self.events.iter().map(|e| e.0))
            .filter(|t| (at..=end).contains(t));
        moments.extend(within);
        let mut why: Option<Vec<String>> = None;
        for moment in moments {
            let answer = |request: &Request, now: f64| self.answer(&request.verb, now);
            let Some((output, code)) = self.run(command, &BTreeMap::new(), moment, &answer) else {
                why.get_or_insert_with(|| vec!["the recording ended first\n".into()]);
                continue;
            };
            let (out, err) = crate::text::streams(&output);
            if i64::from(code) == exit && same(&out, stdout) && same(&err, stderr) {
                return Ok(());
            }
            let mut lines = vec![format!("exit {code} for {exit}\n")];
            lines.extend(crate::text::diff(stdout, &out).into_iter().chain(crate::text::diff(stderr, &err)));
            if why.as_ref().is_none_or(|w| w.len() > lines.len()) {
                why = Some(lines);
            }
        }
        Err(why.unwrap_or_default().concat())
    }
}

fn instant(at: f64) -> Instant {
    Instant(Instant::START.0 + (at * 1e9) as i64)
}

fn seconds(at: Instant) -> f64 {
    (at.0 - Instant::START.0) as f64 / 1e9
}

/// A field as field selectors name it.
fn field_of(o: &Object, field: &str) -> String {
    if let (Object::Event(event), Some(part)) = (o, field.strip_prefix("involvedObject.")) {
        let about = &event.involved_object;
        return match part {
            "kind" => about.kind.clone(),
            "name" => about.name.to_string(),
            "namespace" => about.namespace.to_string(),
            _ => about.uid.to_string(),
        };
    }
    let pointer = format!("/{}", field.replace('.', "/"));
    match o.to_value().pointer(&pointer) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}
