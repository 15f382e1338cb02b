//! The first creation of an object waits until its definition has settled.

use kubestep_apiserver::{Actor, SETTLING, Settings, Store, serve, waits_for_definition};
use kubestep_model::{
    Body, Dice, Instant, Key, Kind, PatchKind, Request, Subresource, Verb, defined::DEFINITION,
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

fn widget() -> Kind {
    Kind::defined("example.com", "v1", "Widget", "widgets", false)
}

fn create(kind: Kind, object: Value) -> Request {
    Verb::Create { kind, namespace: "".into(), body: Body::Json(Arc::new(object)) }.into()
}

#[test]
fn a_creation_waits_for_two_seconds_and_nothing_else_does() {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let made = create(
        widget(),
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}),
    );
    let patch: Request = Verb::Patch {
        key: Key::new(widget(), "", "a"),
        subresource: Subresource::None,
        kind: PatchKind::Apply,
        patch: Arc::new(json!({})),
    }
    .into();
    let now = Instant::START + Duration::from_millis(700);
    assert!(!waits_for_definition(&Store::new(), &made, now), "nobody has defined it");
    let who = Actor::new("kubectl", "kubernetes-admin");
    let outcome = serve(
        Store::new(),
        &create(DEFINITION, definition),
        &who,
        now,
        &mut Dice::new(1),
        &Settings::default(),
    );
    assert!(outcome.reply.is_ok(), "{:?}", outcome.reply);
    let store = outcome.store;
    let later = |millis| now + Duration::from_millis(millis);
    assert!(waits_for_definition(&store, &made, now) && waits_for_definition(&store, &made, later(1_200)));
    // Since when it is served is told in whole seconds.
    assert!(
        !waits_for_definition(&store, &made, later(1_400))
            && !waits_for_definition(&store, &made, now + SETTLING)
    );
    assert!(!waits_for_definition(&store, &patch, now));
}
