//! The types of Kubernetes' objects, as Go declares them.

use crate::arrange::Gather;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Where a declared type stands in the schema.
pub(super) type TypeId = usize;

/// A Go type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    /// Signed, of so many bits.
    Int(u32),
    /// Unsigned, of so many bits.
    Uint(u32),
    Float,
    Text,
    Bytes,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Pointer(Box<Type>),
    Declared(TypeId),
    Opaque(Opaque),
}

/// Types that read themselves from JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opaque {
    Quantity,
    IntOrString,
    Time,
    MicroTime,
    /// Kept as it is, whatever it is.
    Raw,
}

/// When Go leaves a field out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Omit {
    Never,
    /// When it is empty; a struct never is.
    Empty,
    /// When it is empty, or a struct with nothing in it.
    Zero,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) ty: Type,
    pub(super) omit: Omit,
    pub(super) strategy: &'static str,
    pub(super) merge_key: &'static str,
    /// The embedded structs the field comes through, by the names of their types.
    pub(super) through: Vec<&'static str>,
}

#[derive(Debug)]
pub(super) enum Shape {
    Struct(Vec<Field>),
    Named(Type),
}

#[derive(Debug)]
pub(super) struct Declared {
    /// `core/v1.Container`.
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// Which field has a name in JSON.
    by_name: BTreeMap<&'static str, usize>,
}

impl Declared {
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        match &self.shape {
            Shape::Struct(fields) => fields.get(*self.by_name.get(name)?),
            Shape::Named(_) => None,
        }
    }

    /// The name without its package: `Container`.
    pub(super) fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

/// All kinds and the types they are made of.
#[derive(Debug)]
pub(super) struct Schema {
    types: Vec<Declared>,
    kinds: BTreeMap<(&'static str, &'static str), TypeId>,
    /// The types of the kinds, to be lent out.
    kind_types: BTreeMap<TypeId, Type>,
}

/// The embedded schema, read at first use.
pub(super) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| Schema::parse(include_str!("types.txt")))
}

/// Embedded structs may embed others, but not for ever.
const MAX_EMBEDDING: usize = 5;

impl Schema {
    /// Every declared type.
    pub(super) fn all(&self) -> impl Iterator<Item = &Declared> {
        self.types.iter()
    }

    fn parse(text: &'static str) -> Schema {
        let lines = || text.lines().filter(|line| !line.starts_with('#'));
        let heads =
            lines().filter_map(|line| line.strip_prefix("struct: ").or_else(|| line.strip_prefix("name: ")));
        let names: BTreeMap<&str, TypeId> =
            heads.enumerate().map(|(id, head)| (head.split(' ').next().unwrap_or(head), id)).gather();
        let mut schema = Schema { types: Vec::new(), kinds: BTreeMap::new(), kind_types: BTreeMap::new() };
        let mut embedded: Vec<Vec<(usize, &str)>> = Vec::new();
        for line in lines() {
            let words: Vec<&'static str> = line.split(' ').collect();
            match words[..] {
                ["kind:", version, kind, ty] => {
                    if let Some(id) = names.get(ty) {
                        schema.kinds.insert((version, kind), *id);
                        schema.kind_types.insert(*id, Type::Declared(*id));
                    }
                }
                ["struct:", name] => {
                    schema.types.push(Declared {
                        name,
                        shape: Shape::Struct(Vec::new()),
                        by_name: BTreeMap::new(),
                    });
                    embedded.push(Vec::new());
                }
                ["name:", name, "=", ty] => {
                    let shape = Shape::Named(parse_type(ty, &names));
                    schema.types.push(Declared { name, shape, by_name: BTreeMap::new() });
                    embedded.push(Vec::new());
                }
                ["~", ty] => {
                    let place = schema.types.last().map_or(0, |last| field_count(&last.shape));
                    if let Some(list) = embedded.last_mut() {
                        list.push((place, ty));
                    }
                }
                [field, ty, ref rest @ ..] => {
                    if let Some(Shape::Struct(fields)) = schema.types.last_mut().map(|last| &mut last.shape) {
                        fields.push(parse_field(field, parse_type(ty, &names), rest));
                    }
                }
                _ => {}
            }
        }
        for _ in 0..MAX_EMBEDDING {
            if !schema.embed(&mut embedded, &names) {
                break;
            }
        }
        for declared in &mut schema.types {
            if let Shape::Struct(fields) = &declared.shape {
                declared.by_name =
                    fields.iter().enumerate().map(|(place, field)| (field.name, place)).gather();
            }
        }
        schema
    }

