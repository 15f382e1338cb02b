//! The terminal's line: history and the search in it, completion, Ctrl-C.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Effect, State, TermMsg};
use crate::words::{n, t};

mod kept;
mod unfinished;

pub(super) use kept::NAME as KEPT;

/// The line that ends a terminal. It is recorded like every other, so Back opens the terminal again.
const EXIT: &str = "exit";
/// What the first press of × says in the past.
const CLOSES_PAST: &str =
    n("Close it here, in the past: starts a new timeline; the old one is kept. Once more?");
/// So many terminals, at most: one for each digit.
pub const TERMINALS: u8 = 9;
/// How many lines the history keeps.
const HISTORY: usize = 200;

impl State {
    pub(super) fn term(&mut self, msg: TermMsg, todo: &mut Vec<Effect>) {
        let again = std::mem::take(&mut self.ui.closing);
        self.termed(msg, again, todo);
        self.store_drafts(todo);
    }

    /// `again`: the last message was the first press of ×.
    fn termed(&mut self, msg: TermMsg, again: bool, todo: &mut Vec<Effect>) {
        let searches = self.ui.searched_from.is_some();
        match msg {
            TermMsg::Search if searches => self.search(self.ui.typed_at),
            TermMsg::Search => {
                self.ui.searched_from = Some(self.ui.line());
                self.put(Rc::from(""), todo);
                self.search(0);
            }
            TermMsg::Input(text) if searches => {
                self.ui.input = text.into();
                self.search(0);
            }
            TermMsg::Interrupt if searches => self.end_search(false, todo),
            TermMsg::Enter if searches => {
                let found = self.ui.typed_at > 0;
                self.end_search(true, todo);
                if found {
                    self.enter(todo);
                }
            }
            // Any other key takes the line that was found, and does with it what it does.
            TermMsg::History(_) | TermMsg::Complete if searches => {
                self.end_search(true, todo);
                self.termed(msg, again, todo);
            }
            TermMsg::Input(text) => {
                self.ui.input = text.into();
                self.ui.typed_at = 0;
                self.ui.choices = Rc::default();
            }
            TermMsg::Enter => self.enter(todo),
            TermMsg::History(older) => {
                let len = self.ui.typed.len();
                let at =
                    if older { (self.ui.typed_at + 1).min(len) } else { self.ui.typed_at.saturating_sub(1) };
                self.ui.typed_at = at;
                let line = if at == 0 { Rc::from("") } else { self.ui.typed[len - at].clone() };
                self.put(line, todo);
            }
            TermMsg::Complete => {
                let line = self.ui.input.to_string();
                self.ask(Command::Complete { terminal: self.terminal(), line }, todo);
            }
            TermMsg::Interrupt => {
                if self.terminal_waits() {
                    self.ask(Command::Interrupt { terminal: self.terminal() }, todo);
                } else {
                    self.put(Rc::from(""), todo);
                }
            }
            TermMsg::New => {
                let open = self.terminals();
                if let Some(new) = (0..TERMINALS).find(|t| !open.contains(t)) {
                    Rc::make_mut(&mut self.ui.opened).push(new);
                    self.show_terminal(new, todo);
                }
                self.ui.dock = true;
                todo.push(Effect::Focus("kubectl".into()));
            }
            TermMsg::Go(to) if self.terminals().contains(&to) => self.show_terminal(to, todo),
            TermMsg::Go(_) => {}
            TermMsg::Close if self.closing_forks() && !again => {
                self.ui.closing = true;
                self.ui.choices = Rc::new(vec![t(CLOSES_PAST).into()]);
            }
            TermMsg::Close => {
                self.stop_playing(todo);
                self.close_terminal(todo);
                todo.push(Effect::Focus("kubectl".into()));
            }
        }
    }

    /// Closing the terminal that is shown would begin a branch: something of it is written down in the past that is looked at.
    fn closing_forks(&self) -> bool {
        self.past() && self.last(self.terminal()).is_some_and(|e| !ends(e))
    }

    fn past(&self) -> bool {
        self.frame.as_ref().is_some_and(|f| f.head.moment.step < f.head.last)
    }

