//! The editor's files: drafts, checks, Apply, *Break it*.

use std::rc::Rc;

use kubestep_protocol::*;

use super::terminal::KEPT;
use super::{Effect, FileMsg, Open, Phone, State, StoredDraft};

/// The name of the person's first own file.
const OWN: &str = "new.yaml";
/// The text of a stored draft that says: this file was closed. A character that YAML does not allow.
const CLOSED: &str = "\u{1d}";
/// So long may a name be.
const LONGEST: usize = 60;

/// A file of the editor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// `checkout.yaml`.
    pub name: Rc<str>,
    /// The draft.
    pub text: Rc<str>,
    /// Counted up with every change.
    pub version: u32,
    /// What the engine said about it, of `checked.version`.
    pub checked: Option<Rc<Checked>>,
    /// The text it came with; `None` for the person's own file.
    pub origin: Option<Rc<str>>,
    /// The texts before each *Break it*.
    pub before: Rc<Vec<Rc<str>>>,
}

impl File {
    fn of(name: &str, text: &str, origin: Option<&str>) -> Self {
        File { name: name.into(), text: text.into(), origin: origin.map(Rc::from), ..File::default() }
    }

    /// For the engine.
    pub fn doc(&self) -> Doc {
        Doc { name: self.name.to_string(), text: self.text.to_string() }
    }

    /// The check belongs to this text.
    pub fn fresh(&self) -> Option<&Checked> {
        self.checked.as_deref().filter(|c| c.version == self.version)
    }

    /// It holds something that was never applied.
    pub fn unapplied(&self) -> bool {
        self.checked.as_deref().is_some_and(|c| c.applied.is_none() || c.version != self.version)
    }
}

impl State {
    pub(super) fn file(&mut self, msg: FileMsg, todo: &mut Vec<Effect>) {
        match msg {
            FileMsg::Draft(i, text) => self.draft(i, text.into(), todo),
            FileMsg::CheckDue(version) => {
                if self.front().is_some_and(|f| f.version == version) {
                    self.check_front(todo);
                }
            }
            FileMsg::Front(i) if i < self.ui.files.len() => {
                self.ui.front = i;
                self.ui.lesson = false;
                self.check_front(todo);
            }
            FileMsg::Front(_) => {}
            FileMsg::New => self.new_file(todo),
            FileMsg::Rename(name) => self.rename(&name, todo),
            FileMsg::Close => self.close(todo),
            FileMsg::Reopen(name) => self.reopen(&name, todo),
            FileMsg::Reset => {
                if let Some(origin) = self.front().and_then(|f| f.origin.clone()) {
                    self.draft(self.ui.front, origin, todo);
                }
            }
            FileMsg::Apply => {
                if self.waits_for(|c| matches!(c, Command::Apply { .. })) {
                    self.applies += 1;
                } else {
                    self.apply_front(todo);
                }
            }
            FileMsg::Break(i) => self.break_it(i, todo),
            FileMsg::Unbreak => self.unbreak(todo),
            FileMsg::Remedy(edit) => self.edit(self.ui.front, &edit, todo),
            FileMsg::Help(line, column) if self.described => self.ask_help(line, column, todo),
            FileMsg::Help(line, column) => {
                // Kubernetes' own words are fetched with the first question.
                self.described = true;
                self.help = Some((line, column));
                todo.push(Effect::FetchDescriptions);
            }
            FileMsg::Go(name, line, column) => self.go(name, line, column, todo),
        }
    }

    pub(super) fn ask_help(&mut self, line: u32, column: u32, todo: &mut Vec<Effect>) {
        if let Some(doc) = self.front().map(File::doc) {
            self.ask(Command::Field { doc, line, column }, todo);
        }
    }

    fn change(&mut self, i: usize, with: impl FnOnce(&mut File)) {
        if let Some(file) = Rc::make_mut(&mut self.ui.files).get_mut(i) {
            with(file);
        }
    }

    fn draft(&mut self, i: usize, text: Rc<str>, todo: &mut Vec<Effect>) {
        if self.ui.files.is_empty() {
            // The person types before the simulator has answered: that is a file of their own.
            Rc::make_mut(&mut self.ui.files).push(File::of(OWN, "", None));
        }
        let Some(file) = self.ui.files.get(i) else { return };
        if file.text == text {
            return;
        }
        let version = file.version + 1;
        self.change(i, |f| {
            f.text = text;
            f.version = version;
        });
        todo.push(Effect::CheckLater(version));
        self.store_drafts(todo);
    }

