//! `kubectl rollout`: status, history, undo, restart, pause and resume.

pub(crate) mod history;
pub(super) mod pause;
pub(super) mod restart;
pub(crate) mod revisions;
pub(crate) mod status;
pub(crate) mod undo;

use super::common;
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Found, Info, Select},
};
use kubestep_model::{Object, PatchKind};

/// Finds what a rollout command is about.
fn find(kc: &mut Kc<'_>, args: &Args) -> Flow<Found> {
    if args.words.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail("required resource not specified"));
    }
    let select = Select { types_alone: true, ..Select::from(args, &args.words) };
    select::find(kc, &select)
}

/// Reads an object once more, as the typed clients do that look through its history; other kinds stay as they are.
/// Upstream: polymorphichelpers, getDeploymentAndReplicaSets, daemonSetHistory, statefulSetHistory.
fn reread(kc: &mut Kc<'_>, info: &Info) -> Flow<Result<Object, Fault>> {
    if !matches!(info.object, Object::Deployment(_)) && !revisions::keeps(info.key.kind) {
        return Ok(Ok(info.object.clone()));
    }
    Ok(kc.get(info.key.clone())?.map_err(|status| {
        let what = match &info.object {
            Object::Deployment(_) => format!("failed to retrieve deployment {}", info.key.name),
            _ => format!("failed to retrieve {} {}", info.key.kind.name(), info.key.name),
        };
        Fault::Text(format!("{what}: {}", status.message))
    }))
}

/// The kind as Go names it: `Pod`, `Deployment.apps`.
fn not_for(object: &Object, what: &str) -> Fault {
    Fault::Text(format!("no {what} has been implemented for \"{}\"", object.kind().qualified_kind()))
}

/// Changes objects by one patch each; `Ok(false)` means that this cannot be done with such a kind. Upstream: CalculatePatches and what follows it in rollout_pause.go.
fn patch_each<F>(
    kc: &mut Kc<'_>,
    args: &Args,
    done: &str,
    empty: &dyn Fn(&str) -> Fault,
    change: F,
) -> Flow<i32>
where
    F: Fn(&Kc<'_>, &mut Object) -> Result<bool, &'static str>,
{
    let format = Format::of(kc, args, false)?;
    let found = find(kc, args)?;
    let unsupported = match done {
        "restarted" => "restarting is not supported",
        "paused" => "pausing is not supported",
        _ => "resuming is not supported",
    };
    let mut faults = found.faults;
    if found.infos.is_empty() && faults.is_empty() {
        kc.err(format!("No resources found in {} namespace.\n", kc.namespace));
        return Ok(0);
    }
    for info in &found.infos {
        let mut after = info.object.clone();
        let changed = change(kc, &mut after);
        if let Some(why) = changed.map_or_else(Some, |done| (!done).then_some(unsupported)) {
            faults.push(Fault::Text(format!(
                "error: {} \"{}\" {why}",
                info.key.kind.qualified(),
                info.key.name
            )));
            continue;
        }
        let patch = match common::difference(info.key.kind, &info.object.to_value(), &after.to_value()) {
            Ok(patch) => patch,
            Err(why) => {
                faults.push(Fault::Text(why));
                continue;
            }
        };
        if common::is_empty(&patch) {
            faults.push(empty(&info.key.name));
            continue;
        }
        match common::patch(kc, &info.key, PatchKind::Strategic, patch, common::DryRun::None)? {
            Ok(object) => common::say(kc, &format, &object, done, common::DryRun::None)?,
            Err(status) => faults.push(Fault::Text(format!("failed to patch: {}", status.message))),
        }
    }
    common::finish(kc, faults)
}
