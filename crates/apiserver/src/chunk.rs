//! Lists in chunks and lists of an earlier time.
//!
//! Upstream: k8s.io/apiserver/pkg/storage, continue.go and util.go; etcd3/store.go; apis/meta/internalversion/validation
//! (v1.37).

use crate::{Store, base64, rbac, read, turn::Turn, validation::field::Errors};
use kubestep_model::{
    Answer, Cause, Kind, ListOptions, Object, Reason, Reply, Revision, Status,
    text::{FieldSelector, Selector, go, go_json},
};
use serde_json::Value;

const TOKEN_VERSION: &str = "meta.k8s.io/v1";
pub(crate) const NOT_OLDER: &str = "NotOlderThan";
const MATCHES: [&str; 3] = ["Exact", NOT_OLDER, ""];
const LIST_TOO_OLD: &str = "The resourceVersion for the provided list is too old.";
const CONTINUE_TOO_OLD: &str = "The provided continue parameter is too old to display a consistent list result. You can \
    start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder \
    of the results. Continuing with the provided token results in an inconsistent list - objects that were created, \
    modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// Where a list begins, and of which revision it is.
#[derive(Debug, Default)]
struct Place {
    /// The key behind the last object of the chunk before.
    start: Option<String>,
    /// None: the newest.
    revision: Option<Revision>,
}

/// LIST with options.
pub(crate) fn list(
    turn: &Turn<'_>,
    kind: Kind,
    namespace: Option<&str>,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
    options: &ListOptions,
) -> Reply {
    if options.watch {
        return crate::watch::begin(turn, kind, namespace, labels, fields, options);
    }
    check(options)?;
    read::check_fields(turn, kind, fields)?;
    let place = place(options, turn.store.revision())?;
    let revision = place.revision.unwrap_or(turn.store.revision());
    let past = match place.revision {
        None => None,
        Some(revision) => Some(turn.store.at(kind, revision).ok_or_else(|| expired(place.start.as_deref()))?),
    };
    let store = past.as_ref().unwrap_or(&turn.store);
    let named = |object: &Object| key(kind, namespace, object);
    let start = place.start.as_deref().unwrap_or_default();
    let mut rest = rest(store, kind, namespace, start).peekable();
    let mut items = vec![];
    while let Some(object) = rest.next() {
        if !read::fits(turn, object, labels, fields) {
            continue;
        }
        items.push(object.clone());
        if Some(items.len()) == limit(options) && rest.peek().is_some() {
            let next = encode(&format!("{}\0", named(object)), i128::from(revision));
            let whole = labels.is_none_or(Selector::is_empty) && fields.is_none_or(FieldSelector::is_empty);
            let remaining = whole.then(|| rest.len() as u64);
            return Ok(Answer::Chunk { items, revision, next, remaining });
        }
    }
    Ok(Answer::List { items, revision })
}

/// What is listed from a key on.
fn rest<'a>(
    store: &'a Store,
    kind: Kind,
    namespace: Option<&'a str>,
    start: &str,
) -> Box<dyn ExactSizeIterator<Item = &'a Object> + 'a> {
    if namespace.is_some() && !rbac::has_builtins(kind) {
        // What came with earlier chunks is passed over at once.
        return Box::new(store.behind(kind, namespace, start).map(|(_, object)| object));
    }
    let all = read::in_order(store, kind, namespace);
    let begun = all.partition_point(|object| key(kind, namespace, object).as_str() < start);
    Box::new(all.into_iter().skip(begun))
}

/// Refuses options that contradict each other. Upstream: ValidateListOptions.
fn check(options: &ListOptions) -> Result<(), Status> {
    const FIELD: &str = "resourceVersionMatch";
    let (version, wanted) = (options.resource_version.as_str(), options.resource_version_match.as_str());
    let mut errors = Errors::new();
    if options.send_initial_events.is_some() {
        errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if !wanted.is_empty() {
        if version.is_empty() {
            errors.forbidden(FIELD, "resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if !options.continue_token.is_empty() {
            errors.forbidden(FIELD, "resourceVersionMatch is forbidden when continue is provided");
        }
        if !MATCHES.contains(&wanted) {
            errors.not_supported_text(FIELD, wanted, &MATCHES);
        }
        if wanted == "Exact" && version == "0" {
            let text = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.forbidden(FIELD, text);
        }
    }
    let causes = errors.into_causes();
    if causes.is_empty() { Ok(()) } else { Err(invalid(causes)) }
}

/// 422 about the options, which are no kind of the API.
pub(crate) fn invalid(causes: Vec<Cause>) -> Status {
    let each: Vec<String> = causes.iter().map(|c| format!("{}: {}", c.field, c.message)).collect();
    let list = match each.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {list}");
    let about = Some(("meta.k8s.io".into(), "ListOptions".into(), String::new()));
    Status { causes, about, ..Status::new(422, Reason::Invalid, message) }
}

/// Where and when, by the options. Upstream: storage.ValidateListOptions.
fn place(options: &ListOptions, newest: Revision) -> Result<Place, Status> {
    let version = options.resource_version.as_str();
    if !options.continue_token.is_empty() {
        let (start, revision) = decode(&options.continue_token)
            .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
        if !matches!(version, "" | "0") {
            let text = "specifying resource version is not allowed when using continue";
            return Err(Status::bad_request(text));
        }
        // Below zero: as it is now, after the token ran out.
        let revision = Revision::try_from(revision).ok();
        revision.map_or(Ok(()), |revision| not_newer(revision, newest))?;
        return Ok(Place { start: Some(start), revision });
    }
    if version.is_empty() {
        return Ok(Place::default());
    }
    let parsed = parse(version)?;
    not_newer(parsed, newest)?;
    let exact = match options.resource_version_match.as_str() {
        "Exact" => true,
        NOT_OLDER => false,
        // Old clients mean it exactly if they want chunks.
        _ => options.limit > 0 && parsed > 0,
    };
    Ok(Place { start: None, revision: exact.then_some(parsed) })
}

/// A resource version as a number. Upstream: storage.APIObjectVersioner, ParseResourceVersion.
fn parse(version: &str) -> Result<Revision, Status> {
    number(version).map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))
}

