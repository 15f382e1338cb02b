//! `kubectl cordon` and `kubectl uncordon`. Upstream: kubectl/pkg/cmd/drain (v1.37).

use super::common::{self, DRY_RUN, DryRun, SELECTOR};
use crate::{
    args::{Args, Flag},
    fault::Fault,
    kc::{Flow, Kc},
    select::{self, Info, Select},
};
use kubestep_model::{Node, PatchKind};
use serde_json::json;

pub(super) const FLAGS: &[Flag] = &[DRY_RUN, SELECTOR];

pub(super) fn cordon(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    run(kc, args, true)
}

pub(super) fn uncordon(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    run(kc, args, false)
}

fn run(kc: &mut Kc<'_>, args: &Args, unschedulable: bool) -> Flow<i32> {
    let dry = DryRun::of(kc, args)?;
    let nodes = nodes(kc, args, if unschedulable { "cordon NODE" } else { "uncordon NODE" })?;
    mark(kc, &nodes, unschedulable, dry)
}

/// The nodes that a line names.
pub(super) fn nodes(kc: &mut Kc<'_>, args: &Args, usage: &str) -> Flow<Vec<Info>> {
    let selector = args.text_or_empty("selector");
    if args.words.is_empty() && selector.is_empty() {
        return Err(kc.usage(&args.path, &format!("USAGE: {usage} [flags]")));
    }
    if !args.words.is_empty() && !selector.is_empty() {
        return Err(kc.usage(&args.path, "error: cannot specify both a node name and a --selector option"));
    }
    let words: Vec<String> = std::iter::once("nodes")
        .chain(args.words.iter().map(|w| w.strip_prefix("node/").unwrap_or(w)))
        .map(str::to_owned)
        .collect();
    let found = select::find(kc, &Select { words, labels: selector.to_owned(), ..Select::default() })?;
    match found.faults.first() {
        Some(fault) => Err(kc.fault(fault)),
        None => Ok(found.infos),
    }
}

/// Keeps new pods from nodes, or lets them on again.
pub(super) fn mark(kc: &mut Kc<'_>, nodes: &[Info], unschedulable: bool, dry: DryRun) -> Flow<i32> {
    let verb = if unschedulable { "cordon" } else { "uncordon" };
    let mut code = 0;
    for info in nodes {
        let Some(node) = info.object.get::<Node>() else { continue };
        if node.spec.unschedulable == unschedulable {
            common::said(kc, &info.key, &format!("already {verb}ed"), dry);
            continue;
        }
        if dry != DryRun::Client {
            let patch =
                json!({ "spec": { "unschedulable": if unschedulable { json!(true) } else { json!(null) } } });
            if let Err(status) = common::patch(kc, &info.key, PatchKind::Strategic, patch, dry)? {
                let (name, why) = (&info.key.name, Fault::from(status).text());
                kc.err(format!("error: unable to {verb} node {name}: {why}\n"));
                code = 1;
                continue;
            }
        }
        common::said(kc, &info.key, &format!("{verb}ed"), dry);
    }
    Ok(code)
}
