//! The two ways an amount is held: a 64-bit number with a power of ten, and a decimal of any size.
//!
//! Upstream: k8s.io/apimachinery/pkg/api/resource, int64Amount and infDecAmount (v1.37). Which of the two a
//! quantity holds shows in its text and in what overflows, so the split is kept.

use std::cmp::Ordering;

use super::big::Magnitude;

/// `value` times 10 to the power `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Small {
    pub(super) value: i64,
    pub(super) scale: i32,
}

/// A decimal of any size: sign, digits, power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) digits: Magnitude,
    pub(super) scale: i32,
}

/// `value` times 10 to the power; None where that does not fit.
pub(super) fn scale_up(value: i64, power: i32) -> Option<i64> {
    if value == 0 || power == 0 {
        return Some(value);
    }
    10_i64.checked_pow(u32::try_from(power).ok()?)?.checked_mul(value)
}

/// What upstream is left with when a number does not fit: some powers wrap around, the others give 0.
fn overflowed(value: i64, power: i32) -> i64 {
    match power {
        1 | 2 | 3 | 6 | 9 if value != i64::MIN => value.wrapping_mul(10_i64.pow(power as u32)),
        _ => 0,
    }
}

/// `value` divided by 10 to the power, away from zero, and whether it came out even.
pub(super) fn scale_down(value: i64, power: i32) -> (i64, bool) {
    let divisor = u32::try_from(power).ok().and_then(|power| 10_i64.checked_pow(power));
    match divisor {
        _ if value == 0 => (0, true),
        None => (value.signum(), false),
        Some(divisor) => {
            let (whole, rest) = (value / divisor, value % divisor);
            if rest == 0 { (whole, true) } else { (whole + value.signum(), false) }
        }
    }
}

impl Small {
    /// The amount in units of 10 to the power `scale`, away from zero; None where it does not fit.
    pub(super) fn at_scale(self, scale: i32) -> Option<i64> {
        if self.scale < scale {
            return Some(scale_down(self.value, scale.saturating_sub(self.scale)).0);
        }
        scale_up(self.value, self.scale.saturating_sub(scale))
    }

    /// The same, with upstream's overflows.
    pub(super) fn scaled_value(self, scale: i32) -> i64 {
        self.at_scale(scale).unwrap_or_else(|| overflowed(self.value, self.scale.saturating_sub(scale)))
    }

    /// The amount without digits below `scale`, away from zero, and whether none were lost.
    pub(super) fn rounded(self, scale: i32) -> (Small, bool) {
        if self.scale >= scale {
            return (self, true);
        }
        let (value, exact) = scale_down(self.value, scale.saturating_sub(self.scale));
        (Small { value, scale }, exact)
    }

    /// The sum, at the finer of the two scales; None where it does not fit.
    pub(super) fn add(self, other: Small) -> Option<Small> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let a = scale_up(self.value, self.scale.saturating_sub(scale))?;
        let b = scale_up(other.value, other.scale.saturating_sub(scale))?;
        Some(Small { value: a.checked_add(b)?, scale })
    }

    pub(super) fn to_decimal(self) -> Decimal {
        Decimal {
            negative: self.value < 0,
            digits: Magnitude::from_u64(self.value.unsigned_abs()),
            scale: self.scale,
        }
    }

    pub(super) fn cmp(self, other: Small) -> Ordering {
        if self.scale == other.scale {
            return self.value.cmp(&other.value);
        }
        self.to_decimal().cmp(&other.to_decimal())
    }

    /// Digits and a power of ten that three divides.
    pub(super) fn canonical(self) -> (String, i32) {
        if self.value == 0 {
            return ("0".to_owned(), 0);
        }
        let (mut value, mut exponent) = (self.value, self.scale);
        // The most negative number has no positive counterpart, and upstream leaves it as it is.
        while value % 10 == 0 && value != i64::MIN {
            value /= 10;
            exponent = exponent.saturating_add(1);
        }
        let below = exponent.rem_euclid(3);
        match scale_up(value, below) {
            Some(value) => (value.to_string(), exponent - below),
            None => self.to_decimal().canonical(),
        }
    }
}

impl Decimal {
    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    /// The low 64 bits with the sign, as Go's `Int64` gives them.
    fn unscaled(&self) -> i64 {
        let low = self.digits.low_u64() as i64;
        if self.negative { low.wrapping_neg() } else { low }
    }

    /// The digits for a finer scale.
    fn upscaled(&self, scale: i32) -> Magnitude {
        let power = i64::from(self.scale) - i64::from(scale);
        self.digits.mul_pow10(usize::try_from(power).unwrap_or(0))
    }

