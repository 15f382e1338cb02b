//! `kubectl set serviceaccount`.

use super::{find, patch_pod_specs};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    commands::common::{ALL, DRY_RUN, FIELD_MANAGER, FILENAME, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    kc::{Flow, Kc},
};

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("local", Takes::Bool),
    not_done("kustomize", Takes::Text),
];

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let Some((account, resources)) = args.words.split_last() else {
        return Err(kc.fail("serviceaccount is required"));
    };
    let found = find(kc, args, resources)?;
    let what = ("serviceaccount updated", "failed to patch ServiceAccountName ");
    patch_pod_specs(kc, args, found, what, |spec, _| {
        spec.service_account_name.clone_from(account);
        Ok(())
    })
}
