//! Lessons: the map, the files of one, where the learner stands in all of them.

use std::rc::Rc;

use kubestep_protocol::*;

use super::embed::DRAFT;
use super::{Banner, Effect, Open, Phone, State};

/// What stands before a lesson's id where a session names what it began from.
pub(super) const PREFIX: &str = "lesson:";

/// A lesson on the map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CourseEntry {
    /// What links name.
    pub id: String,
    /// The course, or the drills.
    pub part: String,
    /// The chapter; empty for drills.
    pub chapter: String,
    /// Its title.
    pub title: String,
    /// About how long it takes.
    pub minutes: u32,
    /// The lessons it builds on.
    pub needs: Vec<String>,
    /// Its files, and those of the folders above it.
    pub files: Vec<String>,
}

/// What the person has done in lessons, kept between visits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The one that was started last.
    pub last: String,
    /// Those that were solved.
    pub solved: Vec<String>,
}

/// What can happen around lessons.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonMsg {
    /// The map came.
    Course(Vec<CourseEntry>),
    /// Something could not be fetched.
    Failed(String),
    /// A lesson is to be opened, or begun anew.
    Start(String),
    /// Its files came.
    Files(String, Vec<Doc>),
    /// The lesson's text, or the file, stands in front.
    Front(bool),
}

impl State {
    /// The lesson that is open.
    pub fn lesson(&self) -> Option<&LessonText> {
        self.loaded.lesson.as_deref()
    }

    /// Where a lesson stands on the map: its place, counted from 1, and how many there are.
    pub fn place_of(&self, id: &str) -> Option<(usize, usize)> {
        let course = self.course.as_ref()?;
        Some((course.iter().position(|e| e.id == id)? + 1, course.len()))
    }

    /// The lesson after this one.
    pub fn next_lesson(&self, id: &str) -> Option<&CourseEntry> {
        let course = self.course.as_ref()?;
        course.get(course.iter().position(|e| e.id == id)? + 1)
    }

    /// The lesson to go on with: the last one if it was not solved, else the first unsolved one whose needs are met.
    pub fn goes_on(&self) -> Option<&CourseEntry> {
        let course = self.course.as_ref()?;
        let solved = |id: &str| self.progress.solved.iter().any(|s| s == id);
        let last = course.iter().find(|e| e.id == self.progress.last && !solved(&e.id));
        let next = || course.iter().find(|e| !solved(&e.id) && e.needs.iter().all(|n| solved(n)));
        last.or_else(next).or_else(|| course.iter().find(|e| !solved(&e.id)))
    }

