//! A lesson: one Markdown file, with what the folders above it say, in one language.

mod blocks;
mod build;
mod known;
mod page;
mod translate;

pub(crate) use build::steps_of;
pub use page::Source;
pub(crate) use translate::spans;

use crate::{
    question::{Ask, Question},
    script::ScriptStep,
    stage::Files,
};
use kubestep_cluster::{Latencies, NodeSpec, Registry, Settings, Start};
use std::time::Duration;

/// The seed of every lesson: links and lessons speak of the same run.
const SEED: u64 = 1;

/// Something wrong with a file of a lesson, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Problem {
    pub path: String,
    /// 0: of the whole file.
    pub line: usize,
    pub text: String,
    pub remedy: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text)?,
            line => write!(f, "{}:{line}: {}", self.path, self.text)?,
        }
        if self.remedy.is_empty() {
            return Ok(());
        }
        let ends = self.text.ends_with(['.', '!', '?', ':', '”']);
        write!(f, "{} {}", if ends { "" } else { "." }, self.remedy)
    }
}

/// How a goal speaks of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It has to be so, for a while.
    Is,
    /// It has to have been so once.
    Once,
    /// It has to be so from the beginning until everything else is done.
    Always,
    /// It must not be so, from the beginning until everything else is done.
    Never,
}

/// A goal.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Goal {
    pub line: usize,
    pub say: String,
    pub mood: Mood,
    pub question: Question,
    pub hold: Duration,
}

/// A way that leads nowhere (`fail`), or that the lesson does not want (`forbid`).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Trap {
    pub line: usize,
    pub say: String,
    pub forbidden: bool,
    pub question: Question,
}

/// A hint. It can be asked for once its condition was true.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Hint {
    pub line: usize,
    pub say: String,
    pub when: Option<Question>,
}

/// A question to the learner whose answer is found by running the world on.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Prediction {
    pub line: usize,
    pub ask: String,
    /// When it is asked: at the beginning, or when this is true for the first time.
    pub when: Option<Question>,
    /// What is done to a copy of the world to find the answer.
    pub steps: Vec<ScriptStep>,
    pub answer: Ask,
    /// Values, and the words for them; empty: the answer is typed.
    pub choices: Vec<(String, String)>,
    pub because: String,
}

/// The lines of what has no other place to keep them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Lines {
    pub text: Vec<usize>,
    pub debrief: Vec<usize>,
    pub start: usize,
    pub solution: usize,
    pub wrong: Vec<usize>,
}

/// A lesson in one language.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Lesson {
    pub id: String,
    pub path: String,
    pub language: String,
    pub title: String,
    pub part: String,
    pub chapter: String,
    pub minutes: u32,
    /// What it teaches, by the numbers of the list of what is taught.
    pub rows: Vec<String>,
    /// Lessons that should come before.
    pub needs: Vec<String>,
    /// Kind and name of what the inspector should show.
    pub select: Option<(String, String)>,
    pub text: Vec<String>,
    pub debrief: Vec<String>,
    pub nodes: Vec<NodeSpec>,
    pub registry: Registry,
    pub files: Files,
    /// Which file is in front.
    pub front: String,
    pub start: Vec<ScriptStep>,
    pub goals: Vec<Goal>,
    pub traps: Vec<Trap>,
    pub hints: Vec<Hint>,
    pub predictions: Vec<Prediction>,
    pub solution: Vec<ScriptStep>,
    /// Ways that do not lead to the goals, for the check.
    pub wrong: Vec<Vec<ScriptStep>>,
    /// Where these things stand.
    pub lines: Lines,
}

impl Lesson {
    /// Reads the lesson at a path, with the files of the folders above it, in a language (`en` is the original's).
    /// Errors: everything that is wrong with the files.
    pub fn read(path: &str, sources: &[Source], language: &str) -> Result<Lesson, Vec<Problem>> {
        let mut lesson = build::lesson(path, sources)?;
        if language != "en" {
            translate::translate(&mut lesson, sources, language)?;
        }
        Ok(lesson)
    }

    /// The world that it begins from, before its first step.
    pub fn start_world(&self) -> Start {
        Start {
            nodes: self.nodes.clone(),
            registry: self.registry.clone(),
            seed: SEED,
            latencies: Latencies::default(),
            settings: Settings { selector_check: true },
        }
    }
}

/// The id of the lesson in a file: its name without number, language and ending.
pub fn id_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split('.').next().unwrap_or(name);
    name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').to_string()
}

/// The language in a file's name: `de` of `name.de.md`.
pub fn language_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path).strip_suffix(".md")?;
    name.split_once('.').map(|(_, language)| language)
}

/// The files of the folders above a lesson that it inherits from, the highest first.
pub fn folders_of(path: &str) -> Vec<String> {
    let mut found = vec!["folder.md".to_string()];
    let parts: Vec<&str> = path.split('/').collect();
    for end in 1..parts.len() {
        found.push(format!("{}/folder.md", parts[..end].join("/")));
    }
    found
}

/// The path of a file's translation.
pub fn translated(path: &str, language: &str) -> String {
    format!("{}.{language}.md", path.strip_suffix(".md").unwrap_or(path))
}

#[cfg(test)]
mod tests;
