//! Structs for kinds that the store keeps whole: read when a loop looks, written back as whole JSON.
//!
//! Few loops read these kinds, and each reads its own; so an object is decoded when its key is looked at, and the
//! other crates need no arm for it.

use crate::{Custom, Kind, Object, ObjectMeta};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::Arc;

/// A struct that a loop reads an object of a whole kind as.
pub trait Whole: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: Kind;
    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;

    /// This object as the struct; `None` if it is of another kind or does not decode.
    fn read(object: &Object) -> Option<Self> {
        let Object::Custom(custom) = object else { return None };
        if custom.kind != Self::KIND {
            return None;
        }
        let mut whole = custom.rest.clone();
        whole.insert("metadata".into(), serde_json::to_value(&custom.metadata).ok()?);
        serde_json::from_value(Value::Object(whole)).ok()
    }

    /// The struct as an object, with the omissions of Go's encoder.
    fn to_object(&self) -> Object {
        let metadata = self.meta().clone();
        let mut rest = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Default::default(),
        };
        rest.remove("metadata");
        Object::Custom(Arc::new(Custom { kind: Self::KIND, metadata, rest }))
    }
}

/// Says which kind a struct is read from.
macro_rules! whole {
    ($($name:ident: $group:literal;)*) => { $(
        impl crate::Whole for $name {
            const KIND: crate::Kind = crate::Kind::other($group, stringify!($name));
            fn meta(&self) -> &crate::ObjectMeta { &self.metadata }
        }
    )* };
}
pub(crate) use whole;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ControllerRevision;
    use serde_json::json;

    #[test]
    fn a_whole_kind_is_read_and_written_back_equal() {
        let value = json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "db-1"},
            "data": {"spec": {"template": {"$patch": "replace"}}}, "revision": 3, "more": [1, null],
        });
        let object = Object::from_value(ControllerRevision::KIND, value.clone()).expect("it decodes");
        let read = ControllerRevision::read(&object).expect("it is one");
        assert_eq!((read.revision, &*read.metadata.name), (3, "db-1"));
        assert_eq!(read.to_object().to_value(), value);
        assert!(ControllerRevision::read(&Object::from(crate::ConfigMap::default())).is_none());
    }
}
