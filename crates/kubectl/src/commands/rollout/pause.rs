//! `kubectl rollout pause` and `kubectl rollout resume`.

use super::patch_each;
use crate::{
    args::{Args, Flag, Takes, flag},
    commands::common::{FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::Object;
use std::sync::Arc;

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    FIELD_MANAGER,
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    KUSTOMIZE,
];

pub(in crate::commands) fn pause(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let empty = |name: &str| Fault::Text(format!("{name} already paused"));
    patch_each(kc, args, "paused", &empty, |_, object| {
        let Object::Deployment(deployment) = object else { return Ok(false) };
        let was = std::mem::replace(&mut Arc::make_mut(deployment).spec.paused, true);
        if was { Err("is already paused") } else { Ok(true) }
    })
}

pub(in crate::commands) fn resume(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let empty = |name: &str| Fault::Text(format!("{name} already resumed"));
    patch_each(kc, args, "resumed", &empty, |_, object| {
        let Object::Deployment(deployment) = object else { return Ok(false) };
        let was = std::mem::replace(&mut Arc::make_mut(deployment).spec.paused, false);
        if was { Ok(true) } else { Err("is not paused") }
    })
}
