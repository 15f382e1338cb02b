//! The run outlives a reload: its start and inputs are stored, put back, and that is said.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Banner, Effect, State, engine::is_act_or_run};

/// A run as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredRun {
    /// What it began from.
    pub scenario: String,
    /// What stood in the address.
    pub address: String,
    /// The step that was shown.
    pub step: u32,
    /// What `Restore` takes.
    pub save: String,
}

/// Whether a command changes what a reload would lose.
pub(super) fn moves_on(command: &Command) -> bool {
    use Command::*;
    let loads =
        matches!(command, LoadScenario(_) | LoadLink(_) | LoadLesson(_) | Lessons { .. } | DropSnapshots);
    is_act_or_run(command) && !loads
}

impl State {
    /// Whether the stored run is what the address, or without one the last visit, asks for; it is taken.
    pub(super) fn take_run(&mut self, address: &str, scenario: &str) -> Option<Rc<StoredRun>> {
        let run = self.run.take()?;
        let same = run.address == address && (!address.is_empty() || run.scenario == scenario);
        same.then_some(run)
    }

    /// Puts a stored run back.
    pub(super) fn put_back(&mut self, run: &StoredRun, todo: &mut Vec<Effect>) {
        self.back = Some(run.step);
        self.address = Rc::from(run.address.as_str());
        let moment = Moment { branch: BranchId(0), step: run.step };
        self.ask(Command::Restore { save: run.save.clone(), moment }, todo);
    }

    /// It cannot be put back: another version of the simulator made it. The scenario begins anew.
    pub(super) fn cannot_put_back(&mut self, todo: &mut Vec<Effect>) {
        self.back = None;
        self.address = Rc::from("");
        todo.push(Effect::StoreRun(None));
        let words = Rich::words(
            "Your last run was made by another version and cannot be put back. This is its beginning.",
        );
        self.banner = Some(Rc::new(Banner::Notice(Notice { words, warns: false })));
        self.load_wanted(todo);
    }

    /// The run is as it is now: it is stored, if the person has done anything in it.
    pub(super) fn store_run(&self, todo: &mut Vec<Effect>) {
        let Some(save) = self.kept.as_ref().filter(|_| self.acted) else { return };
        todo.push(Effect::StoreRun(Some(StoredRun {
            scenario: self.loaded.scenario.clone(),
            address: self.address.to_string(),
            step: self.moment().step,
            save: save.to_string(),
        })));
    }
}
