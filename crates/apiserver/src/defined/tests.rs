//! A kind from its definition to its end.

use crate::tests::World;
use kubestep_model::{
    Answer, Body, Key, Kind, Object, PatchKind, Reason, Status, Subresource, Verb,
    defined::{DEFINITION, Definition},
};
use serde_json::{Value, json};
use std::sync::Arc;

fn kind(version: &str) -> Kind {
    Kind::defined("example.com", version, "Widget", "widgets", true)
}

fn key(version: &str) -> Key {
    Key::new(kind(version), "default", "a")
}

fn definition() -> Value {
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "maximum": 10},
        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "replicas": {"type": "integer"},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}},
    }});
    let status = json!({"type": "object", "properties": {"replicas": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    let subresources = json!({"status": {}, "scale": scale});
    let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}, "subresources": subresources});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [version("v1", true), version("v2", false)]},
    })
}

fn create(kind: Kind, object: Value) -> Verb {
    let namespace = if kind.namespaced() { "default" } else { "" };
    Verb::Create { kind, namespace: namespace.into(), body: Body::Json(Arc::new(object)) }
}

fn widget(spec: Value) -> Verb {
    create(
        kind("v1"),
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec}),
    )
}

fn patch(kind: PatchKind, subresource: Subresource, patch: Value) -> Verb {
    Verb::Patch { key: key("v1"), subresource, kind, patch: Arc::new(patch) }
}

fn world() -> World {
    let mut world = World::new();
    world.object(create(DEFINITION, definition()));
    world
}

fn stored(world: &World) -> Object {
    world.store.get(&Key::new(DEFINITION, "", "widgets.example.com")).expect("it is stored").clone()
}

#[test]
fn a_definition_is_accepted_and_served() {
    let mut world = World::new();
    assert_eq!(world.refusal(widget(json!({"size": 1}))).code, 404, "nobody has defined it");
    let made = world.object(create(DEFINITION, definition()));
    assert_eq!(made.to_value()["spec"]["names"]["listKind"], "WidgetList");
    let there = stored(&world);
    let definition = Definition::of(&there).expect("one");
    assert!(definition.is("NamesAccepted") && definition.is("Established"));
    let served: Vec<&str> = definition.served().into_iter().map(Kind::version).collect();
    assert_eq!((served, definition.stored_kind().version()), (vec!["v2", "v1"], "v1"));
}

#[test]
fn a_name_that_is_taken_is_not_accepted() {
    let mut world = world();
    let mut other = definition();
    other["metadata"]["name"] = "gadgets.example.com".into();
    other["spec"]["names"]["plural"] = "gadgets".into();
    world.object(create(DEFINITION, other));
    let gadgets = Key::new(DEFINITION, "", "gadgets.example.com");
    let there = world.store.get(&gadgets).expect("it is stored").clone();
    let definition = Definition::of(&there).expect("one");
    assert_eq!(definition.status()["conditions"][0]["message"], "\"WidgetList\" is already in use");
    assert!(definition.served().is_empty());
    // Once the first goes, the names are free.
    let first = Key::new(DEFINITION, "", "widgets.example.com");
    world.ask(Verb::Delete { key: first, options: Default::default() }).reply.expect("it goes");
    let there = world.store.get(&gadgets).expect("it is stored").clone();
    assert!(Definition::of(&there).expect("one").is("Established"));
}

#[test]
fn objects_get_defaults_and_are_refused_in_upstreams_words() {
    let mut world = world();
    for (spec, want) in [
        (
            json!({"size": 11}),
            "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
        ),
        (json!({}), "spec.size: Required value"),
        (
            json!({"size": 1, "color": "blue"}),
            "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"",
        ),
        (
            json!({"size": 1, "parts": [{"name": "x"}, {"name": "x"}]}),
            "spec.parts[1]: Duplicate value: {\"name\":\"x\"}",
        ),
    ] {
        let status = world.refusal(widget(spec));
        assert_eq!(status.message, format!("Widget.example.com \"a\" is invalid: {want}"));
    }
    let mut strict: kubestep_model::Request = widget(json!({"size": 1, "sizes": 2})).into();
    strict.strict = true;
    let refused = world.request(strict).reply.expect_err("the field is unknown");
    let want = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.sizes\"";
    assert_eq!(refused.message, want);
    let made = world.object(widget(json!({"size": 1, "sizes": 2})));
    assert_eq!(made.to_value()["spec"], json!({"size": 1, "color": "red"}));
    let other = world.object(Verb::Get { key: key("v2"), subresource: Subresource::None });
    assert_eq!(other.to_value()["apiVersion"], "example.com/v2");
}

