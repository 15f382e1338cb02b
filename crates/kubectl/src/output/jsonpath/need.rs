//! What a template looks at: of many large objects often one field.

use super::{Node, Piece};
use kubestep_model::{Look, Seen, to_json};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What lies deeper is needed whole.
const MAX_DEPTH: usize = 24;

/// Which parts of a value are needed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Need {
    /// All of it.
    all: bool,
    /// Of a map: these fields.
    fields: BTreeMap<String, Need>,
    /// Of each item of a list, and of each field of a map.
    every: Option<Box<Need>>,
}

impl Need {
    /// Adds a path of field names: all that is at its end.
    pub fn path(&mut self, path: &str) {
        let mut at = self;
        for name in path.split('.') {
            at = at.fields.entry(name.to_owned()).or_default();
        }
        at.all = true;
    }

    /// The same for an object and for each object of a list.
    #[must_use]
    pub fn of_each(self) -> Need {
        let mut both = self.clone();
        both.path("kind");
        both.fields.entry("items".to_owned()).or_default().every = Some(Box::new(self));
        both
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece], depth: usize) {
        for piece in pieces {
            match piece {
                Piece::Text(_) => {}
                Piece::Path(path) => self.walk(path, &[], depth),
                Piece::Range(path, body) => self.walk(path, body, depth),
            }
        }
    }

    /// What a path needs, and what is needed of what it finds.
    fn walk(&mut self, path: &[Node], body: &[Piece], depth: usize) {
        if self.all {
            return;
        }
        let Some((node, rest)) = path.split_first() else {
            if body.is_empty() {
                self.all = true;
            } else {
                self.pieces(body, depth);
            }
            return;
        };
        if depth > MAX_DEPTH {
            self.all = true;
            return;
        }
        match node {
            // What follows is looked for in the text.
            Node::Text(_) | Node::Value(_) => {}
            Node::Name(_) => self.walk(rest, body, depth + 1),
            Node::Field(name) => {
                self.fields.entry(name.clone()).or_default().walk(rest, body, depth + 1);
            }
            Node::Wildcard | Node::Slice { .. } => self.each().walk(rest, body, depth + 1),
            Node::Recursive => self.all = true,
            Node::Filter { left, right, .. } => {
                let each = self.each();
                each.walk(left, &[], depth + 1);
                each.walk(right, &[], depth + 1);
                each.walk(rest, body, depth + 1);
            }
            Node::Union(paths) => {
                for path in paths {
                    let whole: Vec<Node> = path.iter().chain(rest).cloned().collect();
                    self.walk(&whole, body, depth + 1);
                }
            }
        }
    }

    fn each(&mut self) -> &mut Need {
        self.every.get_or_insert_default()
    }

    /// The needed parts of a value as JSON.
    pub fn cut(&self, value: &dyn Look) -> Value {
        if self.all {
            return to_json(value);
        }
        let mut made = Value::Null;
        value.look(&mut |seen| {
            made = match seen {
                Seen::List(items) => {
                    let nothing = Need::default();
                    let each = self.every.as_deref().unwrap_or(&nothing);
                    let mut list = Vec::with_capacity(items.len());
                    for item in items {
                        list.push(each.cut(*item));
                    }
                    Value::Array(list)
                }
                Seen::Map(fields) => {
                    let mut map = Map::new();
                    for (name, value) in fields {
                        let cut = match (self.fields.get(*name), &self.every) {
                            (None, None) => continue,
                            (Some(need), None) => need.cut(*value),
                            (None, Some(need)) => need.cut(*value),
                            (Some(_), Some(_)) => to_json(*value),
                        };
                        map.insert((*name).to_owned(), cut);
                    }
                    Value::Object(map)
                }
                Seen::Text(text) => Value::String(text.to_owned()),
                Seen::Int(n) => n.into(),
                Seen::Number(n) => Value::Number(n.clone()),
                Seen::Bool(b) => Value::Bool(b),
                Seen::Null => Value::Null,
            };
        });
        made
    }
}

#[cfg(test)]
mod tests {
    use super::super::Template;
    use serde_json::json;

    #[test]
    fn a_template_finds_in_the_needed_parts_what_it_finds_in_all() {
        let data = json!({
            "kind": "List",
            "items": [
                {"a": {"b": 1, "c": [1, 2]}, "d": "x", "e": {"f": [{"g": "1", "h": 2}, {"g": "2", "i": 3}]}},
                {"a": {"b": 2}, "d": "y", "e": {"f": []}},
                {"a": null, "d": ["z"]},
            ],
            "more": {"k": {"v": 1, "w": 2}, "l": {"v": 3, "w": 4}},
        });
        for (text, left_out) in [
            ("{.kind}", true),
            ("{.items[*].d}", true),
            ("{.items[0]['d','a']}", true),
            ("{.items[0]['a','e'].b}", true),
            ("{.items[*].a.c[1]}", true),
            ("{.items[?(@.a.b>1)].d}", true),
            ("{.items[?(@.a.b==1)].e.f[?(@.g==\"2\")].i}", true),
            ("{range .items[*]}{.d}{\"\\t\"}{range .e.f[*]}{.g},{end}{'\\n'}{end}{.kind}", true),
            ("{.more.*.v}", true),
            ("{.more.*}{.more.k.w}", true),
            ("{..g}", false),
            ("{.items}", true),
            ("{.}", true),
            ("{.}", true),
            ("{range .items[*]}{@}{end}", true),
            ("{range .items[*]}x{end}", true),
            ("{.none.here[*].at}", true),
            ("{.kind.of}{.items.d}", true),
        ] {
            let template = Template::parse(text).expect(text);
            let cut = template.need().cut(&data);
            assert_eq!(cut != data, left_out, "{text}: {cut}");
            assert_eq!(template.print_of(&cut), template.print_of(&data), "{text}");
            assert_eq!(template.print(&data), template.print_of(&data), "{text}");
        }
        let deep = format!("{{{}}}", ".a".repeat(10_000));
        let template = Template::parse(&deep).expect("it is long");
        assert_eq!(template.print(&data).as_deref(), Ok(""));
    }
}