    /// The terminals that are open, in order. The first is there from the beginning.
    pub fn terminals(&self) -> Vec<u8> {
        let open = |t: &u8| self.ui.opened.contains(t) || self.last(*t).map_or(*t == 0, |e| !ends(e));
        let mut open: Vec<u8> = (0..TERMINALS).filter(open).collect();
        if open.is_empty() {
            open.push(0);
        }
        open
    }

    /// The one that is shown.
    pub fn terminal(&self) -> u8 {
        let open = self.terminals();
        if open.contains(&self.ui.terminal) { self.ui.terminal } else { open[0] }
    }

    /// The last line of a terminal.
    fn last(&self, terminal: u8) -> Option<&Entry> {
        let entries = self.frame.iter().flat_map(|f| f.terminal.iter());
        entries.rev().find(|e| e.terminal == terminal).map(|e| &**e)
    }

    /// Shows another terminal: the line and the history of this one stay with it. A new one begins with this one's history.
    fn show_terminal(&mut self, to: u8, todo: &mut Vec<Effect>) {
        let from = self.ui.terminal;
        if to == from {
            return;
        }
        if self.ui.searched_from.is_some() {
            self.end_search(true, todo);
        }
        let line = self.ui.line();
        let shelf = Rc::make_mut(&mut self.ui.shelved);
        shelf.push((from, line, self.ui.typed.clone()));
        let line = match shelf.iter().position(|s| s.0 == to) {
            Some(at) => {
                let (_, line, typed) = shelf.swap_remove(at);
                self.ui.typed = typed;
                line
            }
            None => Rc::from(""),
        };
        self.ui.terminal = to;
        self.ui.typed_at = 0;
        self.ui.choices = Rc::default();
        self.put(line, todo);
    }

    /// Ends the terminal that is shown and what waits in it, and shows the one before.
    fn close_terminal(&mut self, todo: &mut Vec<Effect>) {
        let (this, open) = (self.terminal(), self.terminals());
        for _ in 0..self.waiting() {
            self.ask(Command::Interrupt { terminal: this }, todo);
        }
        if self.last(this).map_or(this == 0 && !self.past(), |e| !ends(e)) {
            self.ask(Command::Kubectl { terminal: this, line: EXIT.into(), files: vec![] }, todo);
        }
        Rc::make_mut(&mut self.ui.opened).retain(|t| *t != this);
        if let Some(next) = open.iter().rev().find(|t| **t < this).or(open.iter().find(|t| **t > this)) {
            self.show_terminal(*next, todo);
        }
        Rc::make_mut(&mut self.ui.shelved).retain(|s| s.0 != this);
    }

    /// Looks for a line that holds what is typed, older than the one at this place; without one the place stays.
    fn search(&mut self, newer: usize) {
        let (typed, wanted) = (&self.ui.typed, &*self.ui.input);
        let holds = |at: &usize| !wanted.is_empty() && typed[typed.len() - at].contains(wanted);
        let found = (newer + 1..=typed.len()).find(holds);
        let failed = if found.is_none() && !wanted.is_empty() { "failed " } else { "" };
        let at = found.unwrap_or(newer);
        let line = if at == 0 { "" } else { &*typed[typed.len() - at] };
        self.ui.choices = Rc::new(vec![format!("({failed}reverse-i-search)`{wanted}': {line}")]);
        self.ui.typed_at = at;
    }

    /// Ends the search: what was found stands in the line, or what stood there before.
    pub(super) fn end_search(&mut self, keep: bool, todo: &mut Vec<Effect>) {
        let before = self.ui.searched_from.take().unwrap_or_default();
        let at = if keep { self.ui.typed_at } else { 0 };
        let line = self.ui.typed.len().checked_sub(at).and_then(|i| self.ui.typed.get(i)).cloned();
        self.ui.typed_at = at;
        self.ui.choices = Rc::default();
        self.put(line.unwrap_or(before), todo);
    }

    /// Puts a line where one types. Of several lines the last is there, and the others stand above it.
    fn put(&mut self, line: Rc<str>, todo: &mut Vec<Effect>) {
        let (above, last) = line.split_at(line.rfind('\n').map_or(0, |at| at + 1));
        self.ui.above = above.into();
        self.ui.input = last.into();
        todo.push(Effect::Line(self.ui.input.clone()));
    }

