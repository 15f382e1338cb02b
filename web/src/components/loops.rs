//! The API server in the middle; every controller is drawn as the loop it is: sees (in), thinks, asks (out).

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::glyph::{who, who_key};
use super::rich::rich;
use crate::state::{Msg, TimeMsg};
use crate::store::{Send, on, use_send};
use crate::words::{said, said_plain, t, tf, w, wf, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) frame: Rc<Frame>,
}

/// So many kubelets have a card; the others a line.
const KUBELETS: usize = 4;

/// The view.
#[component]
pub(crate) fn Loops(props: &Props) -> Html {
    let send = use_send();
    let frame = &props.frame;
    let mut kubelets = 0;
    let (cards, lines): (Vec<_>, Vec<_>) =
        frame.loops.iter().partition(|l| has_card(l, frame, &mut kubelets));
    let right = |l: &&Arc<Loop>| matches!(l.who, Who::Scheduler | Who::Kubelet | Who::Node);
    let (rights, lefts): (Vec<_>, Vec<_>) = cards.into_iter().partition(right);
    let side = |list: &[&Arc<Loop>], left: bool| -> Html {
        let row = |l: &&Arc<Loop>| {
            let (card, wires) = (one(l, frame, &send), wires(l, left));
            html! { <div class="loop-row" key={l.id.0}>{ if left { html! { <>{card}{wires}</> } } else { html! { <>{wires}{card}</> } } }</div> }
        };
        list.iter().map(row).collect()
    };
    html! {
        <div role="group" aria-label={t("Loops")}>
            <div class="loops">
                <div class="side">{ side(&lefts, true) }</div>
                { spine(frame, &send) }
                <div class="side at-right">{ side(&rights, false) }</div>
            </div>
            if !lines.is_empty() {
                <ul class="loop-lines" aria-label={t("Other loops")}>{ for lines.into_iter().map(|l| brief(l)) }</ul>
            }
        </div>
    }
}

/// A loop has a card where there is an object of its own kind, so that cards come with objects and not with every step.
fn has_card(l: &Loop, frame: &Frame, kubelets: &mut usize) -> bool {
    match l.who {
        Who::Scheduler => true,
        Who::Kubelet => {
            *kubelets += 1;
            *kubelets <= KUBELETS || l.stuck
        }
        _ => {
            let own = l.watches.split(", ").next().unwrap_or_default();
            l.stuck || frame.rows.iter().any(|r| r.object.kind == own)
        }
    }
}

/// A loop that has nothing to do with what is on the board, in one line.
fn brief(l: &Loop) -> Html {
    let (key, words) = state(l);
    let words = match &l.asks {
        Some(ask) => format!("{words}: {}", ask.words),
        None => words,
    };
    html! {
        <li data-who={who_key(l.who)} data-state={key} key={l.id.0}>
            <span class="who cut" data-who={who_key(l.who)}>{ who(l.who) }{ws(&l.name)}{" "}<small>{l.detail.clone()}</small></span>
            <span class="state cut" title={words.clone()}>{words}</span>
        </li>
    }
}

fn spine(frame: &Frame, send: &Send) -> Html {
    let head = &frame.head;
    let entry = |l: &LogLine| {
        html! {
            <li data-who={who_key(l.who)} class={classes!((l.step == head.moment.step).then_some("cur"))}>
                <span>{l.revision}</span>{ who(l.who) }
                <button class="link cut" title={format!("{}: {}", said(&l.what), tf!("step {}", l.step))} onclick={on(send, Msg::Time(TimeMsg::Seek(l.step)))}>{ws(&l.what)}</button>
            </li>
        }
    };
    html! {
        <div class="spine">
            <h3><span class="who" data-who="api">{ who(Who::Api) }{w("API server")}</span></h3>
            <div class="rev"><span class="label">{w("revision")}</span>{" "}{head.revision}</div>
            <ol>{ for head.log.iter().map(entry) }</ol>
            <span class="grow" />
            <span class="label">{w("Loops never call each other. Solid: events to read. Dotted: a request not yet sent.")}</span>
        </div>
    }
}

/// The state in a word, for the card and its look.
fn state(l: &Loop) -> (&'static str, String) {
    match l.state {
        LoopState::Stopped => ("stopped", t("stopped").into()),
        LoopState::Crashed => ("stopped", t("crashed").into()),
        LoopState::Held => ("held", t("watch held").into()),
        LoopState::Reading => ("reading", tf!("{} to read", l.unread)),
        LoopState::Queued => ("thinking", t("will think").into()),
        LoopState::Asking => ("asking", t("will ask").into()),
        LoopState::Waiting => ("waiting", t("waits").into()),
        LoopState::Idle => ("idle", t("idle").into()),
    }
}

