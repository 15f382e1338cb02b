//! Decoding into a kind as the API server does: which fields it does not know, and which value has a wrong type.
//!
//! Upstream: k8s.io/apimachinery, pkg/runtime/serializer/json; sigs.k8s.io/json, UnmarshalStrict (v1.37).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::leaf;
use super::types::{Declared, Opaque, Shape, Type, TypeId, schema};
use crate::yaml::json::go_quote;

/// A remark about a field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldNote {
    /// The field, as in `spec.template.spec.containers[0].image`.
    pub path: String,
    /// Kubernetes' words.
    pub text: String,
}

/// What came of decoding an object.
#[derive(Debug, Clone, Default)]
pub struct Decoded {
    /// The object with what its kind knows, nulls dropped as Go drops them; null after an error.
    pub value: Value,
    /// Fields the kind does not have, each once, in the order they were met.
    pub unknown_fields: Vec<FieldNote>,
    /// Keys that stand twice in the text.
    pub duplicate_fields: Vec<FieldNote>,
    /// The first wrong type or value. Lenient decoding fails over it as well.
    pub error: Option<FieldNote>,
}

impl Decoded {
    /// The refusal of strict decoding: of a wrong type, else of all that is unknown.
    #[must_use]
    pub fn strict_error(&self) -> Option<String> {
        if let Some(error) = &self.error {
            return Some(error.text.clone());
        }
        let notes: Vec<&str> =
            self.duplicate_fields.iter().chain(&self.unknown_fields).map(|note| note.text.as_str()).collect();
        if notes.is_empty() { None } else { Some(format!("strict decoding error: {}", notes.join(", "))) }
    }
}

/// Upstream collects no more than this.
const MAX_NOTES: usize = 100;

/// A custom decoder's error ends the decoding at once; a wrong type is remembered and the decoding goes on.
struct Fatal(FieldNote);

/// The decoder and where it stands.
pub(super) struct Decoder {
    unknown: Vec<FieldNote>,
    seen: BTreeSet<String>,
    saved: Option<FieldNote>,
    /// The struct that holds the field at hand.
    holder: Option<&'static str>,
    /// The fields down to here, with the embedded structs between them.
    fields: Vec<String>,
    /// The same as a path with places in lists.
    path: String,
}

/// Decodes an object into a type.
pub(super) fn decode(value: &Value, root: TypeId) -> Decoded {
    let mut decoder = Decoder {
        unknown: Vec::new(),
        seen: BTreeSet::new(),
        saved: None,
        holder: None,
        fields: Vec::new(),
        path: String::new(),
    };
    let result = decoder.value(value, &Type::Declared(root));
    let (value, error) = match result {
        Ok(value) => (value.unwrap_or_default(), decoder.saved),
        Err(Fatal(note)) => (Value::Null, Some(note)),
    };
    let value = if error.is_some() { Value::Null } else { value };
    Decoded { value, unknown_fields: decoder.unknown, duplicate_fields: Vec::new(), error }
}