    /// A command waits in the terminal.
    pub fn terminal_waits(&self) -> bool {
        self.waiting() > 0
    }

    /// How many commands wait in it.
    fn waiting(&self) -> usize {
        let this = self.terminal();
        let entries = self.frame.iter().flat_map(|f| f.terminal.iter());
        entries.filter(|e| e.terminal == this && e.exit.is_none()).count()
    }

    fn enter(&mut self, todo: &mut Vec<Effect>) {
        let typed = self.ui.line();
        if unfinished::unfinished(&typed) {
            self.ui.choices = Rc::default();
            return self.put(format!("{typed}\n").into(), todo);
        }
        let line = full_line(&typed);
        if line.is_empty() {
            return;
        }
        let typed = Rc::make_mut(&mut self.ui.typed);
        if typed.last().is_none_or(|l| **l != *line) {
            typed.push(Rc::from(line.as_str()));
        }
        let surplus = typed.len().saturating_sub(HISTORY);
        typed.drain(..surplus);
        self.ui.typed_at = 0;
        self.put(Rc::from(""), todo);
        self.ui.choices = Rc::default();
        self.stop_playing(todo);
        if line == EXIT {
            return self.close_terminal(todo);
        }
        let files = self.docs();
        self.ask(Command::Kubectl { terminal: self.terminal(), line, files }, todo);
    }

    pub(super) fn completed(&mut self, found: Completions, todo: &mut Vec<Effect>) {
        if *self.ui.input == *found.line {
            self.put(format!("{}{}", self.ui.above, found.completed).into(), todo);
            self.ui.choices = Rc::new(found.choices);
        }
    }
}

/// After this line of a terminal there is none, until a new one of its number is opened.
pub fn ends(entry: &Entry) -> bool {
    entry.line == EXIT
}

/// The commands of kubectl. What begins with another word is left to the shell, which says so if there is no such thing.
const KUBECTL: &str = concat!(
    "|alpha|annotate|api-resources|api-versions|apply|attach|auth|autoscale|certificate|",
    "cluster-info|completion|config|cordon|cp|create|debug|delete|describe|diff|drain|edit|events|",
    "exec|explain|expose|get|help|k|kubectl|kuberc|kustomize|label|logs|options|patch|plugin|",
    "port-forward|proxy|replace|rollout|run|scale|set|taint|top|uncordon|version|wait|",
);

