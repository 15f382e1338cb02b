//! The functions of this crate in the shape of the recorded vectors: JSON in, JSON out.

use crate::{
    output::table::{Shape, table},
    printers::{self, Cell, Column},
};
use kubestep_model::{Kind, Object, Time};
use serde_json::{Value, json};

/// Runs the function that a vector is named after; None where no such function is here.
pub fn run(name: &str, input: &Value) -> Option<Value> {
    if name.starts_with("printer-") {
        return printer(name, input);
    }
    None
}

fn printer(name: &str, input: &Value) -> Option<Value> {
    let wanted = name.strip_prefix("printer-")?;
    let kind = Kind::all().find(|k| k.singular() == wanted)?;
    if matches!(kind, Kind::Other(_)) {
        return None;
    }
    let now = Time::parse(input["now"].as_str()?)?.instant();
    let object = match Object::from_value(kind, input["object"].clone()) {
        Ok(object) => object,
        Err(error) => return Some(json!({ "error": error })),
    };
    let printer = printers::of(kind);
    let column = |c: &Column| json!({ "name": c.name, "priority": i32::from(c.wide), "type": if c.number { "integer" } else { "string" } });
    let cell = |c: Cell| match c {
        Cell::Text(text) => json!(text),
        Cell::Number(number) => json!(number),
    };
    let row: Vec<Value> = (printer.row)(&object, now, true).into_iter().map(cell).collect();
    let get = |wide: bool| table(kind, &[&object], now, &Shape { wide, ..Shape::default() }).text;
    Some(json!({
        "columns": printer.columns.iter().map(column).collect::<Vec<_>>(),
        "get": get(false),
        "getWide": get(true),
        "rows": [row],
    }))
}
