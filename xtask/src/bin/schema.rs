//! Generates the schema of every kind; called by `cargo xtask schema`.

use std::process::ExitCode;

#[path = "../schema.rs"]
mod schema;

fn main() -> ExitCode {
    match schema::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
