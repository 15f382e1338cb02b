//! Patches: JSON patch, merge patch, strategic merge patch, and what kubectl apply makes of three objects.

mod go;
pub mod json_patch;
pub mod last_applied;
pub mod merge;
pub mod strategic;
pub mod vectors;

pub use json_patch::json_patch;
pub use last_applied::{LAST_APPLIED, with_last_applied};
pub use merge::{merge_patch, three_way_merge_patch};
pub use strategic::{strategic_merge_patch, three_way_strategic_patch};

/// A value as Go prints it in messages about patches: `map[spec:map[replicas:3]]`.
#[must_use]
pub fn printed(value: &serde_json::Value) -> String {
    go::print(value)
}
