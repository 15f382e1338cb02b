//! Amounts of cpu, memory and everything else that is counted with suffixes.

mod amount;
mod big;
mod json;
mod parse;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use amount::{Decimal, Small};

/// How a quantity is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`
    BinarySI,
    /// `12M`
    DecimalSI,
}

impl Format {
    /// The name that Kubernetes gives the format.
    pub fn name(self) -> &'static str {
        match self {
            Format::DecimalExponent => "DecimalExponent",
            Format::BinarySI => "BinarySI",
            Format::DecimalSI => "DecimalSI",
        }
    }
}

/// Why a text is no quantity; shown with the API server's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuantityError {
    FormatWrong,
    Numeric,
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::FormatWrong => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            QuantityError::Numeric => "unable to parse numeric part of quantity",
            QuantityError::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

#[derive(Debug, Clone)]
enum Amount {
    Small(Small),
    Big(Arc<Decimal>),
}

/// An amount with the way it is written. Two are equal when they are written the same; `cmp` compares amounts.
///
/// Upstream: k8s.io/apimachinery/pkg/api/resource, Quantity (v1.37).
#[derive(Clone)]
pub struct Quantity {
    amount: Amount,
    format: Format,
    /// The spelling as it came, where Kubernetes keeps it.
    text: Option<Arc<str>>,
}

impl Quantity {
    fn small(value: i64, scale: i32, format: Format, text: Option<&str>) -> Quantity {
        Quantity { amount: Amount::Small(Small { value, scale }), format, text: text.map(Arc::from) }
    }

