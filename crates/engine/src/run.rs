//! Runs: what moves on in slices until it has done what was asked.

use crate::{
    lesson,
    session::{Session, key_of},
};
use kubestep_cluster::{ChangeRef, Record, What};
use kubestep_insight::{Kind, idle, kind};
use kubestep_lessons::question::Question;
use kubestep_model::{Deployment, Instant, Key, Object};
use kubestep_protocol::{Rich, Span, Stop, Until, VerdictKind};
use std::{sync::Arc, time::Duration};

/// The bounds of runs that wait for something.
const HOUR: Duration = Duration::from_secs(3600);
const STEPS: u32 = 10_000;
/// One visible step may hide so many inner ones (heartbeats, leases).
const INNER: u32 = 200_000;

/// What a run is to do.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// One visible change, or (inner) one record.
    Step {
        inner: bool,
    },
    /// Until the controller that moves next has settled its key.
    Reconcile {
        key: Option<(&'static str, Key)>,
    },
    Calm,
    /// Until this time; with a bound on steps when playing.
    Time {
        end: Instant,
        steps: u32,
    },
    Until(Until),
    /// Until the line that was typed ends or waits.
    Line,
}

/// A run that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    goal: Goal,
    begun: Instant,
    steps: u32,
    inner: u32,
    /// The lesson's question that waited already when it began.
    asked: Option<u32>,
}

impl Run {
    /// A run from the moment that is looked at.
    pub(crate) fn new(goal: Goal, session: &Session) -> Self {
        Run { goal, begun: session.world().now(), steps: 0, inner: 0, asked: lesson::asks(session) }
    }

    /// Whether the page should keep the session where this run ended: not after every slice of playing.
    pub(crate) fn worth_keeping(&self) -> bool {
        !matches!(self.goal, Goal::Time { steps, .. } if steps < u32::MAX)
    }

    /// Visible steps made so far.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Goes on by at most so many inner steps; answers why it ended, if it did.
    pub(crate) fn slice(&mut self, session: &mut Session, budget: u32) -> Option<Stop> {
        session.end_peek();
        if let Some(stop) = self.replay(session) {
            return Some(stop);
        }
        let mut stop = None;
        for _ in 0..budget {
            stop = self.inner_step(session).or_else(|| self.asked_now(session));
            if stop.is_some() {
                break;
            }
        }
        session.show_present();
        stop
    }

    /// A lesson's question that comes up has to be answered before the next step.
    fn asked_now(&self, session: &Session) -> Option<Stop> {
        session.lesson.as_ref()?;
        let asks = lesson::asks_live(session);
        (asks.is_some() && asks != self.asked).then(|| Stop::True(Rich::words("A question waits for you.")))
    }

    /// Where the branch has steps ahead, they are gone through, not made again.
    fn replay(&mut self, session: &mut Session) -> Option<Stop> {
        while !session.at_present() {
            let next = session.history.cursor() + 1;
            let Some(at) = session.moment(next).map(|m| m.at) else {
                return self.reach_present(session);
            };
            if let Goal::Time { end, .. } = self.goal
                && at > end
            {
                session.wait_in_past(end);
                return Some(Stop::Finished);
            }
            if next == session.history.last() {
                session.seek_before_present();
            } else {
                session.seek(next);
            }
            self.steps += 1;
            if let Some(stop) = self.replayed(session, next) {
                return Some(stop);
            }
        }
        None
    }

    /// After the last step of a branch comes its present, which may be later.
    fn reach_present(&self, session: &mut Session) -> Option<Stop> {
        if let Goal::Time { end, .. } = self.goal
            && session.history.live().now() > end
        {
            session.wait_in_past(end);
            return Some(Stop::Finished);
        }
        session.show_present();
        None
    }

