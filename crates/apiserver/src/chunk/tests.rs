//! Chunks: their sizes, their one time, and what is refused.

use super::{decode, encode};
use crate::{
    Actor, LOG_LENGTH, base64,
    tests::{World, create},
};
use kubestep_model::*;
use std::sync::Arc;

fn map(name: &str, app: &str) -> Verb {
    let mut map = ConfigMap::default();
    map.metadata.name = name.into();
    map.metadata.labels = [("app".into(), app.into())].into_iter().collect();
    create(map)
}

/// Five maps `m0` to `m4`; every other one has the label of `even`.
fn world() -> World {
    let mut world = World::new();
    for i in 0..5 {
        let app = if i % 2 == 0 { "even" } else { "odd" };
        world.object(map(&format!("m{i}"), app));
    }
    world
}

fn listed(namespace: Option<&str>, labels: &str, options: ListOptions) -> Request {
    let verb = Verb::List {
        kind: Kind::ConfigMap,
        namespace: namespace.map(Into::into),
        labels: Some(text::Selector::parse(labels).expect("a selector")).filter(|l| !l.is_empty()),
        fields: None,
    };
    Request { list: Some(Arc::new(options)), ..verb.into() }
}

/// Names, revision, token and how many remain.
fn chunk(world: &mut World, request: Request) -> (Vec<String>, Revision, String, Option<u64>) {
    let names = |items: Vec<Object>| items.iter().map(|o| o.meta().name.to_string()).collect();
    match world.request(request).reply {
        Ok(Answer::List { items, revision }) => (names(items), revision, String::new(), None),
        Ok(Answer::Chunk { items, revision, next, remaining }) => (names(items), revision, next, remaining),
        other => panic!("no list: {other:?}"),
    }
}

fn refused(world: &mut World, options: ListOptions) -> Status {
    world.request(listed(None, "", options)).reply.expect_err("refused")
}

fn limit(limit: i64) -> ListOptions {
    ListOptions { limit, ..Default::default() }
}

fn after(token: &str, limit: i64) -> ListOptions {
    ListOptions { limit, continue_token: token.into(), ..Default::default() }
}

fn version(version: &str, wanted: &str, limit: i64) -> ListOptions {
    ListOptions {
        limit,
        resource_version: version.into(),
        resource_version_match: wanted.into(),
        ..Default::default()
    }
}

#[test]
fn chunks_are_cut_where_the_limit_says() {
    // Namespace, selector, limit; then each chunk's names and what remains behind it.
    type Chunks = &'static [(&'static str, Option<u64>)];
    let rows: &[(Option<&str>, &str, i64, Chunks)] = &[
        (None, "", 0, &[("m0 m1 m2 m3 m4", None)]),
        (None, "", -1, &[("m0 m1 m2 m3 m4", None)]),
        (None, "", 5, &[("m0 m1 m2 m3 m4", None)]),
        (None, "", 2, &[("m0 m1", Some(3)), ("m2 m3", Some(1)), ("m4", None)]),
        (Some("default"), "", 4, &[("m0 m1 m2 m3", Some(1)), ("m4", None)]),
        (None, "app=even", 2, &[("m0 m2", None), ("m4", None)]),
        // Whether the rest fits is not looked at: the last chunk may be empty.
        (None, "app=odd", 2, &[("m1 m3", None), ("", None)]),
        (None, "app=none", 2, &[("", None)]),
    ];
    for (namespace, labels, size, chunks) in rows {
        let mut world = world();
        let mut options = limit(*size);
        for (at, (names, remaining)) in chunks.iter().enumerate() {
            let (found, _, next, left) = chunk(&mut world, listed(*namespace, labels, options));
            assert_eq!((found.join(" ").as_str(), left), (*names, *remaining), "{labels} {size}");
            assert_eq!(next.is_empty(), at + 1 == chunks.len(), "{labels} {size} {names}");
            options = after(&next, *size);
        }
    }
}

