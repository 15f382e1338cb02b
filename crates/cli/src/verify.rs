//! `kubestep verify`: learners' results, played again. What a file claims is not believed: each session is replayed, and
//! the engine says what was solved.

mod result;
mod table;

pub use result::{Entry, Outcome, ResultFile, judge};

use crate::lesson::Shelf;
use std::path::Path;

const USAGE: &str = "usage: kubestep verify RESULT… [--lessons FOLDER] [--csv OUT.csv]

RESULT is a file that a learner has saved, or a file with a link into a lesson. Each session in it is played again; the
table says what was solved, in how many steps and acts, with how many hints, how well was predicted, and how long it took
on the cluster's clock. --lessons says where the lessons are (lessons, if not said); --csv writes the table for a spreadsheet,
to standard output with -.";

/// The command. Exit code 0, 1 when a session cannot be played again or ended otherwise than it says, 2 for a bad call.
pub fn main(args: &[String]) -> i32 {
    run(args).unwrap_or_else(|text| {
        eprintln!("kubestep verify: {text}");
        2
    })
}

#[derive(Debug, Default)]
struct Options {
    results: Vec<String>,
    lessons: String,
    csv: Option<String>,
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options { lessons: "lessons".into(), ..Options::default() };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = |what: &str| rest.next().cloned().ok_or_else(|| format!("{arg} needs {what}"));
        match arg.as_str() {
            "--lessons" => options.lessons = value("a folder")?,
            "--csv" => options.csv = Some(value("a file")?),
            flag if flag.starts_with("--") => return Err(format!("unknown flag {flag}\n{USAGE}")),
            file => options.results.push(file.into()),
        }
    }
    if options.results.is_empty() { Err(USAGE.into()) } else { Ok(options) }
}

fn run(args: &[String]) -> Result<i32, String> {
    let options = options(args)?;
    let shelf = Shelf::open(Path::new(&options.lessons))?;
    let mut rows = vec![];
    for path in &options.results {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        let name = Path::new(path).file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let file = ResultFile::read(&text, &name).map_err(|why| format!("{path}: {why}"))?;
        rows.extend(judge(&file, &shelf.sources));
    }
    match options.csv.as_deref() {
        Some("-") => print!("{}", table::csv(&rows)),
        Some(path) => {
            std::fs::write(path, table::csv(&rows)).map_err(|e| format!("{path}: {e}"))?;
            print!("{}", table::plain(&rows));
        }
        None => print!("{}", table::plain(&rows)),
    }
    Ok(i32::from(rows.iter().any(|row| !row.note.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_results_or_with_unknown_flags_is_refused() {
        let call = |words: &[&str]| options(&words.iter().map(|w| (*w).to_string()).collect::<Vec<_>>());
        assert!(call(&[]).is_err_and(|e| e.starts_with("usage")));
        assert!(call(&["a.json", "--nonsense"]).is_err_and(|e| e.contains("--nonsense")));
        let good = call(&["a.json", "b.json", "--csv", "-"]).expect("a good call");
        assert_eq!(
            (good.results.len(), good.csv.as_deref(), good.lessons.as_str()),
            (2, Some("-"), "lessons")
        );
    }
}
