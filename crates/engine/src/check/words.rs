//! From what kubectl and the API server said about one object to problems with places.

use super::{
    defined,
    place::{of_field, of_key, of_span},
    remedy::{did_you_mean, nearest},
};
use crate::{ask::Answer, parts::Part, session::Session};
use kubestep_model::{
    Cause, Kind, Reason, Status,
    client::{ClientTold, Stream},
    schema,
};
use kubestep_protocol::{Edit, Place, Problem, Severity};
use serde_json::Value;

/// The problems of one object.
pub(super) fn problems(session: &Session, file: &str, part: &Part<'_>, answer: &Answer) -> Vec<Problem> {
    let err = answer.text(Stream::Err);
    let warnings = err.lines().filter(|l| l.starts_with("Warning: ")).map(|l| warning(part, l));
    let mut found: Vec<Problem> = warnings.collect();
    if answer.exit == Some(0) {
        return found;
    }
    match refusal(answer) {
        // Of an update the server quotes the whole patch before it says which field it does not know.
        Some(status) if status.message.contains("strict decoding error") => {
            let fields = unknown(part);
            found.extend(if fields.is_empty() {
                unknown_to_definition(defined::schema(session, part), part, &status.message)
            } else {
                fields
            });
        }
        Some(status) if status.reason == Reason::Invalid && !status.causes.is_empty() => {
            let one = |cause: &Cause| match cause.field.as_str() {
                "patch" => unreadable_patch(part, cause),
                _ => invalid(part, cause),
            };
            found.extend(status.causes.iter().map(one));
        }
        Some(status) if status.reason == Reason::BadRequest => found.push(undecoded(part, said(&err))),
        _ => found.push(whole(file, part, said(&err))),
    }
    found
}

/// The API server's refusal, if there was one.
fn refusal(answer: &Answer) -> Option<&Status> {
    match &answer.turns.last()?.told {
        ClientTold::Reply(Err(status)) => Some(status),
        _ => None,
    }
}

/// What kubectl said, without its warnings.
fn said(err: &str) -> String {
    let lines: Vec<&str> = err.lines().filter(|l| !l.starts_with("Warning: ")).collect();
    if lines.is_empty() { "error: it was not answered".into() } else { lines.join("\n") }
}

fn error(place: Place, message: String, remedy: Option<Edit>) -> Problem {
    Problem { place, severity: Severity::Error, message, remedy }
}

/// Where the object begins.
fn start(part: &Part<'_>) -> Place {
    let found = part.find("kind").or_else(|| part.find("")).map(of_field);
    found.unwrap_or(Place { line: u32::try_from(part.document.line).unwrap_or(1), column: 1, length: 0 })
}

fn field(part: &Part<'_>, path: &str) -> Place {
    // `spec.x.{a, b}` speaks of several fields: the one that holds them is marked.
    let path = path.split(".{").next().unwrap_or(path);
    part.find(path).map_or_else(|| start(part), of_field)
}

fn warning(part: &Part<'_>, text: &str) -> Problem {
    let words = text.trim_start_matches("Warning: ");
    let path = words.split(": ").next().filter(|p| !p.contains(' ') && p.contains('.'));
    let place = match path {
        Some(path) => field(part, path),
        None if words.starts_with("resource ") => field(part, "metadata.name"),
        None => start(part),
    };
    Problem { place, severity: Severity::Warning, message: text.to_string(), remedy: None }
}

/// One field that was found invalid.
fn invalid(part: &Part<'_>, cause: &Cause) -> Problem {
    // A definition's schema is checked in the form that all its versions share.
    let path = match cause.field.strip_prefix("spec.validation.") {
        Some(rest) if part.at("spec.validation").is_none() => format!("spec.versions[0].schema.{rest}"),
        _ => cause.field.clone(),
    };
    let place = entry(part, &path, &cause.message).unwrap_or_else(|| field(part, &path));
    error(place, format!("{}: {}", cause.field, cause.message), supported(place, &cause.message))
}

/// Of a map such as labels the server names the whole and quotes a key or a value: that entry is marked.
fn entry(part: &Part<'_>, path: &str, message: &str) -> Option<Place> {
    let quoted = message.split_once(": \"")?.1;
    let wrong = quoted.split_once('"')?.0;
    let map = part.at(path)?.as_object()?;
    let at = |key: &str| part.find(&format!("{path}[{key}]"));
    match map.get(wrong) {
        Some(_) => at(wrong).map(of_key),
        None => map.iter().find(|(_, v)| v.as_str() == Some(wrong)).and_then(|(k, _)| at(k)).map(of_field),
    }
}

/// `Unsupported value: "Alway": supported values: "Always", "Never"`.
fn supported(place: Place, message: &str) -> Option<Edit> {
    let (wrong, names) = message.strip_prefix("Unsupported value: ")?.split_once(": supported values: ")?;
    let names = names.split(", ").map(|n| n.trim_matches('"'));
    nearest(wrong.trim_matches('"'), names).map(|name| did_you_mean(place, name))
}