/// The word `kubectl` may be left out, or typed twice because the prompt seemed to hold it.
fn full_line(input: &str) -> String {
    let mut rest = input.trim();
    let first = rest.split_whitespace().next().unwrap_or_default();
    // `help` alone is the terminal's own, and a flag stands before a command of kubectl.
    if rest == "help" || !first.starts_with('-') && !KUBECTL.contains(&format!("|{first}|")) {
        return rest.into();
    }
    while let Some(inner) = rest.strip_prefix("kubectl").filter(|r| r.is_empty() || r.starts_with(' ')) {
        rest = inner.trim_start();
        if rest.is_empty() {
            return "kubectl".into();
        }
    }
    match rest.split_whitespace().next() {
        None => String::new(),
        Some("k") => format!("kubectl{}", &rest[1..]),
        Some(_) => format!("kubectl {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::KeyPress;
    use std::sync::Arc;

    #[test]
    fn ctrl_r_searches_what_was_typed() {
        let mut state = State::default();
        state.ui.typed = Rc::new(["get pods", "scale web", "get nodes", "get events"].map(Rc::from).to_vec());
        state.ui.input = "half".into();
        let mut todo = vec![];
        let mut send = |state: &mut State, msg| {
            state.term(msg, &mut todo);
            (state.ui.input.to_string(), state.ui.choices.first().cloned().unwrap_or_default())
        };
        let shown = |input: &str, line: &str| (input.to_owned(), line.to_owned());
        assert_eq!(send(&mut state, TermMsg::Search), shown("", "(reverse-i-search)`': "));
        let typed = send(&mut state, TermMsg::Input("od".into()));
        assert_eq!(typed, shown("od", "(reverse-i-search)`od': get nodes"));
        assert_eq!(send(&mut state, TermMsg::Search).1, "(reverse-i-search)`od': get pods");
        assert_eq!(send(&mut state, TermMsg::Search).1, "(failed reverse-i-search)`od': get pods");
        assert_eq!(send(&mut state, TermMsg::Interrupt), shown("half", ""));
        send(&mut state, TermMsg::Search);
        send(&mut state, TermMsg::Input("scale".into()));
        state.key(KeyPress { key: "Escape".into(), typing: true, ..KeyPress::default() }, &mut vec![]);
        assert_eq!((&*state.ui.input, state.ui.searched_from.is_some()), ("scale web", false));
        // The arrows go on from there.
        assert_eq!(send(&mut state, TermMsg::History(true)).0, "get pods");
        send(&mut state, TermMsg::Search);
        send(&mut state, TermMsg::Input("nothing".into()));
        assert_eq!(send(&mut state, TermMsg::Enter), shown("get pods", ""));
        send(&mut state, TermMsg::Search);
        send(&mut state, TermMsg::Input("node".into()));
        assert_eq!(send(&mut state, TermMsg::Enter).0, "");
        assert_eq!(state.ui.typed.last().map(|l| &**l), Some("kubectl get nodes"));
    }

    #[test]
    fn a_line_goes_on_until_it_is_whole() {
        let mut state = State::default();
        let mut todo = vec![];
        let mut send = |state: &mut State, msg| state.term(msg, &mut todo);
        for line in ["cat <<EOF", "", "a: it's", "EOF"] {
            send(&mut state, TermMsg::Input(line.into()));
            send(&mut state, TermMsg::Enter);
        }
        assert_eq!((&*state.ui.above, &*state.ui.input), ("", ""));
        assert_eq!(state.ui.typed.last().map(|l| &**l), Some("cat <<EOF\n\na: it's\nEOF"));
        // The line comes back as it was; an interrupt drops it, another terminal keeps it.
        send(&mut state, TermMsg::History(true));
        assert_eq!((&*state.ui.above, &*state.ui.input), ("cat <<EOF\n\na: it's\n", "EOF"));
        send(&mut state, TermMsg::New);
        assert_eq!(&*state.ui.line(), "");
        send(&mut state, TermMsg::Go(0));
        assert_eq!(&*state.ui.line(), "cat <<EOF\n\na: it's\nEOF");
        send(&mut state, TermMsg::Interrupt);
        assert_eq!(&*state.ui.line(), "");
    }

    /// The page after these lines, each with its terminal; a line that ends with `-w` waits.
    fn after(lines: &[(u8, &str)]) -> Option<Rc<Frame>> {
        let entry = |(id, (terminal, line)): (u32, &(u8, &str))| {
            let waits = line.ends_with("-w");
            let exit = (!waits).then_some(0);
            let (id, line, output) = (Id(id), (*line).into(), vec![]);
            Arc::new(Entry { id, terminal: *terminal, line, output, exit, waits, step: 0 })
        };
        let terminal = (0..).zip(lines).map(entry).collect();
        Some(Rc::new(Frame { terminal, ..crate::state::tests::frame(1) }))
    }

    #[test]
    fn each_terminal_has_its_line_and_its_end() {
        let mut state = State { line: true, open: true, ..State::default() };
        let mut todo = vec![];
        state.frame = after(&[(0, "get pods -w")]);
        state.ui.typed = Rc::new(vec!["get pods -w".into()]);
        state.ui.input = "half".into();
        assert_eq!((state.terminals(), state.terminal_waits()), (vec![0], true));
        state.term(TermMsg::New, &mut todo);
        assert_eq!((state.terminals(), state.terminal(), state.terminal_waits()), (vec![0, 1], 1, false));
        assert_eq!((&*state.ui.input, state.ui.typed.len()), ("", 1));
        state.term(TermMsg::Input("get svc -w".into()), &mut todo);
        state.term(TermMsg::Go(0), &mut todo);
        assert_eq!((&*state.ui.input, state.ui.typed.len()), ("half", 1));
        // A terminal that is not open cannot be shown.
        state.term(TermMsg::Go(5), &mut todo);
        assert_eq!(state.terminal(), 0);
        state.term(TermMsg::Go(1), &mut todo);
        assert_eq!(&*state.ui.input, "get svc -w");
        state.term(TermMsg::Enter, &mut todo);
        let asked = |state: &State| state.pending.iter().map(|(_, c)| c.clone()).collect::<Vec<_>>();
        let run = |line: &str| Command::Kubectl { terminal: 1, line: line.into(), files: vec![] };
        assert_eq!(asked(&state), [run("kubectl get svc -w")]);
        state.frame = after(&[(0, "get pods -w"), (1, "kubectl get svc -w")]);
        state.term(TermMsg::Input("exit".into()), &mut todo);
        state.term(TermMsg::Enter, &mut todo);
        assert_eq!(asked(&state)[1..], [Command::Interrupt { terminal: 1 }, run("exit")]);
        assert_eq!((state.terminal(), &*state.ui.input), (0, "half"));
        // In the past something of it would be written over: the first press of × asks.
        let past = |lines: &[(u8, &str)]| {
            let mut frame = (*after(lines).unwrap()).clone();
            frame.head.last = frame.head.moment.step + 1;
            Some(Rc::new(frame))
        };
        let mut looks = State { line: true, open: true, ..State::default() };
        looks.frame = past(&[(0, "get pods"), (1, "ls")]);
        looks.term(TermMsg::Go(1), &mut todo);
        looks.term(TermMsg::Close, &mut todo);
        assert_eq!((asked(&looks).len(), looks.ui.choices.len(), looks.terminal()), (0, 1, 1));
        looks.term(TermMsg::Input("x".into()), &mut todo);
        looks.term(TermMsg::Close, &mut todo);
        assert_eq!(asked(&looks).len(), 0);
        looks.term(TermMsg::Close, &mut todo);
        assert_eq!((asked(&looks), looks.ui.choices.len()), (vec![run("exit")], 0));
        // What has no line yet is closed at once, and nothing is written down.
        let mut looks = State { line: true, open: true, ..State::default() };
        looks.frame = past(&[(0, "get pods")]);
        looks.term(TermMsg::New, &mut todo);
        looks.term(TermMsg::Close, &mut todo);
        assert_eq!((asked(&looks).len(), looks.terminals()), (0, vec![0]));
        // What the lines say holds: here it is closed, and after Back it is open.
        state.frame = after(&[(0, "get pods -w"), (1, "kubectl get svc -w"), (1, "exit")]);
        assert_eq!(state.terminals(), [0]);
        state.frame = after(&[(0, "get pods -w"), (1, "kubectl get svc -w")]);
        assert_eq!(state.terminals(), [0, 1]);
        state.frame = after(&[(0, "exit")]);
        assert_eq!(state.terminals(), [0]);
    }

    #[test]
    fn the_word_kubectl_stands_once() {
        let rows = [
            ("kubectl get pods", "kubectl get pods"),
            ("get pods ", "kubectl get pods"),
            ("kubectl kubectl get pods", "kubectl get pods"),
            ("k get po", "kubectl get po"),
            ("  ", ""),
            ("kubectl", "kubectl"),
            ("help", "help"),
            ("help get", "kubectl help get"),
            ("kubectl help", "kubectl help"),
            ("watch kubectl get po", "watch kubectl get po"),
            ("cat web.yaml | wc -l", "cat web.yaml | wc -l"),
            ("kubectlx", "kubectlx"),
            ("asdf", "asdf"),
            ("true", "true"),
            ("a|b", "a|b"),
            ("-n shop get pods", "kubectl -n shop get pods"),
            ("exec web -- ls", "kubectl exec web -- ls"),
            ("for i in 1 2; do get pods; done", "for i in 1 2; do get pods; done"),
            ("POD=$(kubectl get pods -o name)", "POD=$(kubectl get pods -o name)"),
            ("$(echo kubectl) get pods", "$(echo kubectl) get pods"),
            ("jq .", "jq ."),
            ("top pods", "kubectl top pods"),
        ];
        for (typed, line) in rows {
            assert_eq!(full_line(typed), line);
        }
    }
}
