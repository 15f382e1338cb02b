//! What of the terminals outlives a reload, as drafts do: which empty ones are open, what stands in their lines, and what was
//! typed. Kept among the drafts of a scenario, under a name that no file can have.

use std::rc::Rc;

use crate::state::{Effect, State, StoredDraft, Ui};

/// The name of the draft.
pub(in crate::state) const NAME: &str = "$";
/// Between terminals, and between what is said of one: characters that no line has.
const TERMINAL: char = '\u{1d}';
const PART: char = '\u{1c}';
/// So long is the text of one terminal with an empty line.
const UNTOUCHED: usize = 4;
/// A terminal's number, what stands in its line, and what was typed in it.
pub(in crate::state) type Shelved = (u8, Rc<str>, Rc<Vec<Rc<str>>>);

impl Ui {
    /// The terminals as a draft of a scenario, if anything was opened or typed.
    pub(in crate::state) fn terminals_draft(&self, scenario: &str) -> Option<StoredDraft> {
        let shown = (self.terminal, self.line(), self.typed.clone());
        let mut text = String::from(digit(self.terminal));
        text.extend(self.opened.iter().map(|t| digit(*t)));
        for (terminal, line, typed) in self.shelved.iter().chain([&shown]) {
            text.push(TERMINAL);
            text.push(digit(*terminal));
            for line in [line].into_iter().chain(&**typed) {
                text.push(PART);
                text.extend(line.chars().filter(|c| !('\u{1c}'..='\u{1f}').contains(c)));
            }
        }
        (text.len() > UNTOUCHED).then(|| StoredDraft { scenario: scenario.into(), name: NAME.into(), text })
    }
}

fn digit(terminal: u8) -> char {
    char::from(b'0' + terminal)
}

fn number(digit: u8) -> Option<u8> {
    digit.checked_sub(b'0').filter(|n| *n < super::TERMINALS)
}

fn read(text: &str) -> Option<Shelved> {
    let mut parts = text.split(PART);
    let terminal = number(*parts.next()?.as_bytes().first()?)?;
    let line = Rc::from(parts.next()?);
    Some((terminal, line, Rc::new(parts.map(Rc::from).collect())))
}

impl State {
    /// Another scenario has its own terminals. What stands in the line stays, and what was typed.
    pub(in crate::state) fn close_terminals(&mut self) {
        self.ui.opened = Rc::default();
        self.ui.shelved = Rc::default();
        self.ui.terminal = 0;
    }

    /// Opens those that were kept, with their lines where no others stand.
    pub(in crate::state) fn take_terminals(&mut self, stored: &str, todo: &mut Vec<Effect>) {
        let mut terminals = stored.split(TERMINAL);
        let open = terminals.next().unwrap_or_default().bytes();
        let mut open = open.filter_map(number);
        let Some(shown) = open.next() else { return };
        self.ui.terminal = shown;
        self.ui.opened = Rc::new(open.collect());
        for one in terminals.filter_map(read) {
            if one.0 != shown {
                Rc::make_mut(&mut self.ui.shelved).push(one);
                continue;
            }
            self.ui.typed = one.2;
            if self.ui.line().is_empty() {
                self.put(one.1, todo);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_kept_as_they_are() {
        let lines = |list: &[&str]| Rc::new(list.iter().map(|l| Rc::from(*l)).collect::<Vec<Rc<str>>>());
        let mut state = State::default();
        assert_eq!(state.ui.terminals_draft("P05"), None);
        state.ui.opened = Rc::new(vec![1, 3]);
        state.ui.terminal = 3;
        state.ui.input = "cat <<EOF\n\u{1c}a".into();
        state.ui.typed = lines(&["kubectl get pods", "k get svc -w"]);
        state.ui.shelved = Rc::new(vec![(0, "half".into(), lines(&[])), (1, "".into(), lines(&["ls"]))]);
        let draft = state.ui.terminals_draft("P05").unwrap();
        let mut other = State::default();
        let mut todo = vec![];
        other.take_terminals(&draft.text, &mut todo);
        assert_eq!((&*other.ui.opened, other.ui.terminal), (&vec![1, 3], 3));
        assert_eq!((&*other.ui.line(), &other.ui.typed), ("cat <<EOF\na", &state.ui.typed));
        assert_eq!((&*other.ui.above, &*other.ui.input), ("cat <<EOF\n", "a"));
        assert_eq!(other.ui.shelved, state.ui.shelved);
        // What is typed before the simulator answers is not lost; another scenario has no empty terminals.
        other.ui.input = "early".into();
        other.close_terminals();
        other.take_terminals("0\u{1d}0\u{1c}late", &mut todo);
        assert_eq!((&*other.ui.input, other.ui.terminal, other.ui.opened.len()), ("early", 0, 0));
        for broken in ["", "x", "91 x\u{1d}\u{1d}a\u{1c}b", "\u{1d}", "0\u{1d}9\u{1c}x\u{1d}\u{e4}"] {
            other.take_terminals(broken, &mut todo);
            assert!(other.ui.shelved.is_empty() && other.ui.terminal < 9, "{broken:?}");
        }
    }
}
