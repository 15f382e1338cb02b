//! The encoding rules of Go's structs: one macro writes a struct whose fields are always there or left out when empty.

use crate::{IntOrString, Labels, Quantity};
use serde::{Deserialize, Deserializer};
use std::{collections::BTreeMap, sync::Arc};

/// What Go's `omitempty` leaves out.
pub(crate) trait GoEmpty {
    fn go_empty(&self) -> bool;
}

macro_rules! empty_when {
    ($($t:ty => |$x:ident| $e:expr;)*) => { $(impl GoEmpty for $t { fn go_empty(&self) -> bool { let $x = self; $e } })* };
}
empty_when! {
    String => |s| s.is_empty();
    Arc<str> => |s| s.is_empty();
    bool => |b| !*b;
    i32 => |n| *n == 0;
    i64 => |n| *n == 0;
    Quantity => |_q| false;
    IntOrString => |_v| false;
    serde_json::Value => |v| v.is_null();
}
impl<T> GoEmpty for Vec<T> {
    fn go_empty(&self) -> bool {
        self.is_empty()
    }
}
impl<T> GoEmpty for Option<T> {
    fn go_empty(&self) -> bool {
        self.is_none()
    }
}
impl<K, V> GoEmpty for BTreeMap<K, V> {
    fn go_empty(&self) -> bool {
        self.is_empty()
    }
}

/// A list that Go writes as `null` when it is empty and its tag has no `omitempty`.
pub(crate) fn null_if_empty<T: serde::Serialize, S: serde::Serializer>(
    v: &[T],
    s: S,
) -> Result<S::Ok, S::Error> {
    if v.is_empty() { s.serialize_none() } else { s.collect_seq(v) }
}

/// `null` reads as the empty value, as Go reads it.
pub(crate) fn null_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    d: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

/// Declares structs of the API. `always` fields are written even when empty, `maybe` fields as Go's `omitempty`;
/// what is not modelled is kept in `rest` and written back.
macro_rules! api {
    ($($(#[$m:meta])* pub struct $name:ident {
        $(always { $($(#[$am:meta])* $af:ident : $at:ty),* $(,)? })?
        $(maybe { $($(#[$om:meta])* $of:ident : $ot:ty),* $(,)? })?
    })*) => { $(
        $(#[$m])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        #[allow(missing_docs)]
        pub struct $name {
            $($(
                $(#[$am])*
                #[serde(deserialize_with = "crate::go::null_default")]
                pub $af: $at,
            )*)?
            $($(
                $(#[$om])*
                #[serde(deserialize_with = "crate::go::null_default", skip_serializing_if = "crate::go::GoEmpty::go_empty")]
                pub $of: $ot,
            )*)?
            /// Fields that no loop here reads, as they were written.
            #[serde(flatten)]
            pub rest: std::collections::BTreeMap<String, serde_json::Value>,
        }
        impl crate::go::GoEmpty for $name {
            fn go_empty(&self) -> bool { false }
        }
    )* };
}
pub(crate) use api;

/// Never used directly: keeps the alias in scope of the rules above.
const _: fn(&Labels) -> bool = |l| l.go_empty();
