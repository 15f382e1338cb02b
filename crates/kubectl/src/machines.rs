//! Programs beside kubectl that ask the same API in other ways: one that commands, one that declares, a tool that
//! remembers in a state file what it made, an agent that replays a repository. They are Kubestep's own and as small as
//! what they show; no product behaves as they do in all things.

pub(crate) mod drift;
mod gitops;
mod order;
mod statefile;

use crate::{
    kc::{Flow, Kc},
    manifest::{Manifest, Reading, read},
    output::format::qualified,
};
use kubestep_model::{DeleteOptions, Key, Kind, Object, PatchKind, Request, Status, Subresource, Verb};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// The programs, each with the name under which its requests stand in the audit record.
const ALL: [(&str, &str); 4] =
    [("order", "order"), ("declare", "declare"), ("statefile", "statefile"), ("gitops", "gitops-agent")];

/// Its name in the audit record, if it is one of these programs.
pub(crate) fn agent_of(program: &str) -> Option<&'static str> {
    ALL.iter().find(|(name, _)| *name == program).map(|(_, agent)| *agent)
}

/// What one of these programs is for.
pub(crate) fn help(program: &str) -> &'static str {
    match program {
        "order" => {
            "order -f FILE [--times N] [--retry]\nSays: make me one more. Creates what the file says, N times; without an answer it cannot know whether it was done, and sends again only with --retry.\n"
        }
        "declare" => {
            "declare -f FILE [--times N] [--every 30s]\nSays: so it should be. Makes what the file says true, and sends again until it is answered.\n"
        }
        "statefile" => {
            "statefile plan [-f FILE], statefile apply [-f FILE] or statefile destroy\nRemembers in its state what it made, and makes, changes and destroys what differs from the files.\n"
        }
        _ => {
            "gitops push [-f FILE], gitops agent [--every 60s], gitops suspend or gitops resume\nAn agent that makes true what was pushed into a repository, again and again.\n"
        }
    }
}

pub(crate) fn run(kc: &mut Kc<'_>, words: &[String]) -> Flow<i32> {
    if words.iter().skip(1).any(|w| w == "--help" || w == "-h") {
        kc.out(help(&words[0]));
        return Ok(0);
    }
    let said = Said::read(words);
    let result = match words.first().map(String::as_str) {
        Some("order") => order::order(kc, &said),
        Some("declare") => order::declare(kc, &said),
        Some("statefile") => statefile::run(kc, &said),
        _ => gitops::run(kc, &said),
    };
    kc.field_manager = None;
    result
}

/// What was typed behind a program's name.
struct Said {
    words: Vec<String>,
    files: Vec<String>,
    flags: BTreeMap<String, String>,
}

impl Said {
    fn read(words: &[String]) -> Said {
        let mut said = Said { words: vec![], files: vec![], flags: BTreeMap::new() };
        let mut words = words.iter().skip(1);
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix('-').map(|w| w.trim_start_matches('-')) else {
                said.words.push(word.clone());
                continue;
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None if flag == "retry" => (flag, "true".to_owned()),
                None => (flag, words.next().cloned().unwrap_or_default()),
            };
            match name {
                "f" | "filename" => said.files.push(value),
                _ => drop(said.flags.insert(name.to_owned(), value)),
            }
        }
        said
    }

    fn number(&self, flag: &str, otherwise: u32) -> u32 {
        self.flags.get(flag).and_then(|v| v.parse().ok()).unwrap_or(otherwise)
    }

    /// Seconds, as `30`, `30s` or `5m`.
    fn span(&self, flag: &str) -> Option<Duration> {
        let text = self.flags.get(flag)?;
        let (digits, times) = match text.strip_suffix('m') {
            Some(digits) => (digits, 60),
            None => (text.strip_suffix('s').unwrap_or(text), 1),
        };
        let seconds = digits.parse::<u64>().ok().filter(|s| (1..=86_400).contains(s))?;
        Some(Duration::from_secs(seconds * times))
    }

    /// The objects of the files that were named, or of all files.
    fn manifests(&self, kc: &mut Kc<'_>) -> Flow<Vec<Manifest>> {
        let yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
        let files = match self.files.is_empty() {
            true => kc.files().map(|(name, _)| name.to_owned()).filter(|n| yaml(n)).collect(),
            false => self.files.clone(),
        };
        let found = read(kc, &Reading { files, recursive: false, validate: true })?;
        let mut all = vec![];
        if let Some(fault) = found.stops.first() {
            return Err(kc.fault(fault));
        }
        for item in found.items {
            match item {
                Ok(manifest) => all.push(manifest),
                Err(fault) => return Err(kc.fault(&fault)),
            }
        }
        Ok(all)
    }
}

