//! Centre, the cluster: two views of the same moment, the registry, the terminal.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::board::Board;
use super::loops::Loops;
use super::menu::{Entry, Menu};
use super::registry::Registry;
use super::rich::rich;
use super::select::Select;
use super::terminal::Terminal;
use crate::state::{Msg, Open, State, View};
use crate::store::{Send, on, use_send};
use crate::words::{t, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The limits one can choose, in minutes.
const LIMITS: &[u64] = &[1, 2, 5, 10, 15, 30, 60];

/// The pane.
#[component]
pub(crate) fn Cluster(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let ui = &state.ui;
    html! {
        <section class="pane cluster" id="cluster" tabindex="-1" aria-label={t("Cluster")}>
            <h2 class="vh">{w("The cluster")}</h2>
            { head(state, &send) }
            <div class="stage scroll">
                { match &state.frame {
                    None => loading(state),
                    Some(frame) if ui.view == View::Objects => html! {
                        <>
                        <Board frame={frame.clone()} ghosts={state.ghosts.clone()} limit={ui.prefs.limit} selected={ui.selected.clone()}
                            item={ui.item} folded={ui.folded.clone()} others={ui.others} open={ui.open.clone()} keys={ui.prefs.keys} />
                        <Registry images={frame.images.clone()} host={frame.head.registry.clone()} now={frame.head.now} open={ui.open.clone()} />
                        </>
                    },
                    Some(frame) => html! {
                        <>
                        <div class="teacher answer"><b>{w("Which loop is getting nowhere?")}</b>{" "}
                            { if frame.head.nowhere.is_empty() { html! { {w("None: each does its part, or has nothing to do.")} } }
                              else { rich(&frame.head.nowhere, frame.head.now, &send) } }
                        </div>
                        <Loops frame={frame.clone()} />
                        </>
                    },
                } }
            </div>
            <Terminal entries={state.frame.as_ref().map(|f| f.terminal.clone()).unwrap_or_default()} open={ui.dock} input={ui.input.clone()} above={ui.above.clone()}
                choices={ui.choices.clone()} waits={state.terminal_waits()} terminals={state.terminals()} shown={state.terminal()} />
        </section>
    }
}

fn head(state: &State, send: &Send) -> Html {
    let ui = &state.ui;
    let view = |view: View, words: &'static str, key: &'static str| {
        html! {
            <button aria-pressed={(ui.view == view).to_string()} aria-keyshortcuts={key} title={format!("{} ({key})", t(words))}
                onclick={on(send, Msg::View(view))}>{w(words)}</button>
        }
    };
    let faults = ui.open == Some(Open::Faults);
    let any = state.frame.as_ref().is_some_and(|f| f.faults.iter().any(|x| x.on) || f.head.what_if);
    html! {
        <div class="pane-head stage-head">
            <div class="seg" role="group" aria-label={t("View")}>{ view(View::Objects, "Objects", "o") }{ view(View::Loops, "Loops", "g") }</div>
            <span class="grow" />
            if state.frame.as_ref().is_some_and(|f| f.head.what_if) {
                <span class="what-if" title={t("The API server's check of immutable selectors is off: real Kubernetes refuses this. Stray pods stop at 20 a ReplicaSet; that bound is ours.")}>
                    {w("what if: no selector check")}</span>
            }
            { limits(ui.prefs.limit, send) }
            <button class="btn btn-s hide-p" onclick={on(send, Msg::Act(Command::Node(NodeAct::Add)))}>{w("+ node")}</button>
            <span class="anchor">
                <button class="btn btn-s" id="open-faults" aria-haspopup="menu" aria-expanded={faults.to_string()}
                    onclick={on(send, Msg::Open(Open::Faults))}>{w("Faults")}{ if any { " ✦" } else { "" } }</button>
                if faults { { fault_menu(state) } }
            </span>
        </div>
    }
}

fn fault_menu(state: &State) -> Html {
    let Some(frame) = &state.frame else { return html! {} };
    let entry = |f: &FaultItem| {
        let act = Command::Fault { id: f.key.clone(), on: !f.on };
        Entry {
            on: Some(f.on),
            group: f.group.clone().into(),
            rare: f.rare,
            ..Entry::of(f.name.clone(), f.note.clone(), Msg::Act(act))
        }
    };
    let mut entries: Vec<Entry> = frame.faults.iter().map(|f| entry(f)).collect();
    // A node that came later stands with the others.
    let mut groups: Vec<AttrValue> = vec![];
    for entry in &entries {
        if !groups.contains(&entry.group) {
            groups.push(entry.group.clone());
        }
    }
    entries.sort_by_key(|e| groups.iter().position(|g| *g == e.group));
    let what_if = frame.head.what_if;
    entries.push(Entry {
        on: Some(what_if),
        group: "What if".into(),
        ..Entry::of(
            "What if: no selector check",
            "not Kubernetes: lets labels drift from an immutable selector",
            Msg::Act(Command::WhatIf(!what_if)),
        )
    });
    html! { <Menu name={t("Faults")} key_name="faults" small={t("each is logged and can be undone by Back")} entries={entries} search=true /> }
}

fn limits(limit: u64, send: &Send) -> Html {
    let send = send.clone();
    let onchange = Callback::from(move |value: String| {
        if let Ok(minutes) = value.parse::<u64>() {
            send.emit(Msg::Limit(minutes * 60_000));
        }
    });
    let option = |m: &u64| {
        html! { <option value={m.to_string()} selected={m * 60_000 == limit}>{wf!("my limit: {}", age(m * 60_000))}</option> }
    };
    let name = t("Tell me when a gap is older than");
    html! {
        <Select name={name} value={(limit / 60_000).to_string()} onchange={onchange}>{ for LIMITS.iter().map(option) }</Select>
    }
}

/// The page is alive before the simulator is.
fn loading(state: &State) -> Html {
    let (words, width) = match state.hello {
        None => ("Simulator", "40%"),
        Some(_) => ("Cluster", "80%"),
    };
    html! {
        <ul class="loading" aria-label={t("Loading")}>
            <li><span class="yes" aria-hidden="true">{"✓"}</span><span>{w("Page")}</span><span class="meter"><i style="width:100%" /></span><span class="label">{w("there")}</span></li>
            <li><span aria-hidden="true" /><span>{w(words)}</span><span class="meter"><i style={format!("width:{width}")} /></span><span class="label">{w("starting")}</span></li>
            <li><span aria-hidden="true" /><span>{w("Editor, when you use it")}</span><span class="meter" /><span class="label">{w("later")}</span></li>
        </ul>
    }
}
