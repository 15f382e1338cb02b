//! `kubectl rollout restart`.

use super::{patch_each, revisions};
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::Object;
use serde_json::json;
use std::sync::Arc;

pub(in crate::commands) use super::pause::FLAGS;

/// The annotation that makes a template differ from the one before.
const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let empty = |name: &str| {
        Fault::Text(format!(
            "failed to create patch for {name}: if restart has already been triggered within the past second, please wait before attempting to trigger another"
        ))
    };
    patch_each(kc, args, "restarted", &empty, |kc, object| {
        let now = kc.now().to_time().to_string();
        match object {
            Object::Deployment(deployment) if deployment.spec.paused => {
                Err("can't restart paused deployment (run rollout resume first)")
            }
            Object::Deployment(deployment) => {
                let template = &mut Arc::make_mut(deployment).spec.template;
                template.metadata.annotations.insert(RESTARTED_AT.to_owned(), now);
                Ok(true)
            }
            Object::Custom(custom) if revisions::keeps(custom.kind) => {
                let spec = Arc::make_mut(custom).rest.entry("spec").or_insert_with(|| json!({}));
                spec["template"]["metadata"]["annotations"][RESTARTED_AT] = json!(now);
                Ok(true)
            }
            _ => Ok(false),
        }
    })
}
