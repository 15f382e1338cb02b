//! Whether a value is as its schema wants it, in the words of the OpenAPI validator.
//!
//! Upstream: k8s.io/kube-openapi, pkg/validation/validate and pkg/validation/errors (as of v1.37). Where upstream walks a
//! map in Go's order of the day, fields are walked by their names here.

use super::{DEEPEST, formats};
use crate::validation::field::Errors;
use kubestep_model::text::{go, pattern};
use serde_json::Value;

/// What is wrong with one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// Where, as `spec.list[0].name`.
    pub(crate) path: String,
    /// What.
    pub(crate) what: What,
}

/// How a fault is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Required,
    Enum { value: Value, known: Vec<Value> },
    TooLong(u64),
    TooMany { there: usize, most: u64 },
    Type { value: String, text: String },
    Invalid { value: Value, text: String },
}

impl What {
    pub(crate) fn tell(self, errors: &mut Errors, field: &str) {
        match self {
            What::Required => errors.required(field, ""),
            What::Enum { value, known } => {
                let known: Vec<String> = known.iter().map(plain).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                errors.not_supported(field, &shown(&value), &known);
            }
            What::TooLong(most) => errors.too_long(field, usize::try_from(most).unwrap_or(usize::MAX)),
            What::TooMany { there, most } => {
                errors.too_many(field, there, usize::try_from(most).unwrap_or(usize::MAX));
            }
            What::Type { value, text } => errors.type_invalid(field, &go::quote(&value), &text),
            What::Invalid { value, text } => errors.invalid(field, &shown(&value), &text),
        }
    }
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// As Go prints the value of a refusal.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => go::quote(text),
        other => other.to_string(),
    }
}

/// Everything that is wrong with a value.
pub(crate) fn check(schema: &Value, value: &Value, path: &str) -> Vec<Fault> {
    check_changed(schema, value, None, path)
}

/// Everything that is wrong with what has changed in a value: what stands as it stood may be wrong.
///
/// Upstream: apiextensions-apiserver, pkg/apiserver/validation/ratcheting.go (v1.37).
pub(crate) fn check_changed(schema: &Value, value: &Value, old: Option<&Value>, path: &str) -> Vec<Fault> {
    let mut found = Found::default();
    node(schema, value, Place { path, old, depth: 0 }, &mut found);
    found.faults
}

/// Where a value stands, and what stood there before.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    old: Option<&'a Value>,
    depth: usize,
}

#[derive(Default)]
struct Found {
    faults: Vec<Fault>,
    /// How many checks were made: of several alternatives that all fail, the one that was looked at most is told.
    made: usize,
}

impl Found {
    fn add(&mut self, path: &str, what: What) {
        self.faults.push(Fault { path: path.to_owned(), what });
    }

    fn invalid(&mut self, path: &str, value: Value, text: String) {
        self.add(path, What::Invalid { value, text });
    }

    fn merge(&mut self, mut other: Found) {
        self.faults.append(&mut other.faults);
        self.made += other.made;
    }
}

fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema[name].as_array().map_or(&[], Vec::as_slice)
}

/// The types that a schema allows; none allow any.
fn types(schema: &Value) -> Vec<&str> {
    if schema["x-kubernetes-int-or-string"] == true {
        return vec!["integer", "string"];
    }
    schema["type"].as_str().filter(|t| !t.is_empty()).into_iter().collect()
}

fn node(schema: &Value, value: &Value, place: Place<'_>, found: &mut Found) {
    let Place { path, old, depth } = place;
    if depth > DEEPEST || !schema.is_object() || old == Some(value) {
        return;
    }
    kind(schema, value, path, found);
    if value.is_null() {
        common(schema, value, path, found);
        return;
    }
    alternatives(schema, value, path, depth, found);
    match value {
        Value::String(text) => {
            of_text(schema, text, path, found);
            format(schema, text, path, found);
        }
        Value::Number(_) => of_number(schema, value, path, found),
        Value::Array(items) => of_list(schema, items, place, found),
        _ => {}
    }
    common(schema, value, path, found);
    if let Value::Object(map) = value {
        of_map(schema, map, place, found);
    }
    found.made += 2;
}

