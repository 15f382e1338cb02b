//! `kubestep`: the engine without a page.

mod compare;

use std::process::ExitCode;

const USAGE: &str = "usage: kubestep compare GOLDEN.json OURS.json   (more with a subcommand alone)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = match args.split_first() {
        Some((name, rest)) => match name.as_str() {
            "compare" => compare::main(rest),
            _ => usage(),
        },
        None => usage(),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn usage() -> i32 {
    eprintln!("{USAGE}");
    2
}
