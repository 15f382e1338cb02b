//! A session: takes `protocol::Command`, returns `protocol::Update`s. The only crate that knows both worlds.

mod act;
mod answer;
mod ask;
mod author;
mod breaks;
mod check;
mod complete;
mod ids;
mod inspect;
mod lesson;
mod link;
mod moves;
mod parts;
mod race;
mod replay;
mod run;
mod scenarios;
mod send;
mod session;
mod view;
mod words;

pub use author::author;
use kubestep_model::schema::Descriptions;
use kubestep_protocol::{
    Command, CommandId, Delta, Frame, FrameId, Hello, ObjectRef, Request, Rich, Stop, Tab, Update,
};
pub use replay::{Replayed, replay};
use run::Run;
pub use send::request;
use session::Session;
use std::sync::Arc;

/// While playing, the session is kept after so many slices: about twice in a second.
const KEPT_SLICES: u32 = 30;

/// A session and everything kept of it.
#[derive(Debug, Default)]
pub struct Engine {
    session: Option<Session>,
    run: Option<(CommandId, Run)>,
    /// A search for another order.
    search: Option<(CommandId, Box<race::Search>)>,
    /// The last picture that the page has, and the number of the next.
    shown: Option<Frame>,
    next_frame: u32,
    /// The picture that was sent and not drawn yet: while a run goes on there is no other before it is.
    undrawn: Option<FrameId>,
    /// The run has gone on since the last picture.
    behind: bool,
    select: Option<ObjectRef>,
    tab: Tab,
    limit_millis: u64,
    /// Kubernetes' own descriptions of fields, once the page has fetched them.
    descriptions: Option<Arc<Descriptions>>,
    /// They have been asked for.
    asked_for_descriptions: bool,
    /// So many runs have ended since the page got the session to keep.
    unkept: u32,
    /// So many requests were sent to Services.
    sent: u32,
    /// The files of lessons that were handed over.
    shelf: lesson::Shelf,
}

impl Engine {
    /// An engine with nothing loaded.
    pub fn new() -> Self {
        Engine { limit_millis: 300_000, ..Engine::default() }
    }

    /// Answers one request. Total: any command in any state has an answer that ends with `Done`. A run only begins
    /// here; it goes on in [`Engine::idle`] as long as [`Engine::busy`].
    pub fn handle(&mut self, request: Request) -> Vec<Update> {
        let Request { id, command } = request;
        let mut out = vec![];
        match command {
            Command::Drawn(frame) => {
                self.undrawn = self.undrawn.filter(|sent| *sent > frame);
                return out;
            }
            Command::Hello => {
                out.push(Update::Hello(hello()));
                out.push(done(id, Stop::Finished, 0));
            }
            Command::Whole => {
                self.shown = None;
                self.picture(&mut out);
                out.push(done(id, Stop::Finished, 0));
            }
            command => {
                if !command_keeps_running(&command)
                    && let Some((searching, _)) = self.search.take()
                {
                    out.push(done(searching, Stop::Interrupted, 0));
                }
                if !command_keeps_running(&command)
                    && let Some((running, run)) = self.run.take()
                {
                    if self.behind {
                        self.picture(&mut out);
                    }
                    out.push(done(running, Stop::Interrupted, run.steps()));
                }
                self.answer(id, command, &mut out);
            }
        }
        out
    }

    /// Whether a run is going on.
    pub fn busy(&self) -> bool {
        self.run.is_some() || self.search.is_some()
    }

    /// Goes on with the run by at most `budget` inner steps. A picture comes when the page has drawn the one before, and
    /// at the end.
    pub fn idle(&mut self, budget: u32) -> Vec<Update> {
        let mut out = vec![];
        if let Some((id, search)) = self.search.take() {
            self.search_on(id, search, budget, &mut out);
            return out;
        }
        let (Some((id, mut run)), Some(session)) = (self.run.take(), self.session.as_mut()) else {
            return out;
        };
        let stop = run.slice(session, budget);
        let (steps, whole) = (run.steps(), run.worth_keeping());
        self.behind = true;
        if stop.is_none() {
            self.run = Some((id, run));
        }
        if stop.is_some() || self.undrawn.is_none() {
            self.picture(&mut out);
        }
        if let Some(stop) = stop {
            // While playing, one slice follows the other: not each is kept, but often enough for a page that is reloaded.
            let goes_on = matches!(stop, Stop::Finished | Stop::Steps | Stop::Waits);
            self.unkept += 1;
            if whole || !goes_on || self.unkept >= KEPT_SLICES {
                self.keep(&mut out);
            }
            out.push(done(id, stop, steps));
        }
        out
    }

    /// Sends what is shown now: a delta on what the page has, or a whole picture.
    fn picture(&mut self, out: &mut Vec<Update>) {
        let running = self.run.as_ref().map(|(id, _)| *id);
        let Some(session) = self.session.as_mut() else { return };
        self.next_frame += 1;
        let mut frame = view::frame(session, self.shown.as_ref());
        frame.head.id = FrameId(self.next_frame);
        frame.head.running = running;
        if session.wants_descriptions && !std::mem::replace(&mut self.asked_for_descriptions, true) {
            out.push(Update::WantsDescriptions);
        }
        out.push(match &self.shown {
            Some(old) => Update::Delta(Box::new(Delta::between(old, &frame))),
            None => Update::Frame(Box::new(frame.clone())),
        });
        if let Some(object) = &self.select {
            out.push(Update::Details(Box::new(inspect::details(session, object, self.tab, frame.head.id))));
        }
        self.undrawn = Some(frame.head.id);
        self.behind = false;
        self.shown = Some(frame);
    }
}

/// Commands that only ask; a run goes on beside them.
fn command_keeps_running(command: &Command) -> bool {
    matches!(
        command,
        Command::Check { .. }
            | Command::BreakMenu { .. }
            | Command::Field { .. }
            | Command::Complete { .. }
            | Command::Select { .. }
            | Command::Sentences { .. }
            | Command::Limit { .. }
            | Command::Moves
            | Command::Send(_)
            | Command::Latencies
    )
}

fn done(id: CommandId, stop: Stop, steps: u32) -> Update {
    Update::Done { id, stop, steps }
}

fn refused(text: &str) -> Stop {
    Stop::Refused(Rich::words(text))
}

fn hello() -> Hello {
    Hello {
        models: "Kubernetes v1.37".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        formats: vec![link::FORMAT],
        scenarios: scenarios::list(),
    }
}
