//! One pass of a controller against a few objects in a map, as the recorded vectors of whole passes have it.
//!
//! The map answers as an API server without defaults, validation or other controllers would: a write with an old
//! resource version gets a conflict, a create of a name that is there gets AlreadyExists.

use kubestep_control::{Controller, Effect, EventNote, Note, Progress, Running, Told, View, WorkedOut, run};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Answer, Body, Dice, Instant, Key, Kind, Object, Reason, Reply, Request, Status, Subresource, Verb,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A pass asks at most so often before the harness gives up on it.
const MOST_ASKS: usize = 10_000;

/// Requests of one verb and resource that are refused, after some that are not.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Refusal {
    pub verb: String,
    pub resource: String,
    pub granted_first: usize,
    pub reason: Reason,
    pub message: String,
}

/// What a pass did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Every write but creates of pods, in order, in the shape of the vectors.
    pub actions: Vec<Value>,
    /// The pods that it tried to create.
    pub pods: Vec<Value>,
    /// What it told the cluster.
    pub events: Vec<EventNote>,
    /// Why it did so.
    pub notes: Vec<Note>,
    /// What is stored afterwards.
    pub stored: BTreeMap<Key, Object>,
    /// How it ended; None if it never did.
    pub progress: Option<Progress>,
}

/// Runs one pass for a key to its end, with a cache that is up to date.
pub fn pass(
    controller: &dyn Controller,
    key: Key,
    objects: Vec<Object>,
    now: Instant,
    refusals: Vec<Refusal>,
) -> Outcome {
    let stored: BTreeMap<Key, Object> = objects.into_iter().map(|object| (object.key(), object)).gather();
    pass_behind(controller, key, &stored, stored.clone(), now, refusals)
}

/// Runs one pass for a key to its end, with a cache that may be behind what is stored.
pub fn pass_behind(
    controller: &dyn Controller,
    key: Key,
    cached: &BTreeMap<Key, Object>,
    stored: BTreeMap<Key, Object>,
    now: Instant,
    refusals: Vec<Refusal>,
) -> Outcome {
    let mut view = View::default();
    for (key, object) in cached {
        view.apply(key, Some(object.clone()));
    }
    let mut api = Api { objects: stored, refusals, ..Api::default() };
    let (dice, memory) = (Dice::new(1), Default::default());
    let mut running = Running {
        key,
        view,
        now,
        dice,
        memory,
        told: vec![],
        committed: 0,
        worked_out: WorkedOut::default(),
    };
    for _ in 0..MOST_ASKS {
        let (progress, effects) = run(controller, &running);
        let Progress::Awaiting(requests) = progress else {
            for effect in effects {
                match effect {
                    Effect::Event(event) => api.done.events.push(event),
                    Effect::Note(note) => api.done.notes.push(note),
                    Effect::Again(..) | Effect::Remember(..) => {}
                }
            }
            api.done.progress = Some(progress);
            break;
        };
        let replies = requests.iter().map(|request| api.serve(request)).collect();
        running.told.push(Told { requests, replies }.into());
    }
    api.done.stored = api.objects;
    api.done
}

#[derive(Debug, Default)]
struct Api {
    objects: BTreeMap<Key, Object>,
    refusals: Vec<Refusal>,
    asked: BTreeMap<(String, String), usize>,
    done: Outcome,
}

impl Api {
    fn serve(&mut self, request: &Request) -> Reply {
        if let Verb::List { kind, namespace, .. } = &request.verb {
            let wanted = |k: &Key| k.kind == *kind && namespace.as_ref().is_none_or(|n| *n == k.namespace);
            let items = self.objects.iter().filter(|(k, _)| wanted(k)).map(|(_, o)| o.clone()).collect();
            return Ok(Answer::List { items, revision: 0 });
        }
        let reply = match self.refusal(&request.verb) {
            Some(refusal) => Err(refusal),
            None => self.answer(&request.verb),
        };
        self.record(&request.verb, reply.as_ref().err());
        self.commit(&request.verb, reply)
    }

    fn refusal(&mut self, verb: &Verb) -> Option<Status> {
        let which = (verb.name().to_owned(), verb.kind().resource().to_owned());
        let asked = self.asked.entry(which.clone()).or_insert(0);
        *asked += 1;
        let refusal = self.refusals.iter().find(|r| (&r.verb, &r.resource) == (&which.0, &which.1))?;
        if *asked <= refusal.granted_first {
            return None;
        }
        let prefix = if let Verb::Create { body: Body::Typed(object), .. } = verb {
            object.clone()
        } else {
            return None;
        };
        let name =
            if prefix.meta().name.is_empty() { &*prefix.meta().generate_name } else { &*prefix.meta().name };
        let whole = refusal.message.contains(" is forbidden: ") || refusal.reason != Reason::Forbidden;
        let mut status = Status::forbidden(verb.kind(), name, &refusal.message);
        status.reason = refusal.reason;
        if whole {
            status.message.clone_from(&refusal.message);
        }
        Some(status)
    }

