//! Scheduling: every attempt is kept; filters in their order, stop at the first no; then scores, weights, tie, bind.

use kubestep_protocol::*;
use yew::prelude::*;

use super::rich::rich;
use super::tabs::when;
use super::why::quote;
use crate::state::Msg;
use crate::store::{Send, on};
use crate::words::{said, t, w, ws};

/// All attempts, one of them open.
pub(crate) fn attempts(attempts: &[Attempt], chosen: Option<usize>, zero: At, now: At, send: &Send) -> Html {
    let last = attempts.len() - 1;
    let at = chosen.unwrap_or(last).min(last);
    let from = attempts.len().saturating_sub(6);
    let button = |(i, a): (usize, &Attempt)| {
        html! {
            <button role="tab" aria-selected={(i == at).to_string()} onclick={on(send, Msg::Attempt(i))}>
                <b>{format!("{} · {}", i + 1, said(&a.result))}</b><span class="label">{format!("{} · {}", when(a.at, zero), said(&a.why))}</span></button>
        }
    };
    html! {
        <>
        <section><h3>{w("Attempts")}{" "}<span class="label">{w("all are kept; a retry needs a reason")}</span></h3>
            <div class="attempts" role="tablist" aria-label={t("Attempts")}>{ for attempts.iter().enumerate().skip(from).map(button) }</div></section>
        { attempt(&attempts[at], now, send) }
        </>
    }
}

fn attempt(a: &Attempt, now: At, send: &Send) -> Html {
    html! {
        <>
        <section><div class="scrollx" role="group" aria-label={t("Filter and score")} tabindex="0">
            { filters(a) }
            if !a.scored.is_empty() { { scores(a) } }
        </div></section>
        { for a.quote.as_ref().map(|q| html! { <section><h3>{ if a.scored.is_empty() { t("What it said") } else { t("3. Bind") } }</h3>{ quote(q, now, send) }</section> }) }
        if !a.note.is_empty() { <div class="teacher wide-note">{ rich(&a.note, now, send) }</div> }
        </>
    }
}

/// A plugin's name, broken before its last capital words so that columns stay narrow.
fn plugin(name: &str) -> Html {
    let split = name.char_indices().skip(1).filter(|(_, c)| c.is_ascii_uppercase()).map(|(i, _)| i);
    match split.min_by_key(|i| (*i as i64 - name.len() as i64 / 2).abs()) {
        Some(i) => html! { <>{name[..i].to_string()}<br />{name[i..].to_string()}</> },
        None => html! { {name.to_string()} },
    }
}

fn filters(a: &Attempt) -> Html {
    let cell = |c: &FilterCell| match c {
        FilterCell::Pass => {
            html! { <td><span class="yes" role="img" aria-label={t("pass")}>{"✓"}</span></td> }
        }
        FilterCell::NotAsked => {
            html! { <td><span class="na" role="img" aria-label={t("not asked")}>{"·"}</span></td> }
        }
        FilterCell::Fail(why) => html! { <td class="no">{"✕"}<small>{ws(why)}</small></td> },
    };
    let row = |f: &Filtered| {
        let out = f.cells.iter().any(|c| matches!(c, FilterCell::Fail(_)));
        html! { <tr class={classes!(out.then_some("out"))}><th scope="row">{f.node.clone()}</th>{ for f.cells.iter().map(cell) }</tr> }
    };
    html! {
        <table class="sched">
            <caption>{w("1. Filter")}<span class="label">{w("in the order the scheduler asks; the first ✕ ends it for that node")}</span></caption>
            <thead><tr><th scope="col">{w("node")}</th>{ for a.filters.iter().map(|f| html! { <th scope="col">{ plugin(f) }</th> }) }</tr></thead>
            <tbody>{ for a.filtered.iter().map(row) }</tbody>
        </table>
    }
}

fn scores(a: &Attempt) -> Html {
    let most = a.scored.iter().flat_map(|s| &s.cells).copied().max().unwrap_or(1).max(1);
    let cell = |n: &i64| {
        let width = 1.0 + 43.0 * (*n).max(0) as f64 / most as f64;
        html! { <td>{*n}<span class="bar" style={format!("width:{width:.0}px")} /></td> }
    };
    let row = |s: &Scored| {
        html! {
            <tr class={classes!(s.won.then_some("win"))}><th scope="row">{s.node.clone()}</th>{ for s.cells.iter().map(cell) }
                <td class="total">{s.sum}</td><td>{ if s.won { html! { <b>{ws(&s.result)}</b> } } else { html! { {ws(&s.result)} } } }</td></tr>
        }
    };
    html! {
        <table class="sched" style="margin-top:16px">
            <caption>{w("2. Score")}<span class="label">{w("only nodes that passed; 0 to 100 times the weight")}</span></caption>
            <thead><tr><th scope="col">{w("node")}</th>
                { for a.scores.iter().map(|(name, weight)| html! { <th scope="col">{ plugin(name) }<span class="w">{format!("×{weight}")}</span></th> }) }
                <th scope="col">{w("sum")}</th><th scope="col">{w("result")}</th></tr></thead>
            <tbody>{ for a.scored.iter().map(row) }</tbody>
        </table>
    }
}
