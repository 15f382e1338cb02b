//! What can be a field.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{made, wrong_type};
use crate::{IntOrString, LabelSelector, MicroTime, Quantity, Shared, Time};

/// A value in an object of the API.
pub trait GoValue {
    /// Whether Go's `omitempty` leaves it out.
    fn is_empty(&self) -> bool;

    /// As JSON.
    fn to_json(&self) -> Value;

    /// Reads it from JSON; what it was before must be the empty value.
    ///
    /// Errors: the decoder's text, for a value of a wrong type.
    fn set_json(&mut self, value: Value) -> Result<(), String>;
}

/// Values with their own reader and writer.
macro_rules! plain {
    ($($t:ty => |$x:ident| $empty:expr;)*) => { $(
        impl GoValue for $t {
            fn is_empty(&self) -> bool {
                let $x = self;
                $empty
            }

            fn to_json(&self) -> Value {
                serde_json::to_value(self).unwrap_or_default()
            }

            fn set_json(&mut self, value: Value) -> Result<(), String> {
                *self = serde_json::from_value(value).map_err(|e| e.to_string())?;
                Ok(())
            }
        }
    )* };
}

plain! {
    bool => |b| !*b;
    i32 => |n| *n == 0;
    i64 => |n| *n == 0;
    Quantity => |_q| false;
    IntOrString => |_v| false;
    LabelSelector => |_s| false;
    Time => |_t| false;
    MicroTime => |_t| false;
}

/// Texts.
macro_rules! text {
    ($($t:ty)*) => { $(
        impl GoValue for $t {
            fn is_empty(&self) -> bool {
                str::is_empty(self)
            }

            fn to_json(&self) -> Value {
                Value::String(self.to_string())
            }

            fn set_json(&mut self, value: Value) -> Result<(), String> {
                let Value::String(text) = value else { return Err(wrong_type(&value, "a string")) };
                *self = text.into();
                Ok(())
            }
        }
    )* };
}

text! { String Arc<str> }

impl GoValue for Value {
    fn is_empty(&self) -> bool {
        self.is_null()
    }

    fn to_json(&self) -> Value {
        self.clone()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = value;
        Ok(())
    }
}

impl<T: GoValue + Default> GoValue for Vec<T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn to_json(&self) -> Value {
        Value::Array(self.iter().map(T::to_json).collect())
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        let Value::Array(items) = value else { return Err(wrong_type(&value, "a sequence")) };
        self.reserve(items.len());
        for item in items {
            self.push(made(item)?);
        }
        Ok(())
    }
}

impl<T: GoValue + Default> GoValue for Option<T> {
    fn is_empty(&self) -> bool {
        self.is_none()
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = if value.is_null() { None } else { Some(made(value)?) };
        Ok(())
    }
}

impl<T: GoValue + Default> GoValue for BTreeMap<String, T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.extend(self.iter().map(|(name, value)| (name.clone(), value.to_json())));
        Value::Object(map)
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        let Value::Object(map) = value else { return Err(wrong_type(&value, "a map")) };
        for (name, value) in map {
            self.insert(name, made(value)?);
        }
        Ok(())
    }
}

impl<T: GoValue + Clone> GoValue for Shared<T> {
    fn is_empty(&self) -> bool {
        T::is_empty(self)
    }

    fn to_json(&self) -> Value {
        T::to_json(self)
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        T::set_json(self, value)
    }
}
