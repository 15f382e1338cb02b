//! kubectl's jsonpath: templates with `{.a.b[0]}` in text. Upstream: client-go/util/jsonpath (v1.37).

mod eval;
mod need;
mod parse;

pub use need::Need;

use eval::How;
use kubestep_model::{Look, to_json};
use serde_json::Value;

/// What stands between braces, step by step.
type Path = Vec<Node>;

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Field(String),
    /// From, to and step; `one` if only one index was given.
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        step: Option<i64>,
        one: bool,
    },
    Wildcard,
    Recursive,
    Union(Vec<Path>),
    Filter {
        left: Path,
        test: Test,
        right: Path,
    },
    Value(Value),
    Name(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Less,
    Greater,
    Equal,
    NotEqual,
    LessEqual,
    GreaterEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Path(Path),
    Range(Path, Vec<Piece>),
}

/// A template that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    raw: String,
    pieces: Vec<Piece>,
    strict: bool,
}

impl Template {
    /// Reads a template. Errors: in upstream's words.
    pub fn parse(text: &str) -> Result<Template, String> {
        Ok(Template { raw: text.to_owned(), pieces: parse::pieces(text)?, strict: false })
    }

    /// The same; a field that is nowhere is an error. Upstream: `--allow-missing-template-keys=false`.
    #[must_use]
    pub fn strict(self, strict: bool) -> Template {
        Template { strict, ..self }
    }

    /// What the template looks at.
    pub fn need(&self) -> Need {
        let mut need = Need::default();
        self.add_to(&mut need);
        need
    }

    /// Adds what the template looks at.
    pub fn add_to(&self, need: &mut Need) {
        need.pieces(&self.pieces, 0);
    }

    /// All values that each part of the template finds, part by part.
    pub fn find(&self, data: &Value) -> Result<Vec<Vec<Value>>, String> {
        let mut found = Vec::new();
        eval::pieces(&self.pieces, data, How { strict: self.strict }, &mut found)?;
        Ok(found
            .into_iter()
            .map(|part| part.into_iter().map(std::borrow::Cow::into_owned).collect())
            .collect())
    }

    /// The same in what needs not be JSON.
    pub fn find_in(&self, data: &dyn Look) -> Result<Vec<Vec<Value>>, String> {
        // What is said of an error shows all there is.
        self.find(&self.need().cut(data)).or_else(|_| self.find(&to_json(data)))
    }

    /// The template's text with what it finds in it.
    pub fn print(&self, data: &dyn Look) -> Result<String, String> {
        self.print_of(&self.need().cut(data)).or_else(|_| self.print_of(&to_json(data)))
    }

    fn print_of(&self, data: &Value) -> Result<String, String> {
        let mut found = Vec::new();
        eval::pieces(&self.pieces, data, How { strict: self.strict }, &mut found).map_err(|why| {
            format!(
                "error executing jsonpath {}: Error executing template: {why}. Printing more information for debugging the template:\n\ttemplate was:\n\t\t{}\n\tobject given to jsonpath engine was:\n\t\t{}\n\n\n",
                kubestep_model::text::go::quote(&self.raw),
                self.raw,
                super::go_syntax(data),
            )
        })?;
        let mut out = String::new();
        for part in &found {
            for (at, value) in part.iter().enumerate() {
                out.push_str(if at > 0 { " " } else { "" });
                out.push_str(&text(value));
            }
        }
        Ok(out)
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            kubestep_model::yaml::json::encode(value)
        }
    }
}

