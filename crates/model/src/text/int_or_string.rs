//! A field that takes a number or a text: ports by number or name, sizes by count or percentage.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::go;

/// A number or a text, written in JSON as whichever it is.
///
/// Upstream: k8s.io/apimachinery/pkg/util/intstr, IntOrString (v1.37).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntOrString {
    Int(i32),
    Str(String),
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl From<i32> for IntOrString {
    fn from(value: i32) -> Self {
        IntOrString::Int(value)
    }
}

impl From<&str> for IntOrString {
    fn from(value: &str) -> Self {
        IntOrString::Str(value.to_owned())
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(value) => write!(f, "{value}"),
            IntOrString::Str(text) => f.write_str(text),
        }
    }
}

impl IntOrString {
    /// Reads text as kubectl's flags do: a 32-bit number where it is one, else the text itself.
    pub fn parse(text: &str) -> IntOrString {
        match go::parse_int(text).ok().and_then(|v| i32::try_from(v).ok()) {
            Some(value) => IntOrString::Int(value),
            None => IntOrString::Str(text.to_owned()),
        }
    }

    /// The number, or what a text reads as; 0 where it is none (out of range: the nearest end).
    pub fn int_value(&self) -> i64 {
        match self {
            IntOrString::Int(value) => i64::from(*value),
            IntOrString::Str(text) => match go::parse_int(text) {
                Ok(value) => value,
                Err(go::NumberFault::Syntax) => 0,
                Err(go::NumberFault::Range) if text.starts_with('-') => i64::MIN,
                Err(go::NumberFault::Range) => i64::MAX,
            },
        }
    }

    /// The number itself, or the percentage of `total`, rounded up or down.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/util/intstr, GetScaledValueFromIntOrPercent (v1.37).
    pub fn scaled_value(&self, total: i64, round_up: bool) -> Result<i64, String> {
        match self {
            IntOrString::Int(value) => Ok(i64::from(*value)),
            IntOrString::Str(text) => {
                let percent =
                    percentage(text).map_err(|error| format!("invalid value for IntOrString: {error}"))?;
                Ok(share(percent, total, round_up))
            }
        }
    }
}

fn percentage(text: &str) -> Result<i64, String> {
    let Some(number) = text.strip_suffix('%') else {
        return Err("invalid type: string is not a percentage".to_owned());
    };
    go::parse_int(number).map_err(|fault| {
        format!("invalid value {}: {}", go::quote(text), go::number_error("Atoi", number, fault))
    })
}

/// `percent` hundredths of `total`, in whole numbers; the 128-bit product cannot overflow.
fn share(percent: i64, total: i64, round_up: bool) -> i64 {
    let product = i128::from(percent) * i128::from(total);
    let floor = product.div_euclid(100);
    let whole = if round_up && product.rem_euclid(100) != 0 { floor + 1 } else { floor };
    whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntOrString::Int(value) if serializer.is_human_readable() => serializer.serialize_i32(*value),
            // A compact format cannot tell a number from a text by looking, so there it is always a text.
            IntOrString::Int(value) => serializer.serialize_str(&format!("#{value}")),
            IntOrString::Str(text) if serializer.is_human_readable() => serializer.serialize_str(text),
            IntOrString::Str(text) => serializer.serialize_str(&format!("\"{text}")),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(Reader);
        }
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix('#').and_then(|number| number.parse().ok()) {
            Some(value) => Ok(IntOrString::Int(value)),
            None => match text.strip_prefix('"') {
                Some(rest) => Ok(IntOrString::Str(rest.to_owned())),
                None => Err(de::Error::custom("neither a number nor a text")),
            },
        }
    }
}

struct Reader;

fn refuse<E: de::Error>(what: &str) -> E {
    E::custom(format!("json: cannot unmarshal {what} into Go value of type int32"))
}

impl<'de> Visitor<'de> for Reader {
    type Value = IntOrString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit number or a string")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<IntOrString, E> {
        i32::try_from(value).map(IntOrString::Int).map_err(|_| refuse(&format!("number {value}")))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<IntOrString, E> {
        i32::try_from(value).map(IntOrString::Int).map_err(|_| refuse(&format!("number {value}")))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<IntOrString, E> {
        Err(refuse(&format!("number {value}")))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<IntOrString, E> {
        Err(refuse("bool"))
    }

    fn visit_unit<E: de::Error>(self) -> Result<IntOrString, E> {
        Ok(IntOrString::default())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<IntOrString, E> {
        Ok(IntOrString::Str(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<IntOrString, E> {
        Ok(IntOrString::Str(text))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> Result<IntOrString, A::Error> {
        Err(refuse("array"))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> Result<IntOrString, A::Error> {
        Err(refuse("object"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn json_keeps_which_it_is() {
        for value in [json!(5), json!(-1), json!("5"), json!("25%"), json!("")] {
            let read: IntOrString = from_value(value.clone()).expect("a number or a text");
            assert_eq!(to_value(&read).expect("writes"), value);
        }
        for bad in [json!(1.5), json!(true), json!([]), json!({}), json!(3_000_000_000_i64)] {
            assert!(from_value::<IntOrString>(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn reads_flags() {
        assert_eq!(IntOrString::parse("80"), IntOrString::Int(80));
        assert_eq!(IntOrString::parse("http"), IntOrString::from("http"));
        assert_eq!(IntOrString::parse("3000000000"), IntOrString::from("3000000000"));
    }

    #[test]
    fn rounds_away_from_or_towards_zero_as_floor_and_ceiling_do() {
        let percent = |text: &str, total, up| IntOrString::from(text).scaled_value(total, up);
        assert_eq!(percent("25%", 10, true), Ok(3));
        assert_eq!(percent("25%", 10, false), Ok(2));
        assert_eq!(percent("-25%", 10, true), Ok(-2));
        assert_eq!(percent("-25%", 10, false), Ok(-3));
        assert!(percent("99999999999999999999%", 10, true).unwrap_err().ends_with("value out of range"));
    }
}
