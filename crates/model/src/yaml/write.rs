//! YAML as kubectl prints it with `-o yaml`: keys in their natural order, lists not indented, long texts folded.
//!
//! Upstream: sigs.k8s.io/yaml, Marshal; go.yaml.in/yaml/v2, encoder and emitter (v1.37).

mod order;
mod scalar;

use serde_json::{Number, Value};

use super::MAX_DEPTH;
use super::json::{go_number, go_short_float};
use crate::{Look, Seen};
use scalar::{Analysis, Style};

/// A text longer than this is folded at its next space.
const WIDTH: usize = 80;

/// How far a block stands in from the one around it.
const INDENT: usize = 2;

const BLANKS: &str = "                                ";

/// A longer key is written after a `?`.
const MAX_KEY: usize = 128;

/// Prints a value as YAML, with a line feed at the end.
#[must_use]
pub fn to_yaml(value: &dyn Look) -> String {
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

    /// Writes a text without a line break in it.
    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
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
            let blanks = &BLANKS[..(indent - self.column).min(BLANKS.len())];
            self.out.push_str(blanks);
            self.column += blanks.len();
        }
        self.whitespace = true;
        self.indention = true;
    }

    fn indicator(&mut self, sign: &str, gap_before: bool, is_gap: bool, keeps_indention: bool) {
        if gap_before && !self.whitespace {
            self.put(' ');
        }
        self.put_all(sign);
        self.whitespace = is_gap;
        self.indention = self.indention && keeps_indention;
    }

    fn node(&mut self, value: &dyn Look, context: Context, depth: usize) {
        // Nothing that was read is deeper; what is deeper is not printed.
        if depth > MAX_DEPTH {
            self.plain("...", context);
            return;
        }
        value.look(&mut |seen| self.seen(&seen, context, depth));
    }

    fn seen(&mut self, seen: &Seen<'_>, context: Context, depth: usize) {
        match *seen {
            Seen::Null => self.plain("null", context),
            Seen::Bool(value) => self.plain(if value { "true" } else { "false" }, context),
            Seen::Int(number) => self.plain(&number.to_string(), context),
            Seen::Number(number) => self.plain(&number_text(number), context),
            Seen::Text(text) => self.text(text, context),
            Seen::List([]) => self.empty('[', ']'),
            Seen::Map([]) => self.empty('{', '}'),
            Seen::List(items) => self.list(items, context, depth),
            Seen::Map(fields) if order::is_plain(fields) => self.map(fields, context, depth),
            Seen::Map(fields) => self.map(&order::sort(fields), context, depth),
        }
    }

    fn empty(&mut self, open: char, close: char) {
        self.indicator(open.encode_utf8(&mut [0; 4]), true, true, false);
        self.indicator(close.encode_utf8(&mut [0; 4]), false, false, false);
    }

    fn list(&mut self, items: &[&dyn Look], context: Context, depth: usize) {
        // A list that is a map's value stands under its key, not further in.
        let indent = match context.indent {
            Some(indent) if context.mapping && !self.indention => indent,
            _ => context.inner(0),
        };
        for item in items {
            self.write_indent(indent);
            self.indicator("-", true, false, true);
            self.node(*item, Context { indent: Some(indent), mapping: false, key: false }, depth + 1);
        }
    }

    fn map(&mut self, fields: &[(&str, &dyn Look)], context: Context, depth: usize) {
        let indent = context.inner(0);
        for (key, value) in fields {
            self.write_indent(indent);
            let inner = Context { indent: Some(indent), mapping: true, key: false };
            if key.len() <= MAX_KEY && (scalar::is_word(key) || !Analysis::of(key).line_breaks) {
                self.text(key, Context { key: true, ..inner });
                self.indicator(":", false, false, false);
            } else {
                self.indicator("?", true, false, true);
                self.text(key, inner);
                self.write_indent(indent);
                self.indicator(":", true, false, true);
            }
            self.node(*value, inner, depth + 1);
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