    /// A step of a lesson's solution has changed files: they are shown so.
    pub(super) fn shown_files(&mut self, docs: Vec<Doc>, todo: &mut Vec<Effect>) {
        for doc in docs {
            match self.ui.files.iter().position(|f| *f.name == *doc.name) {
                Some(i) => self.draft(i, doc.text.as_str().into(), todo),
                // `kubectl edit` opens one that was not there.
                None => self.add_file(&doc.name, &doc.text, todo),
            }
        }
    }

    pub(super) fn store_drafts(&self, todo: &mut Vec<Effect>) {
        if !self.open {
            // They have no scenario yet, or the one that is being started again: `opened` stores them.
            return;
        }
        let scenario = self.loaded.scenario.clone();
        let changed = self.ui.files.iter().filter(|f| f.origin.as_ref() != Some(&f.text));
        let draft = |name: &str, text: &str| StoredDraft {
            scenario: scenario.clone(),
            name: name.into(),
            text: text.into(),
        };
        let closed = self.ui.closed.iter().map(|name| draft(name, CLOSED));
        let terminals = self.ui.terminals_draft(&scenario);
        let drafts = changed.map(|f| draft(&f.name, &f.text)).chain(closed).chain(terminals).collect();
        todo.push(Effect::StoreDrafts(scenario, drafts));
    }

    pub(super) fn check_front(&mut self, todo: &mut Vec<Effect>) {
        let Some(file) = self.front() else { return };
        let (doc, version) = (file.doc(), file.version);
        if !self.waits_for(
            |c| matches!(c, Command::Check { doc: d, version: v } if d.name == doc.name && *v == version),
        ) {
            self.ask(Command::Check { doc, version }, todo);
        }
    }

    pub(super) fn checked(&mut self, checked: Checked) {
        let place = self.ui.files.iter().position(|f| *f.name == *checked.doc);
        if let Some(i) = place.filter(|&i| self.ui.files[i].version == checked.version) {
            self.change(i, |f| f.checked = Some(Rc::new(checked)));
        }
    }

    fn new_file(&mut self, todo: &mut Vec<Effect>) {
        let name = free_name(&self.ui.files);
        self.add_file(&name, "", todo);
        todo.push(Effect::Focus("manifest".into()));
    }

    /// A file that came goes on as the person's own under its new name.
    fn rename(&mut self, name: &str, todo: &mut Vec<Effect>) {
        let name = name.trim();
        let Some(file) = self.front() else { return };
        if *file.name == *name || name_problem(&self.ui.files, self.ui.front, name).is_some() {
            return;
        }
        let (came, version) = (file.origin.as_ref().map(|_| file.name.clone()), file.version + 1);
        Rc::make_mut(&mut self.ui.closed).extend(came);
        self.change(self.ui.front, |f| {
            f.name = Rc::from(name);
            f.origin = None;
            f.version = version;
        });
        self.files_changed(todo);
    }

    fn close(&mut self, todo: &mut Vec<Effect>) {
        let at = self.ui.front;
        if self.ui.files.len() < 2 || at >= self.ui.files.len() {
            return;
        }
        let file = Rc::make_mut(&mut self.ui.files).remove(at);
        Rc::make_mut(&mut self.ui.closed).extend(file.origin.map(|_| file.name));
        self.ui.front = at.min(self.ui.files.len() - 1);
        self.files_changed(todo);
    }

    fn reopen(&mut self, name: &str, todo: &mut Vec<Effect>) {
        Rc::make_mut(&mut self.ui.closed).retain(|n| **n != *name);
        let came = self.loaded.files.iter().find(|d| d.name == *name).cloned();
        if let Some(doc) = came.filter(|d| self.ui.files.iter().all(|f| *f.name != *d.name)) {
            Rc::make_mut(&mut self.ui.files).push(File::of(&doc.name, &doc.text, Some(&doc.text)));
            self.ui.front = self.ui.files.len() - 1;
        }
        self.files_changed(todo);
    }

    fn files_changed(&mut self, todo: &mut Vec<Effect>) {
        self.ui.lesson = false;
        if self.ui.open.take().is_some() {
            todo.push(Effect::Return("open-file".into()));
        }
        self.store_drafts(todo);
        self.check_front(todo);
    }

    fn add_file(&mut self, name: &str, text: &str, todo: &mut Vec<Effect>) {
        Rc::make_mut(&mut self.ui.files).push(File::of(name, text, None));
        self.ui.front = self.ui.files.len() - 1;
        self.store_drafts(todo);
        self.check_front(todo);
    }

    pub(super) fn apply_front(&mut self, todo: &mut Vec<Effect>) {
        self.stop_playing(todo);
        if let Some(doc) = self.front().map(File::doc) {
            self.ask(Command::Apply { doc }, todo);
        }
    }

    /// All files, for `-f` in the terminal and for links.
    pub(super) fn docs(&self) -> Vec<Doc> {
        self.ui.files.iter().map(File::doc).collect()
    }

