//! JSON with four blanks of indentation, as `-o json`.

use kubestep_model::{Look, Seen, to_json, yaml::json};

/// Deeper values are written on one line.
const MAX_DEPTH: usize = 500;

/// A value as Go's `json.MarshalIndent` writes it, with a line break at its end.
pub fn pretty(value: &dyn Look) -> String {
    pretty_with(value, "    ")
}

/// A value as it stands so many levels deep in a larger one, from its first sign to its last.
pub(super) fn inner(value: &dyn Look, depth: usize) -> String {
    let mut writer = Writer { out: String::new(), indent: "    " };
    writer.value(value, depth);
    writer.out
}

/// As [`pretty`], with other blanks before each level.
pub fn pretty_with(value: &dyn Look, indent: &str) -> String {
    let mut writer = Writer { out: String::new(), indent };
    writer.value(value, 0);
    writer.out.push('\n');
    writer.out
}

/// A text of JSON that stands on one line, spread over lines; its fields stay in their order.
pub fn spread(text: &str, indent: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut quoted) = (0, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(indent, depth));
    };
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if quoted => {
                out.push(sign);
                out.extend(signs.next());
            }
            '"' => {
                quoted = !quoted;
                out.push(sign);
            }
            _ if quoted => out.push(sign),
            '{' | '[' => {
                out.push(sign);
                if let Some(end) = signs.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(sign);
            }
            ',' => {
                out.push(sign);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(sign),
        }
    }
    out.push('\n');
    out
}

struct Writer<'a> {
    out: String,
    indent: &'a str,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize) {
        self.out.push('\n');
        for _ in 0..depth {
            self.out.push_str(self.indent);
        }
    }

    fn value(&mut self, value: &dyn Look, depth: usize) {
        if depth < MAX_DEPTH {
            value.look(&mut |seen| self.seen(&seen, depth));
        } else {
            self.out.push_str(&json::encode(&to_json(value)));
        }
    }

    fn seen(&mut self, seen: &Seen<'_>, depth: usize) {
        match *seen {
            Seen::Null => self.out.push_str("null"),
            Seen::Bool(b) => self.out.push_str(if b { "true" } else { "false" }),
            Seen::Int(n) => self.out.push_str(&n.to_string()),
            Seen::Number(n) => self.out.push_str(&json::encode(&n.clone().into())),
            Seen::Text(text) => json::encode_text(text, &mut self.out),
            Seen::List([]) => self.out.push_str("[]"),
            Seen::Map([]) => self.out.push_str("{}"),
            Seen::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.line(depth + 1);
                    self.value(*item, depth + 1);
                }
                self.line(depth);
                self.out.push(']');
            }
            Seen::Map(fields) => {
                self.out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.line(depth + 1);
                    json::encode_text(name, &mut self.out);
                    self.out.push_str(": ");
                    self.value(*value, depth + 1);
                }
                self.line(depth);
                self.out.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn spreads_what_stands_on_one_line() {
        let text = r#"{"b":[1,{}],"a":"x:{\"\\","c":[],"d":{"e":null}}"#;
        let want = "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"x:{\\\"\\\\\",\n  \"c\": [],\n  \"d\": {\n    \"e\": null\n  }\n}\n";
        assert_eq!(super::spread(text, "  "), want);
    }

    #[test]
    fn indents_as_go() {
        let value = json!({"a": [1, {}], "b": [], "c": {"d": "<"}});
        let want = "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": [],\n    \"c\": {\n        \"d\": \"\\u003c\"\n    }\n}\n";
        assert_eq!(super::pretty(&value), want);
    }
}
