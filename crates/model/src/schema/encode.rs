//! Encoding an object as Go's structs are encoded: what is empty is left out or written, as the field says.

use serde_json::{Map, Value};

use super::types::{Declared, Omit, Opaque, Shape, Type, schema};

/// The object as the API server writes it back: only the fields its kind has, with `status: {}`, `rules: null` and the
/// like where Go writes them. Kinds that are not known are left as they are.
#[must_use]
pub fn encode(api_version: &str, kind: &str, value: &Value) -> Value {
    match (schema().kind(api_version, kind), value) {
        (Some(id), Value::Object(_)) => encode_type(&Type::Declared(id), Some(value)),
        _ => value.clone(),
    }
}

/// A value of a type of the API as Go's encoder writes it on one line: fields in the order of the struct. The type is
/// named as in the schema, as `resource/v1.DeviceRequest`.
#[must_use]
pub fn written(type_name: &str, value: &Value) -> String {
    let mut out = String::new();
    match schema().type_named(type_name) {
        Some(id) => write_type(&mut out, &Type::Declared(id), value, 0),
        None => out = value.to_string(),
    }
    out
}

/// No type of the schema is as deep as this.
const DEEPEST: usize = 64;

fn write_type(out: &mut String, ty: &Type, value: &Value, depth: usize) {
    let ty = if let Type::Pointer(inner) = ty { inner } else { ty };
    let list = |out: &mut String, open: char, close: char, write: &mut dyn FnMut(&mut String)| {
        out.push(open);
        write(out);
        out.push(close);
    };
    match (schema().resolve(ty), value) {
        _ if depth > DEEPEST => out.push_str("null"),
        (Type::Declared(id), Value::Object(map)) => match schema().declared(*id).map(|d| &d.shape) {
            Some(Shape::Struct(fields)) => list(out, '{', '}', &mut |out| {
                let mut first = true;
                for field in fields {
                    let value = map.get(field.name).filter(|value| !value.is_null());
                    if !is_omitted(&field.ty, field.omit, value) {
                        out.push_str(if first { "" } else { "," });
                        first = false;
                        out.push_str(&format!("{}:", Value::from(field.name)));
                        match value {
                            Some(value) => write_type(out, &field.ty, value, depth + 1),
                            None => out.push_str(&encode_type(&field.ty, None).to_string()),
                        }
                    }
                }
            }),
            _ => out.push_str(&value.to_string()),
        },
        (Type::List(item), Value::Array(items)) => list(out, '[', ']', &mut |out| {
            for (i, value) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write_type(out, item, value, depth + 1);
            }
        }),
        (Type::Map(_, item), Value::Object(map)) => list(out, '{', '}', &mut |out| {
            for (i, (key, value)) in map.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                out.push_str(&format!("{}:", Value::from(key.as_str())));
                write_type(out, item, value, depth + 1);
            }
        }),
        (_, value) => out.push_str(&value.to_string()),
    }
}

/// A value of a type; none is Go's zero value.
fn encode_type(ty: &Type, value: Option<&Value>) -> Value {
    let value = value.filter(|value| !value.is_null());
    if let (Type::Pointer(inner), Some(_)) = (ty, value) {
        return encode_type(inner, value);
    }
    match (schema().resolve(ty), value) {
        _ if matches!(ty, Type::Pointer(_)) => Value::Null,
        (Type::Declared(id), _) => match (schema().declared(*id), value) {
            (Some(declared), Some(Value::Object(map))) => encode_struct(declared, map),
            (Some(declared), _) => encode_struct(declared, &Map::new()),
            (None, _) => Value::Null,
        },
        (Type::List(item), Some(Value::Array(list))) => {
            Value::Array(list.iter().map(|value| encode_type(item, Some(value))).collect())
        }
        (Type::Map(_, item), Some(Value::Object(map))) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), encode_type(item, Some(value))));
            Value::Object(entries.collect())
        }
        (_, Some(value)) => value.clone(),
        (Type::Bool, None) => Value::Bool(false),
        (Type::Int(_) | Type::Uint(_) | Type::Float, None) => 0.into(),
        (Type::Text, None) => Value::String(String::new()),
        (Type::Opaque(Opaque::Quantity), None) => Value::String("0".to_owned()),
        (Type::Opaque(Opaque::IntOrString), None) => 0.into(),
        (_, None) => Value::Null,
    }
}

/// An object that was encoded before, as text with its fields in the order in which Go declares them. Objects of kinds that
/// are not known have their fields by name.
#[must_use]
pub fn text(api_version: &str, kind: &str, value: &Value) -> String {
    let ty = schema().kind(api_version, kind).map(Type::Declared);
    let mut out = String::new();
    write_ordered(ty.as_ref(), value, &mut out, 0);
    out
}

/// No object is as deep as this.
const DEEPEST_TEXT: usize = 300;