    fn break_it(&mut self, i: usize, todo: &mut Vec<Effect>) {
        let Some(item) = self.breaks.get(i).cloned() else { return };
        self.ui.open = None;
        todo.push(Effect::Return("break-it".into()));
        let place = self.ui.files.iter().position(|f| *f.name == *item.result.name);
        match place {
            Some(at) => {
                let before = self.ui.files[at].text.clone();
                self.ui.front = at;
                self.change(at, |f| Rc::make_mut(&mut f.before).push(before));
                self.draft(at, item.result.text.as_str().into(), todo);
            }
            None => self.add_file(&item.result.name, &item.result.text, todo),
        }
    }

    fn unbreak(&mut self, todo: &mut Vec<Effect>) {
        let at = self.ui.front;
        let last = self.front().and_then(|f| f.before.last().cloned());
        if let Some(text) = last {
            self.change(at, |f| {
                Rc::make_mut(&mut f.before).pop();
            });
            self.draft(at, text, todo);
            self.ask_breaks(todo);
        }
    }

    pub(super) fn ask_breaks(&mut self, todo: &mut Vec<Effect>) {
        if let Some(doc) = self.front().map(File::doc) {
            self.ask(Command::BreakMenu { doc }, todo);
        }
    }

    pub(super) fn edit(&mut self, at: usize, edit: &Edit, todo: &mut Vec<Effect>) {
        if let Some(text) = self.ui.files.get(at).and_then(|f| replaced(&f.text, edit)) {
            self.draft(at, text.into(), todo);
        }
    }

    fn go(&mut self, name: Option<String>, line: u32, column: u32, todo: &mut Vec<Effect>) {
        let named = name.and_then(|n| self.ui.files.iter().position(|f| *f.name == *n));
        if let Some(i) = named {
            self.ui.front = i;
        }
        self.ui.side_inspect = false;
        self.ui.lesson = false;
        self.ui.phone = Phone::File;
        todo.push(Effect::Look);
        todo.push(Effect::Go(line, column, true));
    }

    /// A scenario, a link, or the same session after a restart.
    pub(super) fn opened(&mut self, loaded: Loaded, todo: &mut Vec<Effect>) {
        let back = self.back.take();
        let came = self.going;
        if loaded.by != LoadedBy::Restore || back.is_some() {
            self.take_place(&loaded, back.is_some(), todo);
        }
        self.acted = back.is_some() || loaded.by == LoadedBy::Restore && self.acted;
        if loaded.by != LoadedBy::Restore || back.is_some() {
            self.take_files(&loaded, back.is_some() || came, todo);
            self.kept = None;
            self.frame = None;
            self.details = None;
            self.ghosts = Rc::default();
            self.steps = Rc::default();
            self.ui.selected = loaded.select.clone();
            self.ui.item = None;
            self.ui.folded = Rc::default();
            self.ui.open = self.ui.open.take().filter(|o| *o == Open::Keys);
            self.shared = None;
            self.playing = false;
        }
        if let Some(step) = back {
            self.banner = Some(Rc::new(super::Banner::Back(step)));
        } else if loaded.by != LoadedBy::Restore {
            todo.push(Effect::StoreRun(None));
        }
        self.ui.lesson = loaded.lesson.is_some();
        if loaded.by == LoadedBy::Scenario {
            self.address = Rc::from("");
            if loaded.lesson.is_none() {
                self.ui.prefs.scenario = Rc::from(loaded.scenario.as_str());
                todo.push(Effect::StorePrefs(self.ui.prefs.clone()));
                todo.push(Effect::Address(String::new()));
            }
        }
        if let Some(differs) = loaded.differs.clone() {
            self.banner = Some(Rc::new(super::Banner::Notice(Notice { words: differs, warns: true })));
        }
        let fresh = loaded.by == LoadedBy::Scenario;
        self.loaded = Rc::new(loaded);
        self.open = true;
        if fresh || back.is_some() && self.address.starts_with('?') {
            self.opened_lesson(todo);
        }
        todo.push(Effect::Look);
        for command in std::mem::take(&mut self.queue).iter() {
            self.ask(command.clone(), todo);
        }
        self.opened_figure(todo);
        self.select_again(todo);
        self.check_front(todo);
        // A lesson that is begun anew has no drafts any more.
        if fresh && !came && self.lesson().is_some()
            || !self.ui.closed.is_empty()
            || self.ui.files.iter().any(|f| f.origin.as_ref() != Some(&f.text))
        {
            self.store_drafts(todo);
        }
    }