/// Fields that the kind does not have.
fn unknown(part: &Part<'_>) -> Vec<Problem> {
    let Ok(decoded) = schema::strict(part.kind(), part.api_version(), part.value, &Default::default()) else {
        return vec![];
    };
    let one = |note: &schema::FieldNote| {
        let place = part.find(&note.path).map_or_else(|| start(part), of_key);
        let name = note.path.rsplit('.').next().unwrap_or("");
        let beside = schema::beside(part.api_version(), part.kind(), &note.path);
        error(place, note.text.clone(), nearest(name, beside).map(|n| did_you_mean(place, n)))
    };
    decoded.unknown_fields.iter().map(one).collect()
}

/// Fields that a kind which people define does not have: its schema is the server's, and the server names them.
fn unknown_to_definition(schema: Option<&Value>, part: &Part<'_>, message: &str) -> Vec<Problem> {
    let said = message.rsplit("strict decoding error: ").next().unwrap_or(message);
    let notes: Vec<(&str, &str)> = said
        .split(", ")
        .filter_map(|note| {
            let path = note.split_once(" field \"")?.1.strip_suffix('"')?;
            Some((path, note))
        })
        .collect();
    if notes.is_empty() {
        return vec![error(start(part), format!("strict decoding error: {said}"), None)];
    }
    let one = |(path, note): (&str, &str)| {
        let place = part.find(path).map_or_else(|| start(part), of_key);
        let beside = schema.map(|schema| defined::beside(schema, path)).unwrap_or_default();
        let near = nearest(path.rsplit('.').next().unwrap_or(""), beside);
        error(place, note.to_string(), near.map(|name| did_you_mean(place, name)))
    };
    notes.into_iter().map(one).collect()
}

/// What an update made of the object cannot be read. The server quotes the whole patch before it says why, and names no
/// field: the file has it.
fn unreadable_patch(part: &Part<'_>, cause: &Cause) -> Problem {
    let decoded = schema::strict(part.kind(), part.api_version(), part.value, &Default::default()).ok();
    let Some(note) = decoded.and_then(|d| d.error) else { return invalid(part, cause) };
    let quoted = cause.message.strip_prefix("Invalid value: ").and_then(after_quoted);
    let why = quoted.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&note.text);
    error(field(part, &note.path), format!("{}: {why}", note.path), None)
}

/// What follows a text in Go's quotes.
fn after_quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inner.char_indices().find(|(_, c)| {
        let closes = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    })?;
    inner.get(end.0 + 1..)
}

/// A value of a wrong type.
fn undecoded(part: &Part<'_>, text: String) -> Problem {
    let decoded = schema::strict(part.kind(), part.api_version(), part.value, &Default::default()).ok();
    let place =
        decoded.and_then(|d| d.error).map_or_else(|| wrong_type(part, &text), |note| field(part, &note.path));
    error(place, text, None)
}

/// `… into Go struct field ObjectMeta.metadata.labels of type string`: the struct's name, then the field.
fn wrong_type(part: &Part<'_>, text: &str) -> Place {
    let named = text.split("Go struct field ").nth(1).and_then(|rest| rest.split(" of type").next());
    let path = named.and_then(|n| n.split_once('.')).map(|(_, path)| path);
    let inner = path.and_then(|p| part.at(p)).and_then(|v| v.as_object());
    // Of a map, the first entry that is no text is meant.
    let entry = inner.and_then(|m| m.iter().find(|(_, v)| !v.is_string() && !v.is_null()));
    match (path, entry) {
        (Some(path), Some((key, _))) => field(part, &format!("{path}.{key}")),
        (Some(path), None) => field(part, path),
        (None, _) => start(part),
    }
}

/// What is said about the object as a whole, or by kubectl itself.
fn whole(file: &str, part: &Part<'_>, text: String) -> Problem {
    if text.contains("no matches for kind") {
        return unmatched(part, text);
    }
    let place = match () {
        () if text.contains("Go struct field") => wrong_type(part, &text),
        () if text.contains("apiVersion not set") => {
            part.find("").map_or_else(|| start(part), |p| of_span(p.value))
        }
        () if text.contains("GroupVersion") => field(part, "apiVersion"),
        () if text.contains("namespaces \"") => field(part, "metadata.namespace"),
        () if text.contains("resource name") || text.contains(&format!("error when creating \"{file}\"")) => {
            field(part, "metadata.name")
        }
        () => start(part),
    };
    error(place, text, None)
}

/// A kind that is not there in this version: its name, or the version, is near to one that is.
fn unmatched(part: &Part<'_>, text: String) -> Problem {
    let (kind, version) = (part.kind(), part.api_version());
    let other = Kind::all().find(|k| k.name() == kind);
    if let Some(other) = other {
        let place = field(part, "apiVersion");
        return error(place, text, Some(did_you_mean(place, &other.api_version())));
    }
    let place = field(part, "kind");
    let same: Vec<&str> = Kind::all().filter(|k| k.api_version() == version).map(Kind::name).collect();
    let any: Vec<&str> = Kind::all().map(Kind::name).collect();
    let near = nearest(kind, same).or_else(|| nearest(kind, any));
    error(place, text, near.map(|n| did_you_mean(place, n)))
}
