//! What can be a field.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Seen, fields, made, wrong_type};
use crate::{IntOrString, LabelSelector, MicroTime, Quantity, Shared, Time};

/// A value in an object of the API, or one that is printed as such.
pub trait GoValue {
    /// Tells once what it is, one level deep.
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>));

    /// Whether Go's `omitempty` leaves it out.
    fn is_empty(&self) -> bool {
        false
    }

    /// Reads it from JSON; what it was before must be the empty value.
    ///
    /// Errors: the decoder's text, for a value of a wrong type.
    fn set_json(&mut self, value: Value) -> Result<(), String> {
        Err(wrong_type(&value, "nothing: this is only looked at"))
    }
}

/// Values with their own reader.
macro_rules! plain {
    ($($t:ty => |$x:ident| $empty:expr, $seen:expr;)*) => { $(
        impl GoValue for $t {
            fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
                let $x = self;
                tell($seen);
            }

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

impl GoValue for LabelSelector {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        serde_json::to_value(self).unwrap_or_default().look(tell);
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = serde_json::from_value(value).map_err(|e| e.to_string())?;
        Ok(())
    }
}

/// Texts.
macro_rules! text {
    ($($t:ty)*) => { $(
        impl GoValue for $t {
            fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
                tell(Seen::Text(self));
            }

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
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        match self {
            Value::Null => tell(Seen::Null),
            Value::Bool(b) => tell(Seen::Bool(*b)),
            Value::Number(n) => tell(Seen::Number(n)),
            Value::String(text) => tell(Seen::Text(text)),
            Value::Array(items) => items.look(tell),
            Value::Object(map) => tell(Seen::Map(&fields(map))),
        }
    }

    fn is_empty(&self) -> bool {
        self.is_null()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        *self = value;
        Ok(())
    }
}

/// Hands out the items of a list, each with how many are left.
fn each_of(value: Value, take: &mut dyn FnMut(Value, usize) -> Result<(), String>) -> Result<(), String> {
    let Value::Array(items) = value else { return Err(wrong_type(&value, "a sequence")) };
    let mut left = items.len();
    for item in items {
        take(item, left)?;
        left -= 1;
    }
    Ok(())
}

impl<T: GoValue + Default> GoValue for Vec<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let mut all: Vec<&dyn GoValue> = Vec::with_capacity(self.len());
        for item in self {
            all.push(item);
        }
        tell(Seen::List(&all));
    }
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        each_of(value, &mut |item, left| {
            self.reserve_exact(left);
            self.push(T::default());
            self.last_mut().map_or(Ok(()), |last| last.set_json(item))
        })
    }
}

impl<T: GoValue + Default> GoValue for Option<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        match self {
            None => tell(Seen::Null),
            Some(value) => value.look(tell),
        }
    }
    fn is_empty(&self) -> bool {
        self.is_none()
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        if value.is_null() { Ok(()) } else { self.insert(T::default()).set_json(value) }
    }
}

impl<T: GoValue + Default> GoValue for BTreeMap<String, T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let mut all: Vec<(&str, &dyn GoValue)> = Vec::with_capacity(self.len());
        for (name, value) in self {
            all.push((name, value));
        }
        tell(Seen::Map(&all));
    }
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

impl<T: GoValue + Clone> GoValue for Shared<T> {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        T::look(self, tell);
    }
    fn is_empty(&self) -> bool {
        T::is_empty(self)
    }

    fn set_json(&mut self, value: Value) -> Result<(), String> {
        T::set_json(self, value)
    }
}