fn kind(schema: &Value, value: &Value, path: &str, found: &mut Found) {
    let types = types(schema);
    let format = schema["format"].as_str().unwrap_or_default();
    if types.is_empty() && format.is_empty() {
        return;
    }
    found.made += 1;
    let wrong = |found: &mut Found, wanted: &str, is: &str| {
        let text = format!("{path} in body must be of type {wanted}: {}", go::quote(is));
        found.add(path, What::Type { value: is.to_owned(), text });
    };
    let whole = value.as_f64().is_some_and(|f| f.fract() == 0.0);
    let is = match value {
        Value::Null => {
            if !types.is_empty() && schema["nullable"] != true {
                wrong(found, &types.join(","), "null");
            }
            return;
        }
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = types.contains(&is)
        || (is == "number" && whole && types.contains(&"integer"))
        || (is == "integer" && types.contains(&"number"));
    let numeric = types.contains(&"number") || types.contains(&"integer");
    if !numeric && !format.is_empty() && matches!(value, Value::String(_) | Value::Array(_)) {
        return;
    }
    if !fits && !types.is_empty() {
        wrong(found, &types.join(","), is);
    }
}

/// anyOf, oneOf, allOf and not.
fn alternatives(schema: &Value, value: &Value, path: &str, depth: usize, found: &mut Found) {
    let shown = go::quote(path);
    let try_one = |inner: &Value| {
        let mut tried = Found::default();
        node(inner, value, Place { path, old: None, depth: depth + 1 }, &mut tried);
        tried
    };
    let better = |best: &Option<Found>, tried: &Found| best.as_ref().is_none_or(|b| tried.made > b.made);
    let any = list(schema, "anyOf");
    if !any.is_empty() {
        let (mut best, mut valid) = (None, false);
        for tried in any.iter().map(try_one) {
            if tried.faults.is_empty() {
                (best, valid) = (Some(tried), true);
                break;
            }
            if better(&best, &tried) {
                best = Some(tried);
            }
        }
        if !valid {
            found.plain(format!("{shown} must validate at least one schema (anyOf)"));
        }
        found.merge(best.unwrap_or_default());
    }
    let one = list(schema, "oneOf");
    if !one.is_empty() {
        let (mut best, mut first, mut valid) = (None, None, 0);
        for tried in one.iter().map(try_one) {
            if tried.faults.is_empty() {
                (valid, best) = (valid + 1, None);
                first = first.or(Some(tried));
            } else if valid == 0 && better(&best, &tried) {
                best = Some(tried);
            }
        }
        let why = if valid == 0 {
            "Found none valid".to_owned()
        } else {
            format!("Found {valid} valid alternatives")
        };
        if valid == 1 {
            found.merge(first.unwrap_or_default());
        } else {
            found.plain(format!("{shown} must validate one and only one schema (oneOf). {why}"));
            found.merge(best.unwrap_or_default());
        }
    }
    let all = list(schema, "allOf");
    if !all.is_empty() {
        let mut valid = 0;
        for tried in all.iter().map(try_one) {
            valid += usize::from(tried.faults.is_empty());
            found.merge(tried);
        }
        if valid != all.len() {
            let more = if valid == 0 { ". None validated" } else { "" };
            found.plain(format!("{shown} must validate all the schemas (allOf){more}"));
        }
    }
    let not = &schema["not"];
    if not.is_object() && try_one(not).faults.is_empty() {
        found.plain(format!("{shown} must not validate the schema (not)"));
    }
}

impl Found {
    /// A fault of the whole object that names no field.
    fn plain(&mut self, text: String) {
        self.invalid("", "".into(), text);
    }
}

fn of_text(schema: &Value, text: &str, path: &str, found: &mut Found) {
    let length = text.chars().count() as u64;
    found.made += 1;
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
        found.add(path, What::TooLong(most));
        return;
    }
    if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
        let why = format!("{path} in body should be at least {least} chars long");
        found.invalid(path, text.into(), why);
        return;
    }
    let wanted = schema["pattern"].as_str().unwrap_or_default();
    if !wanted.is_empty() && pattern::matches(wanted, text) == Ok(false) {
        found.invalid(path, text.into(), format!("{path} in body should match '{wanted}'"));
    }
}

