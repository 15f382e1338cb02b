//! The command line of `kubestep compare`.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::recording::Recording;
use super::report::{Report, Section};
use super::table::{Allow, TABLE};
use super::{Scope, compare};

const USAGE: &str = "\
usage: kubestep compare GOLDEN.json OURS.json [--twin TWIN.json] [--only output|objects|events|calls] [--json]
       kubestep compare --all DIR_OF_OURS [--golden DIR] [--twins DIR] [--only PART] [--json]
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
}

/// Runs the subcommand: 0 if nothing differs, 1 if anything does, 2 if it cannot be told.
pub fn main(args: &[String]) -> i32 {
    let done = options(args).and_then(|options| {
        if options.table {
            return Ok((table(), false));
        }
        match &options.all {
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
            "--json" => options.json = true,
            "--table" => options.table = true,
            flag if flag.starts_with("--") => return Err(format!("unknown option {flag}\n{USAGE}")),
            file => options.files.push(file.into()),
        }
    }
    let two = options.files.len() == 2 && options.all.is_none();
    let none = options.files.is_empty() && (options.all.is_some() || options.table);
    if two || none { Ok(options) } else { Err(USAGE.to_owned()) }
}

fn scope(options: &Options) -> Scope {
    Scope { only: options.only, allow: Allow::everything() }
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

fn table() -> String {
    let row = |row: &super::table::Row| {
        format!("{}\n  because {}\n  seen in {}\n", row.what, row.because, row.pair)
    };
    TABLE.iter().map(row).collect()
}
