//! A request that a command sent, and its answer, as the records show them.

use kubestep_cluster::{LogEntry, Store};
use kubestep_model::{
    Answer, Instant, Key, Kind, Object, PatchKind, Reason, Reply, Request, Status, Subresource, Verb,
    client::{ClientAsk, ClientTold, ClientTurn},
};
use serde_json::{Value, json};
use std::time::Duration;

/// One request of a command with its warnings.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) record: Value,
    pub(crate) reads: bool,
    pub(crate) warnings: Vec<String>,
    /// The object that the request made, if it made one.
    pub(crate) made: Option<Key>,
    /// What it answered.
    pub(crate) objects: Vec<Value>,
}

/// What a turn of a command looks like on the wire; none for what is not a request.
pub(crate) fn exchange(command: &str, turn: &ClientTurn, store: &Store) -> Option<Exchange> {
    let (ClientAsk::Api(request), ClientTold::Reply(reply)) = (&turn.ask, &turn.told) else { return None };
    let verb = method(&request.verb);
    let new = is_new(request, reply, turn.at, store);
    let mut record = json!({"verb": verb, "path": path(command, request), "code": code(verb, reply, new)});
    let hidden = verb == "POST" && is_typed(command);
    if let Err(status) = reply
        && !hidden
    {
        let mut say = |name: &str, text: String| {
            if !text.is_empty() {
                record[name] = text.into();
            }
        };
        if status.reason != Reason::Unknown {
            say("reason", serde_json::to_value(status.reason).ok()?.as_str().unwrap_or_default().into());
        }
        say("message", status.message.clone());
        if !status.causes.is_empty() {
            let cause = |c: &kubestep_model::Cause| json!({"field": c.field, "message": c.message, "reason": c.reason});
            record["causes"] = status.causes.iter().map(cause).collect();
        }
    }
    if let Verb::Patch { kind, patch, .. } = &request.verb {
        let name = match kind {
            PatchKind::Strategic => "strategic",
            PatchKind::Merge => "merge",
            PatchKind::Json => "json",
            PatchKind::Apply => "apply",
        };
        record["type"] = name.into();
        if *kind != PatchKind::Apply {
            record["patch"] = (**patch).clone();
        }
    }
    let made = match reply {
        Ok(Answer::Object { object, .. }) if (verb == "POST" || new) && !request.dry_run && !hidden => {
            Some(object.key())
        }
        _ => None,
    };
    Some(Exchange {
        record,
        reads: request.verb.reads(),
        warnings: warnings(command, request, reply),
        made,
        objects: objects(reply),
    })
}

/// Whether a command makes its object through a typed client. These speak protobuf, so a record of what went over the
/// wire holds neither what was made nor why it was refused.
fn is_typed(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().filter(|w| *w != "kubectl").collect();
    let from_file = words.iter().any(|w| *w == "-f" || w.starts_with("-f=") || w.starts_with("--filename"));
    match words.as_slice() {
        ["create", kind, ..] => !from_file && !kind.starts_with('-'),
        ["autoscale", ..] => true,
        _ => false,
    }
}

/// From a commit to the answer at most; commands are further apart.
const ONE_REQUEST: Duration = Duration::from_millis(50);

/// Whether a patch made what it was for. One that changed nothing shows the object's older version.
fn is_new(request: &Request, reply: &Reply, at: Instant, store: &Store) -> bool {
    let Ok(Answer::Object { object, .. }) = reply else { return false };
    let wrote = |e: &LogEntry| e.old.is_none() && e.key == object.key() && at.since(e.at) < ONE_REQUEST;
    matches!(request.verb, Verb::Patch { .. }) && store.entry(object.meta().revision()).is_some_and(wrote)
}

fn objects(reply: &Reply) -> Vec<Value> {
    match reply {
        Ok(Answer::Object { object, .. }) => vec![object.to_value()],
        Ok(Answer::List { items, .. } | Answer::Chunk { items, .. }) => {
            items.iter().map(Object::to_value).collect()
        }
        Ok(Answer::Json { value, .. }) => vec![(**value).clone()],
        Err(_) => vec![],
    }
}

