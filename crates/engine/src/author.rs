//! What a person takes away from a session: its steps as text, a script for a real cluster, a lesson.
//!
//! All of it is made from a link alone, on a session of its own: whoever asks need not wait for the one that is shown.

mod goals;
mod lesson;
mod script;
mod steps;
mod walk;

use crate::{lesson::Shelf, link};
use kubestep_lessons::{check, lesson::Source};
use kubestep_protocol::Doc;

/// The file under which an author's text is checked.
const MINE: &str = "mine.md";

/// Makes `steps`, a `script` or a `lesson` of a link's text; or `check`s the text of a lesson: then a line for each
/// problem comes back, and nothing if there is none. `sources` are the files of lessons that the link leads into.
/// Errors: why it cannot be made.
pub fn author(what: &str, text: &str, sources: &[Doc]) -> Result<String, String> {
    if what == "check" {
        let report = check::check(MINE, &[Source { path: MINE.into(), text: text.into() }], &[]);
        let lines: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        return Ok(lines.join("\n"));
    }
    let mut shelf = Shelf::default();
    shelf.take(sources, "en");
    let text = text.rsplit('#').next().unwrap_or(text);
    let walk = walk::walk(text, &shelf).map_err(|why| link::said(&why))?;
    match what {
        "steps" => Ok(steps::markdown(&walk)),
        "script" => Ok(script::shell(&walk)),
        "lesson" => lesson::markdown(&walk, sources),
        _ => Err("Steps, script, lesson or check.".into()),
    }
}
