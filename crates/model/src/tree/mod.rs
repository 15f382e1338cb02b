//! Sorted maps and sets, and lists, whose copies share what they have in common: a world is a value, and thousands are kept.

mod iter;
mod map;
mod node;
mod set;
#[cfg(test)]
mod tests;
mod vector;

pub use iter::Iter;
pub use map::{Entry, OrdMap};
pub use set::{Items, OrdSet};
pub use vector::Vector;
