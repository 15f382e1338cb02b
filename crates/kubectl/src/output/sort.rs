//! `--sort-by`. Upstream: kubectl/pkg/cmd/get, TableSorter (v1.37). Equal objects keep their order here.

use super::jsonpath::{self, Template};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Look, Quantity, to_json};
use serde_json::Value;
use std::cmp::Ordering;

/// The places of the objects in the order of a field.
pub fn order(objects: &[&dyn Look], field: &str) -> Result<Vec<usize>, String> {
    let path = jsonpath::relaxed(field).unwrap_or_else(|_| field.to_owned());
    let template = Template::parse(&path).map_err(|why| format!("sorting error: {why}"))?;
    let need = template.need();
    let mut keys: Vec<Key> = Vec::with_capacity(objects.len());
    for object in objects {
        let found = match template.find(&need.cut(*object)) {
            Ok(found) => found,
            Err(_) => template.find(&to_json(*object))?,
        };
        let value = found.into_iter().next().and_then(|p| p.into_iter().next());
        let amount = value.as_ref().and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok());
        keys.push(Key { value, amount });
    }
    if !keys.is_empty() && keys.iter().all(|key| key.value.is_none()) {
        return Err(format!("couldn't find any field with path \"{path}\" in the list of objects"));
    }
    let mut places: Vec<usize> = (0..objects.len()).collect();
    places.arrange_by(|a, b| compare(&keys[*a], &keys[*b]));
    Ok(places)
}

/// What an object is sorted by.
struct Key {
    value: Option<Value>,
    /// The amount that its text is, if it is one.
    amount: Option<Quantity>,
}

fn compare(a: &Key, b: &Key) -> Ordering {
    match (&a.value, &b.value) {
        (None | Some(Value::Null), None | Some(Value::Null)) => Ordering::Equal,
        (None | Some(Value::Null), Some(_)) => Ordering::Less,
        (Some(_), None | Some(Value::Null)) => Ordering::Greater,
        (Some(Value::String(x)), Some(Value::String(y))) => match (&a.amount, &b.amount) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => x.cmp(y),
        },
        (Some(Value::Number(a)), Some(Value::Number(b))) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0)),
        },
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sorts_by_fields() {
        let objects = [json!({"a": "10"}), json!({"a": "9"}), json!({}), json!({"a": "x"})];
        let objects: Vec<&dyn Look> = objects.iter().map(|o| o as &dyn Look).collect();
        assert_eq!(order(&objects[..3], ".a"), Ok(vec![2, 1, 0]));
        assert_eq!(order(&objects, "{.a}").map(|o| o[0]), Ok(2));
        let missing = "couldn't find any field with path \"{.b}\" in the list of objects";
        assert_eq!(order(&objects, "b"), Err(missing.to_owned()));
    }
}
