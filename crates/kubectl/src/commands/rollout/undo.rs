//! `kubectl rollout undo`. Upstream: polymorphichelpers, DeploymentRollbacker (v1.37).

use super::{find, not_for, reread, revisions};
use crate::{
    args::{Args, Flag, Takes, flag},
    commands::common::{self, DRY_RUN, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    describe,
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    workloads,
};
use kubestep_model::arrange::Gather;
use kubestep_model::{Deployment, Labels, Object, PatchKind, ReplicaSet, patch::LAST_APPLIED};
use serde_json::{Value, json};
use std::sync::Arc;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    DRY_RUN,
    flag("to-revision", Takes::Int),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    KUSTOMIZE,
];

/// Annotations that stay as the deployment has them.
const KEPT: &[&str] = &[
    LAST_APPLIED,
    workloads::REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let to = args.int("to-revision").unwrap_or(0);
    let found = find(kc, args)?;
    common::each(kc, found, |kc, info| {
        if info.object.meta().annotations.contains_key(LAST_APPLIED) {
            let name = common::resource_name(&info.key);
            kc.err(format!(
                "Warning: resource {name} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.\n"
            ));
        }
        let show = dry == DryRun::Client;
        let fresh = match reread(kc, info)? {
            Ok(object) => object,
            Err(fault) => return Ok(Err(fault)),
        };
        let (kind, planned) = match &fresh {
            Object::Deployment(deployment) => {
                let sets = workloads::replica_sets_of(kc, deployment)?;
                (PatchKind::Json, plan(deployment, &sets, to, show))
            }
            other if revisions::keeps(info.key.kind) => {
                let history = revisions::of(kc, other)?;
                (PatchKind::Strategic, revisions::plan(other, &history, to, show))
            }
            other => return Ok(Err(not_for(other, "rollbacker"))),
        };
        let done = match planned {
            Ok(Plan::Say(text)) => text,
            Ok(Plan::Patch(patch)) => {
                if let Err(status) = common::patch(kc, &info.key, kind, patch, dry)? {
                    let text = format!("failed restoring revision {to}: {}", status.message);
                    return Ok(Err(Fault::Text(text)));
                }
                "rolled back".to_owned()
            }
            Err(fault) => return Ok(Err(fault)),
        };
        common::say(kc, &format, &info.object, &done, dry)?;
        Ok(Ok(()))
    })
}

/// What an undo comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Nothing is changed; this is printed.
    Say(String),
    /// This patch is sent.
    Patch(Value),
}

/// Works out what to do to get back to a revision; 0 stands for the one before the present one.
pub(crate) fn plan(
    deployment: &Deployment,
    sets: &[Arc<ReplicaSet>],
    to: i64,
    show: bool,
) -> Result<Plan, Fault> {
    if to < 0 {
        return Err(not_found(to));
    }
    let target = find_revision(deployment, sets, to)?;
    if show {
        return Ok(Plan::Say(describe::template(&target.spec.template)));
    }
    if deployment.spec.paused {
        let text = "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again";
        return Err(Fault::Text(text.into()));
    }
    if workloads::same_template(&target.spec.template, &deployment.spec.template) {
        return Ok(Plan::Say(format!("skipped rollback (current template already matches revision {to})")));
    }
    let kept = |(key, _): &(&String, &String)| KEPT.contains(&key.as_str());
    let own = deployment.metadata.annotations.iter().filter(kept);
    let back = target.metadata.annotations.iter().filter(|entry| !kept(entry));
    let annotations: Labels = own.chain(back).map(|(k, v)| (k.clone(), v.clone())).gather();
    let template = workloads::without_hash(target.spec.template.clone());
    Ok(Plan::Patch(json!([
        { "op": "replace", "path": "/spec/template", "value": template },
        { "op": "replace", "path": "/metadata/annotations", "value": annotations },
    ])))
}

pub(super) fn not_found(revision: i64) -> Fault {
    Fault::Text(format!("unable to find specified revision {revision} in history"))
}

/// Upstream: deploymentRevision.
fn find_revision<'a>(
    deployment: &Deployment,
    sets: &'a [Arc<ReplicaSet>],
    to: i64,
) -> Result<&'a Arc<ReplicaSet>, Fault> {
    let (new, old) = workloads::split(deployment, sets);
    let all: Vec<&Arc<ReplicaSet>> = old.into_iter().chain(new).collect();
    let numbered =
        || all.iter().filter_map(|rs| workloads::revision(&rs.metadata.annotations).ok().map(|r| (r, *rs)));
    if to > 0 {
        return numbered()
            .find(|(revision, _)| *revision == to)
            .map(|(_, rs)| rs)
            .ok_or_else(|| not_found(to));
    }
    let (mut latest, mut previous): (Option<(i64, _)>, Option<(i64, _)>) = (None, None);
    for (revision, rs) in numbered() {
        if latest.is_none_or(|(newest, _)| newest < revision) {
            previous = latest;
            latest = Some((revision, rs));
        } else if previous.is_none_or(|(second, _)| second < revision) {
            previous = Some((revision, rs));
        }
    }
    let name = &deployment.metadata.name;
    previous
        .map(|(_, rs)| rs)
        .ok_or_else(|| Fault::Text(format!("no rollout history found for deployment \"{name}\"")))
}
