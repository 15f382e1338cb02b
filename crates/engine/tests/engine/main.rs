//! The engine as a page uses it.

mod checking;
mod opening;
mod page;