    /// Whether the run ends at a step that was gone through.
    fn replayed(&mut self, session: &mut Session, step: usize) -> Option<Stop> {
        let records: Vec<Arc<Record>> = session.history.records_of(step).to_vec();
        let settled = records.iter().any(|r| self.settles(r));
        let stop = match &self.goal {
            Goal::Step { .. } | Goal::Line => Some(Stop::Finished),
            Goal::Reconcile { .. } => settled.then_some(Stop::Finished),
            Goal::Time { steps, .. } => (self.steps >= *steps).then_some(Stop::Finished),
            Goal::Calm => was_calm(session, step),
            Goal::Until(_) => records.last().and_then(|r| self.waited_for(session, r)),
        };
        if stop.is_some() && step == session.history.last() {
            session.show_present();
        }
        stop
    }

    fn inner_step(&mut self, session: &mut Session) -> Option<Stop> {
        let live = session.history.live();
        if matches!(self.goal, Goal::Line) && !live.is_exclusive() {
            let ended = live.last_client().and_then(|id| live.client(id)).is_none_or(|c| c.ended.is_some());
            return Some(if ended { Stop::Finished } else { Stop::Waits });
        }
        let Some((due, _)) = live.next() else {
            if let Goal::Time { end, .. } = self.goal {
                session.idle_until(end);
                return Some(Stop::Finished);
            }
            return Some(Stop::Quiet);
        };
        if let Goal::Time { end, .. } = self.goal
            && due > end
            && !live.is_exclusive()
        {
            session.idle_until(end);
            return Some(Stop::Finished);
        }
        if matches!(self.goal, Goal::Calm | Goal::Until(_)) && due.since(self.begun) > HOUR {
            session.idle_until(self.begun + HOUR);
            return Some(Stop::Hour);
        }
        if matches!(self.goal, Goal::Calm)
            && self.inner == 0
            && let Some(stop) = calm(session)
        {
            return Some(stop);
        }
        if self.inner == 0
            && let Goal::Until(Until::Question(text)) = &self.goal
            && let Some(stop) = answered(session, text)
        {
            return Some(stop);
        }
        let record = session.advance()?;
        self.inner += 1;
        if record.visible() {
            self.steps += 1;
        }
        self.ended(session, &record)
    }

    fn ended(&mut self, session: &Session, record: &Record) -> Option<Stop> {
        let visible = record.visible();
        match &mut self.goal {
            Goal::Step { inner } => {
                (visible || *inner).then_some(Stop::Finished).or((self.inner > INNER).then_some(Stop::Steps))
            }
            Goal::Reconcile { .. } => {
                let settled = self.settles(record);
                (settled || self.inner > INNER).then_some(Stop::Finished)
            }
            Goal::Time { steps, .. } => (self.steps >= *steps).then_some(Stop::Finished),
            Goal::Calm if self.steps >= STEPS => Some(Stop::Steps),
            Goal::Until(_) if self.steps >= STEPS => Some(Stop::Steps),
            Goal::Calm => self.may_be_calm(record).then(|| calm(session)).flatten(),
            Goal::Until(_) => self.waited_for(session, record),
            Goal::Line => None,
        }
    }

    /// A look at the whole world is only worth it where something came to an end.
    fn may_be_calm(&self, record: &Record) -> bool {
        record.visible()
            || matches!(
                record.what,
                What::Thought { ended: Some(_), .. } | What::ByClock { .. } | What::Delivered { .. }
            )
    }

    /// Whether this record settles the key that moved first.
    fn settles(&mut self, record: &Record) -> bool {
        let Goal::Reconcile { key } = &mut self.goal else { return false };
        let What::Thought { controller, key: thought, ended, .. } = &record.what else { return false };
        if thought.name.is_empty() {
            return false;
        }
        match key {
            None => {
                *key = Some((controller, thought.clone()));
                ended.is_some()
            }
            Some((who, what)) => who == controller && what == thought && ended.is_some(),
        }
    }