/// An object, if it is there.
fn found(kc: &mut Kc<'_>, key: Key) -> Flow<Result<Option<Object>, Status>> {
    Ok(match kc.get(key)? {
        Err(status) if status.is_not_found() => Ok(None),
        answer => answer.map(Some),
    })
}

/// Deletes an object; one that is not there is as good as deleted.
fn remove(kc: &mut Kc<'_>, key: &Key) -> Flow<Result<(), Status>> {
    Ok(match kc.ask(Verb::Delete { key: key.clone(), options: DeleteOptions::default() })? {
        Err(status) if !status.is_not_found() => Err(status),
        _ => Ok(()),
    })
}

/// `deployment.apps/web`.
fn name_of(key: &Key) -> String {
    qualified(key.kind, &key.name)
}

/// Sends what an object should be: the same however often it is sent, and whoever changed it in between.
fn put(kc: &mut Kc<'_>, key: &Key, value: &Value, dry_run: bool) -> Flow<Result<Object, Status>> {
    let patch = Arc::new(value.clone());
    let verb =
        Verb::Patch { key: key.clone(), subresource: Subresource::None, kind: PatchKind::Apply, patch };
    kc.ask_object(Request { force: true, dry_run, ..verb.into() })
}

/// Nobody answered: the request may have been carried out or not.
fn unanswered(status: &Status) -> bool {
    status.code == 0
}

/// What tells two states of an object apart that somebody asked for: its generation, or its version if it has none.
fn stamp(object: &Object) -> String {
    match object.meta().generation {
        0 => object.meta().resource_version.to_string(),
        generation => format!("g{generation}"),
    }
}

/// A config map in which a program keeps texts by name.
fn notes_key(kc: &Kc<'_>, name: &str) -> Key {
    Key::new(Kind::ConfigMap, kc.namespace.clone(), name)
}

fn notes_of(object: &Object) -> BTreeMap<String, String> {
    let value = object.to_value();
    let rows = value.get("data").and_then(Value::as_object).into_iter().flatten();
    rows.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

fn keep_notes(kc: &mut Kc<'_>, key: &Key, data: &BTreeMap<String, String>) -> Flow<Result<Object, Status>> {
    let metadata = json!({"name": &*key.name, "namespace": &*key.namespace});
    let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    put(kc, key, &value, false)
}

/// A key as a name in a config map: `deployment.apps_default_web`.
fn row_of(key: &Key) -> String {
    format!("{}_{}_{}", key.kind.qualified_kind().to_ascii_lowercase(), key.namespace, key.name)
}

fn key_of_row(row: &str) -> Option<Key> {
    let mut parts = row.splitn(3, '_');
    let (kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
    let (singular, group) = kind.split_once('.').unwrap_or((kind, ""));
    let kind = Kind::all().find(|k| k.singular() == singular && k.group() == group)?;
    Some(Key::new(kind, namespace, name))
}

/// Where a value that is wished for differs from what is there, deepest names first; so many at most.
fn differences(want: &Value, have: &Value) -> Vec<String> {
    const MOST: usize = 6;
    let mut found = vec![];
    let mut waiting = vec![(String::new(), want, have)];
    while let Some((path, want, have)) = waiting.pop() {
        if found.len() >= MOST {
            break;
        }
        match (want, have) {
            (Value::Object(want), Value::Object(have)) => {
                for (name, value) in want.iter().rev() {
                    let hidden = path == "metadata" && !matches!(name.as_str(), "labels" | "annotations");
                    if !(hidden || path.is_empty() && name == "status") {
                        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                        waiting.push((below, value, have.get(name).unwrap_or(&Value::Null)));
                    }
                }
            }
            (Value::Array(want), Value::Array(have)) if want.len() == have.len() => {
                for (i, (want, have)) in want.iter().zip(have).enumerate().rev() {
                    waiting.push((format!("{path}[{i}]"), want, have));
                }
            }
            (want, have) if want != have => found.push(format!("{path}: {} -> {}", short(have), short(want))),
            _ => {}
        }
    }
    found
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let cut = text.char_indices().nth(40).map_or(text.len(), |(at, _)| at);
    if cut < text.len() { format!("{}...", &text[..cut]) } else { text }
}