    /// The files that came; over them the drafts of the same scenario that were stored before the page was reloaded.
    fn take_files(&mut self, loaded: &Loaded, back: bool, todo: &mut Vec<Effect>) {
        let mut files: Vec<File> =
            loaded.files.iter().map(|d| File::of(&d.name, &d.text, Some(&d.text))).collect();
        self.ui.closed = Rc::default();
        // A lesson that is begun anew begins with its own files.
        let keeps = back || loaded.by == LoadedBy::Scenario && loaded.lesson.is_none();
        self.close_terminals();
        for draft in std::mem::take(&mut self.stored).iter() {
            if !keeps || draft.scenario != loaded.scenario {
                continue;
            }
            match files.iter_mut().find(|f| *f.name == *draft.name) {
                _ if draft.name == KEPT => self.take_terminals(&draft.text, todo),
                _ if draft.text == CLOSED => {
                    files.retain(|f| *f.name != *draft.name);
                    Rc::make_mut(&mut self.ui.closed).push(Rc::from(draft.name.as_str()));
                }
                Some(file) => file.text = Rc::from(draft.text.as_str()),
                None => files.push(File::of(&draft.name, &draft.text, None)),
            }
        }
        self.ui.front = (loaded.front as usize).min(files.len().saturating_sub(1));
        self.keep_early(&mut files);
        // Versions go on counting, so that an answer about the files before cannot be taken for one about these.
        let base = self.ui.files.iter().map(|f| f.version).max().unwrap_or(0) + 1;
        files.iter_mut().for_each(|f| f.version = base);
        self.ui.files = Rc::new(files);
    }

    /// One file takes the place of all.
    pub(super) fn only_file(&mut self, name: &str, text: &str) {
        let version = self.front().map_or(0, |f| f.version) + 1;
        self.ui.files = Rc::new(vec![File { version, ..File::of(name, text, Some(text)) }]);
        self.ui.front = 0;
    }

    /// What was typed before there was any session stays, in front.
    fn keep_early(&mut self, files: &mut Vec<File>) {
        let early = self.ui.files.first().filter(|_| self.loaded.files.is_empty()).cloned();
        if let Some(early) = early.filter(|f| !f.text.trim().is_empty()) {
            let name = Rc::from(free_name(files));
            self.ui.front = files.len();
            files.push(File { name, checked: None, ..early });
        }
    }
}

/// The first name for a new file that no other has.
fn free_name(files: &[File]) -> String {
    let name = |n: u32| if n == 1 { OWN.to_string() } else { format!("new-{n}.yaml") };
    let free = |n: &String| files.iter().all(|f| *f.name != **n);
    (1..1000).map(name).find(free).unwrap_or_else(|| OWN.into())
}

/// Why a file cannot have this name.
pub fn name_problem(files: &[File], at: usize, name: &str) -> Option<&'static str> {
    let taken = files.iter().enumerate().any(|(i, f)| i != at && *f.name == *name);
    let letter = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let part = |p: &str| !matches!(p, "" | "." | "..");
    match () {
        () if name.is_empty() => Some("A file needs a name."),
        () if taken => Some("Another file has this name."),
        () if name.len() > LONGEST => Some("This name is too long."),
        () if !name.chars().all(letter) => Some("Letters, digits, dots, dashes and / make a name here."),
        () if !name.split('/').all(part) => Some("A name goes to no other folder."),
        () => None,
    }
}

/// The text with one edit made; `None` if the place is not in it.
fn replaced(text: &str, edit: &Edit) -> Option<String> {
    let line_start = match edit.place.line.checked_sub(1)? {
        0 => 0,
        n => text.match_indices('\n').nth(n as usize - 1)?.0 + 1,
    };
    let rest = &text[line_start..];
    let line = rest.split('\n').next().unwrap_or(rest);
    let offset = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(i, _)| i);
    let from = offset(edit.place.column.checked_sub(1)? as usize);
    let to = offset(edit.place.column as usize - 1 + edit.place.length as usize);
    Some(format!("{}{}{}", &text[..line_start + from], edit.with, &text[line_start + to..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_replaces_characters_of_one_line() {
        let edit = |line, column, length, with: &str| Edit {
            words: Rich::default(),
            place: Place { line, column, length },
            with: with.into(),
        };
        assert_eq!(
            replaced("a:\n  replica: 3\n", &edit(2, 3, 7, "replicas")).as_deref(),
            Some("a:\n  replicas: 3\n")
        );
        assert_eq!(replaced("ä: x", &edit(1, 4, 1, "y")).as_deref(), Some("ä: y"));
        assert_eq!(replaced("a", &edit(1, 9, 9, "b")).as_deref(), Some("ab"));
        assert_eq!(replaced("a", &edit(3, 1, 1, "b")), None);
        assert_eq!(replaced("a", &edit(0, 0, 1, "b")), None);
    }
}
