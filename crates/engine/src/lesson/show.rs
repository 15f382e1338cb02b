//! "Show me": the solution, a step at a time, on a line of time of its own; and a session as the stage of a script.

use super::{docs, remark, saved_of};
use crate::{
    link::Saved,
    refused,
    session::{COMMAND_STEPS, Session},
};
use kubestep_cluster::{Act, World};
use kubestep_insight::Gaps;
use kubestep_lessons::{
    lesson::Lesson,
    script::ScriptAct,
    stage::{Deed, Files, Stage, matters, perform},
};
use kubestep_model::Instant;
use kubestep_protocol::{Stop, Update};

/// Plays the next step of the solution.
pub(super) fn show(session: &mut Session, lesson: &Lesson, out: &mut Vec<Update>) -> Stop {
    let shown = super::told::shown(session);
    let Some(step) = lesson.solution.get(shown) else { return refused("Everything has been shown.") };
    if shown == 0 {
        // What the learner did stays on its own line of time.
        session.switch(0);
        session.seek(session.scenario_steps);
    }
    let before = files_after(session, lesson, shown);
    let mut files = before.clone();
    remark(session, Saved::Shown);
    let result = perform(session, step, &mut files);
    session.show_present();
    if shown == 0 || files != before {
        out.push(Update::Files(docs(&files)));
    }
    match result {
        Ok(()) => Stop::Finished,
        Err(why) => refused(&why),
    }
}

/// The files after so many steps of the solution.
fn files_after(session: &Session, lesson: &Lesson, steps: usize) -> Files {
    let mut files = session.lesson_files.clone();
    for step in lesson.solution.iter().take(steps) {
        match &step.act {
            ScriptAct::Edit { file, replace, with } => {
                if let Some(text) = files.get_mut(file) {
                    *text = text.replace(replace.as_str(), with);
                }
            }
            ScriptAct::Files(more) => files.extend(more.clone()),
            _ => {}
        }
    }
    files
}

impl Stage for Session {
    fn world(&self) -> &World {
        self.history.live()
    }
    fn gaps(&self) -> &Gaps {
        self.live_gaps()
    }
    fn act(&mut self, act: Act, deed: Deed) {
        let runs = matches!(deed, Deed::Run { .. });
        let saved = saved_of(deed);
        if runs {
            self.command(act, saved, COMMAND_STEPS);
        } else {
            Session::act(self, act, saved);
        }
    }
    fn advance(&mut self) -> Option<bool> {
        let record = Session::advance(self)?;
        Some(record.visible() || matters(&record))
    }
    fn idle_until(&mut self, at: Instant) {
        Session::idle_until(self, at);
    }
    fn mark(&mut self) {
        self.mark_wait();
    }
}