    /// Copies the fields of embedded structs that embed nothing themselves. True if there was any.
    fn embed(&mut self, embedded: &mut [Vec<(usize, &str)>], names: &BTreeMap<&str, TypeId>) -> bool {
        let mut any = false;
        for outer in 0..self.types.len() {
            while let Some(&(place, name)) = embedded[outer].last() {
                let Some(&inner) = names.get(name) else { break };
                if !embedded[inner].is_empty() || inner == outer {
                    break;
                }
                any = true;
                embedded[outer].pop();
                let label = self.types[inner].short_name();
                let copies = match &self.types[inner].shape {
                    Shape::Struct(fields) => fields.iter().map(|field| copy_through(field, label)).collect(),
                    Shape::Named(_) => Vec::new(),
                };
                if let Shape::Struct(fields) = &mut self.types[outer].shape {
                    let tail = fields.split_off(place.min(fields.len()));
                    fields.extend(copies);
                    fields.extend(tail);
                }
            }
        }
        any
    }

    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<TypeId> {
        self.kinds.get(&(api_version, kind)).copied()
    }

    /// The type of this name, as `core/v1.Pod`.
    pub(super) fn type_named(&self, name: &str) -> Option<TypeId> {
        self.types.iter().position(|declared| declared.name == name)
    }

    pub(super) fn kind_type(&self, id: TypeId) -> Option<&Type> {
        self.kind_types.get(&id)
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.kinds.keys().copied()
    }

    pub(super) fn declared(&self, id: TypeId) -> Option<&Declared> {
        self.types.get(id)
    }

    /// The type a name stands for, and what a pointer points to.
    pub(super) fn resolve<'a>(&'a self, mut ty: &'a Type) -> &'a Type {
        loop {
            match ty {
                Type::Pointer(inner) => ty = inner,
                Type::Declared(id) => match self.types.get(*id).map(|declared| &declared.shape) {
                    Some(Shape::Named(inner)) => ty = inner,
                    _ => return ty,
                },
                _ => return ty,
            }
        }
    }

    /// The struct a type is, if it is one.
    #[cfg(test)]
    pub(super) fn as_struct<'a>(&'a self, ty: &'a Type) -> Option<&'a Declared> {
        match self.resolve(ty) {
            Type::Declared(id) => self.declared(*id),
            _ => None,
        }
    }

    /// The type as Go prints it: `[]v1.Container`, `map[string]string`.
    pub(super) fn go_name(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Int(bits) => format!("int{bits}"),
            Type::Uint(bits) => format!("uint{bits}"),
            Type::Float => "float64".to_owned(),
            Type::Text => "string".to_owned(),
            Type::Bytes => "[]uint8".to_owned(),
            Type::List(item) => format!("[]{}", self.go_name(item)),
            Type::Map(key, value) => format!("map[{}]{}", self.go_name(key), self.go_name(value)),
            Type::Pointer(inner) => format!("*{}", self.go_name(inner)),
            Type::Declared(id) => {
                let name = self.types.get(*id).map_or("", |declared| declared.name);
                name.rsplit('/').next().unwrap_or(name).to_owned()
            }
            Type::Opaque(opaque) => match opaque {
                Opaque::Quantity => "resource.Quantity",
                Opaque::IntOrString => "intstr.IntOrString",
                Opaque::Time => "v1.Time",
                Opaque::MicroTime => "v1.MicroTime",
                Opaque::Raw => "runtime.RawExtension",
            }
            .to_owned(),
        }
    }
}

fn field_count(shape: &Shape) -> usize {
    match shape {
        Shape::Struct(fields) => fields.len(),
        Shape::Named(_) => 0,
    }
}

fn copy_through(field: &Field, label: &'static str) -> Field {
    let through = [label].into_iter().chain(field.through.iter().copied()).collect();
    Field { ty: field.ty.clone(), through, ..*field }
}

