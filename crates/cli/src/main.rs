//! `kubestep`: the engine without a page.

use kubestep_cli::{bench, compare, explore, lesson, record, replay, sweep, vectors, verdicts, verify};
use std::process::ExitCode;

const USAGE: &str = "usage: kubestep COMMAND …

  record SESSION.yaml [-o OUT.json] [--pace GOLDEN.json] [--seed N] [--descriptions FILE]   play a session script and write a recording
  compare GOLDEN.json OURS.json [--twin TWIN.json] [--only PART]      what differs between two recordings
  vectors NAME CASES.json [-o OUT.json]                               the pure functions, case by case
  verdicts CASES.yaml [-o OUT.json] [--only NAME]                     what kubectl and the API server say to manifests
  replay SESSION [--hash]                                             a saved session (a link's text) or script, played again
  explore FILE [--crashes N]                                          every order on a small world
  sweep --seeds A..B                                                  random scenarios with faults, then heal and demand calm
  lesson check|new|index …                                            lessons: prove them, begin one, write their map
  verify RESULT… [--csv OUT.csv]                                      learners' results, played again: what was solved, and how
  bench NAME                                                          how fast and how large things are

A command alone says more.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = match args.split_first() {
        Some((name, rest)) => match name.as_str() {
            "bench" => bench::main(rest),
            "compare" => compare::main(rest),
            "record" => record::main(rest),
            "vectors" => vectors::main(rest),
            "verdicts" => verdicts::main(rest),
            "replay" => replay::main(rest),
            "lesson" => lesson::main(rest),
            "verify" => verify::main(rest),
            "explore" => explore::main(rest),
            "sweep" => sweep::main(rest),
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
