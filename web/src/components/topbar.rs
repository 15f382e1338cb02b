//! Name, scenario, verdict, version, voice, share, theme. One row; the verdict takes what is left.

use std::rc::Rc;

use kubestep_protocol::Scenario;
use yew::prelude::*;

use super::menu::{Entry, Menu};
use super::select::Select;
use super::share::ShareDialog;
use super::timeline::{moves_menu, until_menu};
use super::verdict::VerdictBar;
use crate::state::{Health, Msg, Open, Prefs, State};
use crate::store::{Send, on, use_send};
use crate::words::{said, t, w, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The top bar.
#[component]
pub(crate) fn Topbar(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let prefs = &state.ui.prefs;
    let theme = if prefs.dark { t("Theme: dark") } else { t("Theme: light") };
    let models = state.hello.as_ref().map_or("Kubernetes v1.37".into(), |h| h.models.clone());
    html! {
        <header class="topbar">
            <h1 class="vh">{format!("Kubestep: {}", said(&state.loaded.title))}</h1>
            <a class="brand" href="./"><svg aria-hidden="true"><use href="#brand" /></svg>{"Kubestep"}</a>
            { scenarios(state, &send) }
            <button class="btn hide-p" id="open-course" aria-haspopup="dialog" onclick={on(&send, Msg::Open(Open::Course))}>{w("Lessons")}</button>
            { verdict(state) }
            <div class="topbar-end">
                <button class="models" id="open-models" title={t("What is modelled, and how long things take")} aria-haspopup="dialog"
                    onclick={on(&send, Msg::Open(Open::Models))}>{w("models")}<b>{models}</b></button>
                <button class="switch" role="switch" aria-checked={prefs.teacher.to_string()} aria-label={t("Teacher's voice")}
                    onclick={on(&send, Msg::Teacher)}><span>{w("Teacher")}</span></button>
                <span class="anchor">
                    <button class="btn hide-p" id="open-share" aria-haspopup="dialog" aria-expanded={(state.ui.open == Some(Open::Share)).to_string()}
                        onclick={on(&send, Msg::Share)}>{w("Share")}</button>
                    if state.ui.open == Some(Open::Share) { <ShareDialog state={state.clone()} /> }
                </span>
                <span class="anchor show-p">
                    <button class="btn btn-bare show-p" id="open-more" aria-label={t("More: lessons, share, teacher, theme")} aria-haspopup="menu"
                        onclick={on(&send, Msg::Open(Open::More))}>{"⋯"}</button>
                    if state.ui.open == Some(Open::More) { { more(prefs) } }
                    { for floats_on_phones(state) }
                </span>
                { language(prefs.language, &send) }
                <button class="btn btn-bare hide-p" aria-label={theme} title={theme} onclick={on(&send, Msg::Theme)}>
                    <svg class="g g-l" aria-hidden="true" viewBox="0 0 16 16">
                        <path d="M8 1.5a6.5 6.5 0 1 0 0 13z" /><circle cx="8" cy="8" r="6" fill="none" stroke-width="1.5" />
                    </svg>
                </button>
                <button class="btn btn-bare hide-p" id="open-keys" aria-label={t("Keyboard")} title={t("Keyboard (?)")} aria-keyshortcuts="?"
                    onclick={on(&send, Msg::Open(Open::Keys))}>{"?"}</button>
            </div>
        </header>
    }
}

/// The other language, by its own name.
fn other(language: &str) -> (&'static str, &'static str) {
    if language == "de" { ("en", "English") } else { ("de", "Deutsch") }
}

fn language(spoken: &str, send: &Send) -> Html {
    let (code, name) = other(spoken);
    html! { <button class="btn btn-bare hide-p" lang={code} title={name} onclick={on(send, Msg::Learn(code))}>{code.to_ascii_uppercase()}</button> }
}

fn more(prefs: &Prefs) -> Html {
    let (code, name) = other(prefs.language);
    let entries = vec![
        Entry::of("Lessons", "the map, and where you left", Msg::Open(Open::Course)),
        Entry::of("Share this moment", "", Msg::Share),
        Entry::of("Run until…", "", Msg::Open(Open::Until)),
        Entry::of("Who moves next…", "", Msg::Open(Open::Moves)),
        Entry { on: Some(prefs.teacher), ..Entry::of("Teacher's voice", "", Msg::Teacher) },
        Entry { on: Some(prefs.dark), ..Entry::of("Dark", "", Msg::Theme) },
        Entry::of(name, "", Msg::Learn(code)),
        Entry::of("Keyboard", "", Msg::Open(Open::Keys)),
    ];
    html! { <Menu name={t("More")} key_name="more" entries={entries} /> }
}

/// What the time controls have no room for on phones.
fn floats_on_phones(state: &State) -> Option<Html> {
    match state.ui.open {
        Some(Open::Until) if state.ui.is_phone() => Some(until_menu(state)),
        Some(Open::Moves) if state.ui.is_phone() => Some(moves_menu(state)),
        _ => None,
    }
}

pub(super) fn verdict(state: &State) -> Html {
    match &state.frame {
        Some(frame) => {
            html! { <VerdictBar verdict={frame.head.verdict.clone()} now={frame.head.now} what_if={frame.head.what_if} differs={differs(state)} /> }
        }
        None => html! {
            <div class="verdict" role="status" aria-label={t("Verdict")} data-kind="converging">
                <b>{ if state.health == Health::Gone { t("The simulator does not run") } else { t("Starting") } }</b>
            </div>
        },
    }
}

/// What the file in front would change first, where that is one value for another.
fn differs(state: &State) -> Option<(String, String)> {
    let change = state.front()?.fresh()?.changes.first()?;
    let (before, after) = (change.before.clone()?, change.after.clone()?);
    if change.field.is_empty() {
        return None;
    }
    // Of two tags of one image the tags are enough.
    match (before.rsplit_once(':'), after.rsplit_once(':')) {
        (Some((a, old)), Some((b, new))) if a == b => Some((old.into(), new.into())),
        _ => Some((before, after)),
    }
}

fn scenarios(state: &State, send: &Send) -> Html {
    let list = state.hello.as_ref().map(|h| h.scenarios.clone()).unwrap_or_default();
    let mut groups: Vec<(String, Vec<Scenario>)> = Vec::new();
    for scenario in list {
        match groups.iter_mut().find(|(name, _)| *name == scenario.group) {
            Some((_, members)) => members.push(scenario),
            None => groups.push((scenario.group.clone(), vec![scenario])),
        }
    }
    let open = state.loaded.scenario.clone();
    let foreign = !groups.iter().any(|(_, m)| m.iter().any(|s| s.id == open));
    let send = send.clone();
    let onchange = Callback::from(move |id: String| {
        if !id.is_empty() {
            send.emit(Msg::Scenario(id));
        }
    });
    let value = if foreign { String::new() } else { open.clone() };
    let option = |s: &Scenario| {
        html! { <option value={s.id.clone()} selected={s.id == open} title={said(&s.blurb)}>{ws(&s.title)}</option> }
    };
    html! {
        <Select name={t("Scenario")} value={value} onchange={onchange}>
                if foreign { <option value="" selected=true>{ if state.loaded.title.is_empty() { "…".to_string() } else { state.loaded.title.clone() } }</option> }
                { for groups.iter().map(|(name, members)| html! {
                    <optgroup label={said(name)}>{ for members.iter().map(option) }</optgroup>
                }) }
        </Select>
    }
}
