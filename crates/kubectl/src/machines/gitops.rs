//! `gitops push | agent | suspend | resume`: a repository, here a config map, and an agent that replays it: every so
//! often it sends all that lies there, puts back what somebody changed, and prunes what is no longer in it.

use super::{Said, found, keep_notes, key_of_row, name_of, notes_key, notes_of, put, remove, row_of, stamp};
use crate::{
    kc::{Flow, Kc},
    manifest::{Manifest, read_texts},
};
use kubestep_model::{Key, Object, Status};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// Stands for a repository on some server.
pub(super) const REPOSITORY: &str = "repository";
/// What the agent made, so that it knows what to prune.
const INVENTORY: &str = "gitops-inventory";
const SUSPENDED: &str = "gitops/suspended";
const EVERY: Duration = Duration::from_secs(60);
const USAGE: &str = "gitops push [-f FILE], gitops agent [--every 60s], gitops suspend or gitops resume";

pub(super) fn run(kc: &mut Kc<'_>, said: &Said) -> Flow<i32> {
    match said.words.first().map(String::as_str) {
        Some("push") => push(kc, said),
        Some("suspend") => switch(kc, true),
        Some("resume") => switch(kc, false),
        Some("agent") => agent(kc, said.span("every").unwrap_or(EVERY)),
        _ => Err(kc.fail(USAGE)),
    }
}

/// Puts files into the repository; those that are not named are no longer in it.
fn push(kc: &mut Kc<'_>, said: &Said) -> Flow<i32> {
    kc.field_manager = Some("push".into());
    let named = |name: &str| match said.files.is_empty() {
        true => name.ends_with(".yaml") || name.ends_with(".yml"),
        false => said.files.iter().any(|f| f == name),
    };
    let files: BTreeMap<String, String> =
        kc.files().filter(|(n, _)| named(n)).map(|(n, text)| (n.to_owned(), text.to_owned())).collect();
    if files.is_empty() {
        return Err(kc.fail("there is nothing to push"));
    }
    let key = notes_key(kc, REPOSITORY);
    match keep_notes(kc, &key, &files)? {
        Ok(object) => {
            let names: Vec<&str> = files.keys().map(String::as_str).collect();
            let version = object.meta().resource_version.to_string();
            kc.out(format!("pushed {} as version {version}; nobody has acted on it yet\n", names.join(", ")));
            Ok(0)
        }
        Err(status) => Err(kc.fault(&status.into())),
    }
}

fn switch(kc: &mut Kc<'_>, suspended: bool) -> Flow<i32> {
    kc.field_manager = Some("switch".into());
    let key = notes_key(kc, REPOSITORY);
    let metadata = json!({"name": REPOSITORY, "namespace": &*key.namespace,
        "annotations": {SUSPENDED: suspended.to_string()}});
    let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    match put(kc, &key, &value, false)? {
        Ok(_) => {
            kc.out(if suspended { "suspended: changes by hand stay\n" } else { "resumed\n" });
            Ok(0)
        }
        Err(status) => Err(kc.fault(&status.into())),
    }
}

/// One round; then it forgets all and begins again.
fn agent(kc: &mut Kc<'_>, every: Duration) -> Flow<i32> {
    kc.field_manager = Some("gitops-agent".into());
    if let Err(status) = round(kc)? {
        kc.err(format!("not done this time: {}\n", status.message));
    }
    Err(kc.again(every))
}

/// Whether the agent was told to keep still.
pub(super) fn is_suspended(repository: &Object) -> bool {
    repository.meta().annotations.get(SUSPENDED).is_some_and(|v| &**v == "true")
}

fn round(kc: &mut Kc<'_>) -> Flow<Result<(), Status>> {
    let (repository, inventory) = (notes_key(kc, REPOSITORY), notes_key(kc, INVENTORY));
    let there = match kc.get(repository)? {
        Ok(object) => object,
        Err(status) => return Ok(Err(status)),
    };
    if is_suspended(&there) {
        return Ok(Ok(()));
    }
    let read = read_texts(kc, &notes_of(&there))?;
    let made = match found(kc, inventory.clone())? {
        Ok(object) => object.as_ref().map(notes_of).unwrap_or_default(),
        Err(status) => return Ok(Err(status)),
    };
    let mut now = BTreeMap::new();
    for item in read.items {
        match item {
            Ok(manifest) => {
                now.insert(row_of(&manifest.key()), String::new());
                send(kc, &manifest)?;
            }
            // What cannot be read is not pruned either.
            Err(fault) => {
                kc.err(format!("{}\n", fault.text()));
                now.extend(made.clone());
            }
        }
    }
    for key in made.keys().filter(|row| !now.contains_key(*row)).filter_map(|row| key_of_row(row)) {
        prune(kc, &key)?;
    }
    if now != made {
        return Ok(keep_notes(kc, &inventory, &now)?.map(drop));
    }
    Ok(Ok(()))
}

/// Sends one object; says so if that changed anything.
fn send(kc: &mut Kc<'_>, manifest: &Manifest) -> Flow<()> {
    let key = manifest.key();
    let before = match found(kc, key.clone())? {
        Ok(before) => before,
        Err(status) => {
            kc.err(format!("{}: {}\n", name_of(&key), status.message));
            return Ok(());
        }
    };
    match put(kc, &key, &manifest.value, false)? {
        Ok(after) => match before {
            None => kc.out(format!("{} made\n", name_of(&key))),
            Some(before) if asked(&before) != asked(&after) => {
                kc.out(format!("{} brought to what the repository says\n", name_of(&key)));
            }
            Some(_) => {}
        },
        Err(status) => kc.err(format!("{}: {}\n", name_of(&key), status.message)),
    }
    Ok(())
}

/// What was asked for of an object, without what the system writes.
fn asked(object: &Object) -> (String, Option<Value>) {
    match object.meta().generation {
        0 => {
            let mut value = object.to_value();
            value.as_object_mut().map(|map| map.remove("status"));
            let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
            metadata.map(|map| map.remove("resourceVersion"));
            (String::new(), Some(value))
        }
        _ => (stamp(object), None),
    }
}

fn prune(kc: &mut Kc<'_>, key: &Key) -> Flow<()> {
    match remove(kc, key)? {
        Err(status) => kc.err(format!("{}: {}\n", name_of(key), status.message)),
        Ok(()) => kc.out(format!("{} pruned\n", name_of(key))),
    }
    Ok(())
}
