//! Values that are more than their JSON: numbers in range, quantities, times, base64; with Go's words for what is wrong.

use serde_json::{Number, Value};

use super::types::Type;
use crate::text::Quantity;
use crate::yaml::json;

/// A number as Go writes it.
pub(super) fn number_text(number: &Number) -> String {
    json::encode(&Value::Number(number.clone()))
}

/// A number as a value of a type; none if it does not fit.
pub(super) fn number(number: &Number, ty: &Type) -> Option<Value> {
    let text = number_text(number);
    match ty {
        Type::Int(bits) => {
            let value: i64 = text.parse().ok()?;
            let limit = 1i128 << (bits - 1);
            let fits = (-limit..limit).contains(&i128::from(value));
            if fits { Some(value.into()) } else { None }
        }
        Type::Uint(bits) => {
            let value: u64 = text.parse().ok()?;
            if i128::from(value) < (1i128 << bits) { Some(value.into()) } else { None }
        }
        _ => Some(Value::Number(number.clone())),
    }
}

/// A quantity in its own spelling.
pub(super) fn quantity(value: &Value) -> Result<String, String> {
    let text = json::encode(value);
    // Upstream takes off the quotes and leaves escapes as they are.
    let text = match value {
        Value::String(_) => {
            text.trim_start_matches('"').strip_suffix('"').unwrap_or_default().trim().to_owned()
        }
        _ => text,
    };
    Quantity::parse(&text).map(|quantity| quantity.to_string()).map_err(|error| error.to_string())
}

/// What Go says of a text that is not base64.
pub(super) fn base64_error(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_line_end = |place: &usize| matches!(bytes[*place], b'\r' | b'\n');
    let places: Vec<usize> = (0..bytes.len()).filter(|place| !is_line_end(place)).collect();
    let wrong = |place: usize| Some(format!("illegal base64 data at input byte {place}"));
    for (group, quad) in places.chunks(4).enumerate() {
        for (index, place) in quad.iter().enumerate() {
            match bytes[*place] {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {}
                b'=' if index >= 2 => return padding_error(bytes, &places[group * 4 + index..], index),
                _ => return wrong(*place),
            }
        }
        if quad.len() < 4 {
            // Go names the place where the last group began, counted back from the end.
            return wrong(bytes.len() - quad.len());
        }
    }
    None
}

/// After the first `=`: one more if only two digits came before, then nothing.
fn padding_error(bytes: &[u8], rest: &[usize], index: usize) -> Option<String> {
    let wrong = |place: usize| Some(format!("illegal base64 data at input byte {place}"));
    let after = if index == 2 {
        match rest.get(1) {
            None => return wrong(bytes.len()),
            // Go has not yet taken the wrong one when it names the place.
            Some(place) if bytes[*place] != b'=' => return wrong(place - 1),
            Some(_) => 2,
        }
    } else {
        1
    };
    rest.get(after).and_then(|place| wrong(*place))
}

/// What Go says of a text that is not a time; none if it is one.
pub(super) fn time_error(text: &str, micro: bool) -> Option<String> {
    let layout = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    let mut reader = TimeReader { layout, text, rest: text };
    reader.read(micro).err()
}

/// A text in quotes as Go's `time` prints it: byte by byte where it is not plain.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'\x7f' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out + "\""
}

struct TimeReader<'a> {
    layout: &'static str,
    text: &'a str,
    rest: &'a str,
}

