//! The places in an object as server-side apply sees them: what is owned as a whole, and how the items of lists are
//! told apart.
//!
//! Upstream: the listType, mapType and structType markers of k8s.io/api (v1.37). Most follow from the patch tags;
//! those that do not stand in the tables here.

use super::types::{Field, Opaque, Type, schema};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

/// A place in an object: its type, and how the list there is merged.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    ty: At,
    keys: Keys,
    atomic: bool,
}

/// What says of a place's shape.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Kubernetes' own types.
    Go(&'static Type),
    /// The schema of a kind that somebody defined; at its root with metadata.
    Schema(&'static Value, bool),
}

#[derive(Clone, Copy, Debug)]
enum Keys {
    /// Items are not told apart: the list is one value.
    None,
    /// Items are values.
    Values,
    /// Items are told apart by these fields.
    Fields(&'static [&'static str]),
    One(&'static str),
}

/// What stands at a place.
#[derive(Clone, Debug)]
pub enum Form {
    Number,
    Text,
    Bool,
    /// Read from several forms of JSON, such as a quantity.
    Any,
    Struct,
    /// A map and the place of its values.
    Map(Place),
    /// A list and the place of its items.
    List(Place),
    /// A list whose items are told apart by fields.
    Keyed(Vec<&'static str>, Place),
    /// A list of values of which each stands once.
    Set(Place),
}

/// Structs that are owned as a whole.
const WHOLE: [&str; 17] = [
    "meta/v1.LabelSelector",
    "meta/v1.OwnerReference",
    "core/v1.NodeSelector",
    "core/v1.NodeSelectorTerm",
    "core/v1.LocalObjectReference",
    "core/v1.ObjectReference",
    "core/v1.SecretReference",
    "core/v1.TypedLocalObjectReference",
    "core/v1.ConfigMapKeySelector",
    "core/v1.SecretKeySelector",
    "core/v1.ObjectFieldSelector",
    "core/v1.ResourceFieldSelector",
    "core/v1.ScopeSelector",
    "core/v1.TopologySelectorTerm",
    "rbac/v1.RoleRef",
    "rbac/v1.Subject",
    "autoscaling/v2.CrossVersionObjectReference",
];
/// Maps that are owned as a whole, by the struct that they are in.
const WHOLE_MAPS: [(&str, &str); 3] = [
    ("core/v1.PodSpec", "nodeSelector"),
    ("core/v1.ServiceSpec", "selector"),
    ("core/v1.ReplicationControllerSpec", "selector"),
];
/// Lists that patches merge by one field and apply by more, or not at all.
const OTHER_KEYS: [(&str, &str, &[&str]); 6] = [
    ("core/v1.Container", "ports", &["containerPort", "protocol"]),
    ("core/v1.EphemeralContainerCommon", "ports", &["containerPort", "protocol"]),
    ("core/v1.EphemeralContainer", "ports", &["containerPort", "protocol"]),
    ("core/v1.ServiceSpec", "ports", &["port", "protocol"]),
    ("core/v1.PodSpec", "topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("core/v1.NodeSpec", "taints", &[]),
];

/// What a field of a key is where an item does not say.
#[must_use]
pub fn key_default(field: &str) -> Option<&'static str> {
    (field == "protocol").then_some("TCP")
}

/// The place of a kind's whole object.
#[must_use]
pub fn place(api_version: &str, kind: &str) -> Option<Place> {
    let id = schema().kind(api_version, kind)?;
    // The table of kinds names types by number; a place wants the type itself.
    let ty: &'static Type = schema().kind_type(id)?;
    Some(Place { ty: At::Go(ty), keys: Keys::None, atomic: false })
}

/// Schemas of defined kinds that something was applied to, each once: places are lent for ever.
static DEFINED: Mutex<Vec<&'static Value>> = Mutex::new(Vec::new());

/// The place of a whole object whose kind somebody defined with this schema.
#[must_use]
pub fn defined_place(schema: &Value) -> Place {
    let mut known = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().find(|s| **s == schema).copied();
    let schema = found.unwrap_or_else(|| {
        let kept: &'static Value = Box::leak(Box::new(schema.clone()));
        known.push(kept);
        kept
    });
    Place { ty: At::Schema(schema, true), keys: Keys::None, atomic: false }
}

/// Upstream: apiextensions-apiserver, pkg/controller/openapi/builder, and structured-merge-diff, schema (v1.37).
fn defined_form(schema: &'static Value, root: bool) -> Form {
    let flag = |name: &str| schema[name] == true;
    let inside = |schema: &'static Value| Place {
        ty: At::Schema(schema, false),
        keys: Keys::None,
        atomic: is_atomic(schema),
    };
    if flag("x-kubernetes-int-or-string") {
        return Form::Any;
    }
    match schema["type"].as_str() {
        _ if root => Form::Struct,
        Some("boolean") => Form::Bool,
        Some("integer" | "number") => Form::Number,
        Some("string") => Form::Text,
        Some("array") => {
            let item = inside(&schema["items"]);
            match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => Form::Set(item),
                Some("map") => {
                    let keys = schema["x-kubernetes-list-map-keys"].as_array();
                    Form::Keyed(keys.into_iter().flatten().filter_map(Value::as_str).collect(), item)
                }
                _ => Form::List(item),
            }
        }
        Some("object") if schema["additionalProperties"].is_object() => {
            Form::Map(inside(&schema["additionalProperties"]))
        }
        Some("object") => Form::Struct,
        _ => Form::Any,
    }
}

