//! The recorded verdicts, at the level of requests: what kubectl sent is sent again, and answer and stored objects
//! are compared with what a real API server said and kept.

mod replay;

use kubestep_apiserver::Store;
use kubestep_model::{
    Answer, Body, DeleteOptions, Key, Kind, Object, PatchKind, Reply, Request, Subresource, Verb, yaml,
};
use replay::{World, applied, first_difference, kind_of, normal, shortened};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The areas that are replayed, and how many of their cases have to be met.
const AREAS: [(&str, usize); 7] = [
    ("deployment", 132),
    ("pod", 39),
    ("service", 57),
    ("config", 33),
    ("metadata", 56),
    ("typos", 87),
    ("sequences", 46),
];

#[test]
fn recorded_verdicts_are_met() {
    let only = std::env::var("VERDICT").unwrap_or_default();
    let mut short = vec![];
    for (area, floor) in AREAS {
        let (mut met, mut all) = (0, 0);
        for case in cases(area) {
            let name = case.script["name"].as_str().unwrap_or_default();
            let Some(result) = replay(&case) else { continue };
            all += 1;
            match result {
                Ok(()) => met += 1,
                Err(why) if only.is_empty() => println!("{area}/{name}: {}", cut(&why, 700)),
                Err(why) if only == name => println!("{area}/{name}: {why}"),
                Err(_) => {}
            }
        }
        println!("verdicts of {area}: {met} of {all}");
        if met < floor {
            short.push(format!("{area}: {met} of {all}, at least {floor} were met before"));
        }
    }
    assert!(short.is_empty(), "{short:?}");
}

fn cut(text: &str, at: usize) -> &str {
    text.char_indices().nth(at).map_or(text, |(i, _)| &text[..i])
}

struct Case {
    script: Value,
    record: Value,
}

fn cases(area: &str) -> Vec<Case> {
    let path = |ext: &str| format!("{}/../../tests/golden/verdicts/{area}.{ext}", env!("CARGO_MANIFEST_DIR"));
    let text = |ext: &str| std::fs::read_to_string(path(ext)).expect("the recording is there");
    let script = yaml::yaml_to_json(&text("yaml"), false).expect("the cases are YAML");
    let record: Value = serde_json::from_str(&text("json")).expect("the record is JSON");
    let scripts = script["cases"].as_array().expect("cases").iter();
    let records = record["cases"].as_array().expect("cases").iter();
    let pairs = scripts.zip(records).map(|(s, r)| Case { script: s.clone(), record: r.clone() });
    pairs.collect()
}

/// `${repeat:x:300000}` stands for that many x.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${repeat:") {
        let (inner, tail) = after.split_once('}').unwrap_or((after, ""));
        let (what, count) = inner.rsplit_once(':').unwrap_or((inner, "0"));
        out.push_str(before);
        out.push_str(&what.repeat(count.parse().unwrap_or(0)));
        rest = tail;
    }
    out + rest
}

fn documents(text: &str) -> Vec<Value> {
    let documents = yaml::read(&expand(text)).documents.into_iter().map(|d| d.value);
    documents
        .flat_map(|d| {
            if d["kind"] == "List" { d["items"].as_array().cloned().unwrap_or_default() } else { vec![d] }
        })
        .collect()
}

