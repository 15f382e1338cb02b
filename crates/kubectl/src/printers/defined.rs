//! Kinds that people defined: the columns that their definitions name.
//!
//! Upstream: apiextensions-apiserver, pkg/registry/customresource/tableconvertor (v1.37); the API server makes these rows.

use super::{Cell, Row, age};
use crate::output::jsonpath::Template;
use kubestep_model::{Instant, Object, Time};
use serde_json::Value;

fn text<'a>(column: &'a Value, field: &str) -> &'a str {
    column[field].as_str().unwrap_or_default()
}

/// The heads of all columns, each with whether only `-o wide` shows it.
pub(crate) fn heads(columns: &[Value]) -> Vec<(&str, bool)> {
    let own = columns.iter().map(|c| (text(c, "name"), c["priority"].as_i64().unwrap_or(0) > 0));
    [("Name", false)].into_iter().chain(own).collect()
}

/// The cells of an object.
pub(crate) fn row(columns: &[Value], object: &Object, now: Instant) -> Row {
    let whole = object.to_value();
    let name = Cell::Text(object.meta().name.to_string());
    [name].into_iter().chain(columns.iter().map(|column| cell(column, &whole, now))).collect()
}

fn cell(column: &Value, whole: &Value, now: Instant) -> Cell {
    let empty = || Cell::Text(String::new());
    let Ok(path) = Template::parse(&format!("{{{}}}", text(column, "jsonPath"))) else { return empty() };
    let found = path.find(whole).ok().and_then(|found| found.into_iter().flatten().next());
    let Some(found) = found.filter(|v| !v.is_null()) else { return empty() };
    match (text(column, "type"), &found) {
        ("integer", Value::Number(n)) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Cell::Number(n),
            // Go cuts what stands behind the point.
            (None, Some(n)) => Cell::Text(format!("{:.0}", n.trunc())),
            (None, None) => empty(),
        },
        ("number", Value::Number(n)) => Cell::Text(n.to_string()),
        ("boolean", Value::Bool(b)) => Cell::Bool(*b),
        ("date", Value::String(t)) => match Time::parse(t) {
            Some(time) => Cell::Text(age(Some(time), now)),
            None => Cell::Text("<invalid>".into()),
        },
        ("string", Value::String(t)) => Cell::Text(t.clone()),
        ("string", other) => Cell::Text(other.to_string()),
        _ => empty(),
    }
}
