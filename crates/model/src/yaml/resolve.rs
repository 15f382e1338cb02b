//! What a plain text stands for: `yes` is a boolean, `017` is fifteen, `12:30` stays a text.
//!
//! Upstream: go.yaml.in/yaml/v2, resolve (v1.37).

/// A scalar's value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
}

const PREFIX: &str = "tag:yaml.org,2002:";

/// The value of a scalar node, or upstream's complaint.
pub(super) fn scalar(text: &str, tag: &str, implicit: bool) -> Result<Scalar, String> {
    if tag.is_empty() && !implicit {
        return Ok(Scalar::Text(text.to_owned()));
    }
    let short = tag.strip_prefix(PREFIX);
    match short {
        _ if tag.is_empty() => Ok(guess(text)),
        Some("str") => Ok(Scalar::Text(text.to_owned())),
        Some("binary") => binary(text),
        Some(wanted @ ("bool" | "int" | "float" | "null" | "timestamp")) => typed(text, wanted),
        _ => Ok(Scalar::Text(text.to_owned())),
    }
}

/// A text with one of the tags that say its type.
fn typed(text: &str, wanted: &str) -> Result<Scalar, String> {
    if wanted == "timestamp" && is_timestamp(text) {
        return Ok(Scalar::Text(text.to_owned()));
    }
    let value = guess(text);
    let found = match &value {
        Scalar::Null => "null",
        Scalar::Bool(_) => "bool",
        Scalar::Int(_) | Scalar::Uint(_) => "int",
        Scalar::Float(_) => "float",
        Scalar::Text(_) => "str",
    };
    match value {
        #[expect(clippy::cast_precision_loss, reason = "upstream converts in the same way")]
        Scalar::Int(n) if wanted == "float" => Ok(Scalar::Float(n as f64)),
        value if found == wanted => Ok(value),
        _ => Err(format!("cannot decode !!{found} `{text}` as a !!{wanted}")),
    }
}

/// What an untagged plain text stands for.
pub(super) fn guess(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Scalar::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'.') => without_separators(text).and_then(|text| float(&text)),
        Some(b'+' | b'-' | b'0'..=b'9') => number(&text.replace('_', "")),
        _ => None,
    };
    number.unwrap_or_else(|| Scalar::Text(text.to_owned()))
}

fn number(plain: &str) -> Option<Scalar> {
    let (negative, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, &plain[1..]),
        Some(b'+') => (false, &plain[1..]),
        _ => (false, plain),
    };
    let signed = digits.len() < plain.len();
    if let Some(magnitude) = unsigned(digits) {
        let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
        if let Ok(value) = i64::try_from(value) {
            return Some(Scalar::Int(value));
        }
        if !signed {
            return Some(Scalar::Uint(magnitude));
        }
    }
    float(plain).or_else(|| odd_binary(plain))
}

/// An integer without a sign, its base told by the prefix.
fn unsigned(digits: &str) -> Option<u64> {
    let lower = digits.to_ascii_lowercase();
    let (rest, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    if rest.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(rest, base).ok()
}

/// Upstream lets a sign stand after the prefix of a binary number: `0b-1`.
fn odd_binary(plain: &str) -> Option<Scalar> {
    let value = match plain.strip_prefix("0b") {
        Some(rest) => i64::from_str_radix(rest, 2).ok(),
        None => i64::from_str_radix(&format!("-{}", plain.strip_prefix("-0b")?), 2).ok(),
    };
    value.map(Scalar::Int)
}

/// A decimal number: digits, at most one point, at most one exponent, and digits where they must be.
fn float(text: &str) -> Option<Scalar> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (body, None),
    };
    let is_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let mantissa_fits = match (whole, fraction) {
        ("", Some(fraction)) => is_digits(fraction),
        (whole, None) => is_digits(whole),
        (whole, Some(fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
    };
    if !mantissa_fits || !exponent.is_none_or(is_digits) {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Scalar::Float)
}

/// The text without the underscores between its digits; none if one stands elsewhere.
fn without_separators(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |place: Option<usize>| place.and_then(|p| bytes.get(p)).is_some_and(u8::is_ascii_digit);
    let misplaced = (0..bytes.len())
        .any(|place| bytes[place] == b'_' && !(is_digit(place.checked_sub(1)) && is_digit(Some(place + 1))));
    if misplaced { None } else { Some(text.replace('_', "")) }
}

fn binary(text: &str) -> Result<Scalar, String> {
    let bytes = decode_base64(text).ok_or("!!binary value contains invalid base64 data")?;
    Ok(Scalar::Text(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Decodes base64 with padding; line breaks are passed over.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let clean: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    let padding = clean.iter().rev().take_while(|b| **b == b'=').count();
    if !clean.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(clean.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in &clean[..clean.len() - padding] {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(((bits >> count) & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// `2026-11-29`, `2026-11-29T12:00:00Z` and the like, as far as upstream takes them for times.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = split_date(text) else { return false };
    let numbers: Vec<Option<u32>> = date.split('-').skip(1).map(short_number).collect();
    let (Ok(year), [Some(month), Some(day)]) = (date[..4].parse::<u32>(), &numbers[..]) else { return false };
    let (month, day) = (*month, *day);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day) && time.is_none_or(is_clock)
}

fn short_number(text: &str) -> Option<u32> {
    let fits = matches!(text.len(), 1..=2) && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

fn split_date(text: &str) -> Option<(&str, Option<&str>)> {
    let year = text.bytes().take_while(u8::is_ascii_digit).count();
    if year != 4 || text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    match text.find(['T', 't', ' ']) {
        Some(place) => Some((&text[..place], Some(&text[place..]))),
        None => Some((text, None)),
    }
}

fn is_clock(text: &str) -> bool {
    let zoned = !text.starts_with(' ');
    let body = &text[1..];
    let (clock, zone) = match body.find(['Z', '+', '-']) {
        Some(place) => (&body[..place], Some(&body[place..])),
        None => (body, None),
    };
    let zone_fits = match zone {
        None => !zoned,
        Some("Z") => zoned,
        Some(zone) if zone.starts_with('Z') => false,
        Some(zone) => {
            let parts = zone[1..].split_once(':');
            zoned && parts.is_some_and(|(h, m)| h.len() == 2 && m.len() == 2 && below(h, 25) && below(m, 61))
        }
    };
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    zone_fits && below(hour, 24) && below(minute, 60) && below(second, 60)
}

fn below(text: &str, limit: u32) -> bool {
    text.len() <= 2 && short_number(text).is_some_and(|n| n < limit)
}
