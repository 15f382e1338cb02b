//! kubectl's commands: each a small plain state with `on(input) -> (state, requests, output)`; knows no clock and no store.

pub mod args;
pub mod fault;
pub mod kc;
pub mod manifest;
pub mod output;
pub mod printers;
pub mod resources;
pub mod select;
pub mod shell;
pub mod vectors;
