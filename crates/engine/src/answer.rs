//! Commands other than runs in progress: what each does and answers.

use crate::{
    Engine, act, breaks, check, complete, done, lesson,
    link::{self, Saved},
    moves,
    race::{Progress, Search},
    refused,
    run::{Goal, Run},
    scenarios, send,
    session::{COMMAND_STEPS, Session},
    words,
};
use kubestep_lessons::question::Question;
use kubestep_model::schema::Descriptions;
use kubestep_protocol::{
    BranchId, Command, CommandId, Doc, Loaded, LoadedBy, Moment, NodeAct, Notice, Rich, Shared, Stop, Until,
    Update,
};
use std::{sync::Arc, time::Duration};

/// So many steps of a typed line come before the first picture.
const LINE_STEPS: u32 = 400;
const NO_BRANCH: &str = "There is no such timeline.";
/// Longest text that is looked at while a person types.
const MOST_CHECKED: usize = act::MOST_TEXT;

impl Engine {
    /// Answers a command that is neither `Hello`, `Whole` nor `Drawn`.
    pub(crate) fn answer(&mut self, id: CommandId, command: Command, out: &mut Vec<Update>) {
        let stop = match &command {
            Command::LoadScenario(name) => self.load_scenario(name, out),
            Command::Lessons { sources, language } => {
                self.shelf.take(sources, language);
                Stop::Finished
            }
            Command::Descriptions(text) => {
                self.take_descriptions(text, out);
                Stop::Finished
            }
            Command::LoadLesson(id) => self.load_lesson(id, out),
            Command::LoadLink(text) => self.load_link(text, out),
            Command::Restore { save, moment } => self.restore(save, *moment, out),
            _ if self.session.is_none() => refused("Nothing is loaded."),
            Command::Until(Until::Question(text)) if Question::parse(text).is_err() => {
                refused(&Question::parse(text).err().unwrap_or_default())
            }
            Command::Race => {
                self.search = self.session.as_mut().map(|s| {
                    s.end_peek();
                    (id, Box::new(Search::new(s)))
                });
                return;
            }
            _ => match self.goal(&command) {
                Some(goal) => {
                    if let Some(session) = self.session.as_mut() {
                        session.end_peek();
                        self.run = Some((id, Run::new(goal, session)));
                    }
                    return;
                }
                None => {
                    let stop = self.at_once(&command, out);
                    if let Some(run) = self.rest_of_line(&command) {
                        self.run = Some((id, run));
                        return;
                    }
                    if self.behind && self.run.is_none() {
                        self.picture(out);
                    }
                    stop
                }
            },
        };
        out.push(done(id, stop, 0));
    }

    /// Goes on with a search; at its end the session is led to what was found.
    pub(crate) fn search_on(
        &mut self,
        id: CommandId,
        mut search: Box<Search>,
        budget: u32,
        out: &mut Vec<Update>,
    ) {
        let words = match (search.slice(budget), self.session.as_mut()) {
            (Progress::Searching, _) => {
                self.search = Some((id, search));
                return;
            }
            (Progress::Found(found), Some(session)) => {
                session.begin_here();
                for (record, at, name) in &found.way {
                    session.run_to(*record, *at);
                    session.put(Saved::Choice(name.clone()));
                }
                session.run_to(found.end.0, found.end.1);
                self.keep(out);
                self.picture(out);
                self.ask(&Command::Share { files: vec![] }, out);
                words::race_found(&found, search.tried)
            }
            (Progress::Ended(whole), _) => words::no_race(search.tried, whole),
            (_, None) => return,
        };
        out.push(Update::Notice(Notice { words, warns: false }));
        out.push(done(id, Stop::Finished, 0));
    }

    /// What is left of a line of many commands is a run: others are heard between its slices, Ctrl-C among them.
    fn rest_of_line(&self, command: &Command) -> Option<Run> {
        let session = self.session.as_ref().filter(|s| s.history.live().is_exclusive())?;
        matches!(command, Command::Kubectl { .. }).then(|| Run::new(Goal::Line, session))
    }

    fn goal(&self, command: &Command) -> Option<Goal> {
        let session = self.session.as_ref()?;
        let after = |millis: u64| session.stands().now() + Duration::from_millis(millis.min(1 << 40));
        Some(match command {
            Command::Step { inner } => Goal::Step { inner: *inner },
            Command::Reconcile => Goal::Reconcile { key: None },
            Command::UntilCalm => Goal::Calm,
            Command::Advance { millis } => Goal::Time { end: after(*millis), steps: u32::MAX },
            Command::Play { millis, steps } => Goal::Time { end: after(*millis), steps: (*steps).max(1) },
            Command::Until(until) => Goal::Until(until.clone()),
            _ => return None,
        })
    }

