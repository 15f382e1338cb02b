//! Whole numbers of any size, as few operations as quantities need.

use std::cmp::Ordering;

/// Nine decimal digits in each limb.
const BASE: u64 = 1_000_000_000;
const DIGITS: usize = 9;

/// A non-negative whole number; limbs from the least significant, none at the end zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Magnitude(Vec<u32>);

impl Magnitude {
    pub(super) fn from_u64(mut value: u64) -> Magnitude {
        let mut limbs = Vec::new();
        while value > 0 {
            limbs.push((value % BASE) as u32);
            value /= BASE;
        }
        Magnitude(limbs)
    }

    /// Reads decimal digits; the caller has checked that they are digits.
    pub(super) fn from_digits(digits: &[u8]) -> Magnitude {
        let limb = |chunk: &[u8]| chunk.iter().fold(0, |value, b| value * 10 + u32::from(b - b'0'));
        Magnitude(digits.rchunks(DIGITS).map(limb).collect()).trimmed()
    }

    fn trimmed(mut self) -> Magnitude {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Decimal digits without leading zeros; empty for zero.
    pub(super) fn to_digits(&self) -> String {
        let mut out = String::with_capacity(self.0.len() * DIGITS);
        for (i, limb) in self.0.iter().rev().enumerate() {
            if i == 0 {
                out.push_str(&limb.to_string());
            } else {
                out.push_str(&format!("{limb:09}"));
            }
        }
        out
    }

    /// How many decimal digits it has; 0 for zero.
    pub(super) fn len(&self) -> usize {
        match self.0.last() {
            None => 0,
            Some(top) => (self.0.len() - 1) * DIGITS + top.ilog10() as usize + 1,
        }
    }

    /// The low 64 bits, as Go's `Int64` keeps them when a number is too large.
    pub(super) fn low_u64(&self) -> u64 {
        self.0
            .iter()
            .rev()
            .fold(0, |value: u64, limb| value.wrapping_mul(BASE).wrapping_add(u64::from(*limb)))
    }

    /// The number in 64-bit words, the least significant first.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let (mut value, mut words) = (self.clone(), Vec::new());
        while !value.is_zero() {
            words.push(value.low_u64());
            // Two halves, since a divisor must leave room for a limb above it.
            value = value.div_small(1 << 32).0.div_small(1 << 32).0;
        }
        words
    }

    pub(super) fn add(&self, other: &Magnitude) -> Magnitude {
        let mut out = Vec::with_capacity(self.0.len().max(other.0.len()) + 1);
        let mut carry = 0;
        for i in 0..self.0.len().max(other.0.len()) {
            let sum = carry + self.limb(i) + other.limb(i);
            out.push((sum % BASE) as u32);
            carry = sum / BASE;
        }
        if carry > 0 {
            out.push(carry as u32);
        }
        Magnitude(out)
    }

    /// The difference where `self` is not the smaller one.
    pub(super) fn sub(&self, other: &Magnitude) -> Magnitude {
        let mut out = Vec::with_capacity(self.0.len());
        let mut borrow = 0;
        for i in 0..self.0.len() {
            let lower = other.limb(i) + borrow;
            let upper = self.limb(i);
            borrow = u64::from(upper < lower);
            out.push((upper + borrow * BASE - lower) as u32);
        }
        Magnitude(out).trimmed()
    }

    fn limb(&self, i: usize) -> u64 {
        self.0.get(i).map_or(0, |limb| u64::from(*limb))
    }

    fn mul_small(&self, factor: u64) -> Magnitude {
        let mut out = Vec::with_capacity(self.0.len() + 2);
        let mut carry = 0;
        for limb in &self.0 {
            let product = u64::from(*limb) * factor + carry;
            out.push((product % BASE) as u32);
            carry = product / BASE;
        }
        while carry > 0 {
            out.push((carry % BASE) as u32);
            carry /= BASE;
        }
        Magnitude(out).trimmed()
    }

