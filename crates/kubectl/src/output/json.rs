//! JSON with four blanks of indentation, as `-o json`.

use kubestep_model::yaml::json;
use serde_json::Value;

/// Deeper values are written on one line.
const MAX_DEPTH: usize = 500;

/// A value as Go's `json.MarshalIndent` writes it, with a line break at its end.
pub fn pretty(value: &Value) -> String {
    pretty_with(value, "    ")
}

/// As [`pretty`], with other blanks before each level.
pub fn pretty_with(value: &Value, indent: &str) -> String {
    let mut out = String::new();
    write(value, 0, indent, &mut out);
    out.push('\n');
    out
}

fn write(value: &Value, depth: usize, indent: &str, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(indent, depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() && depth < MAX_DEPTH => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, depth + 1);
                write(item, depth + 1, indent, out);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() && depth < MAX_DEPTH => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, depth + 1);
                out.push_str(&json::encode(&Value::String(key.clone())));
                out.push_str(": ");
                write(item, depth + 1, indent, out);
            }
            line(out, depth);
            out.push('}');
        }
        _ => out.push_str(&json::encode(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn indents_as_go() {
        let value = json!({"a": [1, {}], "b": [], "c": {"d": "<"}});
        let want = "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": [],\n    \"c\": {\n        \"d\": \"\\u003c\"\n    }\n}\n";
        assert_eq!(super::pretty(&value), want);
    }
}
