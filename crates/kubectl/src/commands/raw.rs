//! `kubectl get --raw PATH`: what the API server answers to a path, as it stands.
//! Upstream: kubectl/pkg/rawhttp and apiserver/pkg/endpoints (v1.37).

mod discovery;
mod health;
mod path;
mod watch;

use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{
    Answer, Key, ListOptions, Object, Request, Status, Subresource, Verb, schema,
    text::{FieldSelector, Selector, go},
};
use path::{Target, What};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn run(kc: &mut Kc<'_>, args: &Args, raw: &str) -> Flow<i32> {
    if args.on("watch") || args.on("watch-only") || !args.text_or_empty("selector").is_empty() {
        return Err(kc.fail(
            "--raw may not be specified with other flags that filter the server request or alter the output",
        ));
    }
    if !args.text_or_empty("output").is_empty() {
        return Err(kc.fail("--raw and --output are mutually exclusive"));
    }
    let Some(raw) = path_of(raw) else {
        let text =
            format!("--raw must be a valid URL path: parse {}: invalid URI for request", go::quote(raw));
        return Err(kc.fail(text));
    };
    if !args.words.is_empty() {
        return Err(kc.fail("arguments may not be passed when --raw is specified"));
    }
    let (path, query) = raw.split_once('?').unwrap_or((raw, ""));
    let query = path::query(query);
    let segments: Vec<String> = path.split('/').filter(|s| !s.is_empty()).map(path::unescape).collect();
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    if let ["healthz" | "livez" | "readyz", rest @ ..] = words.as_slice() {
        let said = health::answer(words[0], rest, query.iter().any(|(name, _)| name == "verbose"));
        return match said {
            Some(text) => {
                kc.out(text);
                Ok(0)
            }
            None => Err(kc.fault(&Status::no_such_resource().into())),
        };
    }
    if let ["metrics" | "openapi" | "logs" | "debug" | "configz" | "flagz" | "statusz" | ".well-known", ..] =
        words.as_slice()
    {
        return Err(kc.not_done(&format!("--raw /{}", words[0])));
    }
    let definitions = kc.definitions()?;
    if let Some(text) = discovery::answer(&words, &definitions) {
        kc.out(text);
        return Ok(0);
    }
    match path::target(&words, &definitions) {
        Some(target) => ask(kc, &target, &query),
        None => Err(kc.fault(&Status::no_such_resource().into())),
    }
}

/// The path and the query of what was given; none if it is no address.
fn path_of(raw: &str) -> Option<&str> {
    if raw.starts_with('/') {
        return Some(raw);
    }
    let (scheme, rest) = raw.split_once("://")?;
    let named = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    named.then(|| rest.find('/').map_or("/", |at| &rest[at..]))
}

/// A part of a query; empty if it is not there.
fn value_of<'q>(query: &'q [(String, String)], name: &str) -> &'q str {
    query.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v.as_str())
}

fn ask(kc: &mut Kc<'_>, target: &Target, query: &[(String, String)]) -> Flow<i32> {
    let watch = target.watch || matches!(value_of(query, "watch"), "1" | "true");
    match &target.what {
        What::Object { name, part } if !target.watch => object(kc, target, name, part),
        What::Object { name, .. } => {
            let named = format!("metadata.name={name}");
            list(kc, target, query, Some(&named), true)
        }
        What::List => list(kc, target, query, None, watch),
    }
}

fn object(kc: &mut Kc<'_>, target: &Target, name: &str, part: &str) -> Flow<i32> {
    let key = Key::new(target.kind, target.namespace.clone().unwrap_or_default(), name);
    let subresource = match part {
        "" => Subresource::None,
        "status" => Subresource::Status,
        "scale" => Subresource::Scale,
        "approval" => Subresource::Approval,
        _ => {
            let why = if path::is_written_only(target.kind, part) {
                Status::method_not_allowed()
            } else if path::has_part(target.kind, part) {
                return Err(kc.not_done(&format!("--raw …/{part}")));
            } else {
                Status::no_such_resource()
            };
            return Err(kc.fault(&why.into()));
        }
    };
    let request = Request { owners: true, ..Verb::Get { key, subresource }.into() };
    match kc.ask(request)? {
        Ok(Answer::Object { object, .. }) => kc.out(text_of(&object, true) + "\n"),
        Ok(Answer::Json { value, .. }) => {
            kc.out(schema::text("autoscaling/v1", "Scale", &value) + "\n");
        }
        Ok(Answer::List { .. } | Answer::Chunk { .. }) => {
            return Err(kc.fail("the answer is not an object"));
        }
        Err(status) => return Err(kc.fault(&status.into())),
    }
    Ok(0)
}

