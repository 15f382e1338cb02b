//! The engine as a page uses it.

mod opening;
mod page;
