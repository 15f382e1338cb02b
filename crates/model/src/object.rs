//! Objects: a struct for each kind that loops read, whole JSON for all others.

use crate::{Kind, Look, ObjectMeta, Seen, go, kinds::*, text::order};
use serde_json::{Map, Value};
use std::{cmp::Ordering, fmt, sync::Arc};

/// Names one object: kind, namespace (empty for cluster-wide kinds) and name.
#[derive(Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct Key {
    pub kind: Kind,
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

/// By kind, namespace and name. Most keys that are compared share their namespace.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let of_namespace = || {
            if Arc::ptr_eq(&self.namespace, &other.namespace) {
                return Ordering::Equal;
            }
            order(&self.namespace, &other.namespace)
        };
        let of_kind = self.kind.cmp(&other.kind);
        of_kind.then_with(of_namespace).then_with(|| order(&self.name, &other.name))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Key {
    /// The key of an object.
    pub fn new(kind: Kind, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Key { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{}/{}", self.kind, self.name)
        } else {
            write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
        }
    }
}

/// An object of a kind that no loop here reads: kept as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Custom {
    /// Its kind.
    pub kind: Kind,
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// Everything else, without `apiVersion`, `kind` and `metadata`.
    pub rest: Map<String, Value>,
}

/// A struct that stands for one kind.
pub trait Resource: Clone + Into<Object> {
    /// The kind.
    const KIND: Kind;
    /// This object as that kind, if it is one.
    fn of(object: &Object) -> Option<&Self>;
    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;
    /// Its metadata, to be changed.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// Its key.
    fn key(&self) -> Key {
        Key { kind: Self::KIND, namespace: self.meta().namespace.clone(), name: self.meta().name.clone() }
    }
}

macro_rules! objects {
    ($($kind:ident),*) => {
        /// Any object. Cheap to clone: the body is shared.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Object { $($kind(Arc<$kind>),)* Custom(Arc<Custom>) }

        impl Object {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self { $(Object::$kind(_) => Kind::$kind,)* Object::Custom(c) => c.kind }
            }
            /// Its metadata.
            pub fn meta(&self) -> &ObjectMeta {
                match self { $(Object::$kind(o) => &o.metadata,)* Object::Custom(c) => &c.metadata }
            }
            /// Its metadata, to be changed; other holders keep the object as it was.
            pub fn meta_mut(&mut self) -> &mut ObjectMeta {
                match self { $(Object::$kind(o) => &mut Arc::make_mut(o).metadata,)* Object::Custom(c) => &mut Arc::make_mut(c).metadata }
            }
            /// All that stands beside `apiVersion` and `kind`.
            fn body(&self) -> &dyn Look {
                match self { $(Object::$kind(o) => &**o,)* Object::Custom(c) => &**c }
            }
            /// Reads an object of this kind from JSON; `apiVersion` and `kind` in it are not looked at.
            /// Errors: the path-less text of the decoder, for values of a wrong type.
            pub fn from_value(kind: Kind, mut value: Value) -> Result<Object, String> {
                if let Value::Object(map) = &mut value {
                    map.remove("apiVersion");
                    map.remove("kind");
                }
                match kind {
                    $(Kind::$kind => go::made::<$kind>(value).map(|o| Object::$kind(Arc::new(o))),)*
                    Kind::Other(_) => Object::unread(kind, value),
                }
            }
            /// An object of any kind as it was written: only its metadata is read.
            pub fn unread(kind: Kind, value: Value) -> Result<Object, String> {
                let Value::Object(mut rest) = value else { return Err("an object must be a map".into()) };
                rest.remove("apiVersion");
                rest.remove("kind");
                let meta = rest.remove("metadata").unwrap_or(Value::Null);
                let metadata = if meta.is_null() { ObjectMeta::default() } else { go::made(meta)? };
                Ok(Object::Custom(Arc::new(Custom { kind, metadata, rest })))
            }
        }
        $(
            impl Resource for $kind {
                const KIND: Kind = Kind::$kind;
                fn of(object: &Object) -> Option<&Self> {
                    if let Object::$kind(o) = object { Some(o) } else { None }
                }
                fn meta(&self) -> &ObjectMeta { &self.metadata }
                fn meta_mut(&mut self) -> &mut ObjectMeta { &mut self.metadata }
            }
            impl From<$kind> for Object { fn from(o: $kind) -> Object { Object::$kind(Arc::new(o)) } }
        )*
    };
}

objects!(
    Namespace,
    Node,
    Pod,
    ReplicaSet,
    Deployment,
    Service,
    Endpoints,
    EndpointSlice,
    ConfigMap,
    Secret,
    ServiceAccount,
    Event,
    ResourceQuota,
    Lease
);

impl Look for Custom {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let mut all = go::fields(&self.rest);
        go::put(&mut all, "metadata", &self.metadata);
        tell(Seen::Map(&all));
    }
}

impl Look for Object {
    fn look(&self, tell: &mut dyn FnMut(Seen<'_>)) {
        let version = self.kind().api_version();
        self.body().look(&mut |seen| {
            let Seen::Map(fields) = seen else { return };
            let mut all = Vec::with_capacity(fields.len() + 2);
            all.extend_from_slice(fields);
            let (version, kind): (&str, &str) = (&version, self.kind().name());
            go::put(&mut all, "apiVersion", &version);
            go::put(&mut all, "kind", &kind);
            tell(Seen::Map(&all));
        });
    }
}

impl Object {
    /// As JSON, with `apiVersion` and `kind` and with the omissions of Go's encoder.
    pub fn to_value(&self) -> Value {
        go::to_json(self)
    }
    /// Its key.
    pub fn key(&self) -> Key {
        Key { kind: self.kind(), namespace: self.meta().namespace.clone(), name: self.meta().name.clone() }
    }
    /// This object as a kind with a struct, if it is one.
    pub fn get<R: Resource>(&self) -> Option<&R> {
        R::of(self)
    }
}