fn is_atomic(schema: &Value) -> bool {
    schema["x-kubernetes-map-type"] == "atomic"
}

impl Place {
    /// What stands here.
    #[must_use]
    pub fn form(self) -> Form {
        let ty = match self.ty {
            At::Go(ty) => ty,
            At::Schema(schema, root) => return defined_form(schema, root),
        };
        match schema().resolve(ty) {
            Type::Bool => Form::Bool,
            Type::Int(_) | Type::Uint(_) | Type::Float => Form::Number,
            Type::Text | Type::Bytes => Form::Text,
            Type::Opaque(Opaque::Time | Opaque::MicroTime) => Form::Text,
            Type::Opaque(_) | Type::Pointer(_) => Form::Any,
            Type::Declared(_) => Form::Struct,
            Type::Map(_, value) => Form::Map(inner(value)),
            Type::List(item) => match self.keys {
                Keys::None => Form::List(inner(item)),
                Keys::Values => Form::Set(inner(item)),
                Keys::One(key) => Form::Keyed(vec![key], inner(item)),
                Keys::Fields(keys) => Form::Keyed(keys.to_vec(), inner(item)),
            },
        }
    }

    /// Whether what stands here is owned as a whole.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.atomic || matches!(self.form(), Form::List(_))
    }

    /// Whether fields may stand here that nobody described.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self.ty, At::Schema(schema, _) if schema["x-kubernetes-preserve-unknown-fields"] == true
            || schema["x-kubernetes-embedded-resource"] == true)
    }

    /// The place of a struct's field; none if it has no such field.
    #[must_use]
    pub fn field(self, name: &str) -> Option<Place> {
        let ty = match self.ty {
            At::Go(ty) => ty,
            At::Schema(_, true) if matches!(name, "apiVersion" | "kind" | "metadata") => {
                return place("v1", "ConfigMap")?.field(name);
            }
            At::Schema(schema, _) => {
                let inner = schema["properties"].get(name)?;
                return Some(Place {
                    ty: At::Schema(inner, false),
                    keys: Keys::None,
                    atomic: is_atomic(inner),
                });
            }
        };
        let Type::Declared(id) = schema().resolve(ty) else { return None };
        let declared = schema().declared(*id)?;
        declared.field(name).map(|field| of_field(declared.name, field))
    }
}

fn of_field(owner: &str, field: &'static Field) -> Place {
    let merges = field.strategy.split(',').any(|s| s == "merge");
    let other = OTHER_KEYS.iter().find(|(of, name, _)| *of == owner && *name == field.name);
    let keys = match other {
        Some((_, _, [])) => Keys::None,
        Some((_, _, keys)) => Keys::Fields(keys),
        None if merges && field.merge_key.is_empty() => Keys::Values,
        None if merges => Keys::One(field.merge_key),
        None => Keys::None,
    };
    let whole_map = WHOLE_MAPS.contains(&(owner, field.name));
    Place { ty: At::Go(&field.ty), keys, atomic: whole_map || is_whole_struct(&field.ty) }
}

fn inner(ty: &'static Type) -> Place {
    Place { ty: At::Go(ty), keys: Keys::None, atomic: is_whole_struct(ty) }
}

fn is_whole_struct(ty: &'static Type) -> bool {
    match schema().resolve(ty) {
        Type::Declared(id) => schema().declared(*id).is_some_and(|d| WHOLE.contains(&d.name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Place {
        let mut place = place("apps/v1", "Deployment").expect("a kind");
        for step in path.split('.') {
            place = match place.form() {
                Form::Keyed(_, item) => item.field(step),
                _ => place.field(step),
            }
            .unwrap_or_else(|| panic!("{step}"));
        }
        place
    }

    #[test]
    fn places_say_what_is_owned_as_a_whole() {
        assert!(at("spec.selector").is_whole() && at("spec.template.spec.nodeSelector").is_whole());
        assert!(at("spec.template.spec.tolerations").is_whole());
        assert!(!at("metadata.labels").is_whole() && !at("spec.template").is_whole());
        assert!(
            matches!(at("spec.template.spec.containers").form(), Form::Keyed(keys, _) if keys == ["name"])
        );
        let ports = at("spec.template.spec.containers.ports").form();
        assert!(matches!(ports, Form::Keyed(keys, _) if keys == ["containerPort", "protocol"]));
        assert!(matches!(at("metadata.finalizers").form(), Form::Set(_)));
        assert!(at("spec").field("replica").is_none());
    }
}
