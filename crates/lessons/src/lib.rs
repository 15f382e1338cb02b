//! Markdown lessons, goals as questions about a world; session scripts.

pub mod ask;
pub mod check;
pub mod faults;
pub mod lesson;
mod lines;
pub mod look;
pub mod pace;
pub mod player;
pub mod predict;
pub mod question;
pub mod script;
pub mod stage;
pub mod watch;
