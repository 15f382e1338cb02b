//! Audit: who asked for what about this object, and what he was told.

use kubestep_protocol::*;
use yew::prelude::*;

use super::glyph::who;
use super::rich::step_link;
use super::tabs::when;
use crate::store::Send;
use crate::words::{t, w, ws};

/// The rows, newest first.
pub(crate) fn audit(rows: &[AuditRow], zero: At, send: &Send) -> Html {
    if rows.is_empty() {
        return html! { <p class="silence">{w("Nobody has asked for anything about this object.")}</p> };
    }
    let row = |r: &AuditRow| {
        let served = (200..400).contains(&r.code);
        html! {
            <li>
                <span class={classes!((!served).then_some("type-w"))}>{code(r.code)}</span>
                <b>{ who(r.who) }{" "}{r.agent.clone()}{ name(&r.user) }{": "}{r.verb.clone()}</b><span class="n">{when(r.at, zero)}</span>
                <span class="said">{ws(&r.words)}{" "}{ step_link(r.step, send) }</span>
            </li>
        }
    };
    html! {
        <>
        <p class="label" style="margin-bottom:6px">{w("Every request about this object, newest first: another record than the object itself.")}</p>
        <ul class="events" aria-label={t("Audit")}>{ for rows.iter().map(row) }</ul>
        </>
    }
}

/// In whose name it was asked.
fn name(user: &str) -> String {
    if user.is_empty() { String::new() } else { format!(" {} {user}", t("as")) }
}

/// The answer's code; a request that did not arrive has none.
fn code(code: u32) -> String {
    match code {
        0 => t("lost").into(),
        200..400 => format!("{code} ok"),
        _ => format!("{code} no"),
    }
}
