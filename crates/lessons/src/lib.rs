//! Markdown lessons, goals as questions about a world; session scripts.

pub mod player;
pub mod question;
pub mod script;
