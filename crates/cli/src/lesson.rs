//! `kubestep lesson`: checks lessons, begins a new one, writes the map of all.

mod files;
mod index;
mod new;
mod play;
mod strays;

pub use files::Shelf;
pub use index::index;
use kubestep_lessons::check::{Report, check, unwritten};
use std::{path::PathBuf, sync::Mutex};

const USAGE: &str = "usage: kubestep lesson check [--lang de,…] [--truths] FILE.md|FOLDER …
       kubestep lesson new FILE.md
       kubestep lesson play FILE.md [--solution] [--seconds N] [--ask \"QUESTION\"] [--ask \"kubectl …\"] …
       kubestep lesson index FOLDER [-o OUT.json]

check: the start does not meet the goals, the solution does and they stay met, each hint can be reached, each
prediction has a true answer, no text names what never is there, every translation is complete.
play: where the start leads, and the solution; answers questions, and commands that only look.";

/// The command. Exit code 0, 1 when something is wrong with a lesson, 2 for a bad call.
pub fn main(args: &[String]) -> i32 {
    if args.iter().any(|a| a == "--help" || a == "-h") {
        println!("{USAGE}");
        return 0;
    }
    let done = match args.split_first() {
        Some((name, rest)) if name == "check" => check_all(rest),
        Some((name, [path])) if name == "new" => new::write(path),
        Some((name, rest)) if name == "play" => play::main(rest),
        Some((name, rest)) if name == "index" => index::main(rest),
        _ => Err(USAGE.into()),
    };
    done.unwrap_or_else(|text| {
        eprintln!("kubestep lesson: {text}");
        2
    })
}

fn check_all(args: &[String]) -> Result<i32, String> {
    let (mut languages, mut truths, mut paths) = (vec!["de".to_string()], false, vec![]);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--lang" => {
                let list = rest.next().ok_or("--lang needs languages, such as de")?;
                languages = list.split(',').filter(|l| !l.is_empty() && *l != "en").map(Into::into).collect();
                if let Some(other) = languages.iter().find(|l| !files::LANGUAGES.contains(&l.as_str())) {
                    let known = files::LANGUAGES.join(", ");
                    return Err(format!(
                        "there is no language {other}; the page speaks {known} beside English"
                    ));
                }
            }
            "--truths" => truths = true,
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            path => paths.push(PathBuf::from(path)),
        }
    }
    if paths.is_empty() {
        return Err(USAGE.into());
    }
    let mut wrong = 0;
    for path in paths {
        let shelf = Shelf::open(&path)?;
        for (file, why) in strays::strays(&shelf) {
            wrong += 1;
            println!("not ok  {file}\n    {file}: {why}");
        }
        for (lesson, report) in reports(&shelf, &languages) {
            let Report { mut problems, truths: found, title } = report;
            problems.extend(unwritten(&lesson, &shelf.sources));
            wrong += problems.len();
            let mark = if problems.is_empty() { "ok" } else { "not ok" };
            println!("{mark}  {lesson}  {title}");
            if truths {
                println!("    answers: {}", found.join(" | "));
            }
            problems.iter().for_each(|p| println!("    {p}"));
        }
    }
    Ok(i32::from(wrong > 0))
}

/// Checks all lessons of a shelf, as many at once as the machine has cores; in the order of the shelf.
pub fn reports(shelf: &Shelf, languages: &[String]) -> Vec<(String, Report)> {
    let languages: Vec<&str> = languages.iter().map(String::as_str).collect();
    let waiting = Mutex::new(shelf.lessons.iter().enumerate().collect::<Vec<_>>().into_iter());
    let found = Mutex::new(vec![]);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some((i, path)) = waiting.lock().ok().and_then(|mut w| w.next()) else { return };
                    let report = check(path, &shelf.sources, &languages);
                    if let Ok(mut found) = found.lock() {
                        found.push((i, path.clone(), report));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(i, _, _)| *i);
    found.into_iter().map(|(_, path, report)| (path, report)).collect()
}