/// None if the case is kubectl's business alone, or if its bodies are not in the record.
fn replay(case: &Case) -> Option<Result<(), String>> {
    let mut world = World::new();
    if let Some(setup) = case.script["setup"].as_str() {
        for document in documents(setup) {
            let kind = kind_of(&document)?;
            let namespace = document["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
            let body = Body::Json(Arc::new(applied(&document)));
            let verb = Verb::Create { kind, namespace: namespace.into(), body };
            if let (Err(status), _) = world.ask(&verb.into()) {
                return Some(Err(format!("setup: {}", status.message)));
            }
            world.run_namespaces();
        }
    }
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    if let Some(manifest) = case.script["manifest"].as_str() {
        files.insert("m.yaml".into(), manifest.into());
    }
    for (name, text) in case.script["files"].as_object().into_iter().flatten() {
        files.insert(name.clone(), text.as_str().unwrap_or_default().into());
    }
    let commands: Vec<(String, Vec<Value>)> = match case.record["commands"].as_array() {
        Some(commands) => commands
            .iter()
            .map(|c| (c["command"].as_str().unwrap_or_default().into(), list(&c["http"])))
            .collect(),
        None => {
            let command = case.script["command"].as_str().unwrap_or("kubectl apply -f m.yaml");
            vec![(command.into(), list(&case.record["http"]))]
        }
    };
    let mut wrote = false;
    let mut warnings: Vec<String> = vec![];
    for (command, https) in &commands {
        let mut posts: BTreeMap<String, usize> = BTreeMap::new();
        for http in https.iter().filter(|h| h["verb"] != "GET") {
            wrote = true;
            let seen = posts.entry(format!("{} {}", http["verb"], resource(http))).or_default();
            let request = request(http, command, &files, *seen)?;
            *seen += 1;
            let (reply, code) = world.ask(&request);
            // With validation switched off kubectl shows no warnings about fields.
            let silent = http["path"].as_str().is_some_and(|p| p.contains("fieldValidation=Ignore"));
            if let Ok(Answer::Object { warnings: more, .. }) = &reply
                && !silent
            {
                warnings.extend(more.iter().cloned());
            }
            world.run_namespaces();
            let unordered = case.script["unordered"] == true;
            if let Err(why) = compare(http, &reply, code, unordered) {
                return Some(Err(format!("{} {}: {why}", http["verb"], http["path"])));
            }
        }
    }
    if !wrote {
        return None;
    }
    // What is said of a whole kind is kubectl's to print: it reads the kind, too.
    let mut wanted: Vec<String> = list(&case.record["warnings"])
        .into_iter()
        .chain(list(&case.record["commands"]).iter().flat_map(|c| list(&c["warnings"])))
        .map(|w| w.as_str().unwrap_or_default().to_owned())
        .collect();
    wanted.retain(|w| !w.contains(" is deprecated in "));
    if warnings != wanted {
        return Some(Err(format!("warnings {warnings:?}, want {wanted:?}")));
    }
    Some(compare_stored(&world.store, &case.record["stored"]))
}

/// The plural name in a request's path, whatever the namespace.
fn resource(http: &Value) -> String {
    let path = http["path"].as_str().unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// What kubectl sent, from the record and the files of the case.
fn request(http: &Value, command: &str, files: &BTreeMap<String, String>, nth: usize) -> Option<Request> {
    let path = http["path"].as_str()?;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, rest) = if parts[0] == "api" { ("", &parts[2..]) } else { (parts[1], &parts[3..]) };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        rest => ("", rest),
    };
    let kind = Kind::all().find(|k| k.group() == group && k.resource() == rest[0])?;
    let name = rest.get(1).copied().unwrap_or_default();
    let subresource = match rest.get(2).copied() {
        None => Subresource::None,
        Some("status") => Subresource::Status,
        Some("scale") => Subresource::Scale,
        Some(_) => return None,
    };
    let key = Key::new(kind, namespace, name);
    let verb = match http["verb"].as_str()? {
        "POST" => {
            let body = sent(command, files, |d| kind_of(d).is_none_or(|k| k == kind), http, nth)?;
            Verb::Create { kind, namespace: namespace.into(), body }
        }
        "PUT" => {
            let body = sent(
                command,
                files,
                |d| d["metadata"]["name"] == name && kind_of(d) == Some(kind),
                http,
                nth,
            )?;
            Verb::Replace { key, subresource, body }
        }
        "DELETE" => {
            let options = DeleteOptions::default();
            Verb::Delete { key, options }
        }
        "PATCH" => {
            let kind = match http["type"].as_str()? {
                "json" => PatchKind::Json,
                "merge" => PatchKind::Merge,
                "strategic" => PatchKind::Strategic,
                _ => return None,
            };
            Verb::Patch { key, subresource, kind, patch: Arc::new(expanded(http.get("patch")?)) }
        }
        _ => return None,
    };
    let mut request: Request = verb.into();
    request.strict = query.contains("fieldValidation=Strict");
    request.dry_run = query.contains("dryRun=All");
    Some(request)
}

