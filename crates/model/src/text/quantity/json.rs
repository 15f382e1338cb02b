//! A quantity in JSON: a text or a number on the way in, a text on the way out.

use std::{borrow::Cow, fmt};

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{Quantity, QuantityError};

impl Quantity {
    /// What JSON says of it.
    pub(crate) fn said(&self) -> Cow<'_, str> {
        match &self.text {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.canonical()),
        }
    }

    /// Reads the JSON text of one value as the API server does: the bytes between the quotes are taken as they
    /// are, escapes and all, and a value of any other kind is read as its own text.
    ///
    /// Upstream: k8s.io/apimachinery/pkg/api/resource, Quantity.UnmarshalJSON (v1.37).
    pub fn from_json_text(raw: &str) -> Result<Quantity, QuantityError> {
        if raw == "null" {
            return Ok(Quantity::default());
        }
        let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw);
        Quantity::parse(inner.trim())
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.said())
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Reader)
        } else {
            deserializer.deserialize_str(Reader)
        }
    }
}

struct Reader;

impl Reader {
    fn read<E: de::Error>(text: &str) -> Result<Quantity, E> {
        // What JSON writes with a backslash is not unescaped by upstream, so it is never a digit or a space.
        if text.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
            return Err(E::custom(QuantityError::FormatWrong));
        }
        Quantity::parse(text.trim()).map_err(E::custom)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
        Reader::read(text)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
        Reader::read(&value.to_string())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
        Reader::read(&value.to_string())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
        Reader::read(&go_number(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Quantity, E> {
        Ok(Quantity::default())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Quantity, E> {
        Err(E::custom(QuantityError::FormatWrong))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> Result<Quantity, A::Error> {
        Err(de::Error::custom(QuantityError::FormatWrong))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> Result<Quantity, A::Error> {
        Err(de::Error::custom(QuantityError::FormatWrong))
    }
}

/// A fraction as Go's JSON writes it, which is what a YAML number has become on its way to the server.
fn go_number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
            _ => text,
        };
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_value};

    use super::*;

    #[test]
    fn json_comes_back_as_upstream_writes_it() {
        for (written, want) in [
            (json!("1.5Gi"), "1536Mi"),
            (json!(" 1 "), "1"),
            (json!(2), "2"),
            (json!(0.1), "100m"),
            (json!(1e21), "1e+21"),
            (json!(1e-7), "100e-9"),
            (json!(null), "0"),
            (json!("+1"), "+1"),
        ] {
            let read: Quantity = from_value(written.clone()).expect("a quantity");
            assert_eq!(to_value(&read).expect("writes"), json!(want), "{written}");
        }
        for bad in ["\"1\\n\"", "[]", "{}", "true", "\"\"", "\"one\""] {
            assert!(from_str::<Quantity>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn absent_is_zero() {
        assert_eq!(Quantity::default().to_string(), "0");
    }
}
