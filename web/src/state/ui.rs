//! Panels, selection, menus, acts in the cluster.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Banner, Column, Effect, Msg, Open, Phone, State, View};

impl State {
    pub(super) fn panels(&mut self, msg: Msg, todo: &mut Vec<Effect>) {
        match msg {
            Msg::Select(object) => self.select(object, todo),
            Msg::Tab(tab) => {
                self.ui.tab = tab;
                self.select_again(todo);
            }
            Msg::Attempt(i) => self.ui.attempt = Some(i),
            Msg::Focused(item) => self.ui.item = Some(item),
            Msg::Fold(id) => {
                let folded = Rc::make_mut(&mut self.ui.folded);
                match folded.iter().position(|f| *f == id) {
                    Some(i) => drop(folded.remove(i)),
                    None => folded.push(id),
                }
            }
            Msg::Others => self.ui.others = !self.ui.others,
            Msg::View(view) => {
                self.ui.view = view;
                self.ui.dock = view == View::Objects;
                todo.push(Effect::Look);
            }
            Msg::Side(inspect) => {
                self.ui.side_inspect = inspect;
                todo.push(Effect::Look);
            }
            Msg::Phone(phone) => {
                self.ui.phone = phone;
                match phone {
                    Phone::Why => self.ui.side_inspect = true,
                    Phone::File => self.ui.side_inspect = false,
                    Phone::Terminal => self.ui.dock = true,
                    Phone::Cluster => {}
                }
                todo.push(Effect::Look);
            }
            Msg::Dock => {
                self.ui.dock = !self.ui.dock;
                todo.push(Effect::Look);
            }
            Msg::Widen => {
                self.ui.wide = !self.ui.wide;
                todo.push(Effect::Look);
            }
            Msg::Width(column, width) => {
                let most = self.ui.window.0.saturating_sub(620).max(column.least()) / 2;
                let width = width.map(|w| w.clamp(column.least(), most.max(column.least())));
                match column {
                    Column::Desired => self.ui.widths.0 = width,
                    Column::Inspect => self.ui.widths.1 = width,
                }
                todo.push(Effect::Look);
            }
            Msg::Theme => self.prefer(|p| p.dark = !p.dark, todo),
            Msg::Learn(language) => {
                self.ui.open = None;
                todo.push(Effect::Learn(language));
            }
            Msg::Speaks(language) => self.speaks(language, todo),
            Msg::Teacher => self.prefer(|p| p.teacher = !p.teacher, todo),
            Msg::Keys(keys) => self.prefer(|p| p.keys = keys, todo),
            Msg::Limit(millis) => {
                self.prefer(|p| p.limit = millis, todo);
                self.ask(Command::Limit { millis }, todo);
            }
            Msg::Open(open) => self.open(open, todo),
            Msg::Close(focus) => {
                let opener = focus.map(str::to_string).or_else(|| self.ui.open.as_ref().map(opener));
                self.ui.open = None;
                todo.extend(opener.map(Effect::Return));
            }
            Msg::Away => self.ui.open = self.ui.open.take().filter(|o| *o == Open::Steps),
            Msg::Dismiss => self.banner = None,
            _ => {}
        }
    }

    fn prefer(&mut self, with: impl FnOnce(&mut super::Prefs), todo: &mut Vec<Effect>) {
        with(&mut self.ui.prefs);
        todo.push(Effect::StorePrefs(self.ui.prefs.clone()));
        todo.push(Effect::Look);
    }

    pub(super) fn select(&mut self, object: ObjectRef, todo: &mut Vec<Effect>) {
        if self.ui.selected.as_ref() != Some(&object) {
            self.ui.attempt = None;
        }
        self.ui.selected = Some(object);
        self.ui.side_inspect = true;
        todo.push(Effect::Look);
        self.select_again(todo);
    }

    pub(super) fn select_again(&mut self, todo: &mut Vec<Effect>) {
        let (object, tab) = (self.ui.selected.clone(), self.ui.tab);
        self.ask(Command::Select { object, tab }, todo);
    }

    fn open(&mut self, open: Open, todo: &mut Vec<Effect>) {
        if self.ui.open.as_ref() == Some(&open) {
            return self.panels(Msg::Close(None), todo);
        }
        if open == Open::Break {
            self.breaks = Rc::default();
            self.ask_breaks(todo);
        }
        if open == Open::Course && self.course.is_none() {
            todo.push(Effect::FetchCourse);
        }
        if open == Open::Moves {
            self.moves = Rc::default();
            self.ask(Command::Moves, todo);
        }
        if open == Open::Models {
            self.ask(Command::Latencies, todo);
        }
        todo.push(Effect::Into(format!("menu-{}", name(&open))));
        self.ui.open = Some(open);
    }

    /// An act in the cluster closes its menu.
    pub(super) fn act(&mut self, command: Command, todo: &mut Vec<Effect>) {
        if let Some(open) = self.ui.open.take() {
            todo.push(Effect::Return(opener(&open)));
        }
        self.stop_playing(todo);
        self.ask(command, todo);
    }

    /// A remedy's button.
    pub(super) fn end(&mut self, act: EndAct, todo: &mut Vec<Effect>) {
        match act {
            EndAct::Image(act) => self.act(Command::Image(act), todo),
            EndAct::Node(act) => self.act(Command::Node(act), todo),
            EndAct::Fault(id) => self.act(Command::Fault { id, on: false }, todo),
            EndAct::Kubectl(line) => {
                self.ui.input = Rc::from(line);
                self.ui.dock = true;
                self.panels(Msg::Phone(Phone::Terminal), todo);
                todo.push(Effect::Focus("kubectl".into()));
            }
            EndAct::Edit(name, edit) => {
                if let Some(i) = self.ui.files.iter().position(|f| *f.name == *name) {
                    self.ui.front = i;
                    self.edit(i, &edit, todo);
                    self.ui.side_inspect = false;
                    todo.push(Effect::Look);
                    todo.push(Effect::Go(edit.place.line, edit.place.column, false));
                }
            }
            EndAct::None => {}
        }
    }
}

/// The name of a menu, as its id has it.
pub(crate) fn name(open: &Open) -> String {
    match open {
        Open::Break => "break".into(),
        Open::Faults => "faults".into(),
        Open::Node(id) => format!("node-{}", id.0),
        Open::Image(id) => format!("image-{}", id.0),
        Open::Behaviour(id) => format!("behaviour-{}", id.0),
        Open::Pod(id) => format!("pod-{}", id.0),
        Open::Until => "until".into(),
        Open::Moves => "moves".into(),
        Open::Share => "share".into(),
        Open::Keys => "keys".into(),
        Open::Models => "models".into(),
        Open::More => "more".into(),
        Open::Steps => "steps".into(),
        Open::Course => "course".into(),
        Open::File => "file".into(),
    }
}

/// The id of the button that opens it.
fn opener(open: &Open) -> String {
    match open {
        Open::Break => "break-it".into(),
        Open::Pod(id) => format!("pod-{}", id.0),
        Open::Behaviour(id) => format!("open-image-{}", id.0),
        other => format!("open-{}", name(other)),
    }
}

impl Banner {
    /// It asks for attention.
    pub fn warns(&self) -> bool {
        !matches!(self, Banner::Back(_)) && !matches!(self, Banner::Notice(n) if !n.warns)
    }
}