/// `x.y`, `.x.y` and `{.x.y}` all as `{.x.y}`. Upstream: RelaxedJSONPathExpression.
pub fn relaxed(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let wrong = || {
        "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'".to_owned()
    };
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(wrong)?,
        None => text,
    };
    let inner = inner.strip_prefix('.').unwrap_or(inner);
    let bare = text.starts_with('{') || !inner.contains(['{', '}']);
    if inner.is_empty() || !bare { Err(wrong()) } else { Ok(format!("{{.{inner}}}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(template: &str) -> Result<String, String> {
        let data = json!({
            "kind": "List",
            "meta": {"annotations": {"a.b/c": "x", "d": 1}},
            "items": [
                {"name": "one", "n": 1, "ready": true, "tags": ["a", "b"]},
                {"name": "two", "n": 2, "ready": false, "tags": []},
                {"name": "three", "n": 3, "null": null},
            ],
        });
        Template::parse(template)?.print(&data)
    }

    #[test]
    fn prints_as_kubectl() {
        for (template, want) in [
            ("{.kind}", "List"),
            ("kind={.kind};", "kind=List;"),
            ("{.items[*].name}", "one two three"),
            ("{.items[0].name}/{.items[-1].name}", "one/three"),
            ("{.items[0:2].name}", "one two"),
            ("{.items[0:3:2].name}", "one three"),
            ("{.items[:].n}", "1 2 3"),
            ("{.items[0,2].name}", "one three"),
            ("{['kind','meta']}", "List {\"annotations\":{\"a.b/c\":\"x\",\"d\":1}}"),
            ("{.meta.annotations.a\\.b/c}", "x"),
            ("{.meta['annotations']['d']}", "1"),
            ("{.items[?(@.n>1)].name}", "two three"),
            ("{.items[?(@.name==\"two\")].n}", "2"),
            ("{.items[?(@.tags)].name}", "one two"),
            ("{range .items[*]}{.name}{\"\\t\"}{.n}{'\\n'}{end}x", "one\t1\ntwo\t2\nthree\t3\nx"),
            ("{range .none[*]}{.name}{end}x", "x"),
            ("{..name}", "one two three"),
            ("{.items[0].tags}", "[\"a\",\"b\"]"),
            ("{.items[2].null}|{.nothing.here}|{true}", "null||true"),
            ("{range .items[*]}{range .tags[*]}{@},{end};{end}", "a,b,;;;"),
            ("plain", "plain"),
        ] {
            assert_eq!(run(template).as_deref(), Ok(want), "{template}");
        }
    }

    #[test]
    fn refuses_as_kubectl() {
        for (template, want) in [
            ("{.a", "unclosed action"),
            ("{.a[", "unterminated array"),
            ("{.a[x]}", "invalid array index x"),
            ("{.a[?(@.b}", "unterminated filter"),
            ("{\"a}", "unterminated quoted string"),
            ("{^}", "unrecognized character in action: U+005E '^'"),
        ] {
            assert_eq!(run(template), Err(want.to_owned()), "{template}");
        }
        assert!(run("{.items[9]}").unwrap_err().contains("array index out of bounds: index 9, length 3"));
        assert!(run("{end}").unwrap_err().contains("not in range, nothing to end"));
        assert!(run("{.items[9]}").unwrap_err().contains(
            "was:\n\t\tmap[string]interface {}{\"items\":[]interface {}{map[string]interface {}{\"n\":1, \"name\":\"one\", "
        ));
        let strict =
            |text: &str| Template::parse(text).map(|t| t.strict(true).print(&json!({"a": [{"b": 1}, {}]})));
        assert_eq!(strict("{.a[*].b}"), Ok(Ok("1".to_owned())), "found somewhere");
        assert!(strict("{.a[*].c}").unwrap().unwrap_err().contains("template: c is not found. Printing"));
        let deep = "{range .a}".repeat(10_000);
        assert!(run(&deep).is_err());
        let nested = format!("{{{}", "[?(@".repeat(10_000));
        assert!(run(&nested).is_err());
    }

    #[test]
    fn relaxes() {
        for (text, want) in
            [("metadata.name", "{.metadata.name}"), (".a.b", "{.a.b}"), ("{.a}", "{.a}"), ("{a}", "{.a}")]
        {
            assert_eq!(relaxed(text).as_deref(), Ok(want));
        }
        assert!(relaxed("{.a").is_err() && relaxed("a{b}").is_err());
    }
}
