//! `kubestep lesson play`: an author looks at the world of a lesson.

use super::{Shelf, USAGE};
use kubestep_lessons::look::look;
use std::path::Path;

/// What is asked where nothing was.
const USUAL: &str = "kubectl get all";

/// The command. Errors: what was called wrongly, or cannot be played.
pub(super) fn main(args: &[String]) -> Result<i32, String> {
    let (mut solved, mut seconds, mut lines, mut path) = (false, 0, vec![], None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{arg} needs a value\n{USAGE}"));
        match arg.as_str() {
            "--solution" => solved = true,
            "--seconds" => {
                let text = value()?;
                seconds = text.parse().map_err(|_| format!("--seconds: {text} is no number"))?;
            }
            "--ask" => lines.push(value()?.clone()),
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}\n{USAGE}")),
            file if path.is_none() => path = Some(file),
            _ => return Err(USAGE.into()),
        }
    }
    let shelf = Shelf::open(Path::new(path.ok_or(USAGE)?))?;
    let [lesson] = &shelf.lessons[..] else { return Err("name one lesson's file".into()) };
    if lines.is_empty() {
        lines.push(USUAL.into());
    }
    print!("{}", look(lesson, &shelf.sources, solved, seconds, &lines)?);
    Ok(0)
}
