//! `kubectl set subject`: adds users, groups and service accounts to bindings. Upstream: kubectl/pkg/cmd/set (v1.37).

use super::find;
use crate::{
    args::{Args, Flag, Takes, flag},
    commands::common::{
        self, ALL, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    },
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
};
use kubestep_model::{Object, PatchKind};
use serde_json::{Value, json};

pub(in crate::commands) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    flag("user", Takes::Each),
    flag("group", Takes::Each),
    flag("serviceaccount", Takes::Each),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    common::LOCAL,
    KUSTOMIZE,
];

const GROUP: &str = "rbac.authorization.k8s.io";

pub(in crate::commands) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let found = find(kc, args, &args.words)?;
    let mut subjects = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        subjects.extend(args.all(flag).iter().map(|n| json!({ "apiGroup": GROUP, "kind": kind, "name": n })));
    }
    for account in args.all("serviceaccount") {
        let Some((namespace, name)) = account.split_once(':').filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            return Err(kc.fail("serviceaccount must be <namespace>:<name>"));
        };
        subjects.push(json!({ "kind": "ServiceAccount", "name": name, "namespace": namespace }));
    }
    if subjects.is_empty() {
        return Err(kc.fail("you must specify at least one value of user, group or serviceaccount"));
    }
    common::each(kc, found, |kc, info| {
        if !matches!(info.key.kind.name(), "RoleBinding" | "ClusterRoleBinding") {
            return Ok(Err(Fault::Text(
                "setting subjects is only supported for RoleBinding/ClusterRoleBinding".into(),
            )));
        }
        let mut all =
            info.object.to_value().get("subjects").and_then(Value::as_array).cloned().unwrap_or_default();
        let before = all.len();
        for subject in &subjects {
            if !all.contains(subject) {
                all.push(subject.clone());
            }
        }
        let patch = json!({ "subjects": all });
        if all.len() == before || dry == DryRun::Client || args.on("local") {
            let mut after = info.object.to_value();
            after["subjects"] = patch["subjects"].clone();
            let after = Object::from_value(info.key.kind, after);
            common::say(kc, &format, after.as_ref().unwrap_or(&info.object), "subjects updated", dry)?;
            return Ok(Ok(()));
        }
        match common::patch(kc, &info.key, PatchKind::Merge, patch, dry)? {
            Ok(object) => {
                common::say(kc, &format, &object, "subjects updated", dry)?;
                Ok(Ok(()))
            }
            Err(status) => {
                let text =
                    format!("failed to patch subjects to {}: {}", info.key.kind.name(), status.message);
                Ok(Err(Fault::Text(text)))
            }
        }
    })
}
