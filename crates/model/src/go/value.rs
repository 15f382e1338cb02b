//! What can be a field.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Look, Seen, made, wrong_type};
use crate::{IntOrString, LabelSelector, MicroTime, Quantity, Shared, Time};

/// A value in an object of the API.
pub trait GoValue: Look {
    /// Whether Go's `omitempty` leaves it out.
    fn is_empty(&self) -> bool;

    /// Reads it from JSON; what it was before must be the empty value.
    ///
    /// Errors: the decoder's text, for a value of a wrong type.
    fn set_json(&mut self, value: Value) -> Result<(), String>;
}

/// Values with their own reader.
macro_rules! plain {
    ($($t:ty => |$x:ident| $empty:expr, $seen:expr;)*) => { $(
        impl Look for $t {
            fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
                let $x = self;
                tell($seen);
            }
        }
        impl GoValue for $t {
            #[allow(unused_variables, reason = "some are never empty")]
            fn is_empty(&self) -> bool {
                let $x = self;
                $empty
            }

            fn set_json(&mut self, value: Value) -> Result<(), String> {
                *self = serde_json::from_value(value).map_err(|e| e.to_string())?;
                Ok(())
            }
        }
    )* };
}

plain! {
    bool => |b| !*b, Seen::Bool(*b);
    i32 => |n| *n == 0, Seen::Int((*n).into());
    i64 => |n| *n == 0, Seen::Int(*n);
    Quantity => |q| false, Seen::Text(&q.said());
    IntOrString => |v| false, match v {
        IntOrString::Int(n) => Seen::Int((*n).into()),
        IntOrString::Str(text) => Seen::Text(text),
    };
    Time => |t| false, Seen::Text(&t.to_string());
    MicroTime => |t| false, Seen::Text(&t.to_string());
}

impl Look for LabelSelector {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        serde_json::to_value(self).unwrap_or_default().look(tell);
    }
}

impl GoValue for LabelSelector {
    fn is_empty(&self) -> bool {
        false
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = serde_json::from_value(value).map_err(|e| e.to_string())?;
        Ok(())
    }
}

/// Texts.
macro_rules! text {
    ($($t:ty)*) => { $(
        impl Look for $t {
            fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
                tell(Seen::Text(self));
            }
        }

        impl GoValue for $t {
            fn is_empty(&self) -> bool {
                str::is_empty(self)
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

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = value;
        Ok(())
    }
}

impl<T: Look> Look for Vec<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let mut all: Vec<&dyn Look> = Vec::with_capacity(self.len());
        for item in self {
            all.push(item);
        }
        tell(Seen::List(&all));
    }
}

impl<T: GoValue + Default> GoValue for Vec<T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
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

impl<T: Look> Look for Option<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        match self {
            None => tell(Seen::Null),
            Some(value) => value.look(tell),
        }
    }
}

impl<T: GoValue + Default> GoValue for Option<T> {
    fn is_empty(&self) -> bool {
        self.is_none()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = if value.is_null() { None } else { Some(made(value)?) };
        Ok(())
    }
}

impl<T: Look> Look for BTreeMap<String, T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let mut all: Vec<(&str, &dyn Look)> = Vec::with_capacity(self.len());
        for (name, value) in self {
            all.push((name, value));
        }
        tell(Seen::Map(&all));
    }
}

impl<T: GoValue + Default> GoValue for BTreeMap<String, T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        let Value::Object(map) = value else { return Err(wrong_type(&value, "a map")) };
        for (name, value) in map {
            self.insert(name, made(value)?);
        }
        Ok(())
    }
}

impl<T: Look> Look for Shared<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        T::look(self, tell);
    }
}

impl<T: GoValue + Clone> GoValue for Shared<T> {
    fn is_empty(&self) -> bool {
        T::is_empty(self)
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        T::set_json(self, value)
    }
}