    fn load_scenario(&mut self, name: &str, out: &mut Vec<Update>) -> Stop {
        let name = if name.is_empty() {
            scenarios::list().first().map_or(String::new(), |s| s.id.clone())
        } else {
            name.to_string()
        };
        match scenarios::load(&name) {
            Some((session, files)) => {
                self.open(session, files, LoadedBy::Scenario, None, out);
                Stop::Finished
            }
            None => refused("There is no scenario of this name."),
        }
    }

    /// The page has fetched the descriptions: what waits for them is shown anew.
    fn take_descriptions(&mut self, text: &str, out: &mut Vec<Update>) {
        let descriptions = Some(Arc::new(Descriptions::new(text.to_owned())));
        self.descriptions.clone_from(&descriptions);
        self.asked_for_descriptions = true;
        if let Some(session) = self.session.as_mut() {
            session.descriptions = descriptions;
            session.wants_descriptions = false;
            self.picture(out);
        }
    }

    fn load_lesson(&mut self, id: &str, out: &mut Vec<Update>) -> Stop {
        match lesson::load(id, &self.shelf) {
            Ok((session, files)) => {
                self.open(session, files, LoadedBy::Scenario, None, out);
                Stop::Finished
            }
            Err(why) => refused(&why),
        }
    }

    fn load_link(&mut self, text: &str, out: &mut Vec<Update>) -> Stop {
        match link::open(text, &self.shelf) {
            Ok(opened) => {
                let differs = opened.differs.then(words::link_differs);
                self.open(opened.session, opened.files, LoadedBy::Link, differs, out);
                Stop::Finished
            }
            Err(why) => {
                out.push(Update::LinkRefused(why));
                Stop::Finished
            }
        }
    }

    fn restore(&mut self, save: &str, moment: Moment, out: &mut Vec<Update>) -> Stop {
        match link::open(save, &self.shelf) {
            Ok(mut opened) => {
                opened.session.seek(moment.step as usize);
                self.open(opened.session, opened.files, LoadedBy::Restore, None, out);
                Stop::Finished
            }
            Err(why) => {
                out.push(Update::LinkRefused(why));
                Stop::Finished
            }
        }
    }

    fn open(
        &mut self,
        mut session: Session,
        files: Vec<kubestep_protocol::Doc>,
        by: LoadedBy,
        differs: Option<Rich>,
        out: &mut Vec<Update>,
    ) {
        session.limit = Duration::from_millis(self.limit_millis);
        session.descriptions.clone_from(&self.descriptions);
        for doc in &files {
            session.sees(doc);
        }
        let (opening, select) = match &session.lesson {
            Some(lesson) => (Rich::default(), lesson::select(lesson)),
            None => scenarios::opening(&session.scenario),
        };
        let front = session.lesson.as_ref().and_then(|l| files.iter().position(|f| f.name == l.front));
        out.push(Update::Loaded(Loaded {
            scenario: session.scenario.clone(),
            title: session.title.clone(),
            files,
            front: front.and_then(|i| u32::try_from(i).ok()).unwrap_or(0),
            select: select.clone(),
            opening,
            by,
            differs,
            lesson: session.lesson.as_ref().map(|l| Box::new(lesson::text(l))),
        }));
        self.select = select;
        self.shown = None;
        self.session = Some(session);
        self.keep(out);
        self.picture(out);
    }

    pub(crate) fn keep(&mut self, out: &mut Vec<Update>) {
        self.unkept = 0;
        if let Some(session) = &self.session {
            out.push(Update::Kept(link::keep(session)));
        }
    }

    /// Commands that are answered in one go.
    fn at_once(&mut self, command: &Command, out: &mut Vec<Update>) -> Stop {
        let Some(session) = self.session.as_mut() else { return refused("Nothing is loaded.") };
        let named = match command {
            Command::Check { doc, .. } | Command::BreakMenu { doc } | Command::Apply { doc } => {
                session.sees(doc)
            }
            Command::Kubectl { files, .. } | Command::Share { files } => {
                files.iter().fold(false, |news, doc| session.sees(doc) | news)
            }
            _ => false,
        };
        // The registry shows what files name.
        self.behind |= named;
        match command {
            Command::Back if session.step() == 0 => return refused("No step before this one."),
            Command::Back => session.seek(session.step() - 1),
            Command::Forward if session.at_present() => return refused("No step after this one."),
            Command::Forward => session.seek(session.step() + 1),
            Command::Seek(moment) => {
                if moment.branch.0 as usize != session.history.branch()
                    && !session.switch(moment.branch.0 as usize)
                {
                    return refused(NO_BRANCH);
                }
                session.seek(moment.step as usize);
            }
            Command::Peek(moment) => session.peek(moment.step as usize),
            Command::Branch(BranchId(branch)) if !session.switch(*branch as usize) => {
                return refused(NO_BRANCH);
            }
            Command::Branch(_) => {}
            Command::DropSnapshots => session.drop_worlds(),
            Command::Pause => {
                self.keep(out);
                return Stop::Finished;
            }
            Command::Limit { millis } => {
                self.limit_millis = *millis;
                session.limit = Duration::from_millis(*millis);
            }
            Command::Select { object, tab } => {
                self.select = object.clone();
                self.tab = *tab;
            }
            Command::Share { .. }
            | Command::Check { .. }
            | Command::BreakMenu { .. }
            | Command::Field { .. }
            | Command::Complete { .. }
            | Command::Sentences { .. }
            | Command::Hash
            | Command::Moves
            | Command::Send(_)
            | Command::Latencies => {
                return self.ask(command, out);
            }
            _ => return self.do_act(command, out),
        }
        self.picture(out);
        Stop::Finished
    }