fn format(schema: &Value, text: &str, path: &str, found: &mut Found) {
    let format = schema["format"].as_str().unwrap_or_default();
    if formats::holds(format, text) {
        return;
    }
    let why = format!("{path} in body must be of type {format}: {}", go::quote(text));
    found.add(path, What::Type { value: text.to_owned(), text: why });
}

fn of_number(schema: &Value, value: &Value, path: &str, found: &mut Found) {
    found.made += 1;
    let number = value.as_f64().unwrap_or(0.0);
    let bound = |name: &str| schema[name].as_f64();
    if let Some(factor) = bound("multipleOf").filter(|f| *f > 0.0) {
        let times = number / factor;
        if (times - times.round()).abs() > f64::EPSILON {
            found.invalid(
                path,
                value.clone(),
                format!("{path} in body should be a multiple of {}", go_number(factor)),
            );
        }
    }
    if let Some(most) = bound("maximum") {
        let (over, words) = match schema["exclusiveMaximum"] == true {
            true => (number >= most, "less than"),
            false => (number > most, "less than or equal to"),
        };
        if over {
            found.invalid(
                path,
                value.clone(),
                format!("{path} in body should be {words} {}", go_number(most)),
            );
        }
    }
    if let Some(least) = bound("minimum") {
        let (under, words) = match schema["exclusiveMinimum"] == true {
            true => (number <= least, "greater than"),
            false => (number < least, "greater than or equal to"),
        };
        if under {
            found.invalid(
                path,
                value.clone(),
                format!("{path} in body should be {words} {}", go_number(least)),
            );
        }
    }
}

/// A float as Go's `%v` prints it, for numbers of a common size.
fn go_number(number: f64) -> String {
    if number.abs() >= 1e21 { format!("{number:e}").replace('e', "e+") } else { number.to_string() }
}

fn of_list(schema: &Value, items: &[Value], place: Place<'_>, found: &mut Found) {
    let Place { path, old, depth } = place;
    found.made += 1;
    for (i, item) in items.iter().enumerate() {
        let before = old.and_then(Value::as_array).and_then(|before| same_item(schema, before, item));
        node_into(&schema["items"], item, Place { path: &format!("{path}[{i}]"), old: before, depth }, found);
    }
    let there = items.len() as u64;
    if let Some(least) = schema["minItems"].as_u64().filter(|least| there < *least) {
        found.invalid(path, there.into(), format!("{path} in body should have at least {least} items"));
    }
    if let Some(most) = schema["maxItems"].as_u64().filter(|most| there > *most) {
        found.add(path, What::TooMany { there: items.len(), most });
    }
}

/// The item with the same keys, in lists that tell items apart by keys.
fn same_item<'a>(schema: &Value, before: &'a [Value], item: &Value) -> Option<&'a Value> {
    let keys = list(schema, "x-kubernetes-list-map-keys");
    let same =
        |other: &&Value| keys.iter().filter_map(Value::as_str).all(|key| other.get(key) == item.get(key));
    before.iter().find(same).filter(|_| !keys.is_empty())
}

fn common(schema: &Value, value: &Value, path: &str, found: &mut Found) {
    let known = list(schema, "enum");
    if known.is_empty() {
        return;
    }
    found.made += 1;
    let same = |k: &Value| k == value || (k.is_number() && value.is_number() && k.as_f64() == value.as_f64());
    if !known.iter().any(same) {
        found.add(path, What::Enum { value: value.clone(), known: known.to_vec() });
    }
}

