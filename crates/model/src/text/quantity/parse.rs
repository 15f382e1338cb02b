//! Reading a quantity's text: number, suffix, and whether the spelling may be kept.
//!
//! Upstream: k8s.io/apimachinery/pkg/api/resource, ParseQuantity (v1.37).

use std::cmp::Ordering;
use std::sync::Arc;

use super::amount::{Decimal, Small};
use super::big::Magnitude;
use super::{Amount, Format, Quantity, QuantityError};
use crate::text::go;

/// Powers of ten beyond this are refused. Upstream would try to write such a number out until memory ends.
const MAX_EXPONENT: i32 = 100_000;

const NANO: i32 = -9;

/// The pieces of a quantity's text. Zeros at the start are not in `whole`.
struct Pieces<'a> {
    positive: bool,
    number: &'a str,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

fn split(text: &str) -> Result<Pieces<'_>, QuantityError> {
    let (positive, rest) = match text.as_bytes().first() {
        Some(b'-') => (false, &text[1..]),
        Some(b'+') => (true, &text[1..]),
        _ => (true, text),
    };
    let digits_end = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    let rest = rest.trim_start_matches('0');
    if rest.is_empty() {
        return Ok(Pieces { positive, number: "0", whole: "0", fraction: "", suffix: "" });
    }
    let (whole, mut rest) = rest.split_at(digits_end(rest));
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits_end(after));
    }
    let suffix = rest;
    let number = &text[..text.len() - suffix.len()];
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let exponent = letters.strip_prefix(['-', '+']).unwrap_or(letters);
    if digits_end(exponent) != exponent.len() {
        return Err(QuantityError::FormatWrong);
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    Ok(Pieces { positive, number, whole, fraction, suffix })
}

/// What a suffix means: a power of ten, or of two.
fn interpret(suffix: &str) -> Option<(Format, i32)> {
    let decimal = |power| Some((Format::DecimalSI, power));
    let binary = |power| Some((Format::BinarySI, power));
    match suffix {
        "" => decimal(0),
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let number = suffix.strip_prefix(['e', 'E'])?;
            // The exponent is cut to 32 bits, as upstream cuts it.
            go::parse_int(number).ok().map(|power| (Format::DecimalExponent, power as i32))
        }
    }
}

pub(super) fn parse(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::FormatWrong);
    }
    if text == "0" {
        return Ok(Quantity::small(0, 0, Format::DecimalSI, Some(text)));
    }
    let pieces = split(text)?;
    let (format, exponent) = interpret(pieces.suffix).ok_or(QuantityError::Suffix)?;
    let is_zero = pieces.whole.bytes().chain(pieces.fraction.bytes()).all(|b| b == b'0');
    if exponent > MAX_EXPONENT && !is_zero {
        return Err(QuantityError::Numeric);
    }
    match parse_small(text, &pieces, format, exponent) {
        Some(quantity) => Ok(quantity),
        None => parse_big(&pieces, format, exponent),
    }
}

/// Reads a number that fits 64 bits; keeps the spelling where it is as short as it can be.
fn parse_small(text: &str, pieces: &Pieces<'_>, format: Format, exponent: i32) -> Option<Quantity> {
    let length = pieces.whole.len() + pieces.fraction.len();
    let (scale, factor) = if format == Format::BinarySI {
        // About 3 decimal digits for every factor of 1024.
        if !pieces.fraction.is_empty() || 15 < length as i64 + i64::from(exponent) * 3 / 10 + 1 {
            return None;
        }
        (0, 1_i64 << exponent)
    } else {
        if length > 18 {
            return None;
        }
        (exponent.checked_sub(pieces.fraction.len() as i32)?, 1)
    };
    if scale < NANO {
        return None;
    }
    let digits = || pieces.whole.bytes().chain(pieces.fraction.bytes());
    let value = digits().fold(0_i64, |value, b| value * 10 + i64::from(b - b'0'));
    let product = value.checked_mul(factor)?;
    let signed = if pieces.positive { product } else { -product };
    let keep = if format == Format::BinarySI {
        value & 7 != 0
    } else {
        let thousands = length >= 3 && digits().rev().take(3).all(|b| b == b'0');
        scale % 3 == 0 && !thousands && digits().next() != Some(b'0')
    };
    Some(Quantity::small(signed, scale, format, keep.then_some(text)))
}

/// Reads a number of any size: nothing finer than nano, binary ones no larger than 64 bits.
fn parse_big(pieces: &Pieces<'_>, mut format: Format, exponent: i32) -> Result<Quantity, QuantityError> {
    let digits: Vec<u8> = pieces.number.bytes().filter(u8::is_ascii_digit).collect();
    if digits.is_empty() || digits.len() > MAX_EXPONENT as usize {
        return Err(QuantityError::Numeric);
    }
    let fraction = pieces.fraction.len() as i32;
    let digits = Magnitude::from_digits(&digits);
    let mut amount = match format {
        Format::BinarySI => {
            Decimal { negative: false, digits: digits.shift_left(exponent as u32), scale: -fraction }
        }
        _ => Decimal { negative: false, digits, scale: exponent.saturating_sub(fraction) },
    };
    if amount.is_zero() {
        amount.scale = amount.scale.clamp(-MAX_EXPONENT, MAX_EXPONENT);
    } else {
        amount = amount.rounded(NANO).0;
    }
    if format == Format::BinarySI {
        let most = Small { value: i64::MAX, scale: 0 }.to_decimal();
        if amount.cmp(&most) == Ordering::Greater {
            amount = most;
        }
        let one = Small { value: 1, scale: 0 }.to_decimal();
        if amount.cmp(&one) == Ordering::Less && !amount.is_zero() {
            format = Format::DecimalSI;
        }
    }
    if !pieces.positive {
        amount = amount.negated();
    }
    Ok(Quantity { amount: Amount::Big(Arc::new(amount)), format, text: None })
}