    fn div_small(&self, divisor: u64) -> (Magnitude, u64) {
        let mut out = vec![0; self.0.len()];
        let mut rest = 0;
        for (i, limb) in self.0.iter().enumerate().rev() {
            let value = rest * BASE + u64::from(*limb);
            out[i] = (value / divisor) as u32;
            rest = value % divisor;
        }
        (Magnitude(out).trimmed(), rest)
    }

    /// Times 2 to the given power.
    pub(super) fn shift_left(&self, mut power: u32) -> Magnitude {
        let mut out = self.clone();
        while power > 0 {
            let step = power.min(30);
            out = out.mul_small(1 << step);
            power -= step;
        }
        out
    }

    /// Times 10 to the given power.
    pub(super) fn mul_pow10(&self, power: usize) -> Magnitude {
        if self.is_zero() {
            return Magnitude::default();
        }
        let small = self.mul_small(10_u64.pow((power % DIGITS) as u32));
        let mut limbs = vec![0; power / DIGITS];
        limbs.extend(small.0);
        Magnitude(limbs)
    }

    /// Divided by 10 to the given power: the whole part, and whether something was left.
    pub(super) fn div_pow10(&self, power: usize) -> (Magnitude, bool) {
        let whole = (power / DIGITS).min(self.0.len());
        let (low, high) = self.0.split_at(whole);
        let (quotient, rest) = Magnitude(high.to_vec()).div_small(10_u64.pow((power % DIGITS) as u32));
        (quotient, rest != 0 || low.iter().any(|limb| *limb != 0))
    }

    /// Takes out all factors of 1024: what is left, and how many there were.
    pub(super) fn without_factors_of_1024(&self) -> (Magnitude, u32) {
        let (mut value, mut times) = (self.clone(), 0);
        while !value.is_zero() {
            let (quotient, rest) = value.div_small(1024);
            if rest != 0 {
                break;
            }
            value = quotient;
            times += 1;
        }
        (value, times)
    }

    /// How many zeros its decimal digits end in; 0 for zero.
    pub(super) fn trailing_zeros(&self) -> usize {
        let whole = self.0.iter().take_while(|limb| **limb == 0).count();
        let Some(mut limb) = self.0.get(whole).copied() else {
            return 0;
        };
        let mut zeros = whole * DIGITS;
        while limb % 10 == 0 {
            limb /= 10;
            zeros += 1;
        }
        zeros
    }
}

impl Ord for Magnitude {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: u128) -> Magnitude {
        Magnitude::from_digits(value.to_string().as_bytes())
    }

    #[test]
    fn agrees_with_128_bits() {
        let values: [u128; 9] = [
            0,
            1,
            9,
            1 << 30,
            999_999_999,
            1_000_000_000,
            1_000_000_001,
            u64::MAX as u128,
            10_u128.pow(27) + 7,
        ];
        for a in values {
            assert_eq!(of(a).len(), if a == 0 { 0 } else { a.to_string().len() });
            assert_eq!(of(a).low_u64(), a as u64);
            assert_eq!(of(a).shift_left(33), of(a << 33));
            assert_eq!(of(a).mul_pow10(10), of(a * 10_u128.pow(10)));
            let shown = of(a).to_digits();
            assert_eq!(shown, if a == 0 { String::new() } else { a.to_string() });
            for power in [0, 1, 8, 9, 10, 18, 30] {
                let divisor = 10_u128.pow(power);
                assert_eq!(of(a).div_pow10(power as usize), (of(a / divisor), a % divisor != 0));
            }
            for b in values {
                assert_eq!(of(a).add(&of(b)), of(a + b));
                assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
                if a >= b {
                    assert_eq!(of(a).sub(&of(b)), of(a - b));
                }
            }
        }
        assert_eq!(of((7 << 64) + 5).to_words(), [5, 7]);
        assert_eq!(of(5 << 20).without_factors_of_1024(), (of(5), 2));
        assert_eq!(of(12_000_000_000_000).trailing_zeros(), 12);
    }
}