/// The word for a JSON value in messages about types.
fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Decoder {
    fn note(&self, text: String) -> FieldNote {
        FieldNote { path: self.path.clone(), text }
    }

    fn wrong_type(&self, what: &str, ty: &str) -> FieldNote {
        let text = match self.holder {
            Some(holder) => {
                let fields = self.fields.join(".");
                format!("json: cannot unmarshal {what} into Go struct field {holder}.{fields} of type {ty}")
            }
            None => format!("json: cannot unmarshal {what} into Go value of type {ty}"),
        };
        self.note(text)
    }

    /// Remembers a wrong type, if it is the first.
    fn save(&mut self, what: &str, ty: &Type) {
        let note = self.wrong_type(what, &schema().go_name(ty));
        self.saved.get_or_insert(note);
    }

    /// Decodes a value. None if it leaves no trace.
    fn value(&mut self, value: &Value, ty: &Type) -> Result<Option<Value>, Fatal> {
        let mut ty = ty;
        while let Type::Pointer(inner) = ty {
            ty = inner;
        }
        if value.is_null() {
            return Ok(None);
        }
        match (schema().resolve(ty), value) {
            (Type::Opaque(opaque), _) => self.opaque(value, *opaque),
            (Type::Declared(id), Value::Object(map)) => match schema().declared(*id) {
                Some(declared) => self.object(map, declared).map(Some),
                None => Ok(None),
            },
            (Type::Map(_, item), Value::Object(map)) => self.map(map, item).map(Some),
            (Type::List(item), Value::Array(list)) => self.list(list, item).map(Some),
            (Type::Bytes, Value::String(text)) => {
                if let Some(text) = leaf::base64_error(text) {
                    let note = self.note(text);
                    self.saved.get_or_insert(note);
                }
                Ok(Some(value.clone()))
            }
            (Type::Text, Value::String(_)) | (Type::Bool, Value::Bool(_)) => Ok(Some(value.clone())),
            (resolved @ (Type::Int(_) | Type::Uint(_) | Type::Float), Value::Number(number)) => {
                let found = leaf::number(number, resolved);
                if found.is_none() {
                    self.save(&format!("number {}", leaf::number_text(number)), ty);
                }
                Ok(found)
            }
            _ => {
                self.save(word(value), ty);
                Ok(None)
            }
        }
    }

    fn opaque(&mut self, value: &Value, opaque: Opaque) -> Result<Option<Value>, Fatal> {
        let text_of = |decoder: &Decoder| match value {
            Value::String(text) => Ok(text.clone()),
            // The custom decoder reads a Go string.
            other => Err(Fatal(decoder.wrong_type(word(other), "string"))),
        };
        match opaque {
            Opaque::Raw => Ok(Some(value.clone())),
            Opaque::Quantity => match leaf::quantity(value) {
                Ok(text) => Ok(Some(Value::String(text))),
                Err(text) => Err(Fatal(self.note(text))),
            },
            Opaque::Time | Opaque::MicroTime => {
                let text = text_of(self)?;
                match leaf::time_error(&text, opaque == Opaque::MicroTime) {
                    Some(problem) => Err(Fatal(self.note(problem))),
                    None => Ok(Some(value.clone())),
                }
            }
            Opaque::IntOrString => match value {
                Value::String(_) => Ok(Some(value.clone())),
                Value::Number(number) => match leaf::number(number, &Type::Int(32)) {
                    Some(value) => Ok(Some(value)),
                    None => {
                        let what = format!("number {}", leaf::number_text(number));
                        Err(Fatal(self.wrong_type(&what, "int32")))
                    }
                },
                other => Err(Fatal(self.wrong_type(word(other), "int32"))),
            },
        }
    }

    /// What null stands for in a list or map, where it cannot be left out.
    fn zero(ty: &Type) -> Value {
        match ty {
            Type::Pointer(_) => Value::Null,
            _ => match schema().resolve(ty) {
                Type::Bool => Value::Bool(false),
                Type::Int(_) | Type::Uint(_) | Type::Float => 0.into(),
                Type::Text => Value::String(String::new()),
                Type::Opaque(Opaque::Quantity) => Value::String("0".to_owned()),
                Type::Opaque(Opaque::IntOrString) => 0.into(),
                Type::Declared(_) => Value::Object(Map::new()),
                _ => Value::Null,
            },
        }
    }

    fn list(&mut self, list: &[Value], item: &Type) -> Result<Value, Fatal> {
        let mut done = Vec::with_capacity(list.len());
        let length = self.path.len();
        for (place, value) in list.iter().enumerate() {
            self.path.push_str(&format!("[{place}]"));
            let value = self.value(value, item)?;
            self.path.truncate(length);
            done.push(value.unwrap_or_else(|| Decoder::zero(item)));
        }
        Ok(Value::Array(done))
    }

    fn map(&mut self, map: &Map<String, Value>, item: &Type) -> Result<Value, Fatal> {
        let mut done = Map::new();
        for (key, value) in map {
            let length = self.enter(key);
            let value = self.value(value, item)?;
            self.path.truncate(length);
            done.insert(key.clone(), value.unwrap_or_else(|| Decoder::zero(item)));
        }
        Ok(Value::Object(done))
    }

    /// Goes to a field; yields how long the path was before.
    fn enter(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        length
    }

    fn object(&mut self, map: &Map<String, Value>, declared: &'static Declared) -> Result<Value, Fatal> {
        if let Shape::Named(_) = declared.shape {
            return Ok(Value::Null);
        }
        let mut done = Map::new();
        let (holder, depth) = (self.holder, self.fields.len());
        for (key, value) in map {
            let length = self.enter(key);
            let Some(field) = declared.field(key) else {
                self.unknown_field();
                self.path.truncate(length);
                continue;
            };
            self.holder = Some(declared.short_name());
            self.fields.extend(field.through.iter().map(|name| (*name).to_owned()));
            self.fields.push(field.name.to_owned());
            if let Some(value) = self.value(value, &field.ty)? {
                done.insert(key.clone(), value);
            }
            self.fields.truncate(depth);
            self.holder = holder;
            self.path.truncate(length);
        }
        Ok(Value::Object(done))
    }

    fn unknown_field(&mut self) {
        if self.unknown.len() < MAX_NOTES && self.seen.insert(self.path.clone()) {
            let note = self.note(format!("unknown field {}", go_quote(&self.path)));
            self.unknown.push(note);
        }
    }
}