fn write_ordered(ty: Option<&Type>, value: &Value, out: &mut String, depth: usize) {
    let ty = ty.map(|ty| match ty {
        Type::Pointer(inner) => schema().resolve(inner),
        ty => schema().resolve(ty),
    });
    match value {
        Value::Object(map) if depth < DEEPEST_TEXT => {
            let declared = ty.and_then(|ty| match ty {
                Type::Declared(id) => schema().declared(*id),
                _ => None,
            });
            let fields: &[super::types::Field] = match declared.map(|d| &d.shape) {
                Some(Shape::Struct(fields)) => fields,
                _ => &[],
            };
            let inner = match ty {
                Some(Type::Map(_, inner)) => Some(&**inner),
                _ => None,
            };
            let known = fields.iter().filter_map(|f| Some((f.name, Some(&f.ty), map.get(f.name)?)));
            let rest = map.iter().filter(|(name, _)| !fields.iter().any(|f| f.name == name.as_str()));
            let rest = rest.map(|(name, value)| (name.as_str(), inner, value));
            out.push('{');
            for (at, (name, ty, value)) in known.chain(rest).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&crate::yaml::json::encode(&Value::String(name.to_owned())));
                out.push(':');
                write_ordered(ty, value, out, depth + 1);
            }
            out.push('}');
        }
        Value::Array(items) if depth < DEEPEST_TEXT => {
            let inner = match ty {
                Some(Type::List(inner)) => Some(&**inner),
                _ => None,
            };
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_ordered(inner, item, out, depth + 1);
            }
            out.push(']');
        }
        _ => out.push_str(&crate::yaml::json::encode(value)),
    }
}

fn encode_struct(declared: &Declared, map: &Map<String, Value>) -> Value {
    let Shape::Struct(fields) = &declared.shape else { return Value::Null };
    let mut done = Map::new();
    for field in fields {
        let value = map.get(field.name).filter(|value| !value.is_null());
        if !is_omitted(&field.ty, field.omit, value) {
            done.insert(field.name.to_owned(), encode_type(&field.ty, value));
        }
    }
    Value::Object(done)
}

/// Whether Go leaves a field out. A struct that is no pointer is only left out by `omitzero`.
fn is_omitted(ty: &Type, omit: Omit, value: Option<&Value>) -> bool {
    let is_struct = matches!(schema().resolve(ty), Type::Declared(_) | Type::Opaque(_));
    match (omit, ty, value) {
        (Omit::Never, ..) => false,
        (_, Type::Pointer(_), value) => value.is_none(),
        (Omit::Zero, _, None) => true,
        _ if is_struct => false,
        (_, _, None) => true,
        (_, _, Some(value)) => match value {
            Value::Bool(value) => !value,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Null => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_fields_are_written_as_go_writes_them() {
        for (version, kind, given, written) in [
            ("v1", "Pod", json!({}), json!({ "metadata": {}, "spec": { "containers": null }, "status": {} })),
            (
                "rbac.authorization.k8s.io/v1",
                "Role",
                json!({ "metadata": { "name": "a", "labels": {} } }),
                json!({ "metadata": { "name": "a" }, "rules": null }),
            ),
            (
                "networking.k8s.io/v1",
                "NetworkPolicy",
                json!({ "spec": { "ingress": [], "nope": 1 } }),
                json!({ "metadata": {}, "spec": { "podSelector": {} } }),
            ),
            ("example.com/v1", "Widget", json!({ "a": null }), json!({ "a": null })),
        ] {
            assert_eq!(encode(version, kind, &given), written, "{kind}");
        }
    }

    /// Every object that a recorded API server held when it was made, or at the end of a session.
    fn recorded() -> Vec<Value> {
        let folder = format!("{}/../../tests/golden/sessions", env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).expect(&folder) {
            let text = std::fs::read_to_string(entry.expect("entry").path()).expect("a file");
            let session = crate::yaml::json::parse(&text).unwrap_or_default();
            found.extend(session["final"].as_array().cloned().unwrap_or_default());
            let changes = session["changes"].as_array().into_iter().flatten();
            found.extend(changes.map(|change| change["object"].clone()).filter(Value::is_object));
        }
        // Kinds that people define have no Go types.
        found.retain(|o| !o["apiVersion"].as_str().is_some_and(|v| v.contains("example.com/")));
        found
    }

    #[test]
    fn what_a_server_wrote_is_written_again() {
        let objects = recorded();
        assert!(objects.len() > 900, "{} objects", objects.len());
        for object in &objects {
            let (version, kind) =
                (object["apiVersion"].as_str().expect("version"), object["kind"].as_str().expect("kind"));
            let decoded = super::super::decode::decode(object, schema().kind(version, kind).expect(kind));
            assert_eq!(decoded.unknown_fields, [], "{kind}");
            assert_eq!(encode(version, kind, object), *object, "{kind}");
        }
    }
}
