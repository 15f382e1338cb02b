//! `--sort-by`. Upstream: kubectl/pkg/cmd/get, TableSorter (v1.37). Equal objects keep their order here.

use super::jsonpath::{self, Template};
use kubestep_model::Quantity;
use kubestep_model::arrange::Arrange;
use serde_json::Value;
use std::cmp::Ordering;

/// The places of the objects in the order of a field.
pub fn order(objects: &[Value], field: &str) -> Result<Vec<usize>, String> {
    let path = jsonpath::relaxed(field).unwrap_or_else(|_| field.to_owned());
    let template = Template::parse(&path).map_err(|why| format!("sorting error: {why}"))?;
    let key = |object: &Value| {
        Ok::<_, String>(template.find(object)?.into_iter().next().and_then(|p| p.into_iter().next()))
    };
    let keys: Vec<Option<Value>> = objects.iter().map(key).collect::<Result<_, _>>()?;
    if !keys.is_empty() && keys.iter().all(Option::is_none) {
        return Err(format!("couldn't find any field with path \"{path}\" in the list of objects"));
    }
    let mut places: Vec<usize> = (0..objects.len()).collect();
    places.arrange_by(|a, b| compare(keys[*a].as_ref(), keys[*b].as_ref()));
    Ok(places)
}

fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    match (a, b) {
        (None | Some(Value::Null), None | Some(Value::Null)) => Ordering::Equal,
        (None | Some(Value::Null), Some(_)) => Ordering::Less,
        (Some(_), None | Some(Value::Null)) => Ordering::Greater,
        (Some(Value::String(a)), Some(Value::String(b))) => match (Quantity::parse(a), Quantity::parse(b)) {
            (Ok(qa), Ok(qb)) => qa.cmp(&qb),
            _ => a.cmp(b),
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
        assert_eq!(order(&objects[..3], ".a"), Ok(vec![2, 1, 0]));
        assert_eq!(order(&objects, "{.a}").map(|o| o[0]), Ok(2));
        let missing = "couldn't find any field with path \"{.b}\" in the list of objects";
        assert_eq!(order(&objects, "b"), Err(missing.to_owned()));
    }
}