    /// Whether what is waited for has come true.
    fn waited_for(&self, session: &Session, record: &Record) -> Option<Stop> {
        let Goal::Until(until) = &self.goal else { return None };
        let words = |text: &str| Some(Stop::True(Rich::words(text)));
        match until {
            Until::Changes(object) => {
                let key = key_of(session, object)?;
                record.changes.iter().any(|c| c.key == key).then(|| words("It has changed.")).flatten()
            }
            Until::Spoken => {
                let spoke = record.changes.iter().any(|c| speaks(session, c));
                spoke.then(|| words("Somebody has said something.")).flatten()
            }
            Until::PastLimit => {
                let now = session.history.live().now();
                let notes = &session.track().notes;
                let oldest = notes.last().and_then(|n| n.gaps.oldest().map(|(_, g)| g.opened));
                oldest
                    .is_some_and(|o| now.since(o) > session.limit)
                    .then(|| words("A gap is older than your limit."))
                    .flatten()
            }
            Until::Moves(id) => {
                let What::Served { who, .. } = &record.what else { return None };
                let acts = !record.changes.is_empty() && session.loop_of(who) == Some(*id);
                acts.then(|| words("It has acted.")).flatten()
            }
            Until::Question(text) => answered(session, text),
        }
    }
}

/// Whether a question is true now.
fn answered(session: &Session, text: &str) -> Option<Stop> {
    let question = Question::parse(text).ok()?;
    let words = || Rich::words("It is so: ").then(Span::Code(text.into()));
    let gaps = &session.track().notes.last()?.gaps;
    question.holds(session.history.live(), gaps).then(|| Stop::True(words()))
}

/// Whether a change is a word about something that is not as asked: a new warning, or a condition that changed.
fn speaks(session: &Session, change: &ChangeRef) -> bool {
    let store = session.history.live().store();
    let Some(entry) = store.entry(change.revision) else { return false };
    match (&entry.old, &entry.new) {
        (None, Some(Object::Event(event))) => event.r#type == "Warning",
        (Some(Object::Deployment(old)), Some(Object::Deployment(new))) => {
            let words = |d: &Deployment| -> Vec<(String, String, String)> {
                d.status
                    .conditions
                    .iter()
                    .map(|c| (c.r#type.clone(), c.status.clone(), c.reason.clone()))
                    .collect()
            };
            words(old) != words(new)
        }
        (Some(Object::ReplicaSet(old)), Some(Object::ReplicaSet(new))) => {
            old.status.conditions.len() != new.status.conditions.len()
        }
        _ => false,
    }
}

/// A kubelet looks at its containers once a second: what a person did last has been seen by everybody after that.
const RELIST: Duration = Duration::from_millis(1200);

/// Whether what a person did last has been noticed by all who can notice it.
fn noticed(session: &Session) -> bool {
    let inputs = &session.history.branches()[session.history.branch()].inputs;
    inputs.last().is_none_or(|input| session.history.live().now().since(input.at) >= RELIST)
}

/// Whether a step that was made before was a calm one: nothing followed for a while.
fn was_calm(session: &Session, step: usize) -> Option<Stop> {
    let world = session.world();
    let next = session.moment(step + 1)?;
    match kind(world, &session.note().gaps) {
        Kind::Converged if next.at.since(world.now()) >= RELIST => Some(Stop::Calm(VerdictKind::Converged)),
        Kind::Stalled if idle(world) || next.at.since(world.now()) >= RELIST => {
            Some(Stop::Calm(VerdictKind::Stalled))
        }
        Kind::Converged | Kind::Converging | Kind::Stalled => None,
    }
}

/// Whether the present is calm, and how.
fn calm(session: &Session) -> Option<Stop> {
    let world = session.history.live();
    let gaps = &session.track().notes.last()?.gaps;
    match kind(world, gaps) {
        Kind::Converged if idle(world) && noticed(session) => Some(Stop::Calm(VerdictKind::Converged)),
        // What was stuck before says nothing of what was changed since: that has its own way to go.
        Kind::Stalled if idle(world) && noticed(session) => Some(Stop::Calm(VerdictKind::Stalled)),
        Kind::Converged | Kind::Converging | Kind::Stalled => None,
    }
}
