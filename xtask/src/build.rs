//! `cargo xtask build`: two wasm binaries, the editor's bundle, the styles, one page: the folder `dist/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::tools::{self, cargo_command, node_packages, root, say, step, target_dir, wasm_target};
use crate::{descriptions, site, size};

const WASM: &str = "wasm32-unknown-unknown";

/// Where cargo leaves the wasm files of the published site.
pub(crate) fn released() -> Result<PathBuf, String> {
    Ok(target_dir()?.join(WASM).join("release"))
}

/// Builds everything and returns the folder.
pub(crate) fn run_steps(dev: bool) -> Result<PathBuf, String> {
    wasm_target()?;
    node_packages()?;
    let target = target_dir()?;
    let made = target.join("site");
    fresh(&made)?;
    step("esbuild bundles the editor", || editor(&made))?;
    step("the descriptions of Kubernetes' fields", || descriptions::write(&made).map(drop))?;
    let (profile, folder) = if dev { ("dev", "debug") } else { ("release", "release") };
    step("cargo builds the page and the simulator for the browser", || {
        let mut cargo = cargo_command();
        cargo.args(["build", "--target", WASM, "--profile", profile]);
        tools::run(cargo.args([
            "-p",
            "kubestep-web",
            "--bin",
            "app",
            "-p",
            "kubestep-worker",
            "--bin",
            "worker",
        ]))
    })?;
    let wasm = target.join(WASM).join(folder);
    step("wasm-bindgen writes the JavaScript around them", || {
        bindgen(&wasm.join("app.wasm"), &made, "page")?;
        bindgen(&wasm.join("worker.wasm"), &made, "worker")
    })?;
    site::assemble(&made, &root().join("dist"))
}

/// Builds everything, reports the sizes, returns the folder.
pub(crate) fn run(dev: bool) -> Result<PathBuf, String> {
    let start = Instant::now();
    say("Kubestep: building the site");
    let dist = run_steps(dev)?;
    if !dev {
        for line in size::report(&dist)?.lines {
            say(&line);
        }
    }
    say(&format!("The site is in {} ({:.0} s in all).", dist.display(), start.elapsed().as_secs_f32()));
    Ok(dist)
}

/// An empty folder.
pub(crate) fn fresh(dir: &Path) -> Result<(), String> {
    let problem = |e: std::io::Error| format!("{}: {e}", dir.display());
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(problem)?;
    }
    std::fs::create_dir_all(dir).map_err(problem)
}

fn editor(made: &Path) -> Result<(), String> {
    let esbuild = root().join("node_modules/esbuild/bin/esbuild");
    let mut command = Command::new("node");
    if cfg!(unix) {
        // npm may put the native program in the place of its JavaScript wrapper.
        command = Command::new(root().join("node_modules/.bin/esbuild"));
    } else {
        command.arg(esbuild);
    }
    command.args(["web/editor/editor.js", "--bundle", "--minify", "--format=esm", "--target=es2022"]);
    command.args(["--log-level=warning", "--legal-comments=none"]);
    tools::run(command.arg(format!("--outfile={}", made.join("editor.js").display())))
}

fn bindgen(input: &Path, made: &Path, kind: &str) -> Result<(), String> {
    let mut cargo = cargo_command();
    cargo.args(["run", "--quiet", "-p", "xtask", "--features", "bindgen", "--bin", "xtask-bindgen", "--"]);
    tools::run(cargo.arg(input).arg(made).arg(kind))
}
