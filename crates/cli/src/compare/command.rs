//! The command line of `kubestep compare`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::mutate::{Dice, mutate};
use super::recording::{self, Recording};
use super::report::{Report, Section};
use super::table::{Allow, May, Row, TABLE};
use super::view::View;
use super::{Scope, against, compare};

const USAGE: &str = "\
usage: kubestep compare GOLDEN.json OURS.json [--twin TWIN.json] [--only output|objects|events|calls] [--json] [--without ROW]
       kubestep compare --all DIR_OF_OURS [--golden DIR] [--twins DIR] [--only PART] [--json]
       kubestep compare --changes N GOLDEN.json... [--twins DIR] [--seed N]
       kubestep compare --table";

#[derive(Debug, Default)]
struct Options {
    files: Vec<PathBuf>,
    twin: Option<PathBuf>,
    all: Option<PathBuf>,
    golden: Option<PathBuf>,
    twins: Option<PathBuf>,
    only: Option<Section>,
    json: bool,
    table: bool,
    changes: usize,
    seed: u64,
    without: Vec<May>,
}

/// Runs the subcommand: 0 if nothing differs, 1 if anything does, 2 if it cannot be told.
pub fn main(args: &[String]) -> i32 {
    let done = options(args).and_then(|options| {
        if options.table {
            return Ok((table(), false));
        }
        match &options.all {
            _ if options.changes > 0 => changes(&options),
            Some(ours) => all(ours, &options),
            None => one(&options),
        }
    });
    let (text, differs) = match done {
        Ok(done) => done,
        Err(message) => {
            eprintln!("kubestep compare: {message}");
            return 2;
        }
    };
    // A closed pipe is no reason to change the answer.
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    i32::from(differs || written.is_err_and(|e| e.kind() != std::io::ErrorKind::BrokenPipe))
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value\n{USAGE}"));
        match arg.as_str() {
            "--twin" => options.twin = Some(value()?.into()),
            "--all" => options.all = Some(value()?.into()),
            "--golden" => options.golden = Some(value()?.into()),
            "--twins" => options.twins = Some(value()?.into()),
            "--only" => {
                let name = value()?;
                options.only =
                    Some(Section::parse(name).ok_or_else(|| format!("no part is called {name}\n{USAGE}"))?);
            }
            "--changes" => options.changes = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--without" => {
                let name = value()?;
                let row = TABLE.iter().find(|row| format!("{:?}", row.may) == *name);
                options.without.push(row.ok_or_else(|| format!("the table has no row {name}"))?.may);
            }
            "--json" => options.json = true,
            "--table" => options.table = true,
            flag if flag.starts_with("--") => return Err(format!("unknown option {flag}\n{USAGE}")),
            file => options.files.push(file.into()),
        }
    }
    let two = options.files.len() == 2 && options.all.is_none();
    let none = options.files.is_empty() && (options.all.is_some() || options.table);
    if two || none || options.changes > 0 { Ok(options) } else { Err(USAGE.to_owned()) }
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word} is no number\n{USAGE}"))
}

fn scope(options: &Options) -> Scope {
    let allow = options.without.iter().fold(Allow::everything(), |allow, may| allow.without(*may));
    Scope { only: options.only, allow }
}

fn one(options: &Options) -> Result<(String, bool), String> {
    let golden = Recording::open(&options.files[0])?;
    let ours = Recording::open(&options.files[1])?;
    let twin = options.twin.as_deref().map(Recording::open).transpose()?;
    let report = compare(&golden, &ours, twin.as_ref(), scope(options));
    let text = if options.json {
        format!("{:#}\n", report.json())
    } else {
        format!("{}{}\n", report.blocks(), report.summary())
    };
    Ok((text, report.differs()))
}

/// Every session of a folder, a line each.
fn all(ours: &Path, options: &Options) -> Result<(String, bool), String> {
    let folder = |given: &Option<PathBuf>, usual: &str| given.clone().unwrap_or_else(|| usual.into());
    let golden = folder(&options.golden, "tests/golden/sessions");
    let twins = folder(&options.twins, "tests/golden/twins");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(ours).map_err(|e| format!("{}: {e}", ours.display()))? {
        let name =
            entry.map_err(|e| format!("{}: {e}", ours.display()))?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") && golden.join(&name).is_file() {
            names.push(name);
        }
    }
    names.sort();
    let mut total = Report::default();
    let mut out = String::new();
    let mut sessions = serde_json::Map::new();
    let mut differs = 0;
    for name in &names {
        let twin = twins.join(name);
        let twin = if twin.is_file() { Some(Recording::open(&twin)?) } else { None };
        let report = compare(
            &Recording::open(&golden.join(name))?,
            &Recording::open(&ours.join(name))?,
            twin.as_ref(),
            scope(options),
        );
        differs += usize::from(report.differs());
        let session = name.trim_end_matches(".json");
        let alone = if twin.is_none() { " (no twin)" } else { "" };
        out.push_str(&format!("{session}: {}{alone}\n", report.summary()));
        let mut json = report.json();
        json["differences"].take();
        sessions.insert(session.to_owned(), json);
        total.add(&report);
    }
    out.push_str(&format!("{differs} of {} sessions differ: {}\n", names.len(), total.summary()));
    if options.json {
        let whole = total.json();
        out = format!(
            "{:#}\n",
            serde_json::json!({"sessions": sessions, "total": whole["total"], "differ": differs})
        );
    }
    Ok((out, differs > 0))
}

/// Seeded single changes to recordings, one after the other: lists those that are not noticed.
fn changes(options: &Options) -> Result<(String, bool), String> {
    let mut dice = Dice(options.seed);
    let mut out = String::new();
    let (mut made, mut noticed) = (0, 0);
    let share = options.changes.div_ceil(options.files.len().max(1));
    for file in &options.files {
        let json = recording::read(file)?;
        let golden = Recording::parse(&json)?;
        let name = file.file_name().unwrap_or_default();
        let twin = options.twins.as_ref().map(|twins| twins.join(name)).filter(|twin| twin.is_file());
        let twin = twin.map(|twin| Recording::open(&twin)).transpose()?;
        let scope = scope(options);
        let theirs = View::golden(&golden, scope.allow);
        let second = twin.as_ref().map(|twin| View::of(twin, &golden, scope.allow));
        for _ in 0..share {
            let mut changed = json.clone();
            let Some(told) = mutate(&mut changed, &mut dice) else { continue };
            made += 1;
            if against(&theirs, &Recording::parse(&changed)?, second.as_ref(), scope).differs() {
                noticed += 1;
            } else {
                out.push_str(&format!("{}: not noticed: {told}\n", name.to_string_lossy()));
            }
        }
    }
    out.push_str(&format!("{noticed} of {made} changes noticed\n"));
    Ok((out, noticed * 100 < made * 99))
}

fn table() -> String {
    let row = |row: &Row| {
        format!("{:?}: {}\n  because {}\n  seen in {}\n", row.may, row.what, row.because, row.pair)
    };
    TABLE.iter().map(row).collect()
}
