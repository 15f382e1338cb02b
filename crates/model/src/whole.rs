//! Structs for kinds that the store keeps whole: read when a loop looks, written back as whole JSON.
//!
//! Few loops read these kinds, and each reads its own; so an object is decoded when its key is looked at, and the
//! other crates need no arm for it.

use crate::{Custom, GoValue, Kind, Object, ObjectMeta, go};
use serde_json::Value;
use std::sync::Arc;

/// A struct that a loop reads an object of a whole kind as.
pub trait Whole: GoValue + Default {
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
        whole.insert("metadata".into(), go::to_json(&custom.metadata));
        go::made(Value::Object(whole)).ok()
    }

    /// The struct as an object, with the omissions of Go's encoder.
    fn to_object(&self) -> Object {
        let metadata = self.meta().clone();
        let mut rest = match go::to_json(self) {
            Value::Object(map) => map,
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

    /// Reads as `W`, writes back, and answers what comes of it.
    fn round<W: Whole>(value: &serde_json::Value) -> Option<serde_json::Value> {
        let object = Object::from_value(W::KIND, value.clone()).ok()?;
        Some(W::read(&object)?.to_object().to_value())
    }

    fn by_kind(value: &serde_json::Value) -> Option<serde_json::Value> {
        match value["kind"].as_str()? {
            "StatefulSet" => round::<crate::StatefulSet>(value),
            "DaemonSet" => round::<crate::DaemonSet>(value),
            "ReplicationController" => round::<crate::ReplicationController>(value),
            "Job" => round::<crate::Job>(value),
            "CronJob" => round::<crate::CronJob>(value),
            "HorizontalPodAutoscaler" => round::<crate::HorizontalPodAutoscaler>(value),
            "ControllerRevision" => round::<ControllerRevision>(value),
            _ => None,
        }
    }

    #[test]
    fn recorded_objects_of_whole_kinds_are_written_back_equal() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/sessions");
        let mut seen = std::collections::BTreeMap::new();
        for entry in std::fs::read_dir(folder).expect("recordings") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|e| e != "json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let recording: serde_json::Value = serde_json::from_str(&text).expect("json");
            for object in recording["final"].as_array().into_iter().flatten() {
                let mut object = object.clone();
                times(&mut object);
                if let Some(back) = by_kind(&object) {
                    assert_eq!(back, object, "{}", path.display());
                    *seen.entry(object["kind"].to_string()).or_insert(0) += 1;
                }
            }
        }
        assert!(seen.len() >= 5, "{seen:?}");
    }

    /// Recordings have times that count from their first step.
    fn times(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) if text.starts_with("T+") => {
                *text = "2026-11-29T12:00:00Z".into()
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(times),
            serde_json::Value::Object(map) => map.values_mut().for_each(times),
            _ => {}
        }
    }
}
