//! `kubectl set serviceaccount`.

use super::{find, patch_pod_specs};
use crate::{
    args::Args,
    kc::{Flow, Kc},
};

/// The same as of `set image`.
pub(in crate::commands) use super::image::FLAGS;

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
