//! `kubestep record`: plays a session script and writes a recording in the format of the golden ones.

mod collect;
mod draws;
mod normalise;
mod write;

use collect::Collector;
use draws::Draws;
use kubestep_kubectl::docs;
use kubestep_lessons::{
    pace::{Pace, PacedLine},
    player::Player,
    script::Script,
};
use kubestep_model::{Instant, schema::Descriptions};
use serde_json::Value;
use std::{path::Path, time::Duration};

const USAGE: &str = "usage: kubestep record SESSION.yaml [-o OUT.json] [--pace GOLDEN.json] [--seed N]\n       [--descriptions FILE]";

struct Options {
    session: String,
    out: Option<String>,
    pace: Option<String>,
    seed: u64,
    /// The file with Kubernetes' descriptions, as `cargo xtask descriptions` writes it.
    descriptions: Option<String>,
}

/// The command. Exit code 0, or 1 when a step could not be done as written, 2 for a bad call or file.
pub fn main(args: &[String]) -> i32 {
    match options(args).and_then(run) {
        Ok(failed) if failed.is_empty() => 0,
        Ok(failed) => {
            eprintln!("{}", failed.join("\n"));
            1
        }
        Err(text) => {
            eprintln!("kubestep record: {text}");
            2
        }
    }
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut found = Options { session: String::new(), out: None, pace: None, seed: 1, descriptions: None };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().cloned().ok_or(format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "-o" => found.out = Some(value()?),
            "--descriptions" => found.descriptions = Some(value()?),
            "--pace" => found.pace = Some(value()?),
            "--seed" => found.seed = value()?.parse().map_err(|_| format!("--seed: a number\n{USAGE}"))?,
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            file if found.session.is_empty() => found.session = file.into(),
            other => return Err(format!("one session at a time: {other}\n{USAGE}")),
        }
    }
    if found.session.is_empty() { Err(USAGE.into()) } else { Ok(found) }
}

fn run(options: Options) -> Result<Vec<String>, String> {
    let read = |file: &str| std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
    let script = Script::read(&read(&options.session)?).map_err(|e| format!("{}: {e}", options.session))?;
    let pace = options.pace.as_deref().map(|file| pace_of(file, &read(file)?)).transpose()?;
    let slug =
        Path::new(&options.session).file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let descriptions = options.descriptions.as_deref().map(read).transpose()?.map(Descriptions::new);
    let (text, failed) = record_with(&script, &slug, options.seed, pace.as_ref(), descriptions.as_ref());
    match options.out {
        Some(out) => std::fs::write(&out, text).map_err(|e| format!("{out}: {e}"))?,
        None => print!("{text}"),
    }
    Ok(failed)
}

/// Plays a script; answers the recording's text and the steps that could not be done.
pub fn record(script: &Script, slug: &str, seed: u64, pace: Option<&Pace>) -> (String, Vec<String>) {
    record_with(script, slug, seed, pace, None)
}

/// What stands in the place of descriptions that nobody named.
const ABSENT: &str =
    "(no descriptions: `cargo xtask descriptions` writes their file, --descriptions names it)";

fn record_with(
    script: &Script,
    slug: &str,
    seed: u64,
    pace: Option<&Pace>,
    descriptions: Option<&Descriptions>,
) -> (String, Vec<String>) {
    let nodes = pace.map(|pace| pace.nodes.clone()).unwrap_or_default();
    let mut collector = Collector::default();
    collector.draws = Draws::of(nodes);
    let mut player = Player::new(script, seed, collector, pace);
    let world = player.world.clone();
    player.observer.begin(&world);
    player.play(script);
    for (_, out, _) in player.done.iter_mut().filter_map(|d| d.output.as_mut()) {
        *out = docs::shown(out, descriptions, ABSENT);
    }
    let text = write::recording(script, slug, &player.world, player.base, &player.observer, &player.done);
    (text, player.failed)
}

/// How a golden recording went in time.
fn pace_of(file: &str, text: &str) -> Result<Pace, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("{file}: {e}"))?;
    pace(&value).ok_or(format!("{file}: no steps"))
}

/// How a golden recording went in time; `None` if it has no steps.
pub fn pace(golden: &Value) -> Option<Pace> {
    let span = |v: &Value| Duration::from_secs_f64(v.as_f64().unwrap_or(0.0).max(0.0));
    let line = |s: &Value| PacedLine {
        at: span(&s["at"]),
        took: span(&s["took"]),
        command: s["command"].as_str().unwrap_or_default().into(),
    };
    let lines = golden["steps"].as_array()?.iter().map(line).collect();
    Some(Pace { first: first_moment(golden), lines, nodes: draws::nodes(golden) })
}

/// When a recording began, which only a CronJob's Job tells: its name ends in the minute of its schedule, and an annotation says
/// when that was, counted from the beginning.
fn first_moment(golden: &Value) -> Option<Instant> {
    let told = |change: &Value| {
        let at =
            &change["object"]["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"];
        let at: f64 = at.as_str()?.strip_prefix('T')?.strip_suffix('s')?.parse().ok()?;
        let minute: i64 = change["name"].as_str()?.rsplit_once('-')?.1.parse().ok()?;
        Some(Instant::from_secs(minute.checked_mul(60)?) - Duration::try_from_secs_f64(at).ok()?)
    };
    golden["changes"].as_array()?.iter().filter(|c| c["kind"] == "Job").find_map(told)
}