    fn answer(&self, verb: &Verb) -> Reply {
        let found = |key: &Key| self.objects.get(key).ok_or_else(|| Status::not_found(key.kind, &key.name));
        match verb {
            Verb::Get { key, .. } | Verb::Patch { key, .. } | Verb::Delete { key, .. } => {
                found(key).map(object_answer)
            }
            Verb::Create { body: Body::Typed(object), .. } => match self.objects.get(&object.key()) {
                Some(_) => Err(Status::already_exists(object.kind(), &object.meta().name)),
                None => Ok(object_answer(object)),
            },
            Verb::Replace { key, body: Body::Typed(object), .. } => {
                let same = found(key)?.meta().resource_version == object.meta().resource_version;
                if same { Ok(object_answer(object)) } else { Err(Status::conflict(key.kind, &key.name)) }
            }
            _ => Err(Status::bad_request("the harness does not serve this")),
        }
    }

    /// Writes the action down as the vectors have it, with the object as it was before.
    fn record(&mut self, verb: &Verb, refused: Option<&Status>) {
        let mut action = json!({ "verb": verb.name(), "resource": verb.kind().resource() });
        match verb {
            Verb::Create { body: Body::Typed(object), kind, .. } => {
                let mut sent = plain(object);
                if *kind == Kind::Pod {
                    if let Some(meta) = sent.get_mut("metadata").and_then(Value::as_object_mut) {
                        meta.remove("namespace");
                    }
                    self.done.pods.push(sent);
                    return;
                }
                action["name"] = json!(&*object.meta().name);
                action["object"] = sent;
            }
            Verb::Replace { key, subresource, body: Body::Typed(object) } => {
                let before = self.objects.get(key).map_or(Value::Null, plain);
                action["name"] = json!(&*key.name);
                action["change"] = merge_patch(&without_version(before), &without_version(plain(object)));
                if *subresource != Subresource::None {
                    action["subresource"] = json!(subresource.name());
                }
            }
            Verb::Patch { key, patch, .. } => {
                action["name"] = json!(&*key.name);
                action["patch"] = (**patch).clone();
            }
            Verb::Delete { key, .. } => action["name"] = json!(&*key.name),
            _ => return,
        }
        if let Some(status) = refused {
            action["answer"] = json!(status.reason);
        }
        self.done.actions.push(action);
    }

    /// Keeps what was granted, with the next resource version.
    fn commit(&mut self, verb: &Verb, reply: Reply) -> Reply {
        let Answer::Object { mut object, warnings } = reply? else {
            return Err(Status::bad_request("no object"));
        };
        match verb {
            Verb::Create { .. } | Verb::Replace { .. } | Verb::Patch { .. } => {
                let number = self.asked.values().sum::<usize>();
                object.meta_mut().resource_version = format!("1{number:05}");
                if object.meta().name.is_empty() {
                    let prefix = object.meta().generate_name.clone();
                    let free = (0..).map(|i| format!("{prefix}{i:05}")).find(|name| {
                        let key = Key::new(object.kind(), object.meta().namespace.clone(), name.as_str());
                        !self.objects.contains_key(&key)
                    });
                    object.meta_mut().name = free.unwrap_or_default().into();
                }
                self.objects.insert(object.key(), object.clone());
            }
            Verb::Delete { key, .. } => drop(self.objects.remove(key)),
            _ => {}
        }
        Ok(Answer::Object { object, warnings })
    }
}

fn object_answer(object: &Object) -> Answer {
    Answer::Object { object: object.clone(), warnings: vec![] }
}

fn plain(object: &Object) -> Value {
    let mut value = object.to_value();
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, _| key != "apiVersion" && key != "kind");
    }
    value
}

fn without_version(mut value: Value) -> Value {
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("resourceVersion");
    }
    value
}

/// The JSON merge patch that makes `new` of `old`. Objects are as deep as the API's, so it ends.
pub(crate) fn merge_patch(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else { return new.clone() };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        match old.get(key) {
            Some(before) if before == value => {}
            Some(before) => drop(patch.insert(key.clone(), merge_patch(before, value))),
            None => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    Value::Object(patch)
}