#[test]
fn a_token_says_where_and_when() {
    let mut world = world();
    let revision = world.store.revision();
    for (namespace, start) in [(None, "default/m1"), (Some("default"), "m1")] {
        let (_, _, next, _) = chunk(&mut world, listed(namespace, "", limit(2)));
        let text = String::from_utf8(base64::decode_url(&next).expect("base64")).expect("text");
        assert_eq!(text, format!(r#"{{"v":"meta.k8s.io/v1","rv":{revision},"start":"{start}\u0000"}}"#));
    }
}

#[test]
fn later_chunks_are_of_the_time_of_the_first() {
    let mut world = world();
    let before = chunk(&mut world, listed(None, "", limit(0)));
    let (_, revision, next, _) = chunk(&mut world, listed(None, "", limit(2)));
    let key = |name: &str| Key::new(Kind::ConfigMap, "default", name);
    let as_it_was = world.store.get(&key("m4")).cloned();
    world.object(map("m25", "new"));
    world.ask(Verb::Delete { key: key("m3"), options: DeleteOptions::default() }).reply.expect("deleted");
    let value = serde_json::json!({"data": {"a": "b"}}).into();
    let verb =
        Verb::Patch { key: key("m4"), subresource: Subresource::None, kind: PatchKind::Merge, patch: value };
    assert_ne!(Some(world.object(verb)), as_it_was);

    let (names, of, next, remaining) = chunk(&mut world, listed(None, "", after(&next, 2)));
    assert_eq!((names.join(" ").as_str(), of, remaining), ("m2 m3", revision, Some(1)));
    let reply = world.request(listed(None, "", after(&next, 2))).reply;
    assert_eq!(reply, Ok(Answer::List { items: as_it_was.into_iter().collect(), revision }));

    let exact = version(&revision.to_string(), "Exact", 0);
    assert_eq!(chunk(&mut world, listed(None, "", exact)), before);
    let now = chunk(&mut world, listed(None, "", limit(0)));
    assert_eq!(now.0.join(" "), "m0 m1 m2 m25 m4");
}

#[test]
fn a_role_that_every_cluster_has_comes_back_with_its_time() {
    let mut world = World::new();
    let kind = Kind::of_manifest("rbac.authorization.k8s.io/v1", "ClusterRole").expect("served");
    let all = |world: &World| world.store.list(kind, None).cloned().collect::<Vec<_>>();
    let (revision, before) = (world.store.revision(), all(&world));
    let key = Key::new(kind, "", "view");
    let own = world.store.get(&key).cloned().expect("it is there");
    let verb = Verb::Delete { key, options: DeleteOptions::default() };
    world.ask(verb.clone()).reply.expect("deleted");
    let (without, gone) = (world.store.revision(), all(&world));
    assert_eq!(gone.len() + 1, before.len());
    let mut value = own.to_value();
    if let Some(meta) = value["metadata"].as_object_mut() {
        meta.retain(|field, _| field == "name");
    }
    let again = Verb::Create { kind, namespace: "".into(), body: Body::Json(Arc::new(value)) };
    world.ask(again).reply.expect("made again");
    world.ask(verb).reply.expect("deleted again");
    for (at, expected) in [(revision, &before), (without, &gone)] {
        let past = world.store.at(kind, at).expect("still known");
        assert_eq!(past.list(kind, None).cloned().collect::<Vec<_>>(), *expected, "{at}");
    }
}

#[test]
fn versions_are_exact_or_not_older() {
    // Version, match, limit; the names and whether more follow.
    let mut world = world();
    let last = world.store.revision();
    let (two, now) = ((last - 2).to_string(), last.to_string());
    let rows = [
        (two.as_str(), "Exact", 0, "m0 m1 m2", false),
        (&two, "Exact", 2, "m0 m1", true),
        (&two, "NotOlderThan", 0, "m0 m1 m2 m3 m4", false),
        (&two, "NotOlderThan", 2, "m0 m1", true),
        (&two, "", 0, "m0 m1 m2 m3 m4", false),
        // Chunks of a version without a match are of exactly that version.
        (&two, "", 3, "m0 m1 m2", false),
        (&now, "Exact", 0, "m0 m1 m2 m3 m4", false),
        // Version 0 comes from the cache, and is never cut.
        ("0", "", 2, "m0 m1 m2 m3 m4", false),
        ("0", "NotOlderThan", 2, "m0 m1 m2 m3 m4", false),
    ];
    for (of, wanted, size, names, more) in rows {
        let (found, _, next, _) = chunk(&mut world, listed(None, "", version(of, wanted, size)));
        assert_eq!((found.join(" ").as_str(), !next.is_empty()), (names, more), "{of} {wanted} {size}");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let forbidden = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden";
    let unsupported =
        r#"resourceVersionMatch: Unsupported value: "Older": supported values: "Exact", "NotOlderThan", """#;
    let both = format!("[{forbidden} unless resourceVersion is provided, {unsupported}]");
    let with_token = ListOptions { continue_token: "x".into(), ..version("5", "Exact", 1) };
    let exact = r#"resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0""#;
    let rows = [
        (version("", "Exact", 0), format!("{forbidden} unless resourceVersion is provided")),
        (with_token, format!("{forbidden} when continue is provided")),
        (version("5", "Older", 0), unsupported.to_owned()),
        (version("0", "Exact", 0), exact.to_owned()),
        (version("", "Older", 0), both),
    ];
    for (options, text) in rows {
        let status = refused(&mut World::new(), options);
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {text}");
        assert_eq!((status.code, status.reason, status.message), (422, Reason::Invalid, message));
    }
}

#[test]
fn versions_that_are_none_or_to_come_are_refused() {
    let unread = |version: &str, why: &str| {
        format!(
            "invalid resource version: resourceVersion: Invalid value: \"{version}\": strconv.ParseUint: parsing \"{version}\": {why}"
        )
    };
    for (of, text) in [
        ("x", unread("x", "invalid syntax")),
        ("+3", unread("+3", "invalid syntax")),
        ("99999999999999999999", unread("99999999999999999999", "value out of range")),
    ] {
        let status = refused(&mut World::new(), version(of, "", 0));
        assert_eq!((status.code, status.message), (400, text));
    }
    for wanted in ["", "Exact", "NotOlderThan"] {
        let mut world = World::new();
        let now = world.store.revision();
        let status = refused(&mut world, version("900", wanted, 0));
        let text = format!("Timeout: Too large resource version: 900, current: {now}");
        assert_eq!((status.code, status.message, status.retry_after), (504, text, Some(1)));
    }
}

#[test]
fn broken_tokens_are_refused() {
    let json = |text: &str| base64::encode_url(text.as_bytes());
    let rows = [
        ("AAAAA".to_owned(), ": illegal base64 data at input byte 4"),
        (json("{"), ": unexpected end of JSON input"),
        (json("x"), ": invalid character 'x' looking for beginning of value"),
        (json("[]"), ": json: cannot unmarshal array into Go value of type storage.continueToken"),
        (
            json(r#"{"v":"meta.k8s.io/v1","rv":"1"}"#),
            ": json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
        ),
        (json(r#"{"v":"v9"}"#), ": server does not recognize this encoded version v9"),
        (
            json(r#"{"v":"meta.k8s.io/v1","start":"a"}"#),
            ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (json(r#"{"v":"meta.k8s.io/v1","rv":1}"#), ": encoded start key empty (version meta.k8s.io/v1)"),
        (json(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a/../b"}"#), ": a/../b"),
        (json(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"//a"}"#), ": //a"),
    ];
    for (token, why) in rows {
        let status = refused(&mut World::new(), after(&token, 1));
        let text = format!("invalid continue token: continue key is not valid{why}");
        assert_eq!((status.code, status.reason, status.message), (400, Reason::BadRequest, text));
    }
    let options = ListOptions { resource_version: "1".into(), ..after(&encode("m\0", 1), 1) };
    let status = refused(&mut World::new(), options);
    assert_eq!(status.message, "specifying resource version is not allowed when using continue");
}

#[test]
fn a_token_runs_out_and_offers_the_rest_as_it_is_now() {
    let mut world = world();
    let (_, revision, next, _) = chunk(&mut world, listed(None, "", limit(2)));
    let who: Arc<str> = Actor::new("kubectl", "kubernetes-admin").user_agent;
    let object = world.store.get(&Key::new(Kind::ConfigMap, "default", "m4")).cloned().expect("stored");
    for _ in 0..=LOG_LENGTH {
        world.store.put(object.clone(), world.now, &who);
    }
    let status = refused(&mut world, version(&revision.to_string(), "Exact", 0));
    let text = "The resourceVersion for the provided list is too old.";
    assert_eq!((status.code, status.reason, status.message.as_str()), (410, Reason::Expired, text));
    assert_eq!(status.next, None);

    let status = refused(&mut world, after(&next, 2));
    assert_eq!((status.code, status.reason), (410, Reason::Expired));
    let begin = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to";
    assert!(status.message.starts_with(begin), "{}", status.message);
    let token = status.next.expect("a token");
    assert_eq!(decode(&token), Ok(("default/m1\0".to_owned(), -1)));
    let (names, of, _, remaining) = chunk(&mut world, listed(None, "", after(&token, 2)));
    assert_eq!((names.join(" ").as_str(), of, remaining), ("m2 m3", world.store.revision(), Some(1)));
}