    /// Reads a quantity, or says why it is none in the API server's words.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        parse::parse(text)
    }

    /// A whole amount.
    pub fn new(value: i64, format: Format) -> Quantity {
        Quantity::small(value, 0, format, None)
    }

    /// An amount in thousandths, as cpu is counted.
    pub fn from_milli(value: i64, format: Format) -> Quantity {
        Quantity::small(value, -3, format, None)
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match &self.amount {
            Amount::Small(small) => small.value.signum() as i32,
            Amount::Big(decimal) if decimal.is_zero() => 0,
            Amount::Big(decimal) => 1 - 2 * i32::from(decimal.negative),
        }
    }

    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// The amount in whole units, rounded up; overflows as Kubernetes overflows.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The amount in thousandths, rounded up; overflows as Kubernetes overflows.
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    /// The amount in units of 10 to the power `scale`, rounded up.
    pub fn scaled_value(&self, scale: i32) -> i64 {
        match &self.amount {
            Amount::Small(small) => small.scaled_value(scale),
            Amount::Big(decimal) => decimal.scaled_value(scale),
        }
    }

    /// The amount in whole units where it is held in 64 bits and nothing is lost.
    pub fn as_int64(&self) -> Option<i64> {
        match &self.amount {
            Amount::Small(small) if small.scale >= 0 => amount::scale_up(small.value, small.scale),
            _ => None,
        }
    }

    fn decimal(&self) -> Cow<'_, Decimal> {
        match &self.amount {
            Amount::Small(small) => Cow::Owned(small.to_decimal()),
            Amount::Big(decimal) => Cow::Borrowed(decimal),
        }
    }

    /// The sum, written as `self` is, or as `other` where `self` is zero.
    #[must_use]
    pub fn add(&self, other: &Quantity) -> Quantity {
        let format = if self.is_zero() { other.format } else { self.format };
        let small = match (&self.amount, &other.amount) {
            (Amount::Small(a), Amount::Small(b)) => a.add(*b),
            _ => None,
        };
        let amount = match small {
            Some(small) => Amount::Small(small),
            None => Amount::Big(Arc::new(self.decimal().add(&other.decimal()))),
        };
        Quantity { amount, format, text: None }
    }

    /// The difference, written as `self` is, or as `other` where `self` is zero.
    #[must_use]
    pub fn sub(&self, other: &Quantity) -> Quantity {
        match (&self.amount, &other.amount) {
            // The most negative number has no counterpart in 64 bits.
            (Amount::Small(_), Amount::Small(b)) if b.value == i64::MIN => {
                let negative = Amount::Big(Arc::new(b.to_decimal().negated()));
                self.add(&Quantity { amount: negative, format: other.format, text: None })
            }
            _ => self.add(&other.neg()),
        }
    }

    /// The amount with the other sign.
    #[must_use]
    pub fn neg(&self) -> Quantity {
        let amount = match &self.amount {
            Amount::Small(Small { value, scale }) => {
                Amount::Small(Small { value: value.wrapping_neg(), scale: *scale })
            }
            Amount::Big(decimal) => Amount::Big(Arc::new(decimal.negated())),
        };
        Quantity { amount, format: self.format, text: None }
    }

    /// The amount without digits below 10 to the power `scale`, away from zero, and whether none were lost.
    #[must_use]
    pub fn round_up(&self, scale: i32) -> (Quantity, bool) {
        let (amount, exact, text) = match &self.amount {
            Amount::Small(small) if small.scale >= scale => return (self.clone(), true),
            Amount::Small(small) => {
                let (small, exact) = small.rounded(scale);
                (Amount::Small(small), exact, None)
            }
            Amount::Big(decimal) => {
                let (decimal, exact) = decimal.rounded(scale);
                (Amount::Big(Arc::new(decimal)), exact, None)
            }
        };
        (Quantity { amount, format: self.format, text }, exact)
    }

    /// Compares amounts, however they are written.
    #[expect(clippy::should_implement_trait, reason = "equality is by text, this order by amount")]
    pub fn cmp(&self, other: &Quantity) -> Ordering {
        match (&self.amount, &other.amount) {
            (Amount::Small(a), Amount::Small(b)) => a.cmp(*b),
            _ => self.decimal().cmp(&other.decimal()),
        }
    }

    /// The quantity as Go's spew dumps its hidden fields, which the hash of a pod template covers.
    pub(crate) fn go_dump(&self) -> String {
        let (small, big) = match &self.amount {
            Amount::Small(small) => (*small, "<nil>".to_owned()),
            Amount::Big(decimal) => (Small { value: 0, scale: 0 }, decimal.go_dump()),
        };
        let Small { value, scale } = small;
        let (text, format) = (self.text.as_deref().unwrap_or_default(), self.format.name());
        format!(
            "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} \
             d:(resource.infDecAmount){{Dec:(*inf.Dec){big}}} s:(string){text} Format:(resource.Format){format}}}"
        )
    }

    /// The shortest writing in the quantity's format.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/api/resource, Quantity.CanonicalizeBytes (v1.37).
    fn canonical(&self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        if self.format == Format::BinarySI
            && let Some((digits, times)) = self.canonical_binary()
        {
            // Beyond Ei there is no suffix, and upstream leaves it out.
            return format!("{digits}{}", BINARY_SUFFIXES.get(times as usize).unwrap_or(&""));
        }
        let (digits, exponent) = match &self.amount {
            Amount::Small(small) => small.canonical(),
            Amount::Big(decimal) => decimal.canonical(),
        };
        match self.format {
            Format::DecimalExponent if exponent == 0 => digits,
            Format::DecimalExponent => format!("{digits}e{exponent}"),
            Format::DecimalSI | Format::BinarySI => format!("{digits}{}", decimal_suffix(exponent)),
        }
    }

    /// Digits and factors of 1024; None for fractions and what is smaller than 1024, which are written as decimals.
    fn canonical_binary(&self) -> Option<(String, u32)> {
        let bound = Quantity::new(1024, Format::DecimalSI);
        if self.cmp(&bound) == Ordering::Less && self.cmp(&bound.neg()) == Ordering::Greater {
            return None;
        }
        if let Amount::Small(small) = &self.amount {
            let (_, exact) = small.rounded(0);
            if !exact {
                return None;
            }
            if let Some(mut value) = small.at_scale(0).filter(|value| *value != i64::MIN) {
                let mut times = 0;
                while value % 1024 == 0 && value != 0 {
                    value /= 1024;
                    times += 1;
                }
                return Some((value.to_string(), times));
            }
        }
        let decimal = self.decimal();
        let (_, exact) = decimal.rounded(0);
        exact.then(|| decimal.canonical_1024())
    }
}

const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The suffix of a power of ten; none where there is none, as upstream leaves it out.
fn decimal_suffix(exponent: i32) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.pad(text),
            None => f.pad(&self.canonical()),
        }
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({self})")
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Quantity::small(0, 0, Format::DecimalSI, None)
    }
}

impl std::str::FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Quantity::parse(text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        match (&self.text, &other.text, &self.amount, &other.amount) {
            (Some(a), Some(b), ..) => a == b,
            (None, None, Amount::Small(a), Amount::Small(b)) if a == b && self.format == other.format => true,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.text {
            Some(text) => text.hash(state),
            None => self.canonical().hash(state),
        }
    }
}
