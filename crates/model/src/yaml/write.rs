//! YAML as kubectl prints it with `-o yaml`: keys in their natural order, lists not indented, long texts folded.
//!
//! Upstream: sigs.k8s.io/yaml, Marshal; go.yaml.in/yaml/v2, encoder and emitter (v1.37).

mod order;
mod scalar;

use serde_json::{Number, Value};

use super::MAX_DEPTH;
use super::json::{go_number, go_short_float};
use scalar::{Analysis, Style};

/// A text longer than this is folded at its next space.
const WIDTH: usize = 80;

/// How far a block stands in from the one around it.
const INDENT: usize = 2;

/// A longer key is written after a `?`.
const MAX_KEY: usize = 128;

/// Prints a value as YAML, with a line feed at the end.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut writer = Writer::new();
    writer.node(value, Context { indent: None, mapping: false, key: false }, 0);
    writer.write_indent(0);
    writer.out
}

/// What surrounds a node.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// The column of the block around; none for the document.
    indent: Option<usize>,
    /// It is a key or value of a map.
    mapping: bool,
    /// It is a key that stands before its `:` on one line.
    key: bool,
}

impl Context {
    /// The column of what belongs to a node but stands on lines of its own.
    fn inner(self, root: usize) -> usize {
        self.indent.map_or(root, |indent| indent + INDENT)
    }
}

/// What was written, and what the emitter must know of it.
struct Writer {
    out: String,
    column: usize,
    /// The last thing written was a gap.
    whitespace: bool,
    /// Only indentation and dashes stand on this line so far.
    indention: bool,
}

impl Writer {
    fn new() -> Writer {
        Writer { out: String::new(), column: 0, whitespace: true, indention: true }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Goes to a column on a line without anything but indentation.
    fn write_indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, sign: &str, gap_before: bool, is_gap: bool, keeps_indention: bool) {
        if gap_before && !self.whitespace {
            self.put(' ');
        }
        sign.chars().for_each(|c| self.put(c));
        self.whitespace = is_gap;
        self.indention = self.indention && keeps_indention;
    }

    fn node(&mut self, value: &Value, context: Context, depth: usize) {
        // Nothing that was read is deeper; what is deeper is not printed.
        if depth > MAX_DEPTH {
            self.plain("...", context);
            return;
        }
        match value {
            Value::Null => self.plain("null", context),
            Value::Bool(value) => self.plain(if *value { "true" } else { "false" }, context),
            Value::Number(number) => self.plain(&number_text(number), context),
            Value::String(text) => self.text(text, context),
            Value::Array(items) if items.is_empty() => self.empty('[', ']'),
            Value::Object(map) if map.is_empty() => self.empty('{', '}'),
            Value::Array(items) => self.list(items, context, depth),
            Value::Object(map) => self.map(map, context, depth),
        }
    }

    fn empty(&mut self, open: char, close: char) {
        self.indicator(open.encode_utf8(&mut [0; 4]), true, true, false);
        self.indicator(close.encode_utf8(&mut [0; 4]), false, false, false);
    }

    fn list(&mut self, items: &[Value], context: Context, depth: usize) {
        // A list that is a map's value stands under its key, not further in.
        let indent = match context.indent {
            Some(indent) if context.mapping && !self.indention => indent,
            _ => context.inner(0),
        };
        for item in items {
            self.write_indent(indent);
            self.indicator("-", true, false, true);
            self.node(item, Context { indent: Some(indent), mapping: false, key: false }, depth + 1);
        }
    }

    fn map(&mut self, map: &serde_json::Map<String, Value>, context: Context, depth: usize) {
        let indent = context.inner(0);
        for (key, value) in order::sort(map.iter().collect()) {
            self.write_indent(indent);
            let inner = Context { indent: Some(indent), mapping: true, key: false };
            if key.len() <= MAX_KEY && !Analysis::of(key).line_breaks {
                self.text(key, Context { key: true, ..inner });
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.text(key, inner);
                self.write_indent(indent);
                self.indicator(":", true, false, true);
            }
            self.node(value, inner, depth + 1);
        }
    }

    fn plain(&mut self, text: &str, context: Context) {
        self.scalar(text, Style::Plain, context);
    }

    fn text(&mut self, text: &str, context: Context) {
        self.scalar(text, scalar::style(text, context.key), context);
    }

    fn scalar(&mut self, text: &str, style: Style, context: Context) {
        let indent = context.inner(INDENT);
        let fold = !context.key;
        match style {
            Style::Plain => self.write_plain(text, indent, fold),
            Style::Single => self.write_single(text, indent, fold),
            Style::Double => self.write_double(text, indent, fold),
            Style::Literal => self.write_literal(text, indent),
        }
    }
}

/// A number as it comes out of JSON: what is written there without a fraction is an integer.
fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => match go_number(float) {
            Some(Value::Number(read)) if !read.is_f64() => read.to_string(),
            _ => go_short_float(float),
        },
        None => number.to_string(),
    }
}
