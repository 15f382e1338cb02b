//! `kubectl cordon` and `kubectl uncordon`. Upstream: kubectl/pkg/cmd/drain (v1.37).

use super::common::{self, DRY_RUN, DryRun, SELECTOR};
use crate::{
    args::{Args, Flag},
    fault::Fault,
    kc::{Flow, Kc},
    select::{self, Select},
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
    let verb = if unschedulable { "cordon" } else { "uncordon" };
    let selector = args.text_or_empty("selector");
    if args.words.is_empty() && selector.is_empty() {
        return Err(kc.usage(&args.path, &format!("USAGE: {verb} NODE [flags]")));
    }
    if !args.words.is_empty() && !selector.is_empty() {
        return Err(kc.usage(&args.path, "error: cannot specify both a node name and a --selector option"));
    }
    let words: Vec<String> = std::iter::once("nodes")
        .chain(args.words.iter().map(|w| w.strip_prefix("node/").unwrap_or(w)))
        .map(str::to_owned)
        .collect();
    let found = select::find(kc, &Select { words, labels: selector.to_owned(), ..Select::default() })?;
    if let Some(fault) = found.faults.first() {
        return Err(kc.fault(&fault.clone()));
    }
    let mut code = 0;
    for info in &found.infos {
        let Some(node) = info.object.get::<Node>() else { continue };
        if node.spec.unschedulable == unschedulable {
            common::said(kc, &info.key, &format!("already {verb}ed"), dry);
            continue;
        }
        if dry != DryRun::Client {
            let patch =
                json!({ "spec": { "unschedulable": if unschedulable { json!(true) } else { json!(null) } } });
            if let Err(status) = common::patch(kc, &info.key, PatchKind::Strategic, patch, dry)? {
                kc.err(format!(
                    "error: unable to {verb} node {}: {}\n",
                    info.key.name,
                    Fault::from(status).text()
                ));
                code = 1;
                continue;
            }
        }
        common::said(kc, &info.key, &format!("{verb}ed"), dry);
    }
    Ok(code)
}
