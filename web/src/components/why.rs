//! Why: what blocks it, who says so and where, the chain back to a keystroke, what would end it.

use kubestep_protocol::*;
use yew::prelude::*;

use super::glyph::{who, who_at, who_key};
use super::rich::{rich, step_link};
use super::scheduler;
use super::speech;
use super::tabs::when;
use super::trace;
use crate::state::{FileMsg, Msg, State};
use crate::store::{Send, on};
use crate::words::{t, tf, w, ws};

/// The tab's content.
pub(crate) fn why(why: &Why, details: &Details, state: &State, now: At, send: &Send) -> Html {
    let zero = state.frame.as_ref().map_or(At(0), |f| f.head.zero);
    let deadline = details.gap.as_ref().and_then(|g| g.deadline.map(|d| At(g.opened.0 + d)));
    html! {
        <>
        { head(&why.head, now, send) }
        if !why.attempts.is_empty() { { scheduler::attempts(&why.attempts, state.ui.attempt, zero, now, send) } }
        if why.strip.len() > 1 { <section class="strip-of">{ strip(why) }</section> }
        { trace::figure(&why.trace, details.gap.as_ref().map(|g| g.opened), now, zero) }
        { for why.speech.as_ref().map(|s| html! {
            <section><h3>{w("Who says so, and where")}</h3>{ speech::lanes(s, now, deadline) }{ for why.quote.as_ref().map(|q| quote(q, now, send)) }</section>
        }) }
        if why.speech.is_none() { { for why.quote.as_ref().map(|q| html! { <section>{ quote(q, now, send) }</section> }) } }
        if !why.chain.is_empty() { <section><h3>{w("Back to the keystroke")}</h3>{ chain(&why.chain, now, zero, send) }</section> }
        if !why.ends.is_empty() { <section data-voice="teacher"><h3>{w("What would end it")}</h3>{ ends(&why.ends, send) }</section> }
        </>
    }
}

fn head(head: &WhyHead, now: At, send: &Send) -> Html {
    match head {
        WhyHead::Agreed => {
            html! { <section><p>{w("Spec and status agree. Nothing has to move.")}</p></section> }
        }
        WhyHead::Moving(words) => html! { <section><p>{ rich(words, now, send) }</p></section> },
        WhyHead::Blocked(words) => {
            html! { <section class="blocker"><div class="teacher">{ rich(words, now, send) }</div></section> }
        }
        WhyHead::Silent { words, since, until } => html! {
            <section class="nobody"><b>{ rich(words, now, send) }{": "}{age(now.0.saturating_sub(since.0))}</b>{ rich(until, now, send) }</section>
        },
        WhyHead::NoLoop => html! {
            <section><p>{w("An object with no loop behind it: it is stored, and nothing acts on it.")}</p></section>
        },
    }
}

