//! Commands that write: they must ask the API server for what the real kubectl asked it for, make of the objects what
//! became of them, and print what was printed.

use crate::{past::Past, text};
use kubestep_model::{
    Answer, Body, Object, PatchKind, Reason, Reply, Request, Status, Subresource, Verb,
    patch::{json_patch, merge_patch, strategic_merge_patch},
    schema::patch_schema,
    yaml,
};
use serde_json::{Value, json};
use std::{cell::RefCell, collections::BTreeMap};

/// A request as the audit record has it: verb, resource, subresource, name, code.
pub(crate) type Call = (String, String, String, String, u64);

/// The files of a session as they are at each step.
pub(crate) fn files(script: &str, step: usize) -> BTreeMap<String, String> {
    let reading = yaml::read(script);
    let session = reading.documents.first().map(|d| d.value.clone()).unwrap_or_default();
    let texts = |value: &Value| {
        let entry = |(k, v): (&String, &Value)| Some((k.clone(), v.as_str()?.to_owned()));
        value.as_object().map(|m| m.iter().filter_map(entry).collect::<BTreeMap<_, _>>()).unwrap_or_default()
    };
    let mut files = texts(&session["files"]);
    for done in session["steps"].as_array().into_iter().flatten().take(step) {
        files.extend(texts(&done["files"]));
        let edit = &done["edit"];
        let text = |field: &str| edit[field].as_str().unwrap_or_default();
        if let Some(file) = files.get_mut(text("file")) {
            *file = file.replace(text("replace"), text("with"));
        }
    }
    files
}

/// What a recorded command asked for.
pub(crate) fn calls(recording: &Value, step: &Value) -> Vec<Call> {
    let at = step["at"].as_f64().unwrap_or_default();
    let end = at + step["took"].as_f64().unwrap_or_default();
    let of = |call: &&Value| {
        let when = call["at"].as_f64().unwrap_or_default();
        call["who"] == "kubectl" && when >= at && when <= end
    };
    let text = |call: &Value, field: &str| call[field].as_str().unwrap_or_default().to_owned();
    let one = |c: &Value| {
        (
            text(c, "verb"),
            text(c, "resource"),
            text(c, "subresource"),
            text(c, "name"),
            c["code"].as_u64().unwrap_or_default(),
        )
    };
    recording["calls"].as_array().into_iter().flatten().filter(of).map(one).collect()
}

/// Answers writes and keeps what was asked.
pub(crate) struct Server<'a> {
    past: &'a Past,
    expected: Vec<Call>,
    pub(crate) asked: RefCell<Vec<Call>>,
    pub(crate) wrong: RefCell<Vec<String>>,
    end: f64,
}

impl<'a> Server<'a> {
    pub(crate) fn new(past: &'a Past, expected: Vec<Call>, end: f64) -> Server<'a> {
        Server { past, expected, asked: RefCell::default(), wrong: RefCell::default(), end }
    }

    pub(crate) fn answer(&self, request: &Request, at: f64) -> Reply {
        let verb = &request.verb;
        if verb.reads() {
            return self.past.answer(verb, at);
        }
        let (key_name, namespace) = match verb {
            Verb::Patch { key, .. } | Verb::Replace { key, .. } | Verb::Delete { key, .. } => {
                (key.name.to_string(), key.namespace.to_string())
            }
            Verb::Create { body: Body::Json(value), namespace, .. } => {
                (value["metadata"]["name"].as_str().unwrap_or_default().to_owned(), namespace.to_string())
            }
            other => panic!("a command asked for {other:?}"),
        };
        let name = [verb.name(), verb.kind().resource(), verb.subresource().name()].map(str::to_owned);
        let index = self.asked.borrow().len();
        let [v, r, s] = name;
        let code = match self.expected.get(index) {
            Some((ev, er, es, en, code)) if (ev, er, es, en) == (&v, &r, &s, &key_name) => *code,
            _ => 200,
        };
        self.asked.borrow_mut().push((v, r, s, key_name.clone(), code));
        if code >= 400 {
            return Err(refusal(code));
        }
        let kind = verb.kind();
        let before = self.past.named(kind.name(), &namespace, &key_name, at);
        let after = match made(verb, before.as_ref()) {
            Ok(after) => after,
            Err(why) => {
                self.wrong.borrow_mut().push(why);
                return Err(refusal(500));
            }
        };
        if !request.dry_run && !matches!(verb, Verb::Delete { .. }) {
            self.check(verb, &after, kind.name(), &namespace, &key_name, at);
        }
        let reply = if verb.subresource() == Subresource::Scale {
            Answer::Json { value: after.into(), warnings: vec![] }
        } else {
            let object = Object::from_value(kind, after).expect("what was made can be read");
            Answer::Object { object, warnings: vec![] }
        };
        Ok(reply)
    }

    /// What we made must be in one of the states that the object had while the command ran.
    fn check(&self, verb: &Verb, after: &Value, kind: &str, namespace: &str, name: &str, at: f64) {
        let states = self.past.states(kind, namespace, name, at, self.end);
        let wanted = match verb.subresource() {
            Subresource::Scale => json!({"spec": {"replicas": after["spec"]["replicas"]}}),
            _ => bare(after),
        };
        if !states.iter().any(|state| within(&wanted, &state.to_value())) {
            let last = states.last().map(|s| bare(&s.to_value())).unwrap_or_default();
            self.wrong.borrow_mut().push(format!(
                "{} made of {kind} {name}\n  {wanted}\nwhich never was; it was\n  {last}",
                verb.name()
            ));
        }
    }
}

fn refusal(code: u64) -> Status {
    let reason = match code {
        404 => Reason::NotFound,
        409 => Reason::AlreadyExists,
        403 => Reason::Forbidden,
        422 => Reason::Invalid,
        _ => Reason::BadRequest,
    };
    Status::new(u16::try_from(code).unwrap_or(500), reason, "refused")
}

/// An object without what the API server writes.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        map.remove("status");
        if let Some(meta) = map.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in ["resourceVersion", "generation", "creationTimestamp", "uid"] {
                meta.remove(field);
            }
        }
    }
    value
}

