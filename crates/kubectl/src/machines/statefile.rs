//! `statefile plan | apply | destroy`: compares files, what it remembers and what there is, when somebody runs it, and
//! never else. What it made it remembers in a config map of its own, as such tools can keep their state in a cluster.

use super::{
    Said, differences, found, keep_notes, key_of_row, name_of, notes_key, notes_of, put, remove, row_of,
};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
};
use kubestep_model::{Key, Object, Status};
use std::collections::BTreeMap;

pub(super) const STATE: &str = "statefile";
const USAGE: &str = "statefile plan, statefile apply or statefile destroy; -f FILE for one file, else all";

/// What is to be done about one object.
enum Step {
    Add(Manifest),
    Change(Manifest),
    Destroy(Key),
}

pub(super) fn run(kc: &mut Kc<'_>, said: &Said) -> Flow<i32> {
    kc.field_manager = Some(STATE.into());
    let (apply, all) = match said.words.first().map(String::as_str) {
        Some("plan") => (false, true),
        Some("apply") => (true, true),
        Some("destroy") => (true, false),
        _ => return Err(kc.fail(USAGE)),
    };
    let notes = notes_key(kc, STATE);
    let kept = found(kc, notes.clone())?.map_err(|status| kc.fault(&status.into()))?;
    let mut state = kept.as_ref().map(notes_of).unwrap_or_default();
    let manifests = if all { said.manifests(kc)? } else { vec![] };
    let steps = plan(kc, &manifests, &state)?;
    let count = |wanted: fn(&Step) -> bool| steps.iter().filter(|s| wanted(s)).count();
    if steps.is_empty() {
        kc.out("No changes: what there is matches the files.\n");
    } else {
        kc.out(format!(
            "Plan: {} to add, {} to change, {} to destroy.\n",
            count(|s| matches!(s, Step::Add(_))),
            count(|s| matches!(s, Step::Change(_))),
            count(|s| matches!(s, Step::Destroy(_)))
        ));
    }
    if !apply {
        return Ok(0);
    }
    for step in steps {
        if let Err(status) = carry_out(kc, &step, &mut state)? {
            kc.err(format!("refused: {}\n", status.message));
            // What was done so far is remembered.
            keep_notes(kc, &notes, &state)?.map_err(|s| kc.fault(&Fault::from(s)))?;
            return Ok(1);
        }
    }
    for manifest in &manifests {
        state.insert(row_of(&manifest.key()), manifest.value.to_string());
    }
    keep_notes(kc, &notes, &state)?.map_err(|s| kc.fault(&Fault::from(s)))?;
    Ok(0)
}

/// Reads everything that it made or should make, and says what differs.
fn plan(kc: &mut Kc<'_>, manifests: &[Manifest], state: &BTreeMap<String, String>) -> Flow<Vec<Step>> {
    let mut steps = vec![];
    for manifest in manifests {
        let key = manifest.key();
        let known = state.get(&row_of(&key));
        let live = found(kc, key.clone())?.map_err(|status| kc.fault(&status.into()))?;
        let Some(live) = live else {
            let gone = if known.is_some() { " (somebody took it away since the last run)" } else { "" };
            kc.out(format!("+ {} will be made{gone}\n", name_of(&key)));
            steps.push(Step::Add(manifest.clone()));
            continue;
        };
        let differ = differing(kc, manifest, &live)?;
        if !differ.is_empty() {
            let drift = known == Some(&manifest.value.to_string());
            let why =
                if drift { " (the file is the same: somebody changed it since the last run)" } else { "" };
            kc.out(format!("~ {} will be changed{why}\n", name_of(&key)));
            for line in differ {
                kc.out(format!("    {line}\n"));
            }
            steps.push(Step::Change(manifest.clone()));
        }
    }
    let wanted: Vec<String> = manifests.iter().map(|m| row_of(&m.key())).collect();
    for key in state.keys().filter(|row| !wanted.contains(row)).filter_map(|row| key_of_row(row)) {
        kc.out(format!("- {} will be destroyed\n", name_of(&key)));
        steps.push(Step::Destroy(key));
    }
    Ok(steps)
}

/// What the file would change of what is there.
fn differing(kc: &mut Kc<'_>, manifest: &Manifest, live: &Object) -> Flow<Vec<String>> {
    match put(kc, &manifest.key(), &manifest.value, true)? {
        Ok(after) => Ok(differences(&after.to_value(), &live.to_value())),
        Err(status) => Err(kc.fault(&status.into())),
    }
}

fn carry_out(kc: &mut Kc<'_>, step: &Step, state: &mut BTreeMap<String, String>) -> Flow<Result<(), Status>> {
    match step {
        Step::Add(manifest) | Step::Change(manifest) => {
            let key = manifest.key();
            if let Err(status) = put(kc, &key, &manifest.value, false)? {
                return Ok(Err(status));
            }
            let done = if matches!(step, Step::Add(_)) { "made" } else { "changed" };
            kc.out(format!("{} {done}\n", name_of(&key)));
            state.insert(row_of(&key), manifest.value.to_string());
        }
        Step::Destroy(key) => {
            if let Err(status) = remove(kc, key)? {
                return Ok(Err(status));
            }
            kc.out(format!("{} destroyed\n", name_of(key)));
            state.remove(&row_of(key));
        }
    }
    Ok(Ok(()))
}
