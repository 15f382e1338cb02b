//! An apply to an object's scale: it owns one field, the wanted replicas, and owns it in the object itself.
//!
//! Upstream: k8s.io/apimachinery/pkg/util/managedfields, ScaleHandler, and pkg/registry/apps/deployment/storage, ScaleREST
//! (v1.37).

use super::{conflict_of, fields, fields::Set, managers, place_of, typed_patch};
use crate::{defined, scale, store::Write, turn::Turn, update};
use kubestep_model::{Key, Object, Reply, Status, schema};
use serde_json::{Map, Value};
use std::sync::Arc;

const VERSION: &str = "autoscaling/v1";
const PART: &str = "scale";

/// PATCH of a scale with what an applier wants of it.
pub(super) fn apply(turn: &mut Turn<'_>, key: &Key, applied: &Value, manager: &Arc<str>) -> Reply {
    let (kind, version) =
        (applied["kind"].as_str().unwrap_or_default(), applied["apiVersion"].as_str().unwrap_or_default());
    if kind != "Scale" || version != VERSION {
        return Err(Status::bad_request(format!("invalid object type: {version}, Kind={kind}")));
    }
    let of_scale = schema::place(VERSION, "Scale").ok_or_else(Status::no_such_resource)?;
    typed_patch(of_scale, applied, &format!("{VERSION}, Kind=Scale"))?;
    let old = turn.find(key)?;
    scale::of(turn, &old)?;
    fit(applied, key)?;
    let place = place_of(turn, key.kind).ok_or_else(Status::no_such_resource)?;
    let field = field_of(turn);
    let path: fields::Path =
        field.trim_start_matches('.').split('.').map(|step| fields::Step::Field(step.into())).collect();
    let wanted = applied["spec"]["replicas"].as_i64();
    let live = defined::at(&old.to_value(), &field).as_i64();

    let before = managers::of(&turn.store, key, place);
    let owned = before.of(manager, true, PART).contains(&path);
    let others: Vec<&managers::Manager> =
        before.0.iter().filter(|m| !m.is(manager, true, PART) && m.set.contains(&path)).collect();
    if wanted.is_some_and(|n| Some(n) != live) && !turn.force {
        conflict_of(others.iter().map(|other| (*other, path.clone())).collect(), VERSION)?;
    }
    // What the last owner no longer wishes for is nothing, and stays his.
    let gone = wanted.is_none() && owned && others.is_empty();
    let replicas = match wanted {
        Some(n) => n,
        None if gone => 0,
        None => live.unwrap_or(0),
    };
    let mut own = Map::new();
    if wanted.is_some() || gone {
        defined::put_at(&mut own, &field, replicas.into());
    }
    turn.by =
        Some(Arc::new(Write::Applied { manager: manager.clone(), object: Arc::new(Value::Object(own)) }));
    let mine: Set = if wanted.is_some() || gone { [path].into() } else { Set::new() };
    turn.rewrite = mine != before.of(manager, true, PART);
    let version = applied["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let object: Object = update::write_scale(turn, old, &replicas.into(), version)?;
    scale::get(turn, &object)
}

/// Where the wanted replicas stand in the object.
fn field_of(turn: &Turn<'_>) -> String {
    let defined = turn.spoken.as_ref().and_then(|spoken| spoken.subresource(PART));
    let path = defined.and_then(|paths| paths["specReplicasPath"].as_str());
    path.unwrap_or(".spec.replicas").to_owned()
}

/// The names in a scale have to be those of the path.
fn fit(applied: &Value, key: &Key) -> Result<(), Status> {
    let text = |field: &str| applied["metadata"][field].as_str().unwrap_or_default();
    let (name, namespace) = (text("name"), text("namespace"));
    if !name.is_empty() && name != &*key.name {
        let why =
            format!("the name of the object ({name}) does not match the name on the URL ({})", key.name);
        return Err(Status::bad_request(why));
    }
    if !namespace.is_empty() && namespace != &*key.namespace {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tests::World;
    use kubestep_model::{Answer, Body, Key, Kind, PatchKind, Reply, Request, Subresource, Verb};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn key() -> Key {
        Key::new(Kind::Deployment, "default", "d")
    }

    fn patch(
        world: &mut World,
        part: Subresource,
        kind: PatchKind,
        patch: &Value,
        who: &str,
        force: bool,
    ) -> Reply {
        let verb = Verb::Patch { key: key(), subresource: part, kind, patch: Arc::new(patch.clone()) };
        let manager = (!who.is_empty()).then(|| who.into());
        world.request(Request { field_manager: manager, force, ..verb.into() }).reply
    }

    fn scale(world: &mut World, spec: Value, who: &str, force: bool) -> Result<i64, String> {
        let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "d", "namespace": "default"}, "spec": spec});
        match patch(world, Subresource::Scale, PatchKind::Apply, &scale, who, force) {
            Ok(Answer::Json { value, .. }) => Ok(value["spec"]["replicas"].as_i64().unwrap_or(0)),
            Ok(other) => panic!("no scale: {other:?}"),
            Err(status) => Err(status.message),
        }
    }

    /// Who owns the replicas, as `managedFields` tell it.
    fn owners(world: &mut World) -> Vec<String> {
        let get = Verb::Get { key: key(), subresource: Subresource::None };
        let reply = world.request(Request { owners: true, ..get.into() }).reply;
        let Ok(Answer::Object { object, .. }) = reply else { panic!("not there") };
        let whole = object.to_value();
        let entries = whole["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let owns = |e: &&Value| e["fieldsV1"]["f:spec"]["f:replicas"].is_object();
        let words = |e: &Value| {
            ["manager", "operation", "subresource"]
                .map(|name| e[name].as_str().unwrap_or(""))
                .join(" ")
                .trim()
                .into()
        };
        entries.iter().filter(owns).map(words).collect()
    }

    fn world() -> World {
        let mut world = World::new();
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "default"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}});
        patch(&mut world, Subresource::None, PatchKind::Apply, &deployment, "main", false).expect("made");
        world
    }

    /// As a real API server answered.
    #[test]
    fn replicas_move_between_owners() {
        let world = &mut world();
        assert_eq!(scale(world, json!({"replicas": 1}), "main", false), Ok(1));
        assert_eq!(owners(world), ["main Apply scale", "main Apply"]);
        let both = "Apply failed with 2 conflicts: conflicts with \"main\" with subresource \"scale\":\n- .spec.replicas\nconflicts with \"main\":\n- .spec.replicas";
        assert_eq!(scale(world, json!({"replicas": 5}), "other", false), Err(both.into()));
        let own = "Apply failed with 1 conflict: conflict with \"main\": .spec.replicas";
        assert_eq!(scale(world, json!({"replicas": 5}), "main", false), Err(own.into()));
        assert_eq!(scale(world, json!({"replicas": 5}), "other", true), Ok(5));
        assert_eq!(owners(world), ["other Apply scale"]);
        let merge = json!({"spec": {"replicas": 7}});
        patch(world, Subresource::Scale, PatchKind::Merge, &merge, "third", false).expect("scaled");
        assert_eq!(owners(world), ["third Update scale"]);
        let third = "Apply failed with 1 conflict: conflict with \"third\" with subresource \"scale\" using autoscaling/v1: .spec.replicas";
        assert_eq!(scale(world, json!({"replicas": 8}), "other", false), Err(third.into()));
        assert_eq!(scale(world, json!({}), "other", true), Ok(7));
        assert_eq!(owners(world), ["third Update scale"]);
        assert_eq!(scale(world, json!({"replicas": 9}), "other", true), Ok(9));
        assert_eq!(scale(world, json!({}), "other", false), Ok(0));
        assert_eq!(owners(world), ["other Apply scale"]);
    }

    #[test]
    fn what_is_no_scale_is_refused() {
        let world = &mut world();
        let before = world.store.revision();
        for (applied, why) in [
            (
                json!({"apiVersion": "apps/v1", "kind": "Deployment"}),
                "invalid object type: apps/v1, Kind=Deployment",
            ),
            (
                json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "zz"}, "spec": {"replicas": 2}}),
                "the name of the object (zz) does not match the name on the URL (d)",
            ),
            (
                json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": "x"}}),
                "failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.replicas: expected numeric (int or float), got string",
            ),
            (
                json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": -1}}),
                "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d", "resourceVersion": "1"}, "spec": {"replicas": 2}}),
                "Operation cannot be fulfilled on deployments.apps \"d\": the object has been modified; please apply your changes to the latest version and try again",
            ),
        ] {
            let reply = patch(world, Subresource::Scale, PatchKind::Apply, &applied, "m", true);
            assert_eq!(reply.map_err(|status| status.message), Err(why.into()));
        }
        let reply = patch(world, Subresource::Scale, PatchKind::Apply, &json!({"kind": "Scale"}), "", true);
        assert_eq!(reply.map_err(|status| status.code), Err(422));
        assert_eq!(world.store.revision(), before);
    }

    #[test]
    fn a_request_for_a_certificate_is_approved_by_its_own_way() {
        const PEM: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";
        let mut world = World::new();
        let kind = crate::strategy::SIGNING_REQUEST;
        let request = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"name": "jane"},
            "spec": {"request": PEM, "signerName": "example.com/s", "usages": ["client auth"]}});
        world.object(Verb::Create { kind, namespace: "".into(), body: Body::Json(Arc::new(request)) });
        let key = Key::new(kind, "", "jane");
        let patch = |subresource, status: Value| -> Request {
            let patch = Arc::new(json!({"status": status}));
            let verb = Verb::Patch { key: key.clone(), subresource, kind: PatchKind::Merge, patch };
            Request { field_manager: Some("m".into()), ..verb.into() }
        };
        let approved = json!({"conditions": [{"type": "Approved", "status": "True", "reason": "r"}]});
        let refused = world.request(patch(Subresource::Status, approved.clone())).reply;
        assert_eq!(refused.map_err(|status| status.code), Err(422));
        let reply = world.request(patch(Subresource::Approval, approved)).reply.expect("approved");
        let Answer::Object { object, .. } = reply else { panic!() };
        let condition = object.to_value()["status"]["conditions"][0].clone();
        assert!(
            condition["lastUpdateTime"].is_string() && condition["lastTransitionTime"].is_string(),
            "{condition}"
        );
        let other =
            Verb::Get { key: Key::new(Kind::Namespace, "", "default"), subresource: Subresource::Approval };
        assert_eq!(world.refusal(other).code, 404);
    }
}
