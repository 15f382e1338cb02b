//! The forms in which objects are printed.

pub mod table;
pub mod tabs;