fn warnings(command: &str, request: &Request, reply: &Reply) -> Vec<String> {
    let mut all = vec![];
    if request.verb.kind() == Kind::Endpoints {
        all.push("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
    }
    if let Ok(Answer::Object { warnings, .. } | Answer::Json { warnings, .. })
    | Err(Status { warnings, .. }) = reply
    {
        all.extend(warnings.iter().cloned());
    }
    // Asked to ignore unknown fields, the server says nothing about them.
    if query(command, request).iter().any(|q| q == "fieldValidation=Ignore") {
        all.retain(|w| !w.starts_with("unknown field") && !w.starts_with("duplicate field"));
    }
    all
}

fn method(verb: &Verb) -> &'static str {
    match verb {
        Verb::Get { .. } | Verb::List { .. } => "GET",
        Verb::Create { .. } | Verb::Bind { .. } | Verb::Evict { .. } | Verb::Token { .. } => "POST",
        Verb::Replace { .. } => "PUT",
        Verb::Patch { .. } => "PATCH",
        Verb::Delete { .. } | Verb::DeleteCollection { .. } => "DELETE",
    }
}

fn code(method: &str, reply: &Reply, new: bool) -> u16 {
    match reply {
        Err(status) => status.code,
        Ok(_) if method == "POST" || new => 201,
        Ok(_) => 200,
    }
}

fn path(command: &str, request: &Request) -> String {
    let (kind, namespace, name) = match &request.verb {
        Verb::Get { key, .. }
        | Verb::Replace { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. } => (key.kind, Some(&key.namespace), Some(&key.name)),
        Verb::Bind { pod, .. } | Verb::Evict { pod, .. } => (pod.kind, Some(&pod.namespace), Some(&pod.name)),
        Verb::Token { account } => (account.kind, Some(&account.namespace), Some(&account.name)),
        Verb::List { kind, namespace, .. } => (*kind, namespace.as_ref(), None),
        Verb::Create { kind, namespace, .. } | Verb::DeleteCollection { kind, namespace, .. } => {
            (*kind, Some(namespace), None)
        }
    };
    let mut path =
        if kind.group().is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}", kind.api_version()) };
    if let Some(namespace) = namespace.filter(|n| kind.namespaced() && !n.is_empty()) {
        path.push_str(&format!("/namespaces/{namespace}"));
    }
    path.push_str(&format!("/{}", kind.resource()));
    if let Some(name) = name {
        path.push_str(&format!("/{name}"));
    }
    if request.verb.subresource() != Subresource::None {
        path.push_str(&format!("/{}", request.verb.subresource().name()));
    }
    let query = query(command, request);
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// What stands behind the path, in the order of its names.
fn query(command: &str, request: &Request) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().filter(|w| *w != "kubectl").collect();
    let verb = words.iter().find(|w| !w.starts_with('-')).copied().unwrap_or_default();
    let mut query = vec![];
    if request.dry_run {
        query.push("dryRun=All".to_owned());
    }
    match &request.verb {
        Verb::List { labels, fields, .. } => {
            let list = request.list.as_deref();
            if let Some(token) = list.map(|l| l.continue_token.as_str()).filter(|token| !token.is_empty()) {
                query.push(format!("continue={token}"));
            }
            if let Some(fields) = fields {
                query.push(format!("fieldSelector={}", escape(&fields.to_string())));
            }
            if let Some(labels) = labels.as_ref().map(ToString::to_string).filter(|l| !l.is_empty()) {
                query.push(format!("labelSelector={}", escape(&labels)));
            }
            if let Some(limit) = list.map(|l| l.limit).filter(|limit| *limit != 0) {
                query.push(format!("limit={limit}"));
            }
        }
        Verb::Create { .. } | Verb::Replace { .. } | Verb::Patch { .. } => {
            let apply = matches!(request.verb, Verb::Patch { kind: PatchKind::Apply, .. });
            if let Some(manager) = &request.field_manager {
                query.push(format!("fieldManager={manager}"));
            }
            if let Some(validation) = validation(verb, &words, request) {
                query.push(format!("fieldValidation={validation}"));
            }
            if apply && request.field_manager.as_deref() != Some("kubectl-last-applied") {
                query.push(format!("force={}", request.force));
            }
        }
        _ => {}
    }
    query
}

fn validation(verb: &str, words: &[&str], request: &Request) -> Option<&'static str> {
    let flag = words.iter().find_map(|w| w.strip_prefix("--validate="));
    let reads_files = matches!(verb, "apply" | "create" | "replace");
    match flag {
        // Nothing that a person wrote is sent here.
        _ if matches!(verb, "autoscale" | "expose") => None,
        _ if request.strict => Some("Strict"),
        Some("warn") if reads_files => Some("Warn"),
        Some("false" | "ignore") if reads_files => Some("Ignore"),
        _ => None,
    }
}

/// Upstream: net/url, QueryEscape.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