fn parse_field(name: &'static str, ty: Type, rest: &[&'static str]) -> Field {
    let (name, omit) = match (name.strip_suffix('?'), name.strip_suffix('!')) {
        (Some(name), _) => (name, Omit::Empty),
        (_, Some(name)) => (name, Omit::Zero),
        _ => (name, Omit::Never),
    };
    Field {
        name,
        ty,
        omit,
        strategy: rest.first().copied().unwrap_or_default(),
        merge_key: rest.get(1).copied().unwrap_or_default(),
        through: Vec::new(),
    }
}

fn parse_type(text: &'static str, names: &BTreeMap<&str, TypeId>) -> Type {
    if let Some(rest) = text.strip_prefix('*') {
        return Type::Pointer(Box::new(parse_type(rest, names)));
    }
    if let Some(rest) = text.strip_prefix("[]") {
        return if rest == "byte" { Type::Bytes } else { Type::List(Box::new(parse_type(rest, names))) };
    }
    if let Some((key, value)) = text.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
        return Type::Map(Box::new(parse_type(key, names)), Box::new(parse_type(value, names)));
    }
    match text {
        "bool" => Type::Bool,
        "string" => Type::Text,
        "int" | "int64" => Type::Int(64),
        "int32" => Type::Int(32),
        "int16" => Type::Int(16),
        "int8" => Type::Int(8),
        "uint" | "uint64" => Type::Uint(64),
        "uint32" => Type::Uint(32),
        "byte" | "uint8" => Type::Uint(8),
        "float64" | "float32" => Type::Float,
        "resource.Quantity" => Type::Opaque(Opaque::Quantity),
        "intstr.IntOrString" => Type::Opaque(Opaque::IntOrString),
        "meta/v1.Time" => Type::Opaque(Opaque::Time),
        "meta/v1.MicroTime" => Type::Opaque(Opaque::MicroTime),
        _ => names.get(text).map_or(Type::Opaque(Opaque::Raw), |id| Type::Declared(*id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_named_is_known() {
        let text = include_str!("types.txt");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let ty = match line.split(' ').collect::<Vec<_>>()[..] {
                ["kind:", _, _, ty] | ["name:", _, "=", ty] | ["~", ty] => ty,
                ["struct:", _] => continue,
                [_, ty, ..] => ty,
                _ => panic!("not understood: {line}"),
            };
            for name in ty.split(['[', ']', '*']).filter(|name| name.contains('.')) {
                let known =
                    text.contains(&format!("struct: {name}\n")) || text.contains(&format!("name: {name} = "));
                let opaque =
                    ["resource.Quantity", "intstr.IntOrString", "runtime.RawExtension", "runtime.Object"];
                let own = ["meta/v1.Time", "meta/v1.MicroTime", "meta/v1.Duration", "meta/v1.FieldsV1"];
                let any = name.starts_with("apiextensions/v1.JSON");
                assert!(known || opaque.contains(&name) || own.contains(&name) || any, "{line}");
            }
        }
    }

    #[test]
    fn embedded_fields_keep_their_place_and_say_where_they_come_from() {
        let schema = schema();
        let pod = schema.kind("v1", "Pod").and_then(|id| schema.declared(id)).expect("Pod");
        let Shape::Struct(fields) = &pod.shape else { panic!("a struct") };
        let names: Vec<_> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names, ["kind", "apiVersion", "metadata", "spec", "status"]);
        let spec = schema.as_struct(&pod.field("spec").expect("spec").ty).expect("PodSpec");
        let containers = spec.field("containers").expect("containers");
        assert_eq!((containers.strategy, containers.merge_key), ("merge", "name"));
        assert_eq!(schema.go_name(&containers.ty), "[]v1.Container");
        let Type::List(item) = &containers.ty else { panic!("a list") };
        let container = schema.as_struct(item).expect("Container");
        let probe = schema.as_struct(&container.field("readinessProbe").expect("probe").ty).expect("Probe");
        assert_eq!(probe.field("httpGet").expect("httpGet").through, ["ProbeHandler"]);
        let policy = container.field("imagePullPolicy").expect("policy");
        assert_eq!(
            (schema.go_name(&policy.ty), schema.resolve(&policy.ty)),
            ("v1.PullPolicy".to_owned(), &Type::Text)
        );
    }
}
