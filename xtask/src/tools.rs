//! Other programs: cargo, rustup, npm, node, Chromium. What is missing is fetched, or the message says how.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A line for the person at the terminal.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    // A closed pipe is no reason to stop building.
    writeln!(out, "{line}").and_then(|()| out.flush()).ok();
}

/// Says what is being done, does it, and says how long it took.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    say(&format!("   … {what}"));
    let start = Instant::now();
    let result = work()?;
    say(&format!("   ✓ {what}  {:.1} s", start.elapsed().as_secs_f32()));
    Ok(result)
}

/// Runs a program to its end with its output on the terminal.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let name = format!("{command:?}");
    let status =
        command.current_dir(root()).status().map_err(|e| format!("{name} cannot be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} ended with {status}")) }
}

/// Runs a program and keeps what it prints; its errors go to the terminal.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let name = format!("{command:?}");
    let out = command.current_dir(root()).stderr(Stdio::inherit()).output();
    let out = out.map_err(|e| format!("{name} cannot be started: {e}"))?;
    if !out.status.success() {
        return Err(format!("{name} ended with {}", out.status));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Whether a program is there and answers.
fn answers(program: impl AsRef<OsStr>, arg: &str) -> bool {
    let silent = Command::new(program).arg(arg).stdout(Stdio::null()).stderr(Stdio::null()).status();
    silent.is_ok_and(|s| s.success())
}

/// The cargo that started us.
pub(crate) fn cargo_command() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    // What is built once and thrown away needs no second copy of everything for the next build.
    if std::env::var_os("CI").is_some() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Runs cargo with these arguments.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: &[S]) -> Result<(), String> {
    run(cargo_command().args(args))
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let json = output(cargo_command().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let key = "\"target_directory\":\"";
    let start = json.find(key).ok_or("cargo metadata names no target directory")? + key.len();
    let end = json[start..].find('"').ok_or("cargo metadata is cut off")?;
    Ok(PathBuf::from(json[start..start + end].replace("\\\\", "\\")))
}

/// Sees to it that rustc can build for browsers.
pub(crate) fn wasm_target() -> Result<(), String> {
    let name = "wasm32-unknown-unknown";
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(name).exists() {
        return Ok(());
    }
    if !answers("rustup", "--version") {
        return Err(format!(
            "The target {name} is missing and there is no rustup to fetch it.\n\
             Install rustup (https://rustup.rs), or your system's package of Rust's {name}."
        ));
    }
    step("rustup fetches the wasm target", || run(Command::new("rustup").args(["target", "add", name])))
}

/// npm's own name on this system.
fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

/// Sees to it that the packages of package-lock.json are in node_modules.
pub(crate) fn node_packages() -> Result<(), String> {
    let (lock, stamp) = (root().join("package-lock.json"), root().join("node_modules/.package-lock.json"));
    let time = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    if time(&stamp).is_some() && time(&stamp) >= time(&lock) {
        return Ok(());
    }
    if !answers("node", "--version") || !answers(npm(), "--version") {
        return Err("node and npm are needed for the editor. Install Node.js 20 or newer.".into());
    }
    step("npm fetches the editor's packages", || run(Command::new(npm()).args(["ci", "--loglevel=error"])))?;
    // Without this a lock file that is newer than the stamp npm wrote would be fetched again each time.
    std::fs::File::options()
        .append(true)
        .open(&stamp)
        .and_then(|f| f.set_modified(std::time::SystemTime::now()))
        .ok();
    Ok(())
}

/// Finds a Chromium, or installs Debian's where that is possible.
pub(crate) fn chromium() -> Result<PathBuf, String> {
    if let Some(found) = find_chromium() {
        return Ok(found);
    }
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if is_root && answers("apt-get", "--version") {
        step("apt-get installs Chromium", || {
            run(Command::new("apt-get").args(["update", "-q"]).stdout(Stdio::null()))?;
            let mut install = Command::new("apt-get");
            install.args(["install", "-y", "-q", "--no-install-recommends", "chromium"]);
            run(install.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
        })?;
    }
    find_chromium().ok_or_else(|| {
        "No Chromium was found for the browser tests. Install Chromium or Google Chrome (Debian, Ubuntu:\n\
         sudo apt-get install chromium), or set CHROMIUM to its path, or leave the browser out:\n\
         cargo xtask test --skip-browser"
            .into()
    })
}

fn find_chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
    let places = [
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "C:/Program Files/Google/Chrome/Application/chrome.exe",
        "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
    on_path.chain(places.map(PathBuf::from)).find(|candidate| candidate.is_file())
}
