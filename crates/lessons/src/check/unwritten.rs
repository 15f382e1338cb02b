//! What *Save this run as a lesson* leaves to its author: lines in capitals.

use super::texts::texts;
use crate::lesson::{Lesson, Problem, Source};

/// Texts of the original that are still to be written.
pub fn unwritten(path: &str, sources: &[Source]) -> Vec<Problem> {
    let Ok(lesson) = Lesson::read(path, sources, "en") else { return vec![] };
    let mut problems = vec![];
    for (line, text) in texts(&lesson).into_iter().filter(|(_, text)| begins_in_capitals(text)) {
        let head: String = text.chars().take(40).collect();
        let text = format!("This is still to be written: {head}");
        problems.push(Problem {
            path: path.into(),
            line,
            text,
            remedy: "Put your words in its place.".into(),
        });
    }
    problems
}

/// Two words and more of capitals only.
fn begins_in_capitals(text: &str) -> bool {
    let shout = |w: &&str| w.chars().all(|c| c.is_ascii_uppercase());
    let words: Vec<&str> = text.split(' ').collect();
    let first: Vec<&&str> = words.iter().take_while(|w| shout(w)).collect();
    let ends = |w: Option<&&str>| {
        w.is_some_and(|w| w.trim_end_matches([':', '.', ',']).chars().all(|c| c.is_ascii_uppercase()))
    };
    first.len() >= 2 || first.len() == 1 && words.len() > 1 && ends(words.get(1))
}
