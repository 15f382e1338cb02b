//! Writing JSON, numbers and quoted texts as Go does.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Number, Value};

/// Writes a value as Go's `json.Marshal` does: compact, keys sorted, `<`, `>` and `&` escaped.
#[must_use]
pub fn encode(value: &Value) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, GoFormatter);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// Writes a text in quotes into another, as [`encode`] does.
pub fn encode_text(text: &str, out: &mut String) {
    // 0xe2 begins the separators of lines and paragraphs.
    let plain = |b: u8| b >= 0x20 && !matches!(b, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2);
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&encode(&Value::String(text.to_owned())));
    }
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(go_json_float(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(place) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            writer.write_all(&rest.as_bytes()[..place])?;
            let c = rest[place..].chars().next().unwrap_or('<');
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &rest[place + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The shortest digits that give the number back, and the power of ten of the first of them.
fn digits_and_exponent(scientific: &str) -> (bool, String, i32) {
    let (negative, body) = scientific.strip_prefix('-').map_or((false, scientific), |rest| (true, rest));
    let (mantissa, exponent) = body.split_once('e').unwrap_or((body, "0"));
    (negative, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Go's `%e` with the fewest digits; the exponent has at least two of its own.
fn go_exponent(scientific: &str) -> String {
    let (negative, digits, exponent) = digits_and_exponent(scientific);
    let sign = if negative { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let way = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{point}{rest}e{way}{:02}", exponent.abs())
}

/// A number as `json.Marshal` writes it.
fn go_json_float(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    // Only a negative exponent loses its leading zero.
    go_exponent(&format!("{value:e}")).replace("e-0", "e-")
}

/// The JSON number of a float, as it is read back from the text Go writes; none for what JSON cannot say.
pub(crate) fn go_number(value: f64) -> Option<Value> {
    if value.is_finite() { number(&go_json_float(value)) } else { None }
}

/// The number a JSON text stands for: an integer if it is written as one and fits, else a float.
pub(super) fn number(text: &str) -> Option<Value> {
    if let Ok(value) = text.parse::<i64>()
        && text != "-0"
    {
        return Some(value.into());
    }
    if let Ok(value) = text.parse::<u64>() {
        return Some(value.into());
    }
    text.parse().ok().and_then(Number::from_f64).map(Value::Number)
}

/// Go's `%g` with the fewest digits.
pub(crate) fn go_short_float(value: f64) -> String {
    shortest(&format!("{value:e}"), &format!("{value}"))
}

/// The same for 32 bits.
pub(crate) fn go_short_float32(value: f32) -> String {
    shortest(&format!("{value:e}"), &format!("{value}"))
}

fn shortest(scientific: &str, plain: &str) -> String {
    let (_, _, exponent) = digits_and_exponent(scientific);
    if (-4..6).contains(&exponent) { plain.to_owned() } else { go_exponent(scientific) }
}

/// A text in double quotes as Go's `%q` prints it.
#[must_use]
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// What Go counts as printable, nearly: controls, separators, and the invisible marks people meet are not.
fn is_printable(c: char) -> bool {
    match c {
        ' ' => true,
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => false,
        '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control() && !c.is_whitespace(),
    }
}

/// A JSON text without space between its parts, and with the escapes that Go adds when it writes one again.
#[must_use]
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        if !quoted && matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}
