//! `kubectl set resources`.

use super::{find, patch_pod_specs, selected};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    commands::common::{
        ALL, DRY_RUN, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    },
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::Quantity;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    short("containers", 'c', Takes::Text),
    flag("limits", Takes::Text),
    flag("requests", Takes::Text),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    crate::commands::common::LOCAL,
    KUSTOMIZE,
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let found = find(kc, args, &args.words)?;
    if args.on("all") && !args.text_or_empty("selector").is_empty() {
        return Err(kc.fail("cannot set --all and --selector at the same time"));
    }
    let (limits, requests) = (args.text_or_empty("limits"), args.text_or_empty("requests"));
    if limits.is_empty() && requests.is_empty() {
        return Err(
            kc.fail("you must specify an update to requests or limits (in the form of --requests/--limits)")
        );
    }
    let limits = parse(limits).map_err(|why| kc.fail(why))?;
    let requests = parse(requests).map_err(|why| kc.fail(why))?;
    let pattern = args.text("containers").unwrap_or("*").to_owned();
    let what = ("resource requirements updated", "failed to patch resources update to pod template ");
    patch_pod_specs(kc, args, found, what, |spec, faults| {
        let mut any = false;
        for container in selected(spec, &pattern) {
            container.resources.limits.extend(limits.iter().cloned());
            container.resources.requests.extend(requests.iter().cloned());
            any = true;
        }
        if !any {
            faults.push(Fault::Text(format!("error: unable to find container named {pattern}")));
        }
        Ok(())
    })
}

fn parse(list: &str) -> Result<Vec<(String, Quantity)>, String> {
    let entry = |statement: &str| match statement.split('=').collect::<Vec<_>>().as_slice() {
        [name, amount] => Quantity::parse(amount).map(|q| ((*name).to_owned(), q)).map_err(|e| e.to_string()),
        _ => Err(format!("invalid argument syntax {statement}, expected <resource>=<value>")),
    };
    if list.is_empty() { Ok(vec![]) } else { list.split(',').map(entry).collect() }
}
