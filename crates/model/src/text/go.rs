//! The few habits of Go's standard library that Kubernetes' messages show: quoting and number parsing.

/// Quotes `text` as Go's `%q` does.
///
/// Upstream: Go's strconv.Quote.
pub fn quote(text: &str) -> String {
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
            c if is_print(c) => out.push(c),
            c if (c as u32) < 0x80 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

/// Says whether Go would print the character as it is.
///
/// Rust's own escaping of strings draws the same line (letters, marks, numbers, punctuation, symbols and the
/// ordinary space), except that it also escapes a combining mark at the very start, hence the letter before it.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    let mut pair = String::from("a");
    pair.push(c);
    pair.escape_debug().count() == 2
}

/// Why a number could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFault {
    Syntax,
    Range,
}

/// Reads a decimal 64-bit integer as Go's `strconv.ParseInt(text, 10, 64)` does: one sign, then digits only.
pub fn parse_int(text: &str) -> Result<i64, NumberFault> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberFault::Syntax);
    }
    let mut value: i64 = 0;
    for b in digits.bytes() {
        let digit = i64::from(b - b'0');
        let step = value.checked_mul(10);
        let next = if negative {
            step.and_then(|v| v.checked_sub(digit))
        } else {
            step.and_then(|v| v.checked_add(digit))
        };
        value = next.ok_or(NumberFault::Range)?;
    }
    Ok(value)
}

/// The message of a failed Go number function, e.g. `strconv.Atoi: parsing "x": invalid syntax`.
pub fn number_error(function: &str, text: &str, fault: NumberFault) -> String {
    let reason = match fault {
        NumberFault::Syntax => "invalid syntax",
        NumberFault::Range => "value out of range",
    };
    format!("strconv.{function}: parsing {}: {reason}", quote(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_go() {
        for (text, want) in [
            ("web", "\"web\""),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\t\u{1}\u{7f}", r#""\t\x01\x7f""#),
            ("ü日\u{301}", "\"ü日\u{301}\""),
            ("\u{a0}\u{200b}\u{e000}", r#""\u00a0\u200b\ue000""#),
            ("\u{10ffff}", r#""\U0010ffff""#),
        ] {
            assert_eq!(quote(text), want);
        }
    }

    #[test]
    fn reads_numbers_like_go() {
        assert_eq!(parse_int("+12"), Ok(12));
        assert_eq!(parse_int("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse_int("9223372036854775808"), Err(NumberFault::Range));
        for bad in ["", "-", "1_0", " 1", "0x1", "+-1"] {
            assert_eq!(parse_int(bad), Err(NumberFault::Syntax), "{bad}");
        }
    }
}
