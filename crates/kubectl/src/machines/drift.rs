//! What a program beside kubectl wants of an object and the object is not, as its notes in the cluster tell.

use super::{differences, gitops, notes_of, row_of, statefile};
use kubestep_model::{Kind, Object, yaml};
use serde_json::Value;

/// What a program wants of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// `statefile` or `gitops`.
    pub program: &'static str,
    /// Its agent was told to keep still.
    pub suspended: bool,
    /// What it wants the object to be.
    want: Value,
}

impl Wanted {
    /// Where the object, as it is or was, differs: `spec.replicas: 7 -> 3`.
    pub fn differs(&self, object: &Object) -> Vec<String> {
        differences(&self.want, &object.to_value())
    }
}

/// What a program noted that it wants of an object; `noted` finds a config map by its name.
pub fn wanted<'o>(object: &Object, noted: &dyn Fn(&str) -> Option<&'o Object>) -> Option<Wanted> {
    match noted(statefile::STATE).and_then(|n| notes_of(n).remove(&row_of(&object.key()))) {
        Some(text) => {
            Some(Wanted { program: "statefile", suspended: false, want: serde_json::from_str(&text).ok()? })
        }
        None => {
            let repository = noted(gitops::REPOSITORY)?;
            let suspended = gitops::is_suspended(repository);
            Some(Wanted { program: "gitops", suspended, want: in_files(repository, object)? })
        }
    }
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
