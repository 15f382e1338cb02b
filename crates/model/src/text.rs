//! Texts and numbers as Kubernetes writes, reads and refuses them: no clock, no store, no objects.

pub mod backoff;
pub mod duration;
pub mod go;
pub mod go_json;
pub mod hash;
pub mod int_or_string;
pub mod names;
pub mod order;
pub mod pattern;
pub mod quantity;
pub mod random_name;
pub mod selector;
pub mod vectors;

pub use backoff::Backoff;
pub use int_or_string::IntOrString;
pub use order::order;
pub use quantity::{Format, Quantity, QuantityError};
pub use selector::{FieldSelector, LabelSelector, LabelSelectorRequirement, Selector};