    /// The address asks for a lesson: `?lesson=NAME&step=N`.
    pub(super) fn query(&mut self, query: &str) {
        let field = |name: &str| {
            let pairs = query.trim_start_matches('?').split('&').filter_map(|p| p.split_once('='));
            pairs.into_iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string())
        };
        self.wanted = field("lesson").filter(|id| !id.is_empty());
        self.wanted_step = field("step").and_then(|s| s.parse().ok());
    }

    pub(super) fn lessons(&mut self, msg: LessonMsg, todo: &mut Vec<Effect>) {
        match msg {
            LessonMsg::Course(course) => {
                self.course = Some(Rc::new(course));
                if let Some(id) = self.wanted.take() {
                    self.fetch_lesson(id, todo);
                }
            }
            LessonMsg::Failed(why) => {
                let words = Rich::words("The lessons cannot be fetched: ")
                    .then(Span::Code(why))
                    .then(Span::Words(".".into()));
                self.no_lesson(Banner::Notice(Notice { words, warns: true }), todo);
            }
            LessonMsg::Start(id) => {
                self.stop_playing(todo);
                self.ui.open = self.ui.open.take().filter(|o| *o != Open::Course);
                self.banner = None;
                self.run = None;
                self.fetch_lesson(id, todo);
            }
            LessonMsg::Files(id, docs) => self.lesson_files(&id, docs, todo),
            LessonMsg::Front(lesson) => {
                self.ui.lesson = lesson;
                self.ui.phone = Phone::File;
                self.ui.side_inspect = false;
                todo.push(Effect::Look);
            }
        }
    }

    /// Another language: the map and the open lesson are fetched in it.
    pub(super) fn speaks(&mut self, language: &'static str, todo: &mut Vec<Effect>) {
        self.ui.prefs.language = language;
        todo.push(Effect::StorePrefs(self.ui.prefs.clone()));
        todo.push(Effect::Look);
        if self.course.take().is_some() || self.lesson().is_some() {
            self.wanted = self.lesson().map(|l| l.id.clone());
            self.translated = self.wanted.is_some();
            todo.push(Effect::FetchCourse);
        }
    }

    /// Fetches the files of a lesson; without a map that first.
    pub(super) fn fetch_lesson(&mut self, id: String, todo: &mut Vec<Effect>) {
        let Some(course) = self.course.clone() else {
            self.wanted = Some(id);
            return todo.push(Effect::FetchCourse);
        };
        match course.iter().find(|e| e.id == id) {
            Some(entry) => todo.push(Effect::FetchLesson(id, entry.files.clone())),
            None => self.no_lesson(Banner::Link(LinkRefused::Lesson(id)), todo),
        }
    }

    /// A lesson cannot be had. The page shows something else beside the reason; a figure, whose page speaks of this
    /// lesson, does not.
    fn no_lesson(&mut self, why: Banner, todo: &mut Vec<Effect>) {
        self.wanted = None;
        self.again = None;
        self.banner = Some(Rc::new(why));
        if self.frame.is_none() && self.embed.is_none() {
            self.load_wanted(todo);
        }
    }

    /// The files are handed over; then the lesson, the link into it or the stored run is opened.
    fn lesson_files(&mut self, id: &str, docs: Vec<Doc>, todo: &mut Vec<Effect>) {
        self.lesson_docs = Rc::new(docs.clone());
        self.ask(Command::Lessons { sources: docs, language: self.ui.prefs.language.into() }, todo);
        if std::mem::take(&mut self.translated) && self.lesson().is_some_and(|l| l.id == id) {
            let moment = self.moment();
            if let Some(save) = self.kept.clone() {
                return self.ask(Command::Restore { save: save.to_string(), moment }, todo);
            }
        }
        if let Some(link) = self.again.take() {
            return self.ask(Command::LoadLink(link.to_string()), todo);
        }
        let run =
            self.run.take().filter(|r| self.wanted_step.is_none() && r.scenario == format!("{PREFIX}{id}"));
        match run {
            Some(run) if !run.save.is_empty() => self.put_back(&run, todo),
            Some(run) if !run.address.starts_with('?') => self.open_address(&run.address, todo),
            _ => self.ask(Command::LoadLesson(id.into()), todo),
        }
    }

    /// A lesson was opened.
    pub(super) fn opened_lesson(&mut self, todo: &mut Vec<Effect>) {
        let Some(id) = self.loaded.scenario.strip_prefix(PREFIX).map(str::to_string) else { return };
        self.ui.lesson = true;
        self.ui.phone = Phone::File;
        self.ui.side_inspect = false;
        if id != DRAFT && self.embed.is_none() {
            self.address = Rc::from(format!("?lesson={id}"));
            todo.push(Effect::Address(self.address.to_string()));
        }
        if self.progress.last != id {
            self.progress = Rc::new(Progress { last: id, ..(*self.progress).clone() });
            todo.push(Effect::StoreProgress((*self.progress).clone()));
        }
        if let Some(step) = self.wanted_step.take_if(|_| self.embed.is_none()) {
            self.ask(Command::Seek(Moment { branch: BranchId(0), step }), todo);
        }
        if self.course.is_none() {
            todo.push(Effect::FetchCourse);
        }
    }

    /// What was solved is remembered.
    pub(super) fn remember_solved(&mut self, frame: &Frame, todo: &mut Vec<Effect>) {
        let solved = frame.head.lesson.as_ref().is_some_and(|l| l.solved.is_some() && l.shown == 0);
        let Some(id) = self.lesson().map(|l| l.id.clone()).filter(|_| solved) else { return };
        if !self.progress.solved.contains(&id) {
            let mut progress = (*self.progress).clone();
            progress.solved.push(id);
            self.progress = Rc::new(progress);
            todo.push(Effect::StoreProgress((*self.progress).clone()));
        }
    }
}
