//! `kubectl rollout history`.

use super::{find, not_for, reread, revisions};
use crate::{
    args::{Args, Flag, Takes, flag},
    commands::common::{self, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    describe,
    fault::Fault,
    kc::{Flow, Kc},
    output::{format::Format, tabs::Tabs},
    select::Info,
    workloads::{self, CHANGE_CAUSE},
};
use kubestep_model::arrange::Gather;
use kubestep_model::{Object, PodTemplateSpec, ReplicaSet};
use std::{collections::BTreeMap, sync::Arc};

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    flag("revision", Takes::Int),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    KUSTOMIZE,
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let format = Format::of(kc, args, false)?;
    let revision = args.int("revision").unwrap_or(0);
    if args.words.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail("required resource not specified"));
    }
    if revision < 0 {
        return Err(kc.fail(format!("revision must be a positive integer: {revision}")));
    }
    let found = find(kc, args)?;
    common::each(kc, found, |kc, info| {
        let fresh = match reread(kc, info)? {
            Ok(object) => object,
            Err(fault) => return Ok(Err(fault)),
        };
        let Object::Deployment(deployment) = &fresh else {
            if !revisions::keeps(info.key.kind) {
                return Ok(Err(not_for(&info.object, "history viewer")));
            }
            return revisions::show(kc, &format, info, revision);
        };
        let sets = workloads::replica_sets_of(kc, deployment)?;
        if !format.is_human() {
            return objects(kc, &format, &sets, revision);
        }
        Ok(view(&sets, revision).map(|text| say(kc, info, revision, &text)))
    })
}

/// Prints the history of one object.
pub(super) fn say(kc: &mut Kc<'_>, info: &Info, revision: i64, text: &str) {
    let which = if revision > 0 { format!("with revision #{revision}") } else { String::new() };
    common::said(kc, &info.key, &format!("{which}\n{text}"), DryRun::None);
}

/// The replica sets of each revision; of two with one number the last counts.
fn by_revision(sets: &[Arc<ReplicaSet>]) -> BTreeMap<i64, &Arc<ReplicaSet>> {
    sets.iter().filter_map(|rs| workloads::revision(&rs.metadata.annotations).ok().map(|r| (r, rs))).gather()
}

pub(super) fn missing() -> Fault {
    Fault::Text("unable to find the specified revision".into())
}

fn objects(
    kc: &mut Kc<'_>,
    format: &Format,
    sets: &[Arc<ReplicaSet>],
    revision: i64,
) -> Flow<Result<(), Fault>> {
    let all = by_revision(sets);
    let picked: Vec<&Arc<ReplicaSet>> = match revision {
        0 => all.into_values().collect(),
        wanted => match all.get(&wanted) {
            Some(rs) => vec![rs],
            None => return Ok(Err(missing())),
        },
    };
    for (at, rs) in picked.into_iter().enumerate() {
        if at > 0 && *format == Format::Yaml {
            kc.out("---\n");
        }
        format.print(kc, &Object::ReplicaSet(rs.clone()), true)?;
    }
    Ok(Ok(()))
}

/// The history of revisions, or the template of one. Upstream: DeploymentHistoryViewer.ViewHistory.
pub(crate) fn view(sets: &[Arc<ReplicaSet>], revision: i64) -> Result<String, Fault> {
    let all = by_revision(sets);
    if all.is_empty() {
        return Ok("No rollout history found.".to_owned());
    }
    if revision > 0 {
        let rs = all.get(&revision).ok_or_else(missing)?;
        return Ok(describe::template(&with_cause(rs)));
    }
    let row = |(revision, rs): (&i64, &&Arc<ReplicaSet>)| {
        let template = with_cause(rs);
        let cause = template.metadata.annotations.get(CHANGE_CAUSE).filter(|c| !c.is_empty());
        format!("{revision}\t{}\n", cause.map_or("<none>", String::as_str))
    };
    let rows: String = all.iter().map(row).collect();
    Ok(Tabs::DESCRIBE.align(&format!("REVISION\tCHANGE-CAUSE\n{rows}")))
}

/// The template of a replica set, with the cause of its revision among its annotations.
fn with_cause(rs: &ReplicaSet) -> PodTemplateSpec {
    let mut template = rs.spec.template.clone();
    if let Some(cause) = rs.metadata.annotations.get(CHANGE_CAUSE).filter(|c| !c.is_empty()) {
        template.metadata.annotations.insert(CHANGE_CAUSE.to_owned(), cause.clone());
    }
    template
}
