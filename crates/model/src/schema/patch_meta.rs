//! How the lists and maps of Kubernetes' objects are patched, by the tags of their fields.
//!
//! Upstream: k8s.io/apimachinery, pkg/util/strategicpatch, PatchMetaFromStruct (v1.37).

use super::types::{Type, TypeId, schema};
use crate::yaml::json::go_quote;

/// The type at some place in an object, as far as patching cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchSchema {
    place: Place,
    /// Go reaches it through a pointer.
    pointer: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Struct(TypeId),
    /// A map or scalar: Go's word for it.
    Other(&'static str),
}

/// How one field is patched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchMeta {
    /// `merge`, `replace`, `retainKeys`; more than one may stand.
    pub strategies: Vec<&'static str>,
    /// By which field the items of a list are told apart.
    pub merge_key: &'static str,
}

impl PatchMeta {
    #[must_use]
    pub fn has(&self, strategy: &str) -> bool {
        self.strategies.contains(&strategy)
    }
}

/// The schema of a kind; none if the kind is not known (its patches merge as plain JSON).
#[must_use]
pub fn patch_schema(api_version: &str, kind: &str) -> Option<PatchSchema> {
    schema().kind(api_version, kind).map(|id| PatchSchema { place: Place::Struct(id), pointer: false })
}

impl PatchSchema {
    /// How a field that is an object is patched, and its schema.
    ///
    /// # Errors
    /// In upstream's words if there is no such field.
    pub fn field(self, name: &str) -> Result<(PatchSchema, PatchMeta), String> {
        let (ty, meta) = self.look_up(name)?;
        Ok((schema_at(ty), meta))
    }

    /// How a field that is a list is patched, and the schema of its items.
    ///
    /// # Errors
    /// In upstream's words if there is no such field, or if it is no list.
    pub fn list(self, name: &str) -> Result<(PatchSchema, PatchMeta), String> {
        let (ty, meta) = self.look_up(name)?;
        match (ty, schema().resolve(ty)) {
            (_, Type::List(item)) => Ok((schema_at(item), meta)),
            (_, Type::Bytes) => Ok((PatchSchema { place: Place::Other("uint8"), pointer: false }, meta)),
            // Upstream does not look at what a pointer points to.
            (Type::Pointer(inner), _) => Ok((schema_at(inner), meta)),
            // It names what holds the field, not the field.
            _ if self.pointer => Err("expected slice or array type, but got: ptr".to_owned()),
            _ => Err(format!("expected slice or array type, but got: {}", self.go_kind())),
        }
    }

    /// Go's word for what stands here.
    #[must_use]
    pub fn go_kind(self) -> &'static str {
        match self.place {
            Place::Struct(_) => "struct",
            Place::Other(kind) => kind,
        }
    }

    fn look_up(self, name: &str) -> Result<(&'static Type, PatchMeta), String> {
        let declared = match self.place {
            Place::Struct(id) => schema().declared(id),
            Place::Other(_) => None,
        };
        let Some(declared) = declared else {
            let kind = self.go_kind();
            return Err(format!("merging an object in json but data type is not struct, instead is: {kind}"));
        };
        let Some(field) = declared.field(name) else {
            let holder = declared.short_name();
            return Err(format!(
                "unable to find api field in struct {holder} for the json field {}",
                go_quote(name)
            ));
        };
        let strategies = field.strategy.split(',').filter(|strategy| !strategy.is_empty()).collect();
        Ok((&field.ty, PatchMeta { strategies, merge_key: field.merge_key }))
    }
}

fn schema_at(ty: &Type) -> PatchSchema {
    PatchSchema { place: place(ty), pointer: matches!(ty, Type::Pointer(_)) }
}

fn place(ty: &Type) -> Place {
    match schema().resolve(ty) {
        Type::Declared(id) => Place::Struct(*id),
        Type::Map(..) => Place::Other("map"),
        Type::List(_) | Type::Bytes => Place::Other("slice"),
        Type::Bool => Place::Other("bool"),
        Type::Text => Place::Other("string"),
        Type::Float => Place::Other("float64"),
        Type::Int(32) => Place::Other("int32"),
        Type::Int(_) | Type::Uint(_) => Place::Other("int64"),
        // These are structs of their own, without fields in JSON.
        Type::Opaque(_) | Type::Pointer(_) => Place::Other("struct"),
    }
}
