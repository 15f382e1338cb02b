//! A menu that floats: arrows walk it, Esc closes it, the focus goes back to what opened it.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::browser;
use crate::state::Msg;
use crate::store::{Send, on, use_send};

/// One entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// What it does, in a few words.
    pub(crate) name: String,
    /// At the right.
    pub(crate) place: String,
    /// Below.
    pub(crate) note: String,
    /// The edit it makes: what goes, what comes.
    pub(crate) diff: Option<(Option<String>, Option<String>)>,
    /// It is on; `None`: it is no switch.
    pub(crate) on: Option<bool>,
    /// What it says.
    pub(crate) msg: Option<Msg>,
}

impl Entry {
    /// An entry with a name and what it says.
    pub(crate) fn of(name: impl Into<String>, note: impl Into<String>, msg: Msg) -> Self {
        Entry { name: name.into(), note: note.into(), msg: Some(msg), ..Entry::default() }
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    /// The menu's accessible name; its id is `menu-<key>`.
    pub(crate) name: AttrValue,
    /// For its id.
    pub(crate) key_name: AttrValue,
    /// Beside the name.
    #[prop_or_default]
    pub(crate) small: AttrValue,
    /// The entries.
    pub(crate) entries: Vec<Entry>,
    /// Below the entries.
    #[prop_or_default]
    pub(crate) children: Html,
}

/// The menu.
#[component]
pub(crate) fn Menu(props: &Props) -> Html {
    let send = use_send();
    let id = format!("menu-{}", props.key_name);
    html! {
        <div class="breakmenu floats" onkeydown={walk(&send)}>
            <h2>{props.name.clone()}{" "}<small>{props.small.clone()}</small></h2>
            <div role="menu" aria-label={props.name.clone()} id={id} tabindex="-1">
                { for props.entries.iter().enumerate().map(|(i, e)| entry(i, e, &send)) }
            </div>
            { props.children.clone() }
        </div>
    }
}

fn entry(i: usize, entry: &Entry, send: &Send) -> Html {
    let onclick = entry.msg.clone().map(|m| on::<MouseEvent>(send, m));
    let role = if entry.on.is_some() { "menuitemcheckbox" } else { "menuitem" };
    let checked = entry.on.map(|on| on.to_string());
    html! {
        <button role={role} aria-checked={checked} aria-disabled={entry.msg.is_none().then_some("true")}
            class={classes!("item", (entry.on == Some(true)).then_some("is-on"))} tabindex={if i == 0 { "0" } else { "-1" }} onclick={onclick}>
            <b>{entry.name.clone()}{ if entry.on == Some(true) { " ✓" } else { "" } }</b>
            <span class="pos">{entry.place.clone()}</span>
            if !entry.note.is_empty() { <span class="label">{entry.note.clone()}</span> }
            { for entry.diff.as_ref().map(|(minus, plus)| html! {
                <span class="diff">
                    { for minus.as_ref().map(|m| html! { <><del>{m.clone()}</del>{" "}</> }) }
                    { for plus.as_ref().map(|p| html! { <ins>{p.clone()}</ins> }) }
                </span>
            }) }
        </button>
    }
}

/// Arrows, Home and End move the focus among the entries; Tab leaves and closes.
fn walk(send: &Send) -> Callback<KeyboardEvent> {
    let send = send.clone();
    Callback::from(move |event: KeyboardEvent| {
        let Some(menu) = browser::closest(&event, ".breakmenu") else { return };
        let Ok(items) = menu.query_selector_all("[role^=menuitem]") else { return };
        let focused = menu.owner_document().and_then(|d| d.active_element());
        let at =
            (0..items.length()).find(|&i| items.get(i).map(|n| n.unchecked_into::<Element>()) == focused);
        let count = items.length();
        let next = match event.key().as_str() {
            "ArrowDown" => at.map_or(0, |i| (i + 1) % count.max(1)),
            "ArrowUp" => at.map_or(count.saturating_sub(1), |i| (i + count.saturating_sub(1)) % count.max(1)),
            "Home" => 0,
            "End" => count.saturating_sub(1),
            "Escape" => {
                event.stop_propagation();
                return send.emit(Msg::Close(None));
            }
            "Tab" => return send.emit(Msg::Away),
            _ => return,
        };
        event.prevent_default();
        if let Some(item) = items.get(next).and_then(|n| n.dyn_into::<HtmlElement>().ok()) {
            item.focus().ok();
        }
    })
}