/// Resource versions are numbered in the record; such a patch is sent without.
fn expanded(value: &Value) -> Value {
    let mut patch: Value = serde_json::from_str(&expand(&value.to_string())).unwrap_or_default();
    if patch["metadata"]["resourceVersion"].as_str().is_some_and(|v| v.starts_with("rv-"))
        && let Some(meta) = patch["metadata"].as_object_mut()
    {
        meta.remove("resourceVersion");
    }
    patch
}

/// The document that a command sent; several of a kind are told apart by the order of the requests.
fn sent(
    command: &str,
    files: &BTreeMap<String, String>,
    fits: impl Fn(&Value) -> bool,
    http: &Value,
    nth: usize,
) -> Option<Body> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let verb = words.iter().find(|w| matches!(**w, "apply" | "create" | "replace"))?;
    let at = words.iter().position(|w| *w == "-f")?;
    let file = files.get(*words.get(at + 1)?)?;
    let documents: Vec<Value> = documents(file).into_iter().filter(|d| fits(d)).collect();
    let document = documents.get(if documents.len() == 1 { 0 } else { nth })?;
    let mut body = if *verb == "apply" { applied(document) } else { document.clone() };
    // kubectl takes the resource version out before it creates.
    if http["verb"] == "POST"
        && let Some(meta) = body["metadata"].as_object_mut()
    {
        meta.remove("resourceVersion");
    }
    Some(Body::Json(Arc::new(body)))
}

fn compare(http: &Value, reply: &Reply, code: u16, unordered: bool) -> Result<(), String> {
    let want_code = http["code"].as_u64().unwrap_or(0);
    let want = without_scheme(http["message"].as_str().unwrap_or_default());
    let ours = reply.as_ref().err().map(|s| s.message.clone()).unwrap_or_default();
    if u64::from(code) != want_code {
        return Err(format!("code {code}, want {want_code}\n ours {ours}\n want {want}"));
    }
    let Err(status) = reply else { return Ok(()) };
    let ours = shortened(&without_scheme(&ours));
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text.split(", ").map(str::to_owned).collect();
        parts.sort();
        parts
    };
    let same = ours == want || (unordered && sorted(&ours).len() == sorted(&want).len());
    if !want.is_empty() && !same {
        return Err(format!("\n ours {ours}\n want {want}"));
    }
    let causes: Vec<Value> = status
        .causes
        .iter()
        .map(|c| json!({"field": c.field, "message": shortened(&c.message), "reason": c.reason}))
        .collect();
    if !unordered
        && let Some(wanted) = http["causes"].as_array()
        && *wanted != causes
    {
        return Err(format!("causes {causes:?}, want {wanted:?}"));
    }
    Ok(())
}

/// Where in the build a scheme was made says nothing.
fn without_scheme(text: &str) -> String {
    text.split_once(" in scheme ").map_or(text, |(head, _)| head).to_owned()
}

fn compare_stored(store: &Store, wanted: &Value) -> Result<(), String> {
    let wanted: Vec<&Value> = match wanted {
        Value::Null => vec![],
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    };
    for want in wanted {
        let kind = kind_of(want).ok_or("unknown kind in the record")?;
        let meta = &want["metadata"];
        let text = |name: &str| meta[name].as_str().unwrap_or_default().to_owned();
        let object = match store.get(&Key::new(kind, text("namespace"), text("name"))) {
            Some(object) => object.clone(),
            None => {
                let drawn = |o: &&Object| {
                    !text("generateName").is_empty() && o.meta().generate_name == text("generateName")
                };
                store
                    .list(kind, None)
                    .find(drawn)
                    .cloned()
                    .ok_or(format!("{kind} {} is not stored", text("name")))?
            }
        };
        let (ours, want) = (normal(object.to_value()), normal((*want).clone()));
        if ours != want {
            return Err(format!(
                "stored differs at {}\n ours {ours}\n want {want}",
                first_difference(&ours, &want, "")
            ));
        }
    }
    Ok(())
}

#[test]
fn answers_are_read_as_they_come() {
    let mut world = World::new();
    let (reply, code) = world.ask(
        &Verb::Get { key: Key::new(Kind::Service, "default", "kubernetes"), subresource: Subresource::None }
            .into(),
    );
    assert!(matches!(reply, Ok(Answer::Object { .. })));
    assert_eq!(code, 200);
}
