//! A menu that floats: arrows walk it, Esc closes it, the focus goes back to what opened it.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::browser;
use crate::state::Msg;
use crate::store::{Send, on, use_send};
use crate::words::{lower, said, t, w, wf, ws};

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
    /// Entries of one group follow each other under its name.
    pub(crate) group: AttrValue,
    /// Only those who search find it.
    pub(crate) rare: bool,
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
    /// There are so many that one searches.
    #[prop_or_default]
    pub(crate) search: bool,
    /// Below the entries.
    #[prop_or_default]
    pub(crate) children: Html,
}

/// The menu.
#[component]
pub(crate) fn Menu(props: &Props) -> Html {
    let send = use_send();
    let id = format!("menu-{}", props.key_name);
    let wanted = use_state_eq(String::new);
    let found: Vec<&Entry> = props.entries.iter().filter(|e| is_found(e, &wanted)).collect();
    let none = found.is_empty();
    let hidden = if wanted.is_empty() { props.entries.len() - found.len() } else { 0 };
    let (menu, search) = if props.search { (None, Some(id)) } else { (Some(id), None) };
    html! {
        <div class="breakmenu floats" onkeydown={walk(&send)}>
            <h2>{ws(&props.name)}{" "}<small>{ws(&props.small)}</small></h2>
            { for search.map(|id| field(id, &wanted)) }
            <div role={(!none || !props.search).then_some("menu")} aria-label={(!none || !props.search).then(|| said(&props.name))} id={menu} tabindex="-1">
                { for grouped(&found).into_iter().map(|(name, from, list)| group(name, from, list, &send)) }
            </div>
            if hidden > 0 { <p class="label menu-none">{wf!("{} more are found by their words", hidden)}</p> }
            if none && props.search { <p class="label menu-none" role="status">{w("Nothing here is called so.")}</p> }
            { props.children.clone() }
        </div>
    }
}

/// Every word that was typed stands somewhere in the entry.
fn is_found(entry: &Entry, wanted: &str) -> bool {
    if entry.rare && wanted.trim().is_empty() {
        return false;
    }
    let text = [&entry.name, &entry.note, &*entry.group].map(|w| lower(&said(w))).join(" ");
    lower(wanted).split_whitespace().all(|word| text.contains(word))
}

/// What one types to find an entry.
fn field(id: String, wanted: &UseStateHandle<String>) -> Html {
    let typed = wanted.clone();
    let oninput = Callback::from(move |e: InputEvent| {
        typed.set(e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default());
    });
    html! {
        <input class="menu-search" type="search" id={id} aria-label={t("Search")} placeholder={t("Search")} value={(**wanted).clone()} oninput={oninput} />
    }
}

/// The groups in their order: name, the place of the first entry, entries.
fn grouped<'e>(found: &[&'e Entry]) -> Vec<(AttrValue, usize, Vec<&'e Entry>)> {
    let mut groups: Vec<(AttrValue, usize, Vec<&Entry>)> = Vec::new();
    for (i, entry) in found.iter().enumerate() {
        match groups.last_mut() {
            Some((name, _, list)) if *name == entry.group => list.push(entry),
            _ => groups.push((entry.group.clone(), i, vec![*entry])),
        }
    }
    groups
}

fn group(name: AttrValue, from: usize, list: Vec<&Entry>, send: &Send) -> Html {
    let entries = list.into_iter().enumerate().map(|(i, e)| entry(from + i, e, send));
    if name.is_empty() {
        return html! { <>{ for entries }</> };
    }
    html! {
        <div role="group" aria-label={said(&name)} key={name.to_string()}>
            <div class="menu-group" aria-hidden="true">{ws(&name)}</div>
            { for entries }
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
            <b>{ws(&entry.name)}{ if entry.on == Some(true) { " ✓" } else { "" } }</b>
            <span class="pos">{ws(&entry.place)}</span>
            if !entry.note.is_empty() { <span class="label">{ws(&entry.note)}</span> }
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
        let searching = browser::closest(&event, ".menu-search").is_some();
        let next = match event.key().as_str() {
            "ArrowDown" => at.map_or(0, |i| (i + 1) % count.max(1)),
            "ArrowUp" => at.map_or(count.saturating_sub(1), |i| (i + count.saturating_sub(1)) % count.max(1)),
            "Home" if !searching => 0,
            "End" if !searching => count.saturating_sub(1),
            "Escape" => {
                event.stop_propagation();
                return send.emit(Msg::Close(None));
            }
            // The only one that was found is meant; of several, the first gets the focus.
            "Enter" if searching && count == 1 => {
                event.prevent_default();
                if let Some(item) = items.get(0).and_then(|n| n.dyn_into::<HtmlElement>().ok()) {
                    item.click();
                }
                return;
            }
            "Enter" if searching && count > 0 => 0,
            // From the search field Tab goes to the entries.
            "Tab" if searching && count > 0 && !event.shift_key() => 0,
            "Tab" => return send.emit(Msg::Away),
            _ => return,
        };
        event.prevent_default();
        if let Some(item) = items.get(next).and_then(|n| n.dyn_into::<HtmlElement>().ok()) {
            item.focus().ok();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_their_words_and_stand_in_groups() {
        let entry = |group: &'static str, name: &str| Entry {
            name: name.into(),
            group: AttrValue::from(group),
            ..Entry::default()
        };
        let all = [
            entry("Nodes", "Slow node-1 down"),
            entry("Nodes", "node-1 is told nothing"),
            entry("", "What if"),
            Entry { rare: true, ..entry("", "rarely asked") },
        ];
        let found = |words: &str| all.iter().filter(|e| is_found(e, words)).count();
        assert_eq!(
            (
                found("") + found("rarely") - 1,
                found("slow NODE"),
                found("node nothing"),
                found("nodes"),
                found("x")
            ),
            (3, 1, 1, 2, 0)
        );
        let groups: Vec<(String, usize, usize)> = grouped(&all.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|(name, from, list)| (name.to_string(), from, list.len()))
            .collect();
        assert_eq!(groups, [("Nodes".into(), 0, 2), (String::new(), 2, 2)]);
    }
}