impl TimeReader<'_> {
    fn cannot(&self, element: &str, at: &str) -> String {
        let (text, layout) = (quote(self.text), quote(self.layout));
        format!("parsing time {text} as {layout}: cannot parse {} as {}", quote(at), quote(element))
    }

    fn message(&self, message: &str) -> String {
        format!("parsing time {}: {message}", quote(self.text))
    }

    fn literal(&mut self, literal: &str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(literal).ok_or_else(|| self.cannot(literal, self.rest))?;
        Ok(())
    }

    /// A number of one or two digits, or of exactly `width`.
    fn number(&mut self, element: &str, width: Option<usize>) -> Result<u32, String> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).take(width.unwrap_or(2)).count();
        if digits == 0 || width.is_some_and(|width| digits < width) {
            return Err(self.cannot(element, self.rest));
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().map_err(|_| self.cannot(element, number))
    }

    fn within(&self, value: u32, limit: u32, name: &str) -> Result<(), String> {
        if value < limit { Ok(()) } else { Err(self.message(&format!("{name} out of range"))) }
    }

    fn read(&mut self, micro: bool) -> Result<(), String> {
        let year = self.number("2006", Some(4))?;
        self.literal("-")?;
        let month = self.number("01", Some(2))?;
        if !(1..=12).contains(&month) {
            return Err(self.message("month out of range"));
        }
        self.literal("-")?;
        let day = self.number("02", Some(2))?;
        self.literal("T")?;
        let hour = self.number("15", None)?;
        self.within(hour, 24, "hour")?;
        self.literal(":")?;
        let minute = self.number("04", Some(2))?;
        self.within(minute, 60, "minute")?;
        self.literal(":")?;
        let second = self.number("05", Some(2))?;
        self.within(second, 60, "second")?;
        self.fraction(micro)?;
        self.zone()?;
        if !self.rest.is_empty() {
            return Err(self.message(&format!("extra text: {}", quote(self.rest))));
        }
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => 31,
        };
        if (1..=days).contains(&day) { Ok(()) } else { Err(self.message("day out of range")) }
    }

    /// Parts of a second: exactly six digits if the layout has them, else any number or none.
    fn fraction(&mut self, micro: bool) -> Result<(), String> {
        let point = self.rest.starts_with(['.', ',']);
        let digits = self.rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
        if micro {
            if !point || digits < 6 {
                return Err(self.cannot(".000000", self.rest));
            }
            self.rest = &self.rest[7..];
        } else if point && digits > 0 {
            self.rest = &self.rest[1 + digits..];
        }
        Ok(())
    }

    fn zone(&mut self) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(());
        }
        let number = |text: &str| {
            if text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()) {
                text.parse::<u32>().ok()
            } else {
                None
            }
        };
        let parts = match (self.rest.get(..1), self.rest.get(1..3), self.rest.get(3..4), self.rest.get(4..6))
        {
            (Some("+" | "-"), Some(hour), Some(":"), Some(minute)) => (number(hour), number(minute)),
            _ => (None, None),
        };
        let (Some(hour), Some(minute)) = parts else { return Err(self.cannot("Z07:00", self.rest)) };
        self.within(hour, 25, "time zone offset hour")?;
        self.within(minute, 61, "time zone offset minute")?;
        self.rest = &self.rest[6..];
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_refused_in_go_s_words() {
        let as_rfc = "as \"2006-01-02T15:04:05Z07:00\"";
        for (text, words) in [
            ("2026-11-29T10:00:00Z", None),
            ("2026-11-29T10:00:00.123+01:00", None),
            ("2026-11-29", Some(format!("parsing time \"2026-11-29\" {as_rfc}: cannot parse \"\" as \"T\""))),
            ("", Some(format!("parsing time \"\" {as_rfc}: cannot parse \"\" as \"2006\""))),
            (
                "2026-13-29T10:00:00Z",
                Some("parsing time \"2026-13-29T10:00:00Z\": month out of range".to_owned()),
            ),
            (
                "2026-02-30T10:00:00Z",
                Some("parsing time \"2026-02-30T10:00:00Z\": day out of range".to_owned()),
            ),
            (
                "2026-11-29T10:00:00",
                Some(format!(
                    "parsing time \"2026-11-29T10:00:00\" {as_rfc}: cannot parse \"\" as \"Z07:00\""
                )),
            ),
            (
                "2026-11-29T10:00:00Zx",
                Some("parsing time \"2026-11-29T10:00:00Zx\": extra text: \"x\"".to_owned()),
            ),
        ] {
            assert_eq!(time_error(text, false), words, "{text}");
        }
        for text in ["2026-11-29T1:00:00Z", "2026-11-29T10:00:00,5Z"] {
            assert_eq!(time_error(text, false), None, "{text}");
        }
        for (text, rest, element) in [
            ("2026-1-29T10:00:00Z", "1-29T10:00:00Z", "01"),
            ("2026-11-29T10:0:00Z", "0:00Z", "04"),
            ("2026-11-29T10:00:00.Z", ".Z", "Z07:00"),
            ("2026-11-29T10:00:00+01:0é", "+01:0\\xc3\\xa9", "Z07:00"),
            ("x\n", "x\\x0a", "2006"),
        ] {
            let error = time_error(text, false).unwrap_or_default();
            assert!(
                error.ends_with(&format!("{as_rfc}: cannot parse \"{rest}\" as \"{element}\"")),
                "{error}"
            );
        }
        assert_eq!(time_error("2026-11-29T10:00:00.123456Z", true), None);
        assert!(time_error("2026-11-29T10:00:00Z", true).is_some());
    }

    #[test]
    fn base64_is_refused_where_go_refuses_it() {
        for (text, place) in [
            ("", None),
            ("YQ==", None),
            ("YWJj", None),
            ("YW\nJj", None),
            ("YWI=", None),
            ("notbase64!", Some(9)),
            ("YQ", Some(0)),
            ("YQ=", Some(3)),
            ("YQ=x", Some(2)),
            ("YQ=\nx", Some(3)),
            ("YQ=\n=", None),
            ("YWI=x", Some(4)),
            ("YW\n", Some(1)),
            ("YWJjYQ\n", Some(5)),
            ("YQ==\nx", Some(5)),
            ("YWJjY=", Some(5)),
            ("YQ\n=", Some(4)),
            ("é", Some(0)),
            ("YQ==x", Some(4)),
            ("Y", Some(0)),
            ("=", Some(0)),
        ] {
            let words = place.map(|place| format!("illegal base64 data at input byte {place}"));
            assert_eq!(base64_error(text), words, "{text:?}");
        }
    }
}