fn one(l: &Loop, frame: &Frame, send: &Send) -> Html {
    let (now, revision) = (frame.head.now, frame.head.revision);
    let (key, words) = state(l);
    let key = if l.stuck { "blocked" } else { key };
    let copies = if l.copies > 1 { tf!("{} copies", l.copies) } else { String::new() };
    let fact = |name: &'static str, value: Html| html! { <><dt>{w(name)}</dt><dd>{value}</dd></> };
    let waits = said_plain(&l.waits, now);
    html! {
        <article class="loop" tabindex="0" data-who={who_key(l.who)} data-state={key} aria-label={format!("{} {}", said(&l.name), l.detail)}>
            <header>
                <span class="who" data-who={who_key(l.who)}>{ who(l.who) }{ws(&l.name)}</span>
                <small>{l.detail.clone()}{copies}</small>
                <span class="state">
                    if l.stuck { <span data-voice="teacher">{w("stuck")}</span><span data-voice="silent-teacher">{words}</span> } else { {words} }
                </span>
            </header>
            <dl>
                { fact("watches", html! { <span title={said(&l.watches)}>{ws(&l.watches)}</span> }) }
                { fact("cache", cache(l, revision)) }
                { fact("queue", queue(l)) }
                { fact("did", did(l, now)) }
                { fact("waits for", html! { <span title={waits} class={classes!(l.stuck.then_some("strong"))}>{ rich(&l.waits, now, send) }</span> }) }
            </dl>
            { for l.asks.as_ref().map(|ask| html! {
                <dl class="asks"><dt>{ if ask.sent { t("asks") } else { t("will ask") } }</dt><dd class="cut" title={ask.words.clone()}>{ask.words.clone()}</dd></dl>
            }) }
            { for switch(l, send) }
        </article>
    }
}

/// The same fault as in the menu.
fn switch(l: &Loop, send: &Send) -> Option<Html> {
    let off = matches!(l.state, LoopState::Stopped | LoopState::Crashed);
    let words = if off { "Start" } else { "Stop" };
    let act = Command::Fault { id: l.fault.clone(), on: !off };
    let name = format!("{}: {} {}", t(words), said(&l.name), l.detail);
    (!l.fault.is_empty()).then(|| {
        html! { <button class="btn btn-s btn-bare loop-switch" aria-label={name.trim().to_string()} onclick={on(send, Msg::Act(act))}>{w(words)}</button> }
    })
}

fn cache(l: &Loop, revision: u64) -> Html {
    let full = if l.behind == 0 { 100 } else { 100u64.saturating_sub(u64::from(l.behind) * 19).max(10) };
    let words = match l.behind {
        0 => tf!("revision {}", l.seen.max(revision)),
        n => tf!("{}, {} behind", l.seen, n),
    };
    html! { <><span class="lag" style={format!("--f:{full}%")} />{words}</> }
}

fn queue(l: &Loop) -> Html {
    if l.queued == 0 {
        return html! { <span class="none">{w("empty")}</span> };
    }
    let rest = l.queued as usize - l.queue.len().min(l.queued as usize);
    html! {
        <>
        { for l.queue.iter().map(|k| html! { <><span class="qchip">{k.clone()}</span>{" "}</> }) }
        if rest > 0 { {wf!("and {} more", rest)} }
        </>
    }
}

fn did(l: &Loop, now: At) -> Html {
    match &l.did {
        None => html! { <span class="none">{w("nothing yet")}</span> },
        Some((at, what)) => {
            let ago = age(now.0.saturating_sub(at.0));
            if what.is_empty() {
                html! { {wf!("{} ago", ago)} }
            } else {
                html! { {wf!("{} ago, {}", ago, said(what))} }
            }
        }
    }
}

/// The arrows between a loop and the API server: what it has to read, what it will ask.
fn wires(l: &Loop, left: bool) -> Html {
    let to_loop = if left { "M1 22l7-4v8z" } else { "M33 22l-7-4v8z" };
    let (x1, x2) = if left { ("34", "7") } else { ("0", "27") };
    let (a1, a2, ask) = if left { ("0", "26", "M33 66l-8-5v10z") } else { ("34", "8", "M1 66l8-5v10z") };
    let reads = l.unread > 0;
    html! {
        <svg class="wires" data-who={who_key(l.who)} viewBox="0 0 34 88" preserveAspectRatio="xMidYMin" aria-hidden="true">
            <line x1={x1} x2={x2} y1="22" y2="22" class={if reads { "" } else { "idle" }} stroke-dasharray={(l.state == LoopState::Held).then_some("6 8")} />
            <path class={if reads { "hd" } else { "hd-idle" }} d={to_loop} />
            if reads {
                <circle cx="17" cy="22" r="7.5" style="fill:var(--panel);stroke:currentColor" stroke-width="1.5" />
                <text x="17" y="26" text-anchor="middle" style="font:650 10.5px var(--font-ui);fill:currentColor">{ if l.unread > 99 { "99".into() } else { l.unread.to_string() } }</text>
            }
            { for l.asks.as_ref().map(|a| html! {
                <><line x1={a1} x2={a2} y1="66" y2="66" class={if a.sent { "" } else { "ask" }} /><path class="hd" d={ask} /></>
            }) }
        </svg>
    }
}
