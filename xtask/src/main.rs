//! The two commands of this repository, `cargo xtask serve` and `cargo xtask test`, and what they are made of.
//!
//! Everything a fresh machine lacks (the wasm target, the editor's npm packages, Chromium) is fetched here, and where
//! it cannot be fetched the message says what to do.

mod build;
mod descriptions;
mod serve;
mod site;
mod size;
mod test;
mod tools;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  serve [--port N] [--dev]   build everything, serve it on this machine and print the address
  test [--skip-browser]      every test: cargo's, the size budget, the browser's
  build [--dev]              leave the static site in dist/; any web server can host it, under a sub-path too
  bench                      the page's benchmarks in Chromium, as JSON lines
  parts                      what the simulator's wasm consists of, by crate and module, after a build
  schema                     generate the schema of every kind anew
  descriptions               write Kubernetes' own descriptions to target/descriptions.txt, for kubestep record --descriptions
  help                       this list

  --dev                      without optimisation: quicker to build, slower to run
  --port N                   serve on this port instead of a free one
";

fn run(args: &[String]) -> Result<(), String> {
    let command = args.first().map_or("help", String::as_str);
    let rest = args.get(1..).unwrap_or_default();
    let allowed: &[&str] = match command {
        "serve" => &["--port", "--dev"],
        "test" => &["--skip-browser"],
        "build" => &["--dev"],
        _ => &[],
    };
    let mut numbers = Vec::new();
    for arg in rest {
        if arg.parse::<u16>().is_ok() {
            numbers.push(arg.as_str());
        } else if !allowed.contains(&arg.as_str()) {
            return Err(format!("cargo xtask {command}: {arg} is not known here\n\n{HELP}"));
        }
    }
    let has = |flag: &str| rest.iter().any(|a| a == flag);
    match command {
        "build" => build::run(has("--dev")).map(drop),
        "serve" => {
            let port = numbers.first().and_then(|n| n.parse().ok()).unwrap_or(0);
            let dist = build::run(has("--dev"))?;
            serve::run(&dist, port)
        }
        "test" => test::run(has("--skip-browser")),
        "bench" => test::bench(),
        "parts" => size::parts(),
        "descriptions" => {
            let target = tools::target_dir()?;
            let size = descriptions::write(&target)?;
            tools::say(&format!("{}: {size} bytes", target.join(descriptions::FILE).display()));
            Ok(())
        }
        "schema" => {
            tools::cargo(&["run", "--quiet", "-p", "xtask", "--features", "schema", "--bin", "xtask-schema"])
        }
        "help" | "--help" | "-h" => {
            tools::say(HELP);
            Ok(())
        }
        other => Err(format!("cargo xtask {other}: no such command\n\n{HELP}")),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\n{message}");
            ExitCode::FAILURE
        }
    }
}
