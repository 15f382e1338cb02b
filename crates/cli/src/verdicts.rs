//! `kubestep verdicts`: what kubectl and the API server say to each case of a corpus, in the format of the golden ones.

mod case;
pub mod compare;
mod drawn;
mod http;
mod judge;
mod left;

use judge::Judge;
use serde_json::{Value, json};
use std::path::Path;

const USAGE: &str = "usage: kubestep verdicts CASES.yaml [-o OUT.json] [--only NAME] [--against GOLDEN.json]

With --against only what differs from the recorded verdicts is told.";

/// The command. Exit code 0, or 2 for a bad call or file.
pub fn main(args: &[String]) -> i32 {
    match run(args) {
        Ok(()) => 0,
        Err(text) => {
            eprintln!("kubestep verdicts: {text}");
            2
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let (mut file, mut out, mut only, mut against) = (None, None, None, None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().cloned().ok_or(format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "-o" => out = Some(value()?),
            "--only" => only = Some(value()?),
            "--against" => against = Some(value()?),
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            name if file.is_none() => file = Some(name.to_owned()),
            other => return Err(format!("one file at a time: {other}\n{USAGE}")),
        }
    }
    let file = file.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let area = Path::new(&file).file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let verdicts = judge(&text, only.as_deref()).map_err(|e| format!("{file}: {e}"))?;
    if let Some(golden) = against {
        let recorded = std::fs::read_to_string(&golden).map_err(|e| format!("{golden}: {e}"))?;
        print!("{}", against_recorded(&text, &recorded, &verdicts)?.text());
        return Ok(());
    }
    let text = document(&area, &verdicts);
    match out {
        Some(out) => std::fs::write(&out, text).map_err(|e| format!("{out}: {e}")),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// The verdicts on the cases of a corpus (or on one of them), in order.
pub fn judge(corpus: &str, only: Option<&str>) -> Result<Vec<Value>, String> {
    let judge = Judge::new();
    let cases = case::read(corpus)?;
    Ok(cases.iter().filter(|c| only.is_none_or(|name| c.name == name)).map(|c| judge.judge(c)).collect())
}

/// JSON with one line for each case.
fn document(area: &str, verdicts: &[Value]) -> String {
    let lines: Vec<String> = verdicts.iter().map(|v| format!("\n  {v}")).collect();
    format!(
        "{{\n\"kubernetes\": \"v1.37.2\",\n\"verdicts\": {},\n\"recorded\": \"2026-01-01\",\n\"cases\": [{}\n]\n}}\n",
        json!(area),
        lines.join(",")
    )
}

/// How many of an area's cases were judged as recorded, and what differs in the others.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Cases that are equal in every part.
    pub equal: usize,
    /// All cases that were judged.
    pub all: usize,
    /// By case: what differs.
    pub different: Vec<(String, Vec<String>)>,
}

impl Agreement {
    fn text(&self) -> String {
        let mut out = String::new();
        for (name, parts) in &self.different {
            out.push_str(&format!("{name}\n"));
            parts.iter().for_each(|part| out.push_str(&format!("  {part}\n")));
        }
        out + &format!("{} of {}\n", self.equal, self.all)
    }
}

/// Compares our verdicts on the cases of a corpus with the recorded ones.
pub fn against_recorded(corpus: &str, recorded: &str, ours: &[Value]) -> Result<Agreement, String> {
    let recorded: Value = serde_json::from_str(recorded).map_err(|e| e.to_string())?;
    let cases = case::read(corpus)?;
    let mut found = Agreement::default();
    for ours in ours {
        let name = ours["name"].as_str().unwrap_or_default();
        let unordered = cases.iter().any(|c| c.name == name && c.unordered);
        let mut of_name = recorded["cases"].as_array().into_iter().flatten().filter(|c| c["name"] == name);
        let want = of_name.next().ok_or(format!("{name} was not recorded"))?;
        let parts = compare::differences(want, ours, unordered);
        found.all += 1;
        if parts.is_empty() {
            found.equal += 1;
        } else {
            found.different.push((name.to_owned(), parts));
        }
    }
    Ok(found)
}
