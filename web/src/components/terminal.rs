//! kubectl, in its words.

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::{Entry, Stream};
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, Element, HtmlInputElement};
use yew::prelude::*;

use super::output::Output;
use crate::state::{Msg, TERMINALS, TermMsg, ends};
use crate::store::{Send, on, use_send};
use crate::words::{t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) open: bool,
    pub(crate) input: Rc<str>,
    /// The lines of which that is the next.
    pub(crate) above: Rc<str>,
    pub(crate) choices: Rc<Vec<String>>,
    /// A command runs or waits.
    pub(crate) waits: bool,
    /// The terminals that are open, and the one that is shown.
    pub(crate) terminals: Vec<u8>,
    pub(crate) shown: u8,
}

/// The terminal.
#[component]
pub(crate) fn Terminal(props: &Props) -> Html {
    let send = use_send();
    let log = use_node_ref();
    let shown = props.shown;
    {
        let log = log.clone();
        // A terminal shows its end.
        use_effect_with(
            (props.entries.clone(), props.choices.clone(), props.above.clone(), props.open, shown),
            move |_| {
                if let Some(log) = log.cast::<Element>() {
                    log.set_scroll_top(log.scroll_height());
                }
            },
        );
    }
    use_effect_with((shown, props.terminals.len()), |_| {
        crate::browser::in_sight(".dock-head [aria-selected=true]");
    });
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
    let before = props.entries.iter().rposition(|e| e.terminal == shown && ends(e)).map_or(0, |at| at + 1);
    let entries = props.entries[before..].iter().filter(|e| e.terminal == shown);
    html! {
        <section class="dock" aria-label="kubectl">
            <div class="dock-head">
                <h2>{w("Terminal")}</h2>
                { terminals(props, &send) }
                <span class="label grow">{"kubectl v1.37 · namespace default"}</span>
                if props.waits { <button class="btn btn-bare btn-s" onclick={on(&send, term(TermMsg::Interrupt))}>{"Ctrl-C"}</button> }
                <button class="btn btn-bare btn-s hide-p" aria-expanded={props.open.to_string()} onclick={on(&send, Msg::Dock)}>{ if props.open { t("Hide") } else { t("Show") } }</button>
            </div>
            <div class="term" role="log" aria-label={t("Terminal")} tabindex="0" ref={log}>
                // A list of its own: among others without a key, one answer more would make all of them anew.
                <>{ for entries.map(|e| html! { <One key={e.id.0} entry={e.clone()} /> }) }</>
                if !props.above.is_empty() { <pre><span class="cmd">{above(&props.above)}</span></pre> }
                if !props.choices.is_empty() { <p class="label" aria-live="polite">{props.choices.join("   ")}</p> }
            </div>
            <form class="prompt" onsubmit={onsubmit}>
                <label for="kubectl" aria-hidden="true">{ if props.above.is_empty() { "$" } else { ">" } }</label>
                <input id="kubectl" aria-label="kubectl" placeholder="kubectl …" spellcheck="false" autocomplete="off" autocapitalize="off"
                    value={props.input.to_string()} oninput={oninput} onpaste={paste(&send)} onkeydown={keys(&send, props)} />
            </form>
        </section>
    }
}

/// Lines that wait for the next, as a shell shows them.
fn above(lines: &str) -> String {
    let mut shown = String::new();
    for line in lines.lines() {
        let sign = if shown.is_empty() { "$ " } else { "\n> " };
        shown.extend([sign, line]);
    }
    shown
}

/// The tabs of the terminals, where there are several; arrow keys choose the one beside.
fn terminals(props: &Props, send: &Send) -> Html {
    let Props { terminals, shown, .. } = props;
    let term = |m: TermMsg| Msg::Term(m);
    let several = terminals.len() > 1;
    let full = terminals.len() >= usize::from(TERMINALS);
    let tab = |at: &u8| {
        let chosen = at == shown;
        html! {
            <button role="tab" id={format!("terminal-{at}")} aria-selected={chosen.to_string()} tabindex={if chosen { "0" } else { "-1" }}
                aria-label={tf!("Terminal {}", at + 1)} onclick={on(send, term(TermMsg::Go(*at)))}>{at + 1}</button>
        }
    };
    html! {
        <>
        if several { <div class="tabs" role="tablist" aria-label={t("Terminals")} onkeydown={walk(props, send)}>{ for terminals.iter().map(tab) }</div> }
        if several { <button class="btn btn-bare btn-s" aria-label={t("Close this terminal")} title={t("Close this terminal")} onclick={on(send, term(TermMsg::Close))}>{"×"}</button> }
        <button class="btn btn-bare btn-s" aria-label={t("New terminal")} disabled={full} title={if full { t("Nine terminals at most") } else { t("New terminal") }} onclick={on(send, term(TermMsg::New))}>{"+"}</button>
        </>
    }
}

fn walk(props: &Props, send: &Send) -> Callback<KeyboardEvent> {
    let (send, all, shown) = (send.clone(), props.terminals.clone(), props.shown);
    Callback::from(move |e: KeyboardEvent| {
        let at = all.iter().position(|t| *t == shown).unwrap_or(0);
        let next = match e.key().as_str() {
            "ArrowRight" => (at + 1) % all.len(),
            "ArrowLeft" => (at + all.len() - 1) % all.len(),
            "Home" => 0,
            "End" => all.len() - 1,
            _ => return,
        };
        e.prevent_default();
        send.emit(Msg::Term(TermMsg::Go(all[next])));
        crate::browser::focus(&format!("terminal-{}", all[next]));
    })
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

fn keys(send: &Send, props: &Props) -> Callback<KeyboardEvent> {
    let empty = props.input.is_empty() && props.above.is_empty();
    let (send, several) = (send.clone(), props.terminals.len() > 1);
    Callback::from(move |e: KeyboardEvent| {
        let selected = e
            .target_dyn_into::<HtmlInputElement>()
            .is_some_and(|i| i.selection_start().ok().flatten() != i.selection_end().ok().flatten());
        // The key, whatever sign Alt makes of it.
        let digit = e.code().strip_prefix("Digit").and_then(|d| d.parse::<u8>().ok()).filter(|d| *d > 0);
        let msg = match e.key().as_str() {
            _ if e.alt_key() && !e.ctrl_key() && digit.is_some() => TermMsg::Go(digit.unwrap_or(1) - 1),
            "ArrowUp" => TermMsg::History(true),
            "ArrowDown" => TermMsg::History(false),
            // An empty line lets Tab leave.
            "Tab" if !empty && !e.shift_key() => TermMsg::Complete,
            "r" if e.ctrl_key() && !e.shift_key() => TermMsg::Search,
            "c" | "C" if e.ctrl_key() && !selected => TermMsg::Interrupt,
            "d" if e.ctrl_key() && empty && several => TermMsg::Close,
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
