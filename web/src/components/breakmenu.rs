//! *Break it*: made from what is in the file; each entry shows the edit it makes.

use std::rc::Rc;

use kubestep_protocol::BreakItem;
use yew::prelude::*;

use super::menu::{Entry, Menu};
use crate::state::{FileMsg, Msg};
use crate::store::{on, use_send};
use crate::words::{t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) items: Rc<Vec<BreakItem>>,
    pub(crate) file: Rc<str>,
    /// There is something to take back.
    pub(crate) undo: bool,
    /// The answer is not there yet.
    pub(crate) waiting: bool,
}

/// The menu.
#[component]
pub(crate) fn BreakMenu(props: &Props) -> Html {
    let send = use_send();
    let entry = |(i, item): (usize, &BreakItem)| Entry {
        name: item.name.clone(),
        place: if item.used { t("in the file").into() } else { item.place.clone() },
        diff: Some((item.minus.clone(), item.plus.clone())),
        msg: (!item.used).then_some(Msg::File(FileMsg::Break(i))),
        ..Entry::default()
    };
    let entries: Vec<Entry> = props.items.iter().enumerate().map(entry).collect();
    let words = match (props.waiting, entries.is_empty()) {
        (true, _) => "…".to_string(),
        (false, true) => tf!("Nothing in {} can be broken here.", props.file),
        (false, false) => tf!("Made from {}", props.file),
    };
    html! {
        <Menu name={t("Break it")} key_name="break" small={t("each one edits your file; Apply is still yours to press")} entries={entries}>
            <footer>
                <span class="grow">{words}</span>
                <button class="btn btn-s" disabled={!props.undo} onclick={on(&send, Msg::File(FileMsg::Unbreak))}>{w("Undo the last one")}</button>
            </footer>
        </Menu>
    }
}