/// An object as the API server writes it; in lists without its kind.
fn text_of(object: &Object, typed: bool) -> String {
    let kind = object.kind();
    let mut value = object.to_value();
    if let Some(map) = value.as_object_mut().filter(|_| !typed && !kind.is_defined()) {
        map.remove("kind");
        map.remove("apiVersion");
    }
    schema::text(&kind.api_version(), kind.name(), &value)
}

/// A list or a watch.
fn list(
    kc: &mut Kc<'_>,
    target: &Target,
    query: &[(String, String)],
    named: Option<&str>,
    watch: bool,
) -> Flow<i32> {
    let value = |name: &str| value_of(query, name).to_owned();
    let labels = Selector::parse(&value("labelSelector")).map(|l| Some(l).filter(|l| !l.is_empty()));
    let fields = named.map_or_else(|| value("fieldSelector"), str::to_owned);
    let fields = FieldSelector::parse(&fields).map(|f| Some(f).filter(|f| !f.is_empty()));
    let (labels, fields) = match (labels, fields) {
        (Ok(labels), Ok(fields)) => (labels, fields),
        (Err(why), _) | (_, Err(why)) => return Err(kc.fault(&Status::bad_request(why).into())),
    };
    let options = ListOptions {
        limit: value("limit").parse().unwrap_or(0),
        continue_token: value("continue"),
        resource_version: value("resourceVersion"),
        resource_version_match: value("resourceVersionMatch"),
        watch,
        send_initial_events: match value_of(query, "sendInitialEvents") {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
    };
    if watch {
        let how = watch::How {
            labels,
            fields,
            options,
            bookmarks: matches!(value_of(query, "allowWatchBookmarks"), "true" | "1"),
            seconds: value("timeoutSeconds").parse().unwrap_or(0),
        };
        return watch::run(kc, target, &how);
    }
    let verb = Verb::List { kind: target.kind, namespace: target.namespace.clone(), labels, fields };
    let request = Request { owners: true, list: Some(Arc::new(options)), ..verb.into() };
    let (items, revision, next) = match kc.ask(request)? {
        Ok(Answer::List { items, revision }) => (items, revision, None),
        Ok(Answer::Chunk { items, revision, next, remaining }) => (items, revision, Some((next, remaining))),
        Ok(Answer::Object { .. } | Answer::Json { .. }) => return Err(kc.fail("the answer is not a list")),
        Err(status) => return Err(kc.fault(&Fault::from(status))),
    };
    let mut meta = json!({ "resourceVersion": revision.to_string() });
    if let Some((next, remaining)) = next {
        meta["continue"] = next.into();
        if let Some(remaining) = remaining {
            meta["remainingItemCount"] = remaining.into();
        }
    }
    let items: Vec<String> = items.iter().map(|o| text_of(o, false)).collect();
    kc.out(list_text(target, &meta, &items.join(",")));
    Ok(0)
}

fn list_text(target: &Target, meta: &Value, items: &str) -> String {
    let kind = target.kind;
    let (version, name) = (kind.api_version(), kind.name());
    if kind.is_defined() {
        // Kept without a type: its fields stand by name.
        return format!(
            "{{\"apiVersion\":\"{version}\",\"items\":[{items}],\"kind\":\"{name}List\",\"metadata\":{meta}}}\n"
        );
    }
    let meta = schema::text("v1", "PodList", &json!({ "metadata": meta }));
    let meta = meta.trim_start_matches("{\"metadata\":");
    let meta = meta.strip_suffix('}').unwrap_or(meta);
    format!(
        "{{\"kind\":\"{name}List\",\"apiVersion\":\"{version}\",\"metadata\":{meta},\"items\":[{items}]}}\n"
    )
}
