//! Label and field selectors: read from objects and from text, matched, and written as Kubernetes writes them.

mod field;
mod label;
mod parse;
mod requirement;

pub use field::FieldSelector;
pub use label::{LabelSelector, LabelSelectorRequirement};
pub use requirement::{Operator, Requirement, Selector};
