//! Values as the API server prints them when it refuses them, and what differs between two of them.

use super::diff;
use kubestep_model::text::hash;
use serde_json::Value;

/// A value of an internal type on one line.
pub(super) fn shown(kind: &str, value: &Value) -> String {
    hash::shown(kind, value)
}

/// What differs between two values, line by line.
///
/// Upstream: k8s.io/apimachinery/pkg/util/diff, Diff (v1.37).
pub(super) fn diff(kind: &str, old: &Value, new: &Value) -> String {
    let kind = if kind.starts_with("Persistent") && kind.ends_with("Spec") {
        format!("v1.{kind}")
    } else {
        kind.into()
    };
    diff::unified(&hash::shown_lines(&kind, old), &hash::shown_lines(&kind, new))
}