    pub(super) fn add(&self, other: &Decimal) -> Decimal {
        let scale = self.scale.min(other.scale);
        let (a, b) = (self.upscaled(scale), other.upscaled(scale));
        let (negative, digits) = if self.negative == other.negative {
            (self.negative, a.add(&b))
        } else if a >= b {
            (self.negative, a.sub(&b))
        } else {
            (other.negative, b.sub(&a))
        };
        Decimal { negative: negative && !digits.is_zero(), digits, scale }
    }

    pub(super) fn negated(&self) -> Decimal {
        Decimal {
            negative: !self.negative && !self.is_zero(),
            digits: self.digits.clone(),
            scale: self.scale,
        }
    }

    pub(super) fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |d: &Decimal| if d.is_zero() { 0 } else { 1 - 2 * i32::from(d.negative) };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign != Ordering::Equal || self.is_zero() {
            return by_sign;
        }
        // Where the leading digits stand decides first: no huge number is ever written out.
        let top = |d: &Decimal| d.digits.len() as i64 + i64::from(d.scale);
        let by_size = top(self).cmp(&top(other)).then_with(|| {
            let scale = self.scale.min(other.scale);
            self.upscaled(scale).cmp(&other.upscaled(scale))
        });
        if self.negative { by_size.reverse() } else { by_size }
    }

    /// The amount at exactly `scale`, away from zero, and whether no digit was lost.
    pub(super) fn rounded(&self, scale: i32) -> (Decimal, bool) {
        if self.scale >= scale {
            let digits = self.upscaled(scale);
            return (Decimal { negative: self.negative, digits, scale }, true);
        }
        let power = i64::from(scale) - i64::from(self.scale);
        let (mut digits, inexact) = self.digits.div_pow10(usize::try_from(power).unwrap_or(usize::MAX));
        if inexact {
            digits = digits.add(&Magnitude::from_u64(1));
        }
        (Decimal { negative: self.negative, digits, scale }, !inexact)
    }

    /// Digits and a power of ten that three divides.
    pub(super) fn canonical(&self) -> (String, i32) {
        let zeros = self.digits.trailing_zeros();
        let (digits, _) = self.digits.div_pow10(zeros);
        let exponent = self.scale.saturating_add(i32::try_from(zeros).unwrap_or(i32::MAX));
        let below = exponent.rem_euclid(3);
        (signed(self.negative, &digits.mul_pow10(below as usize)), exponent - below)
    }

    /// Digits of the whole amount without its factors of 1024, and how many those were.
    pub(super) fn canonical_1024(&self) -> (String, u32) {
        let (digits, times) = self.rounded(0).0.digits.without_factors_of_1024();
        (signed(self.negative, &digits), times)
    }

    /// The fields of Go's decimal as spew dumps them: sign, 64-bit words, and the scale upside down.
    pub(super) fn go_dump(&self) -> String {
        let words: Vec<String> = self.digits.to_words().iter().map(u64::to_string).collect();
        let words = if words.is_empty() { "<nil>".to_owned() } else { format!("[{}]", words.join(" ")) };
        let (negative, scale) = (self.negative, self.scale.wrapping_neg());
        format!(
            "{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat){words}}} scale:(inf.Scale){scale}}}"
        )
    }

    /// The amount in units of 10 to the power `scale` in 64 bits, with upstream's own roundings and overflows.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/api/resource, scaledValue (v1.37).
    pub(super) fn scaled_value(&self, scale: i32) -> i64 {
        let power = i64::from(scale) - i64::from(self.scale);
        if power == 0 {
            return self.unscaled();
        }
        if power < 0 {
            // Go turns a power of ten beyond 64 bits into the most negative number.
            let factor = u32::try_from(-power).ok().and_then(|p| 10_i64.checked_pow(p)).unwrap_or(i64::MIN);
            return self.unscaled().wrapping_mul(factor);
        }
        let small = self.negative || self.digits < Magnitude::from_u64(i64::MAX.unsigned_abs());
        if small && power < 19 {
            let divisor = 10_i64.pow(u32::try_from(power).unwrap_or(18));
            let (whole, rest) = (self.unscaled() / divisor, self.unscaled() % divisor);
            return if rest == 0 { whole } else { whole + 1 };
        }
        let (digits, inexact) = self.digits.div_pow10(usize::try_from(power).unwrap_or(usize::MAX));
        let whole = digits.low_u64() as i64;
        match (self.negative, inexact) {
            (false, rest) => whole.wrapping_add(i64::from(rest)),
            // Euclid's division goes down, and one is added again for the rest.
            (true, _) => whole.wrapping_neg(),
        }
    }
}

fn signed(negative: bool, digits: &Magnitude) -> String {
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}", if digits.is_zero() { "0".to_owned() } else { digits.to_digits() })
}
