//! Right, the inspector: one object. Why, Describe, YAML, Events, Audit, History.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::audit::audit;
use super::gap::gap_card;
use super::menu::{Entry, Menu};
use super::resizer::Resizer;
use super::rich::rich;
use super::tabs;
use super::why;
use crate::state::{Column, Msg, Open, State};
use crate::store::{Send, on, use_send};
use crate::words::{t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The tabs in order.
const TABS: &[(Tab, &str, &str)] = &[
    (Tab::Why, "why", "Why"),
    (Tab::Describe, "describe", "Describe"),
    (Tab::Yaml, "yaml", "YAML"),
    (Tab::Events, "events", "Events"),
    (Tab::Audit, "audit", "Audit"),
    (Tab::History, "history", "History"),
];

/// The pane.
#[component]
pub(crate) fn Inspector(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let details = state.details.as_ref().filter(|d| state.ui.selected.as_ref() == Some(&d.object)).cloned();
    let now = state.frame.as_ref().map_or(At(0), |f| f.head.now);
    html! {
        <section class="pane inspect" aria-label={t("Inspector")}>
            <h2 class="vh">{w("Inspector")}</h2>
            <Resizer column={Column::Inspect} width={state.ui.widths.1} />
            { match &state.ui.selected {
                None => html! { <p class="label empty-note">{w("Choose an object.")}</p> },
                Some(object) => subject(object, details.as_deref(), now, state, &send),
            } }
            { for details.as_ref().filter(|d| d.absent.is_none() && (d.pair.is_some() || d.gap.is_some())).map(|d| gap_card(d, now, state.ui.prefs.limit)) }
            { tab_row(state, &send) }
            { panel(state, details, now, &send) }
        </section>
    }
}

fn subject(object: &ObjectRef, details: Option<&Details>, now: At, state: &State, send: &Send) -> Html {
    let pod = state.frame.as_ref().and_then(|f| f.pods.iter().find(|p| p.object == *object).cloned());
    let open = pod.as_ref().is_some_and(|p| state.ui.open == Some(Open::Pod(p.id)));
    let space =
        if object.namespace.is_empty() { t("no namespace").to_string() } else { object.namespace.clone() };
    let tag = details.map(|d| d.tag.clone()).filter(|t| !t.is_empty());
    html! {
        <div class="subject">
            <span class="kind">{object.kind.clone()}</span>{ name(&object.name) }
            <span class="ns">{space}{ for tag.map(|t| html! { <>{" · "}{ rich(&t, now, send) }</> }) }</span>
            if object.kind == "Service" {
                <button class="btn btn-s" title={t("One request, as a program in the cluster would send it. It changes nothing.")}
                    onclick={on(send, Msg::Act(Command::Send(object.clone())))}>{w("Send a request")}</button>
            }
            { for pod.map(|p| html! {
                <span class="anchor">
                    <button class="btn btn-bare btn-s" id={format!("open-pod-{}", p.id.0)} aria-haspopup="menu" aria-expanded={open.to_string()}
                        aria-label={tf!("{}: delete, relabel, crash, probe", p.suffix)} onclick={on(send, Msg::Open(Open::Pod(p.id)))}>{"⋯"}</button>
                    if open { { pod_menu(&p) } }
                </span>
            }) }
        </div>
    }
}

/// A name may end early, but not its last part: that tells it from its siblings.
fn name(name: &str) -> Html {
    let (start, end) = name.rfind('-').filter(|_| name.len() > 24).map_or((name, ""), |i| name.split_at(i));
    html! { <b class="subject-name" title={name.to_string()}><span class="cut">{start.to_string()}</span><span>{end.to_string()}</span></b> }
}

/// What can be done to a pod.
fn pod_menu(pod: &Pod) -> Html {
    let act = |act: PodAct| Msg::Act(Command::Pod { pod: pod.object.clone(), act });
    let mut entries = vec![Entry::of("Delete it", "kubectl delete pod", act(PodAct::Delete))];
    let label =
        pod.labels.iter().find(|l| !l.starts_with("pod-template-hash=")).and_then(|l| l.split_once('='));
    if let Some((key, value)) = label {
        let other = format!("{value}-debug");
        entries.push(Entry::of(
            "Move its label",
            format!("kubectl label pod {key}={other} --overwrite"),
            act(PodAct::Label(key.into(), Some(other))),
        ));
    }
    entries.push(Entry::of("Crash its container", "it ends with exit code 1", act(PodAct::Crash(None, 1))));
    entries.push(Entry::of("Readiness probe: fails", "from now on", act(PodAct::Probe(Some(false)))));
    entries.push(Entry::of("Readiness probe: succeeds", "from now on", act(PodAct::Probe(Some(true)))));
    entries.push(Entry::of(
        "Requests to its app: many",
        "1 core, shared by its siblings",
        act(PodAct::Load(1000)),
    ));
    entries.push(Entry::of("Requests to its app: few", "0.1 cores, shared", act(PodAct::Load(100))));
    html! { <Menu name={pod.suffix.clone()} key_name={format!("pod-{}", pod.id.0)} entries={entries} /> }
}

fn tab_row(state: &State, send: &Send) -> Html {
    let tab = |(tab, key, words): &(Tab, &str, &'static str)| {
        let chosen = state.ui.tab == *tab;
        html! {
            <button role="tab" id={format!("tab-{key}")} aria-selected={chosen.to_string()} aria-controls="inspector-panel" tabindex={if chosen { "0" } else { "-1" }}
                onclick={on(send, Msg::Tab(*tab))}>{w(words)}</button>
        }
    };
    let wide = state.ui.wide;
    html! {
        <div class="pane-head">
            <div class="tabs" role="tablist" aria-label={t("Inspector")} onkeydown={walk(state.ui.tab, send)}>{ for TABS.iter().map(tab) }</div>
            <span class="grow" />
            <button class="btn btn-bare btn-s widen" aria-pressed={wide.to_string()} onclick={on(send, Msg::Widen)}>{ if wide { t("Narrow") } else { t("Widen") } }</button>
        </div>
    }
}

/// Arrow keys choose the tab beside.
fn walk(tab: Tab, send: &Send) -> Callback<KeyboardEvent> {
    let send = send.clone();
    Callback::from(move |e: KeyboardEvent| {
        let at = TABS.iter().position(|(t, _, _)| *t == tab).unwrap_or(0);
        let next = match e.key().as_str() {
            "ArrowRight" => (at + 1) % TABS.len(),
            "ArrowLeft" => (at + TABS.len() - 1) % TABS.len(),
            "Home" => 0,
            "End" => TABS.len() - 1,
            _ => return,
        };
        e.prevent_default();
        send.emit(Msg::Tab(TABS[next].0));
        crate::browser::focus(&format!("tab-{}", TABS[next].1));
    })
}

fn panel(state: &State, details: Option<Rc<Details>>, now: At, send: &Send) -> Html {
    let key = TABS.iter().find(|(t, _, _)| *t == state.ui.tab).map_or("why", |(_, k, _)| k);
    let words = |said: &'static str| html! { <p class="label">{w(said)}</p> };
    let zero = state.frame.as_ref().map_or(At(0), |f| f.head.zero);
    let content = match &details {
        None if state.ui.selected.is_some() => words("…"),
        None => words("Select a row or a pod on the board; the age of its gap and the reason stand here."),
        Some(d) => match (&d.absent, &d.body) {
            (Some(absent), Body::Why(_)) => html! { <p>{ rich(absent, now, send) }</p> },
            (_, Body::Why(w)) => why::why(w, d, state, now, send),
            (_, Body::Describe(text)) => {
                html! { <pre class="dump" tabindex="0" aria-label="kubectl describe">{text.clone()}</pre> }
            }
            (_, Body::Yaml(lines)) => tabs::yaml(lines, now, send),
            (_, Body::Events(events)) => tabs::events(events, now, send),
            (_, Body::History(rows)) => tabs::history(rows, now, zero, send),
            (_, Body::Audit(rows)) => audit(rows, zero, send),
        },
    };
    // The region is always there under its name; on other tabs it is hidden.
    let is_why = state.ui.tab == Tab::Why;
    html! {
        <div role="tabpanel" id="inspector-panel" class="scroll grow" tabindex="0" aria-labelledby={format!("tab-{key}")}>
            if is_why { <div role="region" aria-label={t("Why")}>{content}</div> } else { {content} }
        </div>
    }
}
