//! `cargo xtask test`: every test there is.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::serve::Server;
use crate::tools::{self, root, say, step};
use crate::{build, size};

/// Runs cargo's tests, then the built site in a browser.
pub(crate) fn run(skip_browser: bool) -> Result<(), String> {
    let start = Instant::now();
    step("cargo test of the workspace", || tools::cargo(&["test", "--workspace", "--quiet"]))?;
    let dist = build::run(false)?;
    let over = size::report(&dist)?.over;
    if !over.is_empty() {
        return Err(format!("The size budget is exceeded.\n{}", over.join("\n")));
    }
    if skip_browser {
        say("   The browser's tests were left out, as asked.");
    } else {
        let tests = browser_tests()?;
        step("the site in Chromium", || {
            in_chromium(&dist, Command::new("node").args(["--test", "--test-concurrency=1"]).args(tests))
        })?;
    }
    say(&format!("Every test passed ({:.0} s in all).", start.elapsed().as_secs_f32()));
    Ok(())
}

/// The page's benchmarks.
pub(crate) fn bench() -> Result<(), String> {
    let dist = build::run(false)?;
    in_chromium(&dist, Command::new("node").arg("tests/browser/bench.mjs"))
}

/// Serves the site and runs a script that drives it.
fn in_chromium(dist: &Path, script: &mut Command) -> Result<(), String> {
    let chromium = tools::chromium()?;
    // Under a path, because that is how many will host it.
    let server = Server::bind(dist, 0, "/kubestep/")?;
    let address = server.address()?;
    std::thread::spawn(move || server.answer());
    tools::run(script.env("KUBESTEP_URL", &address).env("CHROMIUM", &chromium))
}

/// The test files, by name; none is a mistake, not a success.
fn browser_tests() -> Result<Vec<std::path::PathBuf>, String> {
    let dir = root().join("tests/browser");
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|p| p.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    if files.is_empty() { Err(format!("no test in {}", dir.display())) } else { Ok(files) }
}