/// The chain in one line, and where it stops.
fn strip(why: &Why) -> Html {
    let ends = why.strip.len() + usize::from(why.stops_at.is_some());
    let x = |i: usize| 14.0 + 344.0 * i as f64 / (ends.max(2) - 1) as f64;
    let arrow = |i: usize| {
        let (a, b) = (x(i) + 9.0, x(i + 1) - 11.0);
        html! {
            <><path d={format!("M{a:.1} 12H{b:.1}")} style="stroke:var(--mark)" stroke-width="1.5" />
            <path d={format!("M{:.1} 12l-6-3.5v7z", b + 2.0)} style="fill:var(--mark)" /></>
        }
    };
    let anchor = |i: usize| {
        if i == 0 {
            "start"
        } else if i + 1 == ends {
            "end"
        } else {
            "middle"
        }
    };
    let nudge = |i: usize| {
        if i == 0 {
            -6.0
        } else if i + 1 == ends {
            8.0
        } else {
            0.0
        }
    };
    let mark = |(i, (w, name)): (usize, &(Who, String))| {
        html! { <>{ who_at(*w, x(i), 12.0, 12.0) }<text x={format!("{:.1}", x(i) + nudge(i))} y="33" text-anchor={anchor(i)} style="font-size:10.5px">{ws(name)}</text></> }
    };
    let names: Vec<&str> = why.strip.iter().map(|(_, n)| n.as_str()).collect();
    let last = why.strip.len() - 1;
    let label = match &why.stops_at {
        Some(at) => {
            tf!("The chain: {}. It stops between the {} and the {}.", names.join(", "), names[last], at)
        }
        None => tf!("The chain: {}.", names.join(", ")),
    };
    html! {
        <svg class="speech" viewBox="0 0 372 40" role="img" aria-label={label}>
            { for (0..last).map(arrow) }
            { for why.stops_at.as_ref().map(|name| {
                let (a, b) = (x(last) + 9.0, x(last + 1));
                html! {
                    <><path d={format!("M{a:.1} 12H{:.1}", b - 10.0)} style="stroke:var(--gap-over)" stroke-width="2" stroke-dasharray="3 2.5" />
                    <path d={format!("M{:.1} 6l12 12m0-12-12 12", b - 6.0)} style="stroke:var(--gap-over)" stroke-width="2.4" />
                    <text class="over" x={format!("{:.1}", b + 8.0)} y="33" text-anchor="end" style="font-size:10.5px">{ws(name)}</text></>
                }
            }) }
            { for why.strip.iter().enumerate().map(mark) }
        </svg>
    }
}

/// Something Kubernetes says, with its place.
pub(crate) fn quote(quote: &Quote, now: At, send: &Send) -> Html {
    html! { <blockquote class="quote"><span class="quote-src">{ rich(&quote.source, now, send) }<br />{ rich(&quote.by, now, send) }</span>{quote.text.clone()}</blockquote> }
}

fn chain(links: &[Link], now: At, zero: At, send: &Send) -> Html {
    let link = |(i, l): (usize, &Link)| {
        let time = if i == 0 && l.key.is_none() { t("now").to_string() } else { when(l.at, zero) };
        html! {
            <li data-who={who_key(l.who)} class={classes!(l.key.is_some().then_some("key"))}>
                <time>{time}</time>{ who(l.who) }
                <div>
                    if i > 0 { <span class="because">{w("because")}</span> }
                    { rich(&l.words, now, send) }{" "}{ for l.step.map(|n| step_link(n, send)) }
                    { place(&l.said, now) }
                    { for l.key.as_ref().map(|(file, line)| html! {
                        <>{" "}<button class="link" onclick={on(send, Msg::File(FileMsg::Go(Some(file.clone()), *line, 1)))}>{w("Show the line")}</button></>
                    }) }
                </div>
            </li>
        }
    };
    html! { <ol class="chain">{ for links.iter().enumerate().map(link) }</ol> }
}

/// Where Kubernetes itself says it; nothing for nobody, which the lanes show.
fn place(said: &Said, now: At) -> Html {
    let words = match said {
        Said::Field(object, path, value) => format!("{} {} · {path}: {value}", object.kind, object.name),
        Said::Event(object, reason, last) => {
            tf!(
                "Event {} on {} {}, {} ago",
                reason,
                object.kind,
                object.name,
                age(now.0.saturating_sub(last.0))
            )
        }
        Said::Output(text) => text.clone(),
        Said::Nobody => return html! {},
    };
    html! { <span class="said-at">{words}</span> }
}

fn ends(ends: &[End], send: &Send) -> Html {
    let end = |e: &End| {
        let button = match &e.act {
            EndAct::None => html! { <span class="strong">{ws(&e.label)}</span> },
            act => {
                html! { <button class="btn btn-s" onclick={on(send, Msg::End(act.clone()))}>{ws(&e.label)}</button> }
            }
        };
        html! { <li>{button}<span>{ws(&e.then)}</span></li> }
    };
    html! { <ul class="ends">{ for ends.iter().map(end) }</ul> }
}
