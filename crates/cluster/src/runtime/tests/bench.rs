//! One kubelet, one machine and an API that only keeps what it is given.

use crate::runtime::{Image, Machine, Registry};
use kubestep_control::{Agent, AgentCx, Change, EventNote, Input, NodeSpec, Out, Report, Ticket, View};
use kubestep_controllers::kubelet::{Kubelet, Timer};
use kubestep_model::{
    Answer, Body, Dice, Instant, Key, Kind, Object, Pod, Reply, Request, Resource, Status, Time, Verb,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

const REQUEST: Duration = Duration::from_millis(5);

/// One kubelet, one machine, one pod list.
pub(super) struct Bench {
    pub(super) now: Instant,
    pub(super) kubelet: Kubelet,
    pub(super) machine: Machine,
    pub(super) registry: Registry,
    pub(super) dice: Dice,
    pub(super) view: View,
    pub(super) ticket: Ticket,
    pub(super) timers: BTreeMap<Timer, Instant>,
    pub(super) flights: VecDeque<(Instant, Ticket, Request)>,
    pub(super) events: Vec<(Instant, EventNote)>,
    pub(super) revision: u64,
    /// Each pod's statuses, as they changed.
    pub(super) statuses: Vec<Value>,
    pub(super) calls: Vec<(Instant, String)>,
    /// Objects that a get finds.
    pub(super) objects: Vec<Object>,
}

impl Bench {
    pub(super) fn new(images: &[(&str, Image)]) -> Self {
        let spec = NodeSpec::default();
        let machine = Machine::new(&spec, 0);
        let mut registry = Registry::default();
        for (name, image) in images {
            registry.push(name, image.clone());
        }
        let mut bench = Bench {
            now: Instant::START,
            kubelet: Kubelet::new(machine.info()),
            machine,
            registry,
            dice: Dice::new(1),
            view: View::default(),
            ticket: 0,
            timers: BTreeMap::new(),
            flights: VecDeque::new(),
            events: vec![],
            revision: 0,
            statuses: vec![],
            calls: vec![],
            objects: vec![],
        };
        bench.tell(Input::Started);
        bench.run(Duration::from_secs(12));
        bench
    }

    pub(super) fn tell(&mut self, input: Input<Timer>) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut cx = AgentCx {
                now: self.now,
                view: &self.view,
                dice: &mut self.dice,
                next_ticket: &mut self.ticket,
                out: Out {
                    asks: vec![],
                    timers: BTreeMap::new(),
                    orders: vec![],
                    events: vec![],
                    notes: vec![],
                },
            };
            self.kubelet.on(&mut cx, input);
            let Out { asks, timers, orders, events, notes } = cx.out;
            for note in notes {
                let known = kubestep_controllers::kubelet::sentences::SENTENCES;
                let sentence = known.iter().find(|s| s.code == note.code).expect(note.code);
                for (name, _) in &note.about {
                    assert!(
                        sentence.text.contains(&format!("{{{name}}}")) || *name == "node" || *name == "text",
                        "{note:?}"
                    );
                }
            }
            self.flights.extend(asks.into_iter().map(|(t, r)| (self.now + REQUEST, t, r)));
            for (timer, at) in timers {
                match at {
                    Some(at) => drop(self.timers.insert(timer, at)),
                    None => drop(self.timers.remove(&timer)),
                }
            }
            self.events.extend(events.into_iter().map(|e| (self.now, e)));
            for order in orders {
                let reports = self.machine.order(order, &self.registry, self.now, &mut self.dice);
                inputs.extend(reports.into_iter().map(Input::Runtime));
            }
        }
    }

    pub(super) fn reports(&mut self, reports: Vec<Report>) {
        for report in reports {
            self.tell(Input::Runtime(report));
        }
    }

    /// Lets so much time pass.
    pub(super) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        for _ in 0..100_000 {
            let timer = self.timers.iter().map(|(t, at)| (*at, t.clone())).min();
            let flight = self.flights.front().map(|f| f.0);
            let due = self.machine.next_due();
            let Some(next) = timer
                .as_ref()
                .map(|t| t.0)
                .into_iter()
                .chain(flight)
                .chain(due)
                .min()
                .filter(|at| *at <= end)
            else {
                break;
            };
            self.now = self.now.max(next);
            if due == Some(next) {
                let reports = self.machine.fire(&self.registry, self.now, &mut self.dice);
                self.reports(reports);
            } else if flight == Some(next) {
                if let Some((_, ticket, request)) = self.flights.pop_front() {
                    self.serve(ticket, request);
                }
            } else if let Some((_, timer)) = timer {
                self.timers.remove(&timer);
                self.tell(Input::Due(timer));
            }
        }
        self.now = end;
    }

    fn serve(&mut self, ticket: Ticket, request: Request) {
        let verb = &request.verb;
        let sub = verb.subresource().name();
        self.calls.push((
            self.now,
            format!(
                "{} {}{}{sub}",
                verb.name(),
                verb.kind().resource(),
                if sub.is_empty() { "" } else { "/" }
            ),
        ));
        let reply = self.answer(verb);
        self.tell(Input::Answered { ticket, request, reply });
    }

    fn answer(&mut self, verb: &Verb) -> Reply {
        let given = |object: Object| Ok(Answer::Object { object, warnings: vec![] });
        match verb {
            Verb::Create { body: Body::Typed(object), .. }
            | Verb::Replace { body: Body::Typed(object), .. } => {
                if object.kind() == Kind::Node {
                    self.put(object.key(), Some(object.clone()));
                }
                given(object.clone())
            }
            Verb::Patch { key, patch, .. } => {
                let Some(old) = self.view.object(key).cloned() else {
                    return Err(Status::not_found(key.kind, &key.name));
                };
                let mut value = old.to_value();
                merge(&mut value["status"], &patch["status"]);
                self.revision += 1;
                value["metadata"]["resourceVersion"] = self.revision.to_string().into();
                let object = Object::from_value(key.kind, value).unwrap();
                if key.kind == Kind::Pod {
                    self.statuses.push(object.to_value()["status"].clone());
                }
                self.put(key.clone(), Some(object.clone()));
                given(object)
            }
            Verb::Delete { key, .. } => {
                self.put(key.clone(), None);
                Ok(Answer::Json { value: Arc::default(), warnings: vec![] })
            }
            Verb::Get { key, .. } => {
                let stored = self.objects.iter().find(|o| o.key() == *key).or_else(|| self.view.object(key));
                match stored {
                    Some(object) => given(object.clone()),
                    None => Err(Status::not_found(key.kind, &key.name)),
                }
            }
            _ => Ok(Answer::Json { value: Arc::default(), warnings: vec![] }),
        }
    }

    fn put(&mut self, key: Key, new: Option<Object>) {
        let old = self.view.apply(&key, new.clone());
        self.tell(Input::Changed(Change { key, old, new }));
    }

    /// Changes a pod as the API would for somebody else.
    pub(super) fn edit(&mut self, key: &Key, change: impl FnOnce(&mut Pod)) {
        let mut pod = self.view.object(key).and_then(|o| o.get::<Pod>()).unwrap().clone();
        self.revision += 1;
        pod.metadata.resource_version = self.revision.to_string();
        change(&mut pod);
        self.put(key.clone(), Some(pod.into()));
    }

    pub(super) fn add(&mut self, mut pod: Pod) -> Key {
        self.revision += 1;
        pod.metadata.resource_version = self.revision.to_string();
        let key = pod.key();
        self.put(key.clone(), Some(pod.into()));
        key
    }

    pub(super) fn delete(&mut self, key: &Key, grace: i64) {
        let at = Time(self.now.to_time().0 + grace);
        self.edit(key, |pod| {
            pod.metadata.deletion_timestamp = Some(at);
            pod.metadata.deletion_grace_period_seconds = Some(grace);
            pod.metadata.generation = 2;
        });
    }

    /// What was said in events, in order, without repetitions of the same words.
    pub(super) fn said(&self) -> Vec<String> {
        let mut said: Vec<String> = vec![];
        for (_, e) in self.events.iter().filter(|(_, e)| e.regarding.kind == "Pod") {
            let line = format!("{} {}: {}", e.r#type, e.reason, e.message);
            if !said.contains(&line) {
                said.push(line);
            }
        }
        said
    }
}

/// A strategic merge patch, as far as the kubelet sends one.
fn merge(old: &mut Value, patch: &Value) {
    if !old.is_object() {
        *old = json!({});
    }
    for (name, change) in patch.as_object().into_iter().flatten() {
        if name.starts_with('$') {
            continue;
        }
        let key = match name.as_str() {
            "conditions" => "type",
            "hostIPs" | "podIPs" => "ip",
            _ if change.is_null() => {
                old.as_object_mut().unwrap().remove(name);
                continue;
            }
            _ if change.is_object() => {
                merge(&mut old[name], change);
                continue;
            }
            _ => {
                old[name] = change.clone();
                continue;
            }
        };
        let mut list = old[name].as_array().cloned().unwrap_or_default();
        for element in change.as_array().into_iter().flatten() {
            match list.iter_mut().find(|e| e[key] == element[key]) {
                Some(e) => merge(e, element),
                None => list.push(element.clone()),
            }
        }
        let order = patch[format!("$setElementOrder/{name}")].as_array().cloned().unwrap_or_default();
        list.sort_by_key(|e| order.iter().position(|o| o[key] == e[key]));
        old[name] = list.into();
    }
}
