//! The fields of a type as `kubectl explain` lists them. Their descriptions are not part of the schema.

use super::types::{Declared, Field, Omit, Opaque, Shape, Type, schema};
use crate::arrange::Arrange;

/// One field, and those below it where they were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its name; empty for a kind itself.
    pub name: &'static str,
    /// The type whose field it is; empty for a kind itself.
    pub owner: &'static str,
    /// The described type that it is made of, seen through lists and maps; empty if there is none.
    pub inner: &'static str,
    /// What it holds, as `[]Container`, `integer`, `map[string]string`.
    pub holds: String,
    /// Whether upstream's schema calls it required.
    pub required: bool,
    /// The fields of what it holds, by name.
    pub fields: Vec<Explained>,
}

/// Deeper levels are not listed.
const DEEPEST: usize = 64;

/// What a path of field names in a kind leads to, with so many levels of fields below it. None if there is no such
/// kind; an error names the field that does not exist.
#[must_use]
pub fn explain(
    api_version: &str,
    kind: &str,
    path: &[&str],
    levels: usize,
) -> Option<Result<Explained, String>> {
    let schema = schema();
    let mut ty = Type::Declared(schema.kind(api_version, kind)?);
    let mut found = ("", false, "");
    for name in path {
        let owner = declared(&ty);
        let Some((owner, field)) = owner.and_then(|d| Some((d.name, d.field(name)?))) else {
            return Some(Err((*name).to_owned()));
        };
        found = (field.name, required(owner, field), owner);
        ty = field.ty.clone();
    }
    let (name, required, owner) = found;
    let fields = fields(&ty, levels.min(DEEPEST), &mut Vec::new());
    Some(Ok(Explained { name, owner, inner: inner(&ty), holds: holds(&ty), required, fields }))
}

/// The struct that a type is made of, seen through pointers, lists and maps.
fn declared(ty: &Type) -> Option<&'static Declared> {
    match schema().resolve(ty) {
        Type::List(inner) | Type::Map(_, inner) | Type::Pointer(inner) => declared(inner),
        Type::Declared(id) => schema().declared(*id).filter(|d| matches!(d.shape, Shape::Struct(_))),
        _ => None,
    }
}

/// The type that upstream's description of a field refers to.
fn inner(ty: &Type) -> &'static str {
    match schema().resolve(ty) {
        Type::List(inside) | Type::Map(_, inside) | Type::Pointer(inside) => inner(inside),
        Type::Declared(_) => declared(ty).map_or("", |d| d.name),
        Type::Opaque(Opaque::Quantity) => "resource.Quantity",
        Type::Opaque(Opaque::IntOrString) => "intstr.IntOrString",
        Type::Opaque(Opaque::Time) => "meta/v1.Time",
        Type::Opaque(Opaque::MicroTime) => "meta/v1.MicroTime",
        _ => "",
    }
}

/// Fields of which upstream's schema says the opposite of what Go's tags let one expect: a type and its fields a line.
/// Upstream: api/openapi-spec/v3 (v1.37).
const OTHERWISE: &str = include_str!("required.txt");

fn required(owner: &str, field: &Field) -> bool {
    let line = OTHERWISE.lines().find_map(|line| line.strip_prefix(owner)?.strip_prefix(' '));
    let otherwise = line.is_some_and(|names| names.split(' ').any(|name| name == field.name));
    (field.omit == Omit::Never) != otherwise
}

/// What upstream guesses of a type. Upstream: explain/v2, typeGuess.
fn holds(ty: &Type) -> String {
    match schema().resolve(ty) {
        Type::Bool => "boolean".to_owned(),
        Type::Int(_) | Type::Uint(_) => "integer".to_owned(),
        Type::Float => "number".to_owned(),
        Type::Text | Type::Bytes | Type::Opaque(Opaque::Time | Opaque::MicroTime) => "string".to_owned(),
        Type::Opaque(Opaque::Quantity) => "Quantity".to_owned(),
        Type::Opaque(Opaque::IntOrString) => "IntOrString".to_owned(),
        Type::Opaque(Opaque::Raw) => "Object".to_owned(),
        Type::List(inner) => format!("[]{}", holds(inner)),
        Type::Map(_, inner) => format!("map[string]{}", holds(inner)),
        Type::Pointer(inner) => holds(inner),
        Type::Declared(id) => schema().declared(*id).map_or("Object", Declared::short_name).to_owned(),
    }
}

/// The fields of a type by name; a type inside itself is not followed again.
fn fields(ty: &Type, levels: usize, above: &mut Vec<&'static str>) -> Vec<Explained> {
    let Some(declared) = declared(ty).filter(|d| levels > 0 && !above.contains(&d.name)) else {
        return vec![];
    };
    let Shape::Struct(list) = &declared.shape else { return vec![] };
    above.push(declared.name);
    let mut found: Vec<Explained> = list
        .iter()
        .map(|field| Explained {
            name: field.name,
            owner: declared.name,
            inner: inner(&field.ty),
            holds: holds(&field.ty),
            required: required(declared.name, field),
            fields: fields(&field.ty, levels - 1, above),
        })
        .collect();
    above.pop();
    found.arrange_by_key(|f| f.name);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_fields() {
        let of = |path: &[&str]| explain("apps/v1", "Deployment", path, 1).unwrap();
        let spec = of(&["spec"]).unwrap();
        assert_eq!((spec.name, spec.holds.as_str()), ("spec", "DeploymentSpec"));
        let field = |name: &str| spec.fields.iter().find(|f| f.name == name).unwrap();
        assert_eq!(field("replicas").holds, "integer");
        assert!(field("template").required && !field("replicas").required);
        let backend = explain("networking.k8s.io/v1", "Ingress", &["spec", "defaultBackend", "resource"], 1);
        let backend = backend.unwrap().unwrap();
        let needed: Vec<&str> = backend.fields.iter().filter(|f| f.required).map(|f| f.name).collect();
        assert_eq!(needed, ["kind", "name"], "apiGroup is written always, and may be left out");
        let containers = of(&["spec", "template", "spec", "containers"]).unwrap();
        assert_eq!(containers.holds, "[]Container");
        assert!(containers.fields.iter().any(|f| f.name == "image" && f.holds == "string"));
        assert_eq!(of(&["spec", "nothing"]), Err("nothing".to_owned()));
        assert!(explain("v1", "Nothing", &[], 1).is_none());
        assert!(explain("apps/v1", "StatefulSet", &[], 99).is_some());
    }
}
