//! The run outlives a reload: its start and inputs are stored, put back, and that is said.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Banner, Effect, State, StoredDraft, embed::DRAFT, engine::is_act_or_run, lesson::PREFIX};

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
        let Some(save) = self.kept.as_ref().filter(|_| self.acted && !self.going) else { return };
        todo.push(Effect::StoreRun(Some(StoredRun {
            scenario: self.loaded.scenario.clone(),
            address: self.address.to_string(),
            step: self.moment().step,
            save: save.to_string(),
        })));
    }

    /// Back or Forward has come to another place: what is open is left as it is kept.
    pub(super) fn went(&mut self, run: StoredRun, drafts: Vec<StoredDraft>, todo: &mut Vec<Effect>) {
        self.stored = Rc::new(drafts);
        (self.link, self.wanted) = (None, None);
        self.going = true;
        if self.hello.is_none() {
            (self.place, self.run) = (Some(Rc::new(run)), None);
            return;
        }
        self.stop_playing(todo);
        (self.ui.open, self.banner) = (None, None);
        self.go_to_place(run, todo);
    }

    /// Opens what a place holds: the run that was kept there, or what it began from.
    pub(super) fn go_to_place(&mut self, run: StoredRun, todo: &mut Vec<Effect>) {
        if let Some(id) = lesson_of(&run.scenario).map(str::to_string) {
            self.run = Some(Rc::new(run));
            return self.fetch_lesson(id, todo);
        }
        if !run.save.is_empty() {
            self.put_back(&run, todo);
        } else if run.address.is_empty() {
            self.ask(Command::LoadScenario(run.scenario), todo);
        } else {
            self.open_address(&run.address, todo);
        }
    }

    /// Something is being opened: it gets a place, a new one if what was open is worth coming back to.
    pub(super) fn take_place(&mut self, loaded: &Loaded, back: bool, todo: &mut Vec<Effect>) {
        let other = self.loaded.scenario != loaded.scenario || loaded.by == LoadedBy::Link;
        let anew = self.settled && !self.going && (self.acted || other);
        (self.settled, self.going) = (true, false);
        let lesson = lesson_of(&loaded.scenario).filter(|_| loaded.by == LoadedBy::Scenario);
        let address = match lesson {
            Some(id) => format!("?lesson={id}"),
            None if loaded.by == LoadedBy::Scenario => String::new(),
            None => self.address.to_string(),
        };
        // What a fragment holds is found by it.
        let found = !back && loaded.scenario != format!("{PREFIX}{DRAFT}") && self.manifest.is_none();
        let run = StoredRun { scenario: loaded.scenario.clone(), address, ..StoredRun::default() };
        todo.push(Effect::Place(found.then_some(run), anew));
    }
}

/// The lesson that a session began from.
fn lesson_of(scenario: &str) -> Option<&str> {
    scenario.strip_prefix(PREFIX).filter(|id| *id != DRAFT)
}
