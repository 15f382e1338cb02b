//! `kubectl rollout restart`.

use super::patch_each;
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
};

pub(in crate::commands) use super::pause::FLAGS;

/// The annotation that makes a template differ from the one before.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let empty = |name: &str| {
        Fault::Text(format!(
            "failed to create patch for {name}: if restart has already been triggered within the past second, please wait before attempting to trigger another"
        ))
    };
    patch_each(kc, args, "restarted", &empty, |kc, deployment| {
        if deployment.spec.paused {
            return Err("can't restart paused deployment (run rollout resume first)");
        }
        let annotations = &mut deployment.spec.template.metadata.annotations;
        annotations.insert(RESTARTED_AT.to_owned(), kc.now().to_time().to_string());
        Ok(())
    })
}
