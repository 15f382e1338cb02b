//! How a text is written: plainly, in quotes, or as a block.

use super::super::resolve::{self, Scalar};
use super::{INDENT, WIDTH, Writer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What a text's characters allow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Analysis {
    pub(super) line_breaks: bool,
    plain: bool,
    single: bool,
    block: bool,
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What the emitter takes for printable; characters beyond the basic plane are not.
fn is_printable(c: char) -> bool {
    c == '\n' || matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

impl Analysis {
    pub(super) fn of(text: &str) -> Analysis {
        if text.is_empty() {
            return Analysis { line_breaks: false, plain: true, single: true, block: false };
        }
        let ends = (text.chars().next(), text.chars().next_back());
        let (first, last) = (ends.0.unwrap_or(' '), ends.1.unwrap_or(' '));
        let mut chars = text.chars().peekable();
        let mut place = 0;
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut special, mut line_breaks) = (false, false);
        let (mut break_space, mut space_break) = (false, false);
        let (mut space_before, mut break_before, mut gap_before) = (false, false, true);
        while let Some(c) = chars.next() {
            let gap_after = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= match c {
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                    place == 0
                }
                '?' | '-' => place == 0 && gap_after,
                ':' => gap_after,
                '#' => gap_before,
                _ => false,
            };
            special |= !is_printable(c);
            break_space |= c == ' ' && break_before;
            space_break |= is_break(c) && space_before;
            line_breaks |= is_break(c);
            (space_before, break_before) = (c == ' ', is_break(c));
            gap_before = matches!(c, ' ' | '\t' | '\0') || is_break(c);
            place += 1;
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let trimmed = !edge(first) && !edge(last);
        let single = !break_space && !space_break && !special;
        Analysis {
            line_breaks,
            plain: trimmed && single && !line_breaks && !indicators,
            single,
            block: last != ' ' && !space_break && !special,
        }
    }
}

/// Whether a text is one of those that are written as they stand: most are.
pub(super) fn is_word(text: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'=');
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text.bytes().all(known)
        && (text.len() > 5 || matches!(resolve::guess(text), Scalar::Text(_)))
}

/// The style for a text; a key stands on one line.
pub(super) fn style(text: &str, is_key: bool) -> Style {
    if is_word(text) {
        return Style::Plain;
    }
    let analysis = Analysis::of(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if reads_as_text(text) {
        Style::Plain
    } else {
        Style::Double
    };
    match wanted {
        _ if is_key && analysis.line_breaks => Style::Double,
        Style::Plain if analysis.plain && !(text.is_empty() && is_key) => Style::Plain,
        Style::Plain if analysis.single => Style::Single,
        Style::Literal if analysis.block && !is_key => Style::Literal,
        _ => Style::Double,
    }
}

/// Whether a text written plainly is read as that text and not as a number, a boolean or the like.
fn reads_as_text(text: &str) -> bool {
    // Times are read as texts and are quoted all the same.
    let other = resolve::is_timestamp(text) || is_base60(text);
    !other && matches!(resolve::guess(text), Scalar::Text(_))
}

/// `12:30:45` is a number in older YAML.
fn is_base60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    let starts = first.starts_with(|c: char| c.is_ascii_digit());
    if !starts || !first.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return false };
    let is_sixty = |part: &&str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    let (whole, fraction) = last.split_once('.').unwrap_or((last, ""));
    middle.iter().all(is_sixty)
        && is_sixty(&whole)
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

impl Writer {
    pub(super) fn write_plain(&mut self, text: &str, indent: usize, fold: bool) {
        if !self.whitespace {
            self.put(' ');
        }
        if !text.contains(' ') {
            self.put_all(text);
            (self.whitespace, self.indention) = (false, false);
            return;
        }
        let mut spaces = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == ' ' && fold && !spaces && self.column > WIDTH && chars.peek() != Some(&' ') {
                self.write_indent(indent);
            } else {
                self.put(c);
                if c != ' ' {
                    self.indention = false;
                }
            }
            spaces = c == ' ';
        }
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn write_single(&mut self, text: &str, indent: usize, fold: bool) {
        self.indicator("'", true, false, false);
        let (mut spaces, mut breaks) = (false, false);
        let chars: Vec<char> = text.chars().collect();
        for (place, &c) in chars.iter().enumerate() {
            let inside = place > 0 && place + 1 < chars.len();
            if c == ' ' {
                let next_is_space = chars.get(place + 1) == Some(&' ');
                if fold && !spaces && self.column > WIDTH && inside && !next_is_space {
                    self.write_indent(indent);
                } else {
                    self.put(c);
                }
                spaces = true;
            } else if is_break(c) {
                if !breaks && c == '\n' {
                    self.put_break();
                }
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent(indent);
                }
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
        self.indicator("'", false, false, false);
    }

    fn write_break(&mut self, c: char) {
        if c == '\n' {
            self.put_break();
        } else {
            self.out.push(c);
            self.column = 0;
        }
    }

    pub(super) fn write_double(&mut self, text: &str, indent: usize, fold: bool) {
        self.indicator("\"", true, false, false);
        if text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\') {
            self.put_all(text);
            self.indicator("\"", false, false, false);
            return;
        }
        let mut spaces = false;
        let chars: Vec<char> = text.chars().collect();
        // Upstream takes the whole text for marked if a byte order mark begins it.
        let marked = chars.first() == Some(&'\u{feff}');
        for (place, &c) in chars.iter().enumerate() {
            if !is_printable(c) || marked || is_break(c) || matches!(c, '"' | '\\') {
                self.put('\\');
                escape(c).chars().for_each(|c| self.put(c));
                spaces = false;
            } else if c == ' ' {
                let inside = place > 0 && place + 1 < chars.len();
                if fold && !spaces && self.column > WIDTH && inside {
                    self.write_indent(indent);
                    if chars.get(place + 1) == Some(&' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
    }

    pub(super) fn write_literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", true, false, false);
        if text.starts_with([' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            self.indicator(&INDENT.to_string(), false, false, false);
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().map(is_break), from_end.next().map(is_break)) {
            (Some(true), Some(false)) => {}
            (Some(true), _) => self.indicator("+", false, false, false),
            _ => self.indicator("-", false, false, false),
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        for c in text.chars() {
            if is_break(c) {
                self.write_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent(indent);
                }
                self.put(c);
                self.indention = false;
                breaks = false;
            }
        }
    }
}

/// What stands after the backslash.
fn escape(c: char) -> String {
    let short = match c {
        '\0' => "0",
        '\u{7}' => "a",
        '\u{8}' => "b",
        '\t' => "t",
        '\n' => "n",
        '\u{b}' => "v",
        '\u{c}' => "f",
        '\r' => "r",
        '\u{1b}' => "e",
        '"' => "\"",
        '\\' => "\\",
        '\u{85}' => "N",
        '\u{a0}' => "_",
        '\u{2028}' => "L",
        '\u{2029}' => "P",
        _ => "",
    };
    match u32::from(c) {
        _ if !short.is_empty() => short.to_owned(),
        code @ ..=0xff => format!("x{code:02X}"),
        code @ ..=0xffff => format!("u{code:04X}"),
        code => format!("U{code:08X}"),
    }
}
