//! YAML with what changed and who wrote it, Events, History.

use kubestep_protocol::*;
use yew::prelude::*;

use super::glyph::{who, who_key};
use super::rich::{rich, step_link};
use crate::state::Msg;
use crate::store::{Send, on};
use crate::words::{t, tf, w};

/// The object's lines; what this step changed is marked in its writer's colour.
pub(crate) fn yaml(lines: &[YamlLine], now: At, send: &Send) -> Html {
    let changed = lines.iter().filter(|l| l.was.is_some()).count();
    let words = match changed {
        0 => t("This step changed nothing here. Hover or focus a line for its last writer.").to_string(),
        1 => t("Marked: the line this step wrote.").to_string(),
        n => tf!("Marked: the {} lines this step wrote.", n),
    };
    let line = |l: &YamlLine| {
        let by =
            l.who.map(|w| html! { <span class="by">{ who(w) }{" "}{ rich(&l.writer, now, send) }</span> });
        let was = l.was.as_ref().filter(|w| !w.is_empty());
        html! {
            <div class={classes!("f", l.was.is_some().then_some("changed"))} data-who={l.who.map(who_key)}>
                <span title={l.text.trim().to_string()}>{l.text.clone()}{ for was.map(|w| html! { <>{" "}<span class="was">{w.clone()}</span></> }) }</span>
                { for by }
            </div>
        }
    };
    html! { <><p class="label" style="margin-bottom:6px">{words}</p><div class="fields" role="group" aria-label="YAML" tabindex="0">{ for lines.iter().map(line) }</div></> }
}

/// Events, newest first.
pub(crate) fn events(events: &[EventRow], now: At, send: &Send) -> Html {
    if events.is_empty() {
        return html! { <p class="silence">{w("No events about this object or what it owns.")}</p> };
    }
    let row = |e: &EventRow| {
        let ago = age(now.0.saturating_sub(e.last.0));
        let count = if e.count > 1 { tf!("×{} · {} ago", e.count, ago) } else { tf!("{} ago", ago) };
        html! {
            <li>
                <span class={classes!((e.kind == "Warning").then_some("type-w"))}>{e.kind.clone()}</span><b>{e.reason.clone()}</b><span class="n">{count}</span>
                <span class="said">{ for e.about.as_ref().map(|o| html! {
                    <><button class="link" onclick={on(send, Msg::Select(o.clone()))}>{format!("{} {}", o.kind, o.name)}</button>{": "}</>
                }) }{e.message.clone()}</span>
            </li>
        }
    };
    html! {
        <>
        <p class="label" style="margin-bottom:6px">{w("Of this object and of what it owns, newest first.")}</p>
        <ul class="events">{ for events.iter().map(row) }</ul>
        </>
    }
}

/// Every write to this object, newest first.
pub(crate) fn history(rows: &[HistoryRow], now: At, zero: At, send: &Send) -> Html {
    let row = |r: &HistoryRow| {
        html! {
            <li data-who={who_key(r.who)}><time>{when(r.at, zero)}</time>{ who(r.who) }
                <div>{ rich(&r.words, now, send) }{" "}{ step_link(r.step, send) }</div></li>
        }
    };
    html! { <ol class="chain">{ for rows.iter().map(row) }</ol> }
}

/// A time on the clock: `10:42` after the scenario's beginning, `−14m` before.
pub(crate) fn when(at: At, zero: At) -> String {
    match at.0.checked_sub(zero.0) {
        Some(after) => crate::score_plan::clock(after),
        None => format!("−{}", age_short(zero.0 - at.0)),
    }
}
