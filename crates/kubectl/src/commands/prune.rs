//! `--prune`: what was applied before and is in no file any more goes.
//! Upstream: kubectl/pkg/cmd/apply/prune.go and kubectl/pkg/util/prune (v1.37).

use super::common::{self, DryRun};
use crate::{
    args::Args,
    kc::{Flow, Kc},
    manifest::kind_of,
    output::format::{Format, qualified},
};
use kubestep_model::{
    DeleteOptions, Key, Kind, Object, Propagation, Verb, patch::LAST_APPLIED, text::Selector,
};
use std::sync::Arc;

/// What is said where neither a selector nor `--all` is given.
pub(super) const ALL_OR_SOME: &str = "all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector";

const OUTSIDE: &str = "Deprecated: kubectl apply will no longer prune non-namespaced resources by default when used with the --namespace flag in a future release. To preserve the current behaviour, list the resources you want to target explicitly in the --prune-allowlist flag.";

/// The kinds that are pruned unless others are named. Upstream: prune.GetRESTMappings.
const KINDS: &[(&str, &str)] = &[
    ("", "ConfigMap"),
    ("", "Endpoints"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "PersistentVolume"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("", "Secret"),
    ("", "Service"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("networking.k8s.io", "Ingress"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
];

/// The kinds of `--prune-allowlist`. Upstream: prune.ParseResources.
pub(super) fn allowed(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<Kind>> {
    let mut kinds = vec![];
    for text in args.all("prune-allowlist") {
        let parts: Vec<&str> = text.split('/').collect();
        let [group, version, kind] = parts.as_slice() else {
            let text = format!("invalid GroupVersionKind format: {text}, please follow <group/version/kind>");
            return Err(kc.fail(text));
        };
        let group = if *group == "core" { "" } else { *group };
        let api = if group.is_empty() { (*version).to_owned() } else { format!("{group}/{version}") };
        if Kind::of_manifest(&api, kind).is_none() {
            kc.definitions()?;
        }
        match kind_of(kc, &api, kind) {
            Some(found) => kinds.push(found),
            None => return Err(kc.fail(format!("no matches for kind \"{kind}\" in version \"{api}\""))),
        }
    }
    Ok(kinds)
}

/// The kinds that are looked through, those in namespaces first; and a warning about the others.
fn kinds(kc: &mut Kc<'_>, named: &[Kind]) -> (Vec<Kind>, Vec<Kind>) {
    let all: Vec<Kind> = match named {
        [] => KINDS.iter().filter_map(|(group, kind)| Kind::find(group, kind)).collect(),
        named => named.to_vec(),
    };
    if named.is_empty() {
        kc.log("prune.go:71", OUTSIDE);
    }
    all.into_iter().partition(|kind| kind.namespaced())
}

/// What was applied before, fits the selector and was not visited now.
fn left(
    kc: &mut Kc<'_>,
    labels: &Option<Selector>,
    kind: Kind,
    namespace: Option<Arc<str>>,
    visited: &[Key],
) -> Flow<Vec<Object>> {
    let listed = kc.list_whole(kind, namespace, labels.clone(), None)?;
    let (mut items, _) = listed.map_err(|status| kc.fault(&status.into()))?;
    items.retain(|o| o.meta().annotations.contains_key(LAST_APPLIED) && !visited.contains(&o.key()));
    Ok(items)
}

/// The objects that would go.
fn all(kc: &mut Kc<'_>, args: &Args, visited: &[Key], named: &[Kind]) -> Flow<Vec<Object>> {
    let (inside, outside) = kinds(kc, named);
    let labels = Selector::parse(args.text_or_empty("selector")).map_err(|why| kc.fail(why))?;
    let labels = Some(labels).filter(|l| !l.is_empty());
    let mut namespaces: Vec<Arc<str>> = vec![];
    for key in visited.iter().filter(|k| k.kind.namespaced()) {
        if !namespaces.contains(&key.namespace) {
            namespaces.push(key.namespace.clone());
        }
    }
    let mut found = vec![];
    for namespace in namespaces {
        for &kind in &inside {
            found.extend(left(kc, &labels, kind, Some(namespace.clone()), visited)?);
        }
    }
    for kind in outside {
        found.extend(left(kc, &labels, kind, None, visited)?);
    }
    Ok(found)
}

/// What `diff --prune` shows.
pub(super) fn find(kc: &mut Kc<'_>, args: &Args, visited: &[Key]) -> Flow<Vec<Object>> {
    let named = allowed(kc, args)?;
    all(kc, args, visited, &named)
}

/// Deletes what is in no file any more.
pub(super) fn run(
    kc: &mut Kc<'_>,
    args: &Args,
    visited: &[Key],
    named: &[Kind],
    dry: DryRun,
    format: &Format,
) -> Flow<()> {
    let propagation = super::delete::cascade(kc, args)?;
    let grace = args.int("grace-period").filter(|seconds| *seconds >= 0);
    for object in all(kc, args, visited, named)? {
        let key = object.key();
        if dry != DryRun::Client {
            let options = DeleteOptions {
                grace_period_seconds: grace,
                propagation: Some(propagation)
                    .filter(|p| *p != Propagation::Background || args.has("cascade")),
                ..DeleteOptions::default()
            };
            let sent = kc.ask(dry.request(Verb::Delete { key: key.clone(), options }))?;
            if let Err(status) = sent
                && !status.is_not_found()
            {
                return Err(kc.fault(&status.into()));
            }
        }
        match format {
            Format::Human { .. } => common::said(kc, &key, "pruned", dry),
            Format::Name => kc.out(qualified(key.kind, &key.name) + "\n"),
            _ => {}
        }
    }
    Ok(())
}