/// Whether all that one value says stands in another.
fn within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(key, v)| b.get(key).map_or_else(|| empty(v), |w| within(v, w)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() <= b.len() && a.iter().zip(b).all(|(x, y)| within(x, y))
        }
        (Value::Number(a), Value::String(b)) => a.to_string() == *b,
        (Value::String(a), Value::String(b)) => a == b || restarted(a, b),
        _ => part == whole,
    }
}

fn empty(value: &Value) -> bool {
    value.is_null()
        || *value == json!(0)
        || *value == json!(false)
        || value.as_object().is_some_and(|m| m.is_empty())
        || value.as_array().is_some_and(|a| a.is_empty())
}

/// Two times that lie a second or two apart, as the one of a restart and ours.
fn restarted(a: &str, b: &str) -> bool {
    let time = |t: &str| kubestep_model::Time::parse(t).map(|t| t.0);
    time(a).zip(time(b)).is_some_and(|(a, b)| a.abs_diff(b) <= 2)
}

/// What a write makes of an object.
fn made(verb: &Verb, before: Option<&Object>) -> Result<Value, String> {
    let have = || before.map(Object::to_value).ok_or_else(|| format!("{} of what is not there", verb.name()));
    match verb {
        Verb::Create { body: Body::Json(value), .. } => Ok((**value).clone()),
        Verb::Replace { body: Body::Json(value), .. } => Ok((**value).clone()),
        Verb::Delete { .. } => have(),
        Verb::Patch { kind, patch, key, .. } => {
            let before = have()?;
            match (kind, patch_schema(&key.kind.api_version(), key.kind.name())) {
                (PatchKind::Json, _) => json_patch(&before, patch),
                (PatchKind::Strategic, Some(schema)) => strategic_merge_patch(&before, patch, schema),
                _ => merge_patch(&before, patch),
            }
        }
        other => Err(format!("{other:?}")),
    }
}

/// Whether a command that writes does as it was recorded.
pub(crate) fn try_command(past: &Past, recording: &Value, script: &str, step: &Value) -> Result<(), String> {
    let command = step["command"].as_str().unwrap_or_default();
    let (at, took) = (step["at"].as_f64().unwrap_or_default(), step["took"].as_f64().unwrap_or_default());
    let index = usize::try_from(step["step"].as_u64().unwrap_or_default()).unwrap_or_default();
    let (files, expected) = (files(script, index), calls(recording, step));
    let failed = expected.iter().any(|c| c.4 >= 400);
    let recorded = |field: &str| step[field].as_str().unwrap_or_default();
    let mut why = None;
    for part in 0..=10 {
        let moment = at + took * f64::from(part) / 10.0;
        let server = Server::new(past, expected.clone(), at + took + 0.05);
        let Some((output, code)) =
            past.run(command, &files, moment, &|request, now| server.answer(request, now))
        else {
            why = Some("the recording ended first".to_owned());
            continue;
        };
        let (out, err) = text::streams(&output);
        let mut wrong = server.wrong.borrow().clone();
        let asked = server.asked.borrow().clone();
        if asked != expected {
            wrong.push(format!("asked {asked:?}\n for {expected:?}"));
        }
        if i64::from(code) != step["exit"].as_i64().unwrap_or_default() {
            wrong.push(format!("exit {code}: {err}"));
        }
        if !failed {
            wrong.extend(text::diff(recorded("stdout"), &out));
            wrong.extend(text::diff(recorded("stderr"), &err));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        why.get_or_insert(wrong.join("\n"));
    }
    Err(why.unwrap_or_default())
}