fn of_map(schema: &Value, map: &serde_json::Map<String, Value>, place: Place<'_>, found: &mut Found) {
    let Place { path, old, depth } = place;
    let before = |name: &str| old.and_then(|old| old.get(name));
    found.made += 1;
    let there = map.len() as u64;
    if let Some(least) = schema["minProperties"].as_u64().filter(|least| there < *least) {
        found.invalid(path, there.into(), format!("{path} in body should have at least {least} properties"));
    }
    if let Some(most) = schema["maxProperties"].as_u64().filter(|most| there > *most) {
        found.add(path, What::TooMany { there: map.len(), most });
    }
    let properties = &schema["properties"];
    let additional = &schema["additionalProperties"];
    for (name, value) in map.iter().filter(|(name, _)| properties.get(name).is_none()) {
        let place = Place { path: &format!("{path}.{name}"), old: before(name), depth };
        node_into(additional, value, place, found);
    }
    for (name, property) in properties.as_object().into_iter().flatten() {
        let Some(value) = map.get(name) else { continue };
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        node_into(property, value, Place { path: &inner, old: before(name), depth }, found);
    }
    for name in list(schema, "required").iter().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            found.add(&format!("{path}.{name}"), What::Required);
        }
    }
}

fn node_into(schema: &Value, value: &Value, place: Place<'_>, found: &mut Found) {
    let mut inner = Found::default();
    node(schema, value, Place { depth: place.depth + 1, ..place }, &mut inner);
    found.merge(inner);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_refused_in_upstreams_words() {
        let number = json!({"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2});
        let text = json!({"type": "string", "maxLength": 3, "minLength": 2, "pattern": "^a"});
        for (schema, value, want) in [
            (&number, json!(4), ""),
            (&number, json!(12), "x: Invalid value: 12: x in body should be less than or equal to 10"),
            (&number, json!(3), "x: Invalid value: 3: x in body should be a multiple of 2"),
            (
                &number,
                json!("4"),
                "x: Invalid value: \"string\": x in body must be of type integer: \"string\"",
            ),
            (&number, json!(null), "x: Invalid value: \"null\": x in body must be of type integer: \"null\""),
            (&text, json!("abcd"), "x: Too long: may not be more than 3 bytes"),
            (&text, json!("a"), "x: Invalid value: \"a\": x in body should be at least 2 chars long"),
            (&text, json!("ba"), "x: Invalid value: \"ba\": x in body should match '^a'"),
            (
                &json!({"enum": ["a", 1]}),
                json!("b"),
                "x: Unsupported value: \"b\": supported values: \"a\", \"1\"",
            ),
            (&json!({"type": "object", "required": ["y"]}), json!({}), "x.y: Required value"),
            (
                &json!({"type": "array", "maxItems": 1, "items": {"type": "boolean"}}),
                json!([true, 1]),
                "x[1]: Invalid value: \"integer\": x[1] in body must be of type boolean: \"integer\", x: Too many: 2: must have at most 1 items",
            ),
            (
                &json!({"x-kubernetes-int-or-string": true}),
                json!(true),
                "x: Invalid value: \"boolean\": x in body must be of type integer,string: \"boolean\"",
            ),
            (
                &json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"a": 1, "b": 2}),
                "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ),
            (
                &json!({"type": "string", "format": "ipv4"}),
                json!("300.1.1.1"),
                "x: Invalid value: \"300.1.1.1\": x in body must be of type ipv4: \"300.1.1.1\"",
            ),
        ] {
            let mut errors = Errors::new();
            super::super::report(&mut errors, "", check(schema, &value, "x"));
            let told: Vec<String> =
                errors.into_causes().iter().map(|c| format!("{}: {}", c.field, c.message)).collect();
            assert_eq!(told.join(", "), want);
        }
    }
}
