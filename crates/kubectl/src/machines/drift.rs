//! What a program beside kubectl wants of an object and the object is not, as its notes in the cluster tell.

use super::{differences, gitops, notes_of, row_of, statefile};
use kubestep_model::{Kind, Object, yaml};
use serde_json::Value;

/// A difference that no loop works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// `statefile` or `gitops`.
    pub program: &'static str,
    /// Where they differ: `spec.replicas: 7 -> 3`.
    pub differs: Vec<String>,
    /// Its agent was told to keep still.
    pub suspended: bool,
}

/// How an object differs from what a program noted; `noted` finds a config map by its name.
pub fn drift<'o>(object: &Object, noted: &dyn Fn(&str) -> Option<&'o Object>) -> Option<Drift> {
    let (program, suspended, want) =
        match noted(statefile::STATE).and_then(|n| notes_of(n).remove(&row_of(&object.key()))) {
            Some(text) => ("statefile", false, serde_json::from_str(&text).ok()?),
            None => {
                let repository = noted(gitops::REPOSITORY)?;
                ("gitops", gitops::is_suspended(repository), in_files(repository, object)?)
            }
        };
    let differs = differences(&want, &object.to_value());
    (!differs.is_empty()).then_some(Drift { program, differs, suspended })
}

/// An object's document in the files of a config map.
fn in_files(files: &Object, object: &Object) -> Option<Value> {
    let (kind, meta) = (object.kind(), object.meta());
    let word =
        |v: &Value, pointer: &str| v.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_it = |v: &Value| {
        Kind::of_manifest(&word(v, "/apiVersion"), &word(v, "/kind")) == Some(kind)
            && word(v, "/metadata/name") == *meta.name
    };
    let documents = notes_of(files).into_values().flat_map(|text| yaml::read(&text).documents);
    documents.map(|d| d.value).find(is_it)
}
