//! *Who moves next*: everything that may happen now, one press each. What is chosen is an input of the session.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::menu::{Entry, Menu};
use crate::state::Msg;
use crate::store::{on, use_send};
use crate::words::{said_plain, t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) moves: Rc<Vec<MoveRow>>,
    pub(crate) now: At,
    /// The answer is not there yet.
    pub(crate) waiting: bool,
}

/// When something is due, seen from now.
fn due(row: &MoveRow, now: At) -> String {
    match row.due.0.checked_sub(now.0) {
        None | Some(0) => t("now").into(),
        Some(millis) if millis < 1000 => tf!("in {} ms", millis),
        Some(millis) => tf!("in {}", age(millis)),
    }
}

/// The menu.
#[component]
pub(crate) fn MovesMenu(props: &Props) -> Html {
    let send = use_send();
    let now = props.now;
    let entry = |(i, row): (usize, &MoveRow)| Entry {
        name: said_plain(&row.words, now),
        place: due(row, now),
        note: match (i, row.timer) {
            (0, _) => t("Step takes this one").into(),
            (_, true) => t("waits for the clock").into(),
            (_, false) => String::new(),
        },
        msg: Some(Msg::Act(Command::Choose(row.id.clone()))),
        ..Entry::default()
    };
    let entries: Vec<Entry> = props.moves.iter().enumerate().map(entry).collect();
    let words = match (props.waiting, entries.is_empty()) {
        (true, _) => "…",
        (false, true) => "Nothing is left that could move.",
        (false, false) => "A real cluster promises no order among these.",
    };
    html! {
        <Menu name={t("Who moves next")} key_name="moves" small={t("each one happens at once, before its turn")} entries={entries}>
            <footer>
                <span class="grow">{w(words)}</span>
                <button class="btn btn-s" title={t("Look through other orders from here on for one with another end")}
                    onclick={on(&send, Msg::Act(Command::Race))}>{w("Find me a race")}</button>
            </footer>
        </Menu>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_says_when_it_is_due() {
        let row = |due| MoveRow {
            id: String::new(),
            who: Who::Api,
            words: Rich::default(),
            due: At(due),
            timer: false,
        };
        let said = |due_at| due(&row(due_at), At(5000));
        assert_eq!((said(4000), said(5000)), ("now".into(), "now".into()));
        assert_eq!((said(5020), said(95_000)), ("in 20 ms".into(), "in 1m 30s".into()));
    }
}
