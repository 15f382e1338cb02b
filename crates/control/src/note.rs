//! Notes say why something was done; event notes are what a component tells the cluster.

use kubestep_model::{Object, ObjectReference};

/// Why something was done or left: a code with a sentence in a table, and the values for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// For example `deploy.scale-up`.
    pub code: &'static str,
    /// Named values for the sentence.
    pub about: Vec<(&'static str, String)>,
}

/// An event before it is correlated and written.
#[derive(Clone, Debug, PartialEq)]
pub struct EventNote {
    /// The object it is about.
    pub regarding: ObjectReference,
    /// `Normal` or `Warning`.
    pub r#type: &'static str,
    /// For example `ScalingReplicaSet`.
    pub reason: String,
    /// The text.
    pub message: String,
    /// What was being done, for example `Binding`: only events with a series carry it.
    pub action: &'static str,
}

/// A reference to an object as events carry it. Upstream: client-go/tools/reference.GetReference.
pub fn reference(object: &Object) -> ObjectReference {
    let meta = object.meta();
    ObjectReference {
        kind: object.kind().name().into(),
        api_version: object.kind().api_version(),
        namespace: meta.namespace.clone(),
        name: meta.name.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
        ..Default::default()
    }
}
