//! Looking at a value one level at a time, so that what prints it needs no tree of its own.

use super::GoValue as Look;
use serde_json::{Map, Number, Value};

/// What a value is, one level deep.
#[allow(missing_docs)]
pub enum Seen<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Number(&'a Number),
    Text(&'a str),
    List(&'a [&'a dyn Look]),
    /// The names in the order of their bytes.
    Map(&'a [(&'a str, &'a dyn Look)]),
}

/// A value as JSON.
pub fn to_json(value: &dyn Look) -> Value {
    let mut made = Value::Null;
    value.look(&mut |seen| {
        made = match seen {
            Seen::Null => Value::Null,
            Seen::Bool(b) => Value::Bool(b),
            Seen::Int(n) => n.into(),
            Seen::Number(n) => Value::Number(n.clone()),
            Seen::Text(text) => Value::String(text.to_owned()),
            Seen::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(to_json(*item));
                }
                Value::Array(list)
            }
            Seen::Map(fields) => {
                let mut map = Map::new();
                for (name, value) in fields {
                    map.insert((*name).to_owned(), to_json(*value));
                }
                Value::Object(map)
            }
        };
    });
    made
}

/// A value under this name as well, in its place among the others.
pub fn put<'a>(fields: &mut Vec<(&'a str, &'a dyn Look)>, name: &'a str, value: &'a dyn Look) {
    let at = fields.partition_point(|(other, _)| *other < name);
    match fields.get_mut(at) {
        Some(found) if found.0 == name => found.1 = value,
        _ => fields.insert(at, (name, value)),
    }
}

/// All fields of a map that is kept as JSON.
pub(crate) fn fields(map: &Map<String, Value>) -> Vec<(&str, &dyn Look)> {
    let mut fields: Vec<(&str, &dyn Look)> = Vec::with_capacity(map.len() + 3);
    for (name, value) in map {
        fields.push((name, value));
    }
    fields
}

impl Look for &str {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        tell(Seen::Text(self));
    }
}

/// Several values as a list.
pub struct Several<'a>(pub Vec<&'a dyn Look>);

impl Look for Several<'_> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        tell(Seen::List(&self.0));
    }
}

/// A map of values, their names in the order of their bytes.
pub struct Named<'a>(pub Vec<(&'a str, &'a dyn Look)>);

impl Look for Named<'_> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        tell(Seen::Map(&self.0));
    }
}
