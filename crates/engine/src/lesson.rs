//! Lessons in a session: how one is started, what the learner does beside acting on the cluster, what the page is told.

mod show;
mod told;

pub(crate) use told::{asks, asks_live, now, select, text};

use crate::{act::act_of, link::Saved, refused, session::Session};
use kubestep_lessons::{
    lesson::{Lesson, Source, id_of, language_of},
    predict::truth,
    stage::{Deed, Files, perform},
};
use kubestep_protocol::{Command, Doc, Stop, Update};
use std::sync::Arc;

/// What stands before a lesson's id where a session names what it began from.
pub(crate) const PREFIX: &str = "lesson:";
/// So many bytes of files at most.
const MOST_BYTES: usize = 8 << 20;
/// What a learner types is cut to so many characters.
const MOST_ANSWER: usize = 200;

/// The files of lessons that the page has handed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    sources: Vec<Source>,
    language: String,
}

impl Shelf {
    pub(crate) fn take(&mut self, sources: &[Doc], language: &str) {
        self.language = language.into();
        for doc in sources {
            let held: usize = self.sources.iter().map(|s| s.text.len()).sum();
            if held + doc.text.len() > MOST_BYTES {
                return;
            }
            let source = Source { path: doc.name.clone(), text: doc.text.clone() };
            match self.sources.iter_mut().find(|s| s.path == source.path) {
                Some(old) => *old = source,
                None => self.sources.push(source),
            }
        }
    }

    /// The path of a lesson's original.
    pub(crate) fn find(&self, id: &str) -> Option<&str> {
        let original = |path: &str| language_of(path).is_none() && !path.ends_with("folder.md");
        self.sources.iter().map(|s| s.path.as_str()).find(|p| original(p) && id_of(p) == id)
    }

    /// A lesson in the language that was asked for, or in English where it has no other. Errors: what is wrong.
    fn read(&self, id: &str) -> Result<Lesson, String> {
        let path = self.find(id).ok_or("There is no lesson of this name.")?;
        let said = |problems: Vec<kubestep_lessons::lesson::Problem>| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        match self.language.as_str() {
            "" | "en" => Lesson::read(path, &self.sources, "en").map_err(said),
            other => Lesson::read(path, &self.sources, other)
                .or_else(|_| Lesson::read(path, &self.sources, "en"))
                .map_err(said),
        }
    }
}

/// Starts a lesson: its beginning is played, then it is handed to the learner. Errors: why it cannot be.
pub(crate) fn load(id: &str, shelf: &Shelf) -> Result<(Session, Vec<Doc>), String> {
    let lesson = shelf.read(id)?;
    let mut session = Session::new(lesson.start_world());
    // What is there from the start has its numbers before anything happens.
    crate::view::frame(&mut session, None);
    let mut files = lesson.files.clone();
    for step in &lesson.start {
        perform(&mut session, step, &mut files)
            .map_err(|why| format!("The lesson cannot be started: {why}"))?;
    }
    session.mark_wait();
    session.scenario = format!("{PREFIX}{}", lesson.id);
    session.title.clone_from(&lesson.title);
    session.zero = session.history.live().now();
    session.scenario_inputs = session.track().saved.len();
    session.scenario_steps = session.history.last();
    session.begin_lesson(Arc::new(lesson));
    session.lesson_files.clone_from(&files);
    session.show_present();
    let docs = docs(&files);
    Ok((session, docs))
}

fn docs(files: &Files) -> Vec<Doc> {
    files.iter().map(|(name, text)| Doc { name: name.clone(), text: text.clone() }).collect()
}

/// Carries out what a learner does beside acting on the cluster.
pub(crate) fn act(session: &mut Session, command: &Command, out: &mut Vec<Update>) -> Stop {
    let Some(lesson) = session.lesson.clone() else { return refused("No lesson was started.") };
    match command {
        Command::Predict { index, answer } => predict(session, &lesson, *index, answer.as_deref()),
        Command::Hint => match told::next_hint(session) {
            Some(_) => remark(session, Saved::Hinted),
            None => refused("There is no other hint now."),
        },
        _ => show::show(session, &lesson, out),
    }
}

fn remark(session: &mut Session, saved: Saved) -> Stop {
    let act = act_of(session, &saved);
    session.act(act, saved);
    Stop::Finished
}

fn predict(session: &mut Session, lesson: &Lesson, index: u32, answer: Option<&str>) -> Stop {
    if asks(session) != Some(index) {
        return refused("This question is not asked now.");
    }
    let Some(prediction) = lesson.predictions.get(index as usize) else {
        return refused("There is no such question.");
    };
    let found = truth(prediction, session.world(), &session.note().gaps, &session.lesson_files);
    let answer = answer.map(|a| a.chars().take(MOST_ANSWER).collect());
    remark(session, Saved::Predicted { index, answer, truth: found.unwrap_or_default() })
}

/// What was kept, with what can be worked out again in the place of what it claims: what was true of a question's
/// answer is found again at that moment. A question that was not asked then has no true answer.
pub(crate) fn proved(session: &Session, saved: &Saved) -> Saved {
    let (Saved::Predicted { index, answer, .. }, Some(lesson)) = (saved, &session.lesson) else {
        return saved.clone();
    };
    let asked = lesson.predictions.get(*index as usize).filter(|_| asks(session) == Some(*index));
    let found = asked.map(|p| truth(p, session.world(), &session.note().gaps, &session.lesson_files));
    Saved::Predicted {
        index: *index,
        answer: answer.clone(),
        truth: found.and_then(Result::ok).unwrap_or_default(),
    }
}

/// The form in which a step of a script is kept.
fn saved_of(deed: Deed) -> Saved {
    match deed {
        Deed::Run { terminal, line, files } => {
            Saved::Run { terminal, line, files: files.into_iter().collect() }
        }
        Deed::Step(text) => Saved::Script(text),
    }
}
