//! `kubectl apply --server-side`: the whole object is sent, and the server finds out what changes and who owns it.
//! Upstream: kubectl/pkg/cmd/apply, applyOneObject and migrateToSSAIfNecessary (v1.37).

use super::{apply::How, part};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
};
use kubestep_model::{Key, Object, PatchKind, Request, Subresource, Verb, patch::LAST_APPLIED};
use serde_json::{Value, json};
use std::sync::Arc;

/// Under which name kubectl applies.
pub(super) const MANAGER: &str = "kubectl";
/// Under which name it keeps the annotation of client-side apply.
const LAST_APPLIED_MANAGER: &str = "kubectl-last-applied";
const CLIENT_SIDE_MANAGER: &str = "kubectl-client-side-apply";

const CONFLICT: &str = "Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

pub(super) fn apply(
    kc: &mut Kc<'_>,
    manifest: &Manifest,
    key: &Key,
    how: &How,
) -> Flow<Result<Object, Fault>> {
    let part = match part::named(kc, key.kind, &how.part)? {
        Ok(part) => part,
        Err(status) => return Ok(Err(status.into())),
    };
    let send = |kc: &mut Kc<'_>| {
        let mut request =
            Request { force: how.force, ..patch(key, PatchKind::Apply, manifest.value.clone(), how) };
        if let Verb::Patch { subresource, .. } = &mut request.verb {
            *subresource = part;
        }
        kc.ask_object(request)
    };
    let object = match send(kc)? {
        Ok(object) => object,
        Err(status) if status.is_conflict() => {
            return Ok(Err(Fault::Text(format!("{}\n{CONFLICT}", status.message))));
        }
        Err(status) => return Ok(Err(status.into())),
    };
    if how.dry != super::common::DryRun::None || part != Subresource::None {
        return Ok(Ok(object));
    }
    match migrate(kc, key, object, how)? {
        Ok((object, false)) => Ok(Ok(object)),
        Ok((_, true)) => Ok(send(kc)?.map_err(Fault::from)),
        Err(fault) => Ok(Err(fault)),
    }
}

fn patch(key: &Key, kind: PatchKind, patch: Value, how: &How) -> Request {
    let verb = Verb::Patch { key: key.clone(), subresource: Subresource::None, kind, patch: Arc::new(patch) };
    Request { strict: how.strict, ..how.dry.request(verb) }
}

/// Makes the fields that client-side apply owned those of this apply. Answers whether anything was changed.
fn migrate(kc: &mut Kc<'_>, key: &Key, object: Object, how: &How) -> Flow<Result<(Object, bool), Fault>> {
    let Some(annotation) = object.meta().annotations.get(LAST_APPLIED).cloned() else {
        return Ok(Ok((object, false)));
    };
    let mut object = object;
    let ours = kc.field_manager.as_deref() == Some(MANAGER);
    if ours && !managers(&object).iter().any(|m| m["operation"] == "Apply" && owns_annotation(m)) {
        let metadata = json!({"name": &*key.name, "namespace": &*key.namespace, "annotations": {LAST_APPLIED: annotation}});
        let mut only =
            json!({"apiVersion": key.kind.api_version(), "kind": key.kind.name(), "metadata": metadata});
        if let Some(metadata) = only["metadata"].as_object_mut().filter(|_| key.namespace.is_empty()) {
            metadata.remove("namespace");
        }
        let request = Request {
            field_manager: Some(LAST_APPLIED_MANAGER.into()),
            ..patch(key, PatchKind::Apply, only, how)
        };
        object = match kc.ask_object(request)? {
            Ok(object) => object,
            Err(status) => return Ok(Err(status.into())),
        };
    }
    let manager = kc.field_manager.clone().unwrap_or_default();
    let Some(upgraded) = upgraded(&managers(&object), &manager) else { return Ok(Ok((object, false))) };
    let patched = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": upgraded},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": object.meta().resource_version},
    ]);
    Ok(kc.ask_object(patch(key, PatchKind::Json, patched, how))?.map(|o| (o, true)).map_err(Fault::from))
}

fn managers(object: &Object) -> Vec<Value> {
    let there = object.meta().rest.get("managedFields").and_then(Value::as_array);
    there.cloned().unwrap_or_default()
}

fn owns_annotation(manager: &Value) -> bool {
    let name = format!("f:{LAST_APPLIED}");
    !manager["fieldsV1"]["f:metadata"]["f:annotations"][name.as_str()].is_null()
}

/// The owners with those of client-side apply joined into the applier; none if there are none.
///
/// Upstream: client-go/util/csaupgrade, UpgradeManagedFields.
fn upgraded(managers: &[Value], manager: &str) -> Option<Vec<Value>> {
    let client_side = |m: &Value| {
        m["operation"] == "Update"
            && m["subresource"].is_null()
            && (m["manager"] == CLIENT_SIDE_MANAGER || owns_annotation(m))
    };
    let own = |m: &Value| m["operation"] == "Apply" && m["manager"] == manager && m["subresource"].is_null();
    let first = managers.iter().find(|m| client_side(m))?;
    let mut joined = managers.iter().find(|m| own(m)).cloned().unwrap_or_else(|| {
        let mut entry = first.clone();
        entry["operation"] = "Apply".into();
        entry["manager"] = manager.into();
        entry
    });
    for old in managers.iter().filter(|m| client_side(m)) {
        join(&mut joined["fieldsV1"], &old["fieldsV1"], 0);
    }
    let mut out: Vec<Value> = managers.iter().filter(|m| !client_side(m) && !own(m)).cloned().collect();
    out.push(joined);
    Some(out)
}

/// The union of two sets of fields.
fn join(into: &mut Value, from: &Value, depth: usize) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { return };
    // A field that stands alone is itself owned; with fields below it, that has to be said.
    if into.is_empty() != from.is_empty() && depth > 0 {
        into.insert(".".into(), json!({}));
    }
    for (name, inner) in from {
        match into.get_mut(name) {
            Some(there) if depth < 100 => join(there, inner, depth + 1),
            _ => drop(into.insert(name.clone(), inner.clone())),
        }
    }
}
