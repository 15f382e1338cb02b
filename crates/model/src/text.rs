//! Texts and numbers as Kubernetes writes, reads and refuses them: no clock, no store, no objects.

pub mod go;
pub mod go_json;
pub mod int_or_string;
pub mod names;
pub mod quantity;
pub mod selector;
pub mod vectors;

pub use int_or_string::IntOrString;
pub use quantity::{Format, Quantity, QuantityError};
pub use selector::{FieldSelector, LabelSelector, LabelSelectorRequirement, Selector};
