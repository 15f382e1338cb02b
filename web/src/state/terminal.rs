//! The terminal's line: history, completion, Ctrl-C.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Effect, State, TermMsg};

/// The page's own terminal.
const OWN: u8 = 0;
/// How many lines the history keeps.
const HISTORY: usize = 200;

impl State {
    pub(super) fn term(&mut self, msg: TermMsg, todo: &mut Vec<Effect>) {
        match msg {
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
                self.ask(Command::Complete { terminal: OWN, line }, todo);
            }
            TermMsg::Interrupt => {
                if self.terminal_waits() {
                    self.ask(Command::Interrupt { terminal: OWN }, todo);
                } else {
                    self.put(Rc::from(""), todo);
                }
            }
        }
    }

    /// Puts a line where one types.
    fn put(&mut self, line: Rc<str>, todo: &mut Vec<Effect>) {
        todo.push(Effect::Line(line.clone()));
        self.ui.input = line;
    }

    /// A command waits in the terminal.
    pub fn terminal_waits(&self) -> bool {
        self.frame.as_ref().is_some_and(|f| f.terminal.iter().any(|e| e.terminal == OWN && e.exit.is_none()))
    }

    fn enter(&mut self, todo: &mut Vec<Effect>) {
        let line = full_line(&self.ui.input);
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
        let files = self.docs();
        self.ask(Command::Kubectl { terminal: OWN, line, files }, todo);
    }

    pub(super) fn completed(&mut self, found: Completions, todo: &mut Vec<Effect>) {
        if *self.ui.input == *found.line {
            self.put(Rc::from(found.completed), todo);
            self.ui.choices = Rc::new(found.choices);
        }
    }
}

/// Programs beside kubectl that the terminal knows; `help` alone is the terminal's own.
const PROGRAMS: [&str; 21] = [
    ":",
    "cat",
    "clear",
    "cut",
    "declare",
    "echo",
    "false",
    "gitops",
    "grep",
    "head",
    "help",
    "ls",
    "order",
    "sleep",
    "sort",
    "statefile",
    "tail",
    "true",
    "uniq",
    "watch",
    "wc",
];

/// The word `kubectl` may be left out, or typed twice because the prompt seemed to hold it.
fn full_line(input: &str) -> String {
    let mut rest = input.trim();
    let mut words = rest.split_whitespace();
    match (words.next(), words.next()) {
        // `help get` is meant for kubectl.
        (Some("help"), Some(_)) => {}
        (Some(first), _) if PROGRAMS.contains(&first) => return rest.into(),
        _ => {}
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
            ("kubectlx", "kubectl kubectlx"),
        ];
        for (typed, line) in rows {
            assert_eq!(full_line(typed), line);
        }
    }
}