/// The same, or why it is none.
pub(crate) fn number(version: &str) -> Result<Revision, String> {
    let digits = version.bytes().all(|b| b.is_ascii_digit());
    version.parse().ok().filter(|_| digits).ok_or_else(|| {
        let why = if digits { "value out of range" } else { "invalid syntax" };
        let shown = go::quote(version);
        format!("resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: {why}")
    })
}

/// Upstream: storage.NewTooLargeResourceVersionError.
fn not_newer(asked: Revision, newest: Revision) -> Result<(), Status> {
    if asked <= newest {
        return Ok(());
    }
    let message = format!("Timeout: Too large resource version: {asked}, current: {newest}");
    let cause = Cause {
        reason: "ResourceVersionTooLarge".into(),
        message: "Too large resource version".into(),
        field: String::new(),
    };
    Err(Status { causes: vec![cause], retry_after: Some(1), ..Status::new(504, Reason::Timeout, message) })
}

/// 410, with a token for the rest as it is now if there was one. Upstream: etcd3, interpretListError.
fn expired(start: Option<&str>) -> Status {
    match start {
        None => Status::new(410, Reason::Expired, LIST_TOO_OLD),
        Some(start) => {
            let next = Some(encode(start, -1));
            Status { next, ..Status::new(410, Reason::Expired, CONTINUE_TOO_OLD) }
        }
    }
}

/// How many objects are wanted at most; version 0 is answered from the cache, whole.
fn limit(options: &ListOptions) -> Option<usize> {
    let cached = options.resource_version == "0" && options.continue_token.is_empty();
    usize::try_from(options.limit).ok().filter(|limit| *limit > 0 && !cached)
}

/// The key of an object behind the place that is listed: a kind, or one namespace of it.
fn key(kind: Kind, namespace: Option<&str>, object: &Object) -> String {
    let meta = object.meta();
    if namespace.is_some() || !kind.namespaced() || meta.namespace.is_empty() {
        meta.name.to_string()
    } else {
        format!("{}/{}", meta.namespace, meta.name)
    }
}

fn encode(start: &str, revision: i128) -> String {
    let start = Value::from(start);
    base64::encode_url(
        format!("{{\"v\":\"{TOKEN_VERSION}\",\"rv\":{revision},\"start\":{start}}}").as_bytes(),
    )
}

/// Start and revision of a token, or what is wrong with it. Upstream: storage.DecodeContinue.
fn decode(token: &str) -> Result<(String, i64), String> {
    const INVALID: &str = "continue key is not valid";
    let bytes = base64::decode_url(token)
        .map_err(|at| format!("{INVALID}: illegal base64 data at input byte {at}"))?;
    let token = read_token(&bytes).map_err(|why| format!("{INVALID}: {why}"))?;
    if token.version != TOKEN_VERSION {
        return Err(format!("{INVALID}: server does not recognize this encoded version {}", token.version));
    }
    if token.revision == 0 {
        return Err(format!("{INVALID}: incorrect encoded start resourceVersion (version {TOKEN_VERSION})"));
    }
    if token.start.is_empty() {
        return Err(format!("{INVALID}: encoded start key empty (version {TOKEN_VERSION})"));
    }
    let path = token.start.strip_prefix('/').unwrap_or(&token.start);
    if !path.is_empty() && path.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return Err(format!("{INVALID}: {}", token.start));
    }
    Ok((path.to_owned(), token.revision))
}

#[derive(Debug, Default)]
struct Token {
    version: String,
    revision: i64,
    start: String,
}

/// Reads a token's JSON, with Go's words for what cannot be read.
fn read_token(bytes: &[u8]) -> Result<Token, String> {
    // Go reads bytes; each that is no text counts as the character of its number.
    let text = std::str::from_utf8(bytes)
        .map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned);
    go_json::check(&text)?;
    let value: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let Value::Object(map) = &value else {
        return match value {
            Value::Null => Ok(Token::default()),
            other => Err(mistyped(&other, "value of type storage.continueToken")),
        };
    };
    let string = |field: &str| match map.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(mistyped(other, &format!("struct field continueToken.{field} of type string"))),
    };
    let version = string("v")?;
    let revision = match map.get("rv") {
        None | Some(Value::Null) => 0,
        Some(other) => {
            other.as_i64().ok_or_else(|| mistyped(other, "struct field continueToken.rv of type int64"))?
        }
    };
    Ok(Token { version, revision, start: string("start")? })
}

fn mistyped(value: &Value, place: &str) -> String {
    let kind = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if place.ends_with("int64") => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    };
    format!("json: cannot unmarshal {kind} into Go {place}")
}

#[cfg(test)]
mod tests;
