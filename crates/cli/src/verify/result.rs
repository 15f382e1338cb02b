//! A learner's file, and what its sessions come to when they are played again.

use kubestep_engine::Engine;
use kubestep_lessons::lesson::Source;
use kubestep_protocol::{
    At, Command, CommandId, Doc, Frame, Grade, LessonNow, LinkRefused, Loaded, Request, Update,
};
use serde_json::Value;

/// The version of the file's format.
const VERSION: u64 = 1;
/// More sessions are not in one file.
const MOST: usize = 200;

/// A session of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The lesson it is said to be of; empty where the link alone says it.
    pub lesson: String,
    /// The link's text.
    pub link: String,
    /// How many minutes the learner took, as the learner's browser measured them; nobody can check that.
    pub minutes: Option<u64>,
}

/// What a learner has saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFile {
    /// The class' code.
    pub class: String,
    /// The name that the learner gave.
    pub learner: String,
    /// The sessions.
    pub entries: Vec<Entry>,
}

/// What a session came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// As in the file.
    pub class: String,
    /// As in the file.
    pub learner: String,
    /// The lesson that the session is really of.
    pub lesson: String,
    /// Solved by the learner: not by the shown way.
    pub solved: bool,
    /// Steps of the solution that were shown.
    pub shown: u32,
    /// Steps of the session.
    pub steps: u32,
    /// What the learner did to the cluster.
    pub acts: u32,
    /// Hints that were asked for.
    pub hints: u32,
    /// Predictions: right, near, and how many there are.
    pub predictions: (usize, usize, usize),
    /// Until it was solved, or until the session's end, on the cluster's clock, in seconds.
    pub seconds: u64,
    /// Minutes by the learner's own clock.
    pub minutes: Option<u64>,
    /// What is wrong with it; empty if nothing is.
    pub note: String,
}

impl ResultFile {
    /// Reads a file: a saved result, or a link alone, whose learner is then called as the file is. Errors: what it lacks.
    pub fn read(text: &str, name: &str) -> Result<ResultFile, String> {
        let text = text.trim();
        if !text.starts_with('{') {
            let link = text.rsplit('#').next().unwrap_or_default().to_string();
            let entries = vec![Entry { link, ..Entry::default() }];
            return Ok(ResultFile { learner: name.into(), entries, ..ResultFile::default() });
        }
        let value: Value = serde_json::from_str(text).map_err(|e| format!("it is no JSON: {e}"))?;
        let word = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        if word(&value, "kubestep") != "result" {
            return Err("it is no result of a class".into());
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            other => return Err(format!("it has version {other:?}; this program reads {VERSION}")),
        }
        let list = value.get("lessons").and_then(Value::as_array).ok_or("it holds no lessons")?;
        if list.len() > MOST {
            return Err(format!("it holds more than {MOST} lessons"));
        }
        let entry = |v: &Value| Entry {
            lesson: word(v, "id"),
            link: word(v, "link"),
            minutes: v.get("minutes").and_then(Value::as_u64),
        };
        Ok(ResultFile {
            class: word(&value, "class"),
            learner: word(&value, "learner"),
            entries: list.iter().map(entry).collect(),
        })
    }
}

/// Plays every session of a file again.
pub fn judge(file: &ResultFile, sources: &[Source]) -> Vec<Outcome> {
    file.entries.iter().map(|entry| one(file, entry, sources)).collect()
}

fn one(file: &ResultFile, entry: &Entry, sources: &[Source]) -> Outcome {
    let row = Outcome {
        class: file.class.clone(),
        learner: file.learner.clone(),
        lesson: entry.lesson.clone(),
        minutes: entry.minutes,
        ..Outcome::default()
    };
    match opened(&entry.link, sources) {
        Err(note) => Outcome { note, ..row },
        Ok((loaded, frame)) => outcome(row, &loaded, &frame),
    }
}

fn outcome(row: Outcome, loaded: &Loaded, frame: &Frame) -> Outcome {
    let (Some(text), Some(now)) = (loaded.lesson.as_deref(), frame.head.lesson.as_deref()) else {
        return Outcome { note: "it is a session, but of no lesson".into(), ..row };
    };
    let end = now.solved.unwrap_or(frame.head.now);
    let mut note = String::new();
    if loaded.differs.is_some() {
        note = "played again it ends otherwise: it was changed, or another version made it".into();
    } else if !row.lesson.is_empty() && row.lesson != text.id {
        note = format!("it says {}, and is a session of {}", row.lesson, text.id);
    }
    Outcome {
        lesson: text.id.clone(),
        solved: now.solved.is_some() && now.shown == 0 && note.is_empty(),
        shown: now.shown,
        steps: frame.head.moment.step,
        acts: now.acts,
        hints: u32::try_from(now.hints.len()).unwrap_or(u32::MAX),
        predictions: predictions(now),
        seconds: end.0.saturating_sub(frame.head.zero.0) / 1000,
        note,
        ..row
    }
}

fn predictions(now: &LessonNow) -> (usize, usize, usize) {
    let count = |grade: Grade| now.answers.iter().flatten().filter(|a| a.grade == grade).count();
    (count(Grade::Right), count(Grade::Close), now.answers.len())
}

/// The session of a link at its moment. Errors: why it cannot be opened.
fn opened(link: &str, sources: &[Source]) -> Result<(Loaded, Frame), String> {
    let mut engine = Engine::new();
    let mut ask = |id: u32, command: Command| engine.handle(Request { id: CommandId(id), command });
    let docs = sources.iter().map(|s| Doc { name: s.path.clone(), text: s.text.clone() }).collect();
    ask(1, Command::Lessons { sources: docs, language: "en".into() });
    let (mut loaded, mut frame) = (None, None);
    for update in ask(2, Command::LoadLink(link.rsplit('#').next().unwrap_or_default().into())) {
        match update {
            Update::Loaded(l) => loaded = Some(l),
            Update::Frame(f) => frame = Some(*f),
            Update::LinkRefused(why) => return Err(words(&why)),
            _ => {}
        }
    }
    loaded.zip(frame).ok_or_else(|| "it cannot be opened".into())
}

fn words(why: &LinkRefused) -> String {
    match why {
        LinkRefused::Damaged { words, .. } | LinkRefused::TooLarge(words) => words.clone(),
        LinkRefused::Newer { format, .. } => {
            format!("it has format {format}, which is newer than this program")
        }
        LinkRefused::Lesson(id) => format!("the lesson {id} is not below the lessons' folder"),
    }
}

/// How long, in words.
pub(super) fn lasting(seconds: u64) -> String {
    kubestep_protocol::age(At(seconds.saturating_mul(1000)).0)
}
