//! The encoding rules of Go's structs: one macro writes a struct whose fields are always there or left out when empty.
//!
//! A struct is a table of names and fields behind a trait object, and one function reads or writes them all: code
//! that is compiled anew for each of a hundred structs would be most of what the page has to fetch.

mod fields;
mod look;
mod value;

use serde::de::Unexpected;
use serde_json::Value;

pub(crate) use fields::{Entry, Rest, When, camel, camel_length, look, order, read, serialize};
pub(crate) use look::fields;
pub use look::{Named, Seen, Several, put, to_json};
pub use value::{GoValue, GoValue as Look};

/// Reads a new value from JSON.
///
/// Errors: the decoder's text, for a value of a wrong type.
pub(crate) fn made<T: GoValue + Default>(value: Value) -> Result<T, String> {
    let mut made = T::default();
    made.set_json(value)?;
    Ok(made)
}

/// What serde says of a value where another was expected.
fn wrong_type(value: &Value, expected: &str) -> String {
    let found = match value {
        Value::Null => return format!("invalid type: null, expected {expected}"),
        Value::Bool(b) => Unexpected::Bool(*b),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Unexpected::Unsigned(n),
            (_, Some(n)) => Unexpected::Signed(n),
            _ => Unexpected::Float(n.as_f64().unwrap_or_default()),
        },
        Value::String(s) => Unexpected::Str(s),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    format!("invalid type: {found}, expected {expected}")
}

/// The name of a field on the wire: the one that is given, or the field's own in camel case.
macro_rules! name {
    ($field:ident $name:literal) => {
        $name
    };
    ($field:ident) => {{
        const LENGTH: usize = crate::go::camel_length(stringify!($field));
        const NAME: &[u8; LENGTH] = &crate::go::camel::<LENGTH>(stringify!($field));
        const TEXT: &str = match std::str::from_utf8(NAME) {
            Ok(text) => text,
            Err(_) => panic!("names are ASCII"),
        };
        TEXT
    }};
}
pub(crate) use name;

/// How a field is written that is always there: `or null` stands for a list that Go writes as `null` when empty.
macro_rules! when {
    () => {
        crate::go::When::Always
    };
    (null) => {
        crate::go::When::OrNull
    };
}
pub(crate) use when;

/// Declares structs of the API. `always` fields are written even when empty, `maybe` fields as Go's `omitempty`;
/// what is not modelled is kept in `rest` and written back. `pod_ip as "podIP"` gives a name that is not the
/// field's in camel case, `containers or null` writes an empty list as `null`.
macro_rules! api {
    ($($(#[$m:meta])* pub struct $name:ident {
        $(always { $($(#[$am:meta])* $af:ident $(as $an:literal)? $(or $al:ident)? : $at:ty),* $(,)? })?
        $(maybe { $($(#[$om:meta])* $of:ident $(as $on:literal)? : $ot:ty),* $(,)? })?
    })*) => { $(
        $(#[$m])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[allow(missing_docs, unreachable_pub)]
        pub struct $name {
            $($($(#[$am])* pub $af: $at,)*)?
            $($($(#[$om])* pub $of: $ot,)*)?
            /// Fields that no loop here reads, as they were written.
            pub rest: crate::go::Rest,
        }
        impl $name {
            fn entries(&self, tell: &mut dyn FnMut(&[crate::go::Entry<'_>], &crate::go::Rest)) {
                tell(&[
                    $($(crate::go::Entry { name: crate::go::name!($af $($an)?), when: crate::go::when!($($al)?), value: &self.$af },)*)?
                    $($(crate::go::Entry { name: crate::go::name!($of $($on)?), when: crate::go::When::Filled, value: &self.$of },)*)?
                ], &self.rest);
            }
        }
        impl crate::go::GoValue for $name {
            fn look(&self, tell: &mut dyn FnMut(crate::go::Seen<'_>)) {
                const NAMES: &[&str] = &[
                    $($(crate::go::name!($af $($an)?),)*)?
                    $($(crate::go::name!($of $($on)?),)*)?
                ];
                const ORDER: [u8; NAMES.len()] = crate::go::order(NAMES);
                crate::go::look(&|tell| self.entries(tell), &ORDER, tell);
            }
            fn set_json(&mut self, value: serde_json::Value) -> Result<(), String> {
                use crate::go;
                go::read(value, stringify!($name), &mut [
                    $($((go::name!($af $($an)?), &mut self.$af),)*)?
                    $($((go::name!($of $($on)?), &mut self.$of),)*)?
                ], &mut self.rest)
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::go::serialize(&|tell| self.entries(tell), serializer)
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                crate::go::made(value).map_err(serde::de::Error::custom)
            }
        }
    )* };
}
pub(crate) use api;
