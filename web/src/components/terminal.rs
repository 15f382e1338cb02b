//! kubectl, in its words.

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::{Entry, Stream};
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, Element, HtmlInputElement};
use yew::prelude::*;

use super::output::Output;
use crate::state::{Msg, TermMsg};
use crate::store::{Send, on, use_send};
use crate::words::{t, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) open: bool,
    pub(crate) input: Rc<str>,
    pub(crate) choices: Rc<Vec<String>>,
    /// A command runs or waits.
    pub(crate) waits: bool,
}

/// The terminal.
#[component]
pub(crate) fn Terminal(props: &Props) -> Html {
    let send = use_send();
    let log = use_node_ref();
    {
        let log = log.clone();
        // A terminal shows its end.
        use_effect_with((props.entries.clone(), props.choices.clone(), props.open), move |_| {
            if let Some(log) = log.cast::<Element>() {
                log.set_scroll_top(log.scroll_height());
            }
        });
    }
    let term = |m: TermMsg| Msg::Term(m);
    let oninput = {
        let send = send.clone();
        Callback::from(move |e: InputEvent| {
            let text = e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default();
            send.emit(term(TermMsg::Input(text)));
        })
    };
    let onsubmit = {
        let send = send.clone();
        Callback::from(move |e: SubmitEvent| {
            e.prevent_default();
            send.emit(term(TermMsg::Enter));
        })
    };
    html! {
        <section class="dock" aria-label="kubectl">
            <div class="dock-head">
                <h2>{w("Terminal")}</h2><span class="label grow">{"kubectl v1.37 · namespace default"}</span>
                if props.waits { <button class="btn btn-bare btn-s" onclick={on(&send, term(TermMsg::Interrupt))}>{"Ctrl-C"}</button> }
                <button class="btn btn-bare btn-s" aria-expanded={props.open.to_string()} onclick={on(&send, Msg::Dock)}>{ if props.open { t("Hide") } else { t("Show") } }</button>
            </div>
            <div class="term" role="log" aria-label={t("Terminal")} tabindex="0" ref={log}>
                { for props.entries.iter().filter(|e| e.terminal == 0).map(|e| html! { <One key={e.id.0} entry={e.clone()} /> }) }
                if !props.choices.is_empty() { <p class="label" aria-live="polite">{props.choices.join("   ")}</p> }
            </div>
            <form class="prompt" onsubmit={onsubmit}>
                <label for="kubectl" aria-hidden="true">{"$"}</label>
                <input id="kubectl" aria-label="kubectl" placeholder="kubectl …" spellcheck="false" autocomplete="off" autocapitalize="off"
                    value={props.input.to_string()} oninput={oninput} onpaste={paste(&send)} onkeydown={keys(&send, props.input.is_empty())} />
            </form>
        </section>
    }
}

/// Lines that are pasted run at once, as in a terminal; a field of one line would glue them together.
fn paste(send: &Send) -> Callback<Event> {
    let send = send.clone();
    Callback::from(move |e: Event| {
        let text = e
            .dyn_ref::<ClipboardEvent>()
            .and_then(ClipboardEvent::clipboard_data)
            .and_then(|data| data.get_data("text/plain").ok())
            .filter(|text| text.contains('\n'));
        let Some(text) = text else { return };
        e.prevent_default();
        let typed = e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default();
        send.emit(Msg::Term(TermMsg::Input(typed + &text)));
        send.emit(Msg::Term(TermMsg::Enter));
    })
}

fn keys(send: &Send, empty: bool) -> Callback<KeyboardEvent> {
    let send = send.clone();
    Callback::from(move |e: KeyboardEvent| {
        let selected = e
            .target_dyn_into::<HtmlInputElement>()
            .is_some_and(|i| i.selection_start().ok().flatten() != i.selection_end().ok().flatten());
        let msg = match e.key().as_str() {
            "ArrowUp" => TermMsg::History(true),
            "ArrowDown" => TermMsg::History(false),
            // An empty line lets Tab leave.
            "Tab" if !empty && !e.shift_key() => TermMsg::Complete,
            "c" | "C" if e.ctrl_key() && !selected => TermMsg::Interrupt,
            _ => return,
        };
        e.prevent_default();
        send.emit(Msg::Term(msg));
    })
}

#[derive(Properties, PartialEq)]
struct OneProps {
    entry: Arc<Entry>,
}

/// A command and its answer; messages wrap, tables scroll.
#[component]
fn One(props: &OneProps) -> Html {
    let entry = &props.entry;
    let first = entry.output.first().and_then(|c| c.text.lines().next());
    let is_table = first.is_some_and(|l| l.starts_with("NAME") || l.contains("   "));
    let errors = entry.output.iter().any(|c| c.stream == Stream::Err);
    let class = classes!((!is_table || errors).then_some("msg"));
    html! {
        <pre>
            <span class="cmd">{format!("$ {}\n", entry.line)}</span>
            <span class={class}><Output entry={entry.clone()} /></span>
            { for entry.exit.filter(|c| *c != 0).map(|c| html! { <>{" "}<span class="exit">{format!("exit {c}")}</span></> }) }
            if entry.exit.is_none() && entry.waits { <span class="label">{"\n"}{w("waits in virtual time · Ctrl-C ends it")}</span> }
        </pre>
    }
}
