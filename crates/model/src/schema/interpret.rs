//! Which kind an object is, and the words for those that are none.
//!
//! Upstream: k8s.io/apimachinery, pkg/runtime/serializer/json, Interpret and Decode (v1.37).

use serde_json::Value;

use super::decode::{Decoded, FieldNote, decode};
use super::types::schema;
use crate::yaml::json::go_quote;
use crate::yaml::{self, Spans};

/// What an object says of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeMeta {
    pub api_version: String,
    pub kind: String,
}

/// The API version and kind of an object; either may be empty.
///
/// # Errors
/// In Kubernetes' words if the object is none, or if one of them is no text or makes no sense.
pub fn interpret(value: &Value) -> Result<TypeMeta, String> {
    let fail = |text: String| Err(format!("couldn't get version/kind; json parse error: {text}"));
    let mut meta = TypeMeta::default();
    let map = match value {
        Value::Object(map) => map,
        Value::Null => return Ok(meta),
        other => {
            let what = kind_of(other);
            return fail(format!(
                "json: cannot unmarshal {what} into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
            ));
        }
    };
    // At this point upstream does not look at the case of the keys.
    for (key, value) in map {
        let (name, target) = if key.eq_ignore_ascii_case("apiVersion") {
            ("apiVersion", &mut meta.api_version)
        } else if key.eq_ignore_ascii_case("kind") {
            ("kind", &mut meta.kind)
        } else {
            continue;
        };
        match value {
            Value::String(text) => target.clone_from(text),
            Value::Null => {}
            other => {
                let what = kind_of(other);
                return fail(format!(
                    "json: cannot unmarshal {what} into Go struct field .{name} of type string"
                ));
            }
        }
    }
    if meta.api_version.matches('/').count() > 1 {
        return Err(format!("unexpected GroupVersion string: {}", meta.api_version));
    }
    Ok(meta)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Decodes an object of a kind, with all that strict decoding has to say. `spans` tells which keys stand twice.
///
/// # Errors
/// If the API knows no such kind: `no kind "deployment" is registered for version "apps/v1"`.
pub fn strict(kind: &str, api_version: &str, value: &Value, spans: &Spans) -> Result<Decoded, String> {
    let Some(id) = schema().kind(api_version, kind) else {
        let (kind, version) = (go_quote(kind), go_quote(api_version));
        return Err(format!("no kind {kind} is registered for version {version}"));
    };
    let mut decoded = decode(value, id);
    decoded.duplicate_fields = spans
        .duplicates()
        .into_iter()
        .map(|path| FieldNote { text: format!("duplicate field {}", go_quote(&path)), path })
        .collect();
    Ok(decoded)
}

/// Decodes the text of a request, YAML or JSON, into whatever kind it says it is.
///
/// # Errors
/// In the API server's words, without the wrapping of its reply.
pub fn decode_text(text: &str, is_strict: bool) -> Result<Value, String> {
    let value = yaml::yaml_to_json(text, false)?;
    let meta = interpret(&value)?;
    if meta.kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{text}'"));
    }
    if meta.api_version.trim_matches('/').is_empty() {
        return Err(format!("Object 'apiVersion' is missing in '{text}'"));
    }
    let decoded = strict(&meta.kind, &meta.api_version, &value, &Spans::default())?;
    if let Some(error) = decoded.error {
        return Err(error.text);
    }
    if is_strict {
        let duplicates = yaml::yaml_to_json(text, true).err();
        let unknown = decoded.unknown_fields.into_iter().map(|note| note.text);
        let problems: Vec<String> = duplicates.into_iter().chain(unknown).collect();
        if !problems.is_empty() {
            return Err(format!("strict decoding error: {}", problems.join(", ")));
        }
    }
    Ok(decoded.value)
}
