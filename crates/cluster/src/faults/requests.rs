//! What may become of a request on its way, and of an image's.

use crate::{Asker, Mood, ProcessId, World, record::NOT_SERVED};
use kubestep_model::{Reason, Reply, Request, Status, Subresource, Verb};
use std::time::Duration;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It never arrives.
    Dropped,
    /// It is served, and the answer is lost.
    Unanswered,
    /// It arrives twice; the first answer is the one that is heard.
    Doubled,
    /// Somebody else wrote the object just before: a replacement meets a conflict.
    Conflict,
}

impl Trouble {
    fn verb(self) -> &'static str {
        match self {
            Trouble::Dropped => "are dropped",
            Trouble::Unanswered => "are served, but their answers are lost",
            Trouble::Doubled => "arrive twice",
            Trouble::Conflict => "meet a conflict",
        }
    }

    fn verb_of_one(self) -> &'static str {
        match self {
            Trouble::Dropped => "is dropped",
            Trouble::Unanswered => "is served, but its answer is lost",
            Trouble::Doubled => "arrives twice",
            Trouble::Conflict => "meets a conflict",
        }
    }
}

/// The sentence of a mood of the registry.
pub(super) fn sentence_of(mood: Mood) -> String {
    match mood {
        Mood::Well => "You let the registry answer as it should.".into(),
        Mood::Away => "You cut the registry off.".into(),
        Mood::Slow(times) => format!("You made the registry {times} times slower."),
        Mood::Throttling(of) => format!("You let the registry answer one pull in {of}."),
    }
}

pub(crate) fn timed_out() -> Status {
    Status::new(
        NOT_SERVED,
        Reason::Timeout,
        "net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
    )
}

pub(crate) fn refused() -> Status {
    Status::new(NOT_SERVED, Reason::Timeout, "dial tcp 127.0.0.1:6443: connect: connection refused")
}

impl World {
    pub(super) fn trouble(&mut self, process: ProcessId, trouble: Trouble, next: u32) -> String {
        if next == 0 {
            self.faults.requests.remove(&process);
            return format!("You let the requests of {process} pass.");
        }
        let text = format!("The next {next} requests of {process} {}.", trouble.verb());
        self.faults.requests.insert(process, (trouble, next));
        text
    }

    pub(super) fn trouble_programs(&mut self, trouble: Trouble, next: u32) -> String {
        self.faults.programs = (next > 0).then_some((trouble, next));
        match next {
            0 => "You let what your programs write pass.".into(),
            1 => format!("The next write of your programs {}.", trouble.verb_of_one()),
            _ => format!("The next {next} writes of your programs {}.", trouble.verb()),
        }
    }

    /// What becomes of what a person's program sends: writes only, and nothing that is only tried.
    fn trouble_of_program(&mut self, request: &Request) -> Option<Trouble> {
        let (trouble, left) = self.faults.programs?;
        if request.verb.reads() || request.dry_run || request.review.is_some() {
            return None;
        }
        self.faults.programs = (left > 1).then_some((trouble, left - 1));
        Some(trouble)
    }

    pub(super) fn slow_down(&mut self, process: ProcessId, by: Duration) -> String {
        if by.is_zero() {
            self.faults.slow.remove(&process);
            return format!("You let {process} be as fast as ever.");
        }
        let text = format!("You made everything take {} ms longer for {process}.", by.as_millis());
        self.faults.slow.insert(process, by);
        text
    }

    pub(super) fn slow_programs(&mut self, by: Duration) -> String {
        self.faults.programs_slow = by;
        match by.as_millis() {
            0 => "You let your programs be as fast as ever.".into(),
            ms => format!("You made everything take {ms} ms longer for your programs."),
        }
    }

    pub(super) fn mute(&mut self, process: ProcessId, mute: bool) -> String {
        if mute {
            let text = format!("You cut off what {process} sends.");
            self.faults.mute.insert(process);
            text
        } else {
            self.faults.mute.remove(&process);
            format!("You let through what {process} sends.")
        }
    }

    /// What becomes of this request; counts it. Events are left alone: nobody waits for them.
    pub(crate) fn trouble_of(&mut self, asker: &Asker, request: &Request) -> Option<Trouble> {
        if let Asker::Client(_) = asker {
            return self.trouble_of_program(request);
        }
        let (Asker::Controller { process, .. } | Asker::Agent { process, .. }) = asker else { return None };
        let (trouble, left) = self.faults.requests.get(process).copied()?;
        let replaces = matches!(&request.verb, Verb::Replace { subresource, .. } if *subresource != Subresource::Finalize);
        if trouble == Trouble::Conflict && !replaces {
            return None;
        }
        match left {
            0 | 1 => drop(self.faults.requests.remove(process)),
            _ => drop(self.faults.requests.insert(process.clone(), (trouble, left - 1))),
        }
        Some(trouble)
    }

    /// Why a request does not arrive; `None`: it does.
    pub(crate) fn hindered(&self, asker: &Asker, trouble: Option<Trouble>) -> Option<Status> {
        if self.faults.api_away {
            return Some(refused());
        }
        let unheard = asker.process().is_some_and(|p| self.faults.is_cut(p) || self.faults.mute.contains(p));
        (unheard || trouble == Some(Trouble::Dropped)).then(timed_out)
    }
}

/// What a process hears of an answer.
pub(crate) fn heard(reply: Reply, trouble: Option<Trouble>) -> Reply {
    if trouble == Some(Trouble::Unanswered) { Err(timed_out()) } else { reply }
}