#[test]
fn status_and_scale_are_written_on_their_own() {
    let mut world = world();
    let made = world.object(widget(json!({"size": 1})));
    assert_eq!(made.meta().generation, 1);
    let status = json!({"status": {"replicas": 2}, "spec": {"size": 9}});
    world.object(patch(PatchKind::Merge, Subresource::Status, status.clone()));
    let both = world.object(patch(
        PatchKind::Merge,
        Subresource::None,
        json!({"spec": {"size": 2}, "status": {"replicas": 7}}),
    ));
    let value = both.to_value();
    assert_eq!((&value["spec"]["size"], &value["status"]["replicas"]), (&json!(2), &json!(2)));
    assert_eq!(both.meta().generation, 2);
    let scale = patch(PatchKind::Merge, Subresource::Scale, json!({"spec": {"replicas": 4}}));
    match world.ask(scale).reply {
        Ok(Answer::Json { value, .. }) => {
            assert_eq!((&value["spec"]["replicas"], &value["status"]["replicas"]), (&json!(4), &json!(2)));
        }
        other => panic!("{other:?}"),
    }
    let refused = world.refusal(patch(PatchKind::Strategic, Subresource::None, json!({"spec": {"size": 3}})));
    assert_eq!((refused.code, refused.reason), (415, Reason::UnsupportedMediaType));
}

#[test]
fn a_definition_that_goes_takes_its_objects_with_it() {
    let mut world = world();
    let held = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 1},
        "metadata": {"name": "a", "finalizers": ["example.com/wait"]}});
    world.object(create(kind("v1"), held));
    let definition = Key::new(DEFINITION, "", "widgets.example.com");
    world.ask(Verb::Delete { key: definition.clone(), options: Default::default() }).reply.expect("it goes");
    let there = stored(&world);
    assert!(Definition::of(&there).expect("one").is("Terminating"));
    let refused: Status = world.refusal(create(
        kind("v1"),
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "b"}}),
    ));
    assert_eq!(refused.message, "create not allowed while custom resource definition is terminating");
    world
        .ask(patch(PatchKind::Merge, Subresource::None, json!({"metadata": {"finalizers": null}})))
        .reply
        .expect("it is let go");
    assert!(world.store.get(&definition).is_none(), "the last object was gone");
    assert_eq!(world.refusal(widget(json!({"size": 1}))).code, 404);
}

#[test]
fn definitions_are_refused_in_upstreams_words() {
    let table: [(&str, Value, &str); 6] = [
        (
            "/metadata/name",
            json!("x.example.com"),
            "metadata.name: Invalid value: \"x.example.com\": must be spec.names.plural+\".\"+spec.group",
        ),
        (
            "/spec/scope",
            json!("All"),
            "spec.scope: Unsupported value: \"All\": supported values: \"Cluster\", \"Namespaced\"",
        ),
        ("/spec/versions/1/storage", json!(true), "must have exactly one version marked as storage version"),
        ("/spec/names/kind", json!("a_b"), "may have mixed case, but should otherwise match"),
        (
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size",
            json!({"minimum": 1}),
            "properties[spec].properties[size].type: Required value: must not be empty for specified object fields",
        ),
        (
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/default",
            json!("x"),
            "properties[size].default: Invalid value: \"string\":  in body must be of type integer: \"string\"",
        ),
    ];
    for (pointer, value, want) in table {
        let mut given = definition();
        let (parent, last) = pointer.rsplit_once('/').expect("a path");
        given.pointer_mut(parent).expect(pointer)[last] = value;
        let status = World::new().refusal(create(DEFINITION, given));
        assert!(status.code == 422 && status.message.contains(want), "{pointer}: {}", status.message);
    }
}