    /// Commands that only ask.
    fn ask(&mut self, command: &Command, out: &mut Vec<Update>) -> Stop {
        let Some(session) = self.session.as_mut() else { return refused("Nothing is loaded.") };
        let moment = Moment {
            branch: BranchId(u32::try_from(session.history.branch()).unwrap_or(0)),
            step: u32::try_from(session.step()).unwrap_or(0),
        };
        out.push(match command {
            Command::Share { files } => {
                let (text, hash) = link::share(session, files);
                Update::Shared(Shared { text, moment, hash })
            }
            Command::Check { doc, version } if doc.text.len() <= MOST_CHECKED => {
                Update::Checked(check::check(session, doc, *version))
            }
            Command::Check { doc, version } => Update::Checked(check::too_large(doc, *version)),
            Command::Field { doc, line, column } if doc.text.len() <= MOST_CHECKED => {
                Update::Field(check::field(session, doc, *line, *column))
            }
            Command::Field { .. } => Update::Field(None),
            Command::BreakMenu { doc } => Update::BreakMenu(breaks::menu(session, doc)),
            Command::Complete { line, .. } => Update::Completions(complete::complete(session, line)),
            Command::Sentences { from, to } => Update::Sentences(words::sentences(
                session,
                *from as usize,
                (*to as usize).min(*from as usize + 500),
            )),
            Command::Hash => Update::Hashed { moment, hash: session.world().hash() },
            Command::Moves => Update::Moves(moves::rows(session)),
            Command::Send(service) => {
                self.sent = self.sent.wrapping_add(1);
                match send::send(session, service, self.sent) {
                    Ok(words) => Update::Notice(Notice { words, warns: false }),
                    Err(why) => return refused(&why),
                }
            }
            _ => Update::Latencies(words::latencies(session)),
        });
        Stop::Finished
    }

    fn do_act(&mut self, command: &Command, out: &mut Vec<Update>) -> Stop {
        let Some(session) = self.session.as_mut() else { return refused("Nothing is loaded.") };
        session.end_peek();
        let saved = match command {
            Command::Predict { .. } | Command::Hint | Command::ShowMe => {
                let stop = lesson::act(session, command, out);
                self.keep(out);
                self.picture(out);
                return stop;
            }
            _ => act::saved_of(session, command),
        };
        let saved = match saved {
            Ok(saved) => saved,
            Err(why) => return refused(&why),
        };
        if let Command::Node(NodeAct::Remove(name)) = command {
            // A machine that is taken away goes silent first.
            let stop = Saved::NodeStop { name: name.clone() };
            session.act(act::act_of(session, &stop), stop);
        }
        if matches!(saved, Saved::Choice(_)) {
            session.put(saved);
            self.keep(out);
            self.picture(out);
            return Stop::Finished;
        }
        let deed = act::act_of(session, &saved);
        let typed = matches!(command, Command::Kubectl { .. });
        let client = session.command(deed, saved, if typed { LINE_STEPS } else { COMMAND_STEPS });
        if let Some(client) = client.filter(|_| matches!(command, Command::Kubectl { .. })) {
            open_files(session, client, out);
        }
        let waits = match client {
            Some(client) if matches!(command, Command::Apply { .. } | Command::Kubectl { .. }) => {
                session.history.live().client(client).is_some_and(|c| c.ended.is_none())
            }
            _ => false,
        };
        self.keep(out);
        self.picture(out);
        if waits { Stop::Waits } else { Stop::Finished }
    }
}

/// What `kubectl edit` opens is shown in the editor.
fn open_files(session: &Session, client: kubestep_cluster::ClientId, out: &mut Vec<Update>) {
    let Some(client) = session.history.live().client(client) else { return };
    let texts = client.output.iter().filter_map(|c| c.text.made());
    let files = texts.flat_map(kubestep_kubectl::docs::opened);
    let docs: Vec<Doc> = files.map(|(name, text)| Doc { name, text }).collect();
    if !docs.is_empty() {
        out.push(Update::Files(docs));
    }
}
