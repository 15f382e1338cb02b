//! From text to the store, with chance in between: spoilt texts are read, and what comes of them is decoded, defaulted,
//! validated, stored and patched. Nothing panics or hangs; a refusal keeps nothing; and whatever is stored reads strictly,
//! is a fixed point of defaulting and passes validation, because putting it back as it is changes nothing.
//!
//! `FUZZ_SECONDS=600 cargo test -p kubestep-apiserver --test fuzz --release` goes on for that long; `FUZZ_SEED` begins
//! elsewhere. What was once found is kept in `tests/fuzz` and tried first.

// It measures real time.
#![allow(clippy::disallowed_types)]

mod replay;

use kubestep_model::{Answer, Body, Dice, Key, PatchKind, Request, Subresource, Verb, yaml};
use replay::{World, applied, kind_of};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const AREAS: [&str; 11] = [
    "batch",
    "config",
    "deployment",
    "metadata",
    "pod",
    "policy",
    "sequences",
    "service",
    "stateful",
    "storage",
    "typos",
];
/// Longer texts make it slow without making it better.
const LONGEST: usize = 20_000;
/// No single input may take longer, even on a machine that has much else to do.
const SLOWEST: Duration = Duration::from_secs(60);

/// The texts to begin with, and how many of them are kept for what they once found.
fn corpus() -> (Vec<String>, usize) {
    let folder = env!("CARGO_MANIFEST_DIR");
    let mut texts = vec![];
    let mut found: Vec<_> = std::fs::read_dir(format!("{folder}/tests/fuzz"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    found.sort();
    texts.extend(found.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    let kept = texts.len();
    let own = ["own/definitions", "own/newer", "own/edges"].map(str::to_owned);
    for area in AREAS.iter().map(|area| format!("verdicts/{area}")).chain(own) {
        let path = format!("{folder}/../../tests/golden/{area}.yaml");
        let text = std::fs::read_to_string(path).expect("the cases are there");
        let script = yaml::yaml_to_json(&text, false).expect("the cases are YAML");
        for case in script["cases"].as_array().into_iter().flatten() {
            texts.extend(
                ["setup", "manifest"].iter().filter_map(|part| case[*part].as_str()).map(str::to_owned),
            );
        }
    }
    texts.retain(|text| text.len() < LONGEST);
    (texts, kept)
}

fn below(dice: &mut Dice, what: &'static str, most: usize) -> usize {
    dice.below(what, u32::try_from(most.max(1)).unwrap_or(1)) as usize
}

/// Letters that mean something in YAML, in names, in numbers.
const LETTERS: [&str; 24] = [
    "\n",
    " ",
    "  ",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!!str ",
    "|",
    ">",
    "~",
    "0",
    "-1",
    "99999999999",
    "\t",
    "é",
];

/// Another text: letters put in, taken out, a line doubled, moved, or taken from elsewhere.
fn spoilt_text(text: &str, other: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + below(dice, "changes", 3) {
        let at = below(dice, "line", lines.len());
        match below(dice, "way", 6) {
            0 if !lines.is_empty() => drop(lines.remove(at)),
            1 if !lines.is_empty() => lines.insert(at, lines[at].clone()),
            2 => {
                let from: Vec<&str> = other.lines().collect();
                if let Some(line) = from.get(below(dice, "from", from.len())) {
                    lines.insert(at, (*line).to_owned());
                }
            }
            3 if lines.len() > 1 => {
                let to = below(dice, "to", lines.len());
                lines.swap(at, to);
            }
            _ if !lines.is_empty() => {
                let line = &mut lines[at];
                let places: Vec<usize> = line.char_indices().map(|(i, _)| i).chain([line.len()]).collect();
                let place = places[below(dice, "place", places.len())];
                if below(dice, "cut", 3) == 0 && place < line.len() {
                    line.remove(place);
                } else {
                    line.insert_str(place, LETTERS[below(dice, "letter", LETTERS.len())]);
                }
            }
            _ => {}
        }
    }
    lines.join("\n")
}

/// A value that is a neighbour of what stood there.
fn neighbour(value: &Value, dice: &mut Dice) -> Value {
    match (value, below(dice, "neighbour", 9)) {
        (_, 0) => Value::Null,
        (Value::Number(n), 1) => json!(n.as_i64().unwrap_or(0).wrapping_neg()),
        (Value::Number(n), 2) => json!(n.as_i64().unwrap_or(0).wrapping_add(1)),
        (Value::Number(n), _) => json!(n.to_string()),
        (Value::String(text), 1) => json!(text.to_uppercase()),
        (Value::String(text), 2) => json!(format!("{text}{text}")),
        (Value::String(text), 3) => json!(format!("{text}%")),
        (Value::String(text), 4) => json!(format!("-{text}_")),
        (Value::String(_), 5) => json!(""),
        (Value::String(_), _) => json!("a".repeat(300)),
        (Value::Bool(b), _) => json!(!b),
        (Value::Array(items), 1) => items.iter().chain(items).cloned().collect(),
        (Value::Array(_), 2) => json!([]),
        (Value::Object(_), 1) => json!({}),
        (_, 3) => json!([value]),
        (_, 4) => json!({"a b": value}),
        _ => value.clone(),
    }
}

fn spoil(value: &mut Value, dice: &mut Dice) {
    let deeper = below(dice, "deeper", 7) != 0;
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let at = below(dice, "key", map.len());
            if let Some(child) = map.values_mut().nth(at) {
                spoil(child, dice);
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = below(dice, "item", items.len());
            spoil(&mut items[at], dice);
        }
        other => *other = neighbour(other, dice),
    }
}

#[derive(Default, Debug)]
struct Count {
    texts: usize,
    documents: usize,
    requests: usize,
    stored: usize,
}

/// Asks; what is refused leaves the store as it was.
fn ask(world: &mut World, request: &Request, count: &mut Count) -> Option<Answer> {
    let before = world.store.clone();
    let (reply, code) = world.ask(request);
    count.requests += 1;
    assert_eq!(reply.is_ok(), code < 400, "{request:?}");
    if reply.is_err() {
        assert!(before == world.store, "refused, and something was kept: {request:?}");
    }
    reply.ok()
}

/// What is stored is put back as it is.
fn is_settled(world: &mut World, key: &Key, count: &mut Count) {
    let Some(object) = world.store.get(key).cloned() else { return };
    let value = object.to_value();
    let (key, body) = (key.clone(), Body::Json(Arc::new(value.clone())));
    let put = Verb::Replace { key: key.clone(), subresource: Subresource::None, body };
    let request = Request { strict: true, ..put.into() };
    let (reply, _) = world.ask(&request);
    count.requests += 1;
    match reply {
        Err(status) => panic!("what is stored is refused: {}\n{value}", status.message),
        Ok(_) => {
            let after = world.store.get(&key).map(|o| o.to_value()).unwrap_or_default();
            assert_eq!(after, value, "what is stored changes when it is put back");
        }
    }
}

fn try_document(manifest: &Value, dice: &mut Dice, count: &mut Count) {
    let Some(kind) = kind_of(manifest) else { return };
    count.documents += 1;
    let mut world = World::new();
    let namespace = if kind.namespaced() { "default" } else { "" };
    let body = Body::Json(Arc::new(applied(manifest)));
    let create: Request = Verb::Create { kind, namespace: namespace.into(), body }.into();
    let request = Request { strict: below(dice, "strict", 2) == 0, ..create };
    let Some(Answer::Object { object, .. }) = ask(&mut world, &request, count) else { return };
    count.stored += 1;
    let key = object.key();
    is_settled(&mut world, &key, count);
    for how in [PatchKind::Strategic, PatchKind::Merge, PatchKind::Apply] {
        let mut patch = manifest.clone();
        spoil(&mut patch, dice);
        let verb = Verb::Patch {
            key: key.clone(),
            subresource: Subresource::None,
            kind: how,
            patch: Arc::new(patch),
        };
        let request = Request { field_manager: Some("fuzz".into()), force: true, ..verb.into() };
        if ask(&mut world, &request, count).is_some() {
            is_settled(&mut world, &key, count);
        }
    }
    // A person's client may write any status.
    let mut patch = object.to_value();
    spoil(&mut patch["status"], dice);
    let (kind, subresource, patch) = (PatchKind::Merge, Subresource::Status, Arc::new(patch));
    let request: Request = Verb::Patch { key, subresource, kind, patch }.into();
    ask(&mut world, &Request { field_manager: Some("fuzz".into()), ..request }, count);
}

fn try_text(text: &str, dice: &mut Dice, count: &mut Count) {
    let begun = Instant::now();
    count.texts += 1;
    for document in yaml::read(text).documents {
        try_document(&document.value, dice, count);
        let mut spoilt = document.value.clone();
        spoil(&mut spoilt, dice);
        try_document(&spoilt, dice, count);
    }
    assert!(begun.elapsed() < SLOWEST, "{:?} for {text}", begun.elapsed());
}

#[test]
fn whatever_is_stored_is_settled() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let mut dice = Dice::new(number("FUZZ_SEED").unwrap_or(21));
    let (texts, kept) = corpus();
    let mut count = Count::default();
    let end = number("FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for (i, text) in texts.iter().enumerate() {
        // Without a time, a third of the texts as they are, and each of these once spoilt.
        if end.is_none() && i >= kept && i % 3 != 0 {
            continue;
        }
        try_text(text, &mut dice, &mut count);
        let other = &texts[below(&mut dice, "other", texts.len())];
        try_text(&spoilt_text(text, other, &mut dice), &mut dice, &mut count);
    }
    while end.is_some_and(|end| Instant::now() < end) {
        let text = &texts[below(&mut dice, "text", texts.len())];
        let other = &texts[below(&mut dice, "other", texts.len())];
        try_text(&spoilt_text(text, other, &mut dice), &mut dice, &mut count);
    }
    println!("{count:?}");
    assert!(count.stored > 100 && count.requests > 1_000, "{count:?}");
}
