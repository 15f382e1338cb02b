//! Always in sight: ring, word, age, because. The age is not announced; a change of the kind is.

use kubestep_protocol::{At, Verdict, VerdictKind, age};
use yew::prelude::*;

use super::glyph::verdict_key;
use super::rich::rich;
use crate::store::use_send;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) verdict: Verdict,
    pub(crate) now: At,
    pub(crate) what_if: bool,
    /// The first thing that the file in front would change: what is, what the file says.
    pub(crate) differs: Option<(String, String)>,
}

/// All is as asked; what is asked is not what the file says.
fn but(props: &Props) -> Html {
    let calm = props.verdict.kind == VerdictKind::Converged && props.verdict.because.is_empty();
    match props.differs.as_ref().filter(|_| calm) {
        Some((is, says)) => {
            html! { <>{"but the file says "}<code>{says.clone()}</code>{" and the cluster has "}<code>{is.clone()}</code>{"."}</> }
        }
        None => html! {},
    }
}

/// The verdict.
#[component]
pub(crate) fn VerdictBar(props: &Props) -> Html {
    let send = use_send();
    let v = &props.verdict;
    let (word, silent) = match v.kind {
        VerdictKind::Converged => ("Converged", "No gap"),
        VerdictKind::Converging => ("Converging", "Gap open"),
        VerdictKind::Stalled => ("Stalled", "Gap open"),
    };
    let since = |at: Option<At>| at.map(|at| age(props.now.0.saturating_sub(at.0)));
    let open = since(v.opened.or(v.since)).map(|a| format!("for {a}")).unwrap_or_default();
    let told = match v.kind {
        VerdictKind::Converged => since(v.since).map(|a| format!("{a} without a gap")).unwrap_or_default(),
        VerdictKind::Converging if !v.measure.is_empty() => v.measure.clone(),
        VerdictKind::Converging => open.clone(),
        // The age that stands at the object on the board.
        VerdictKind::Stalled => {
            since(v.opened.or(v.since)).map(|a| format!("gap open {a}")).unwrap_or_default()
        }
    };
    let measured = if v.kind == VerdictKind::Converged { told.clone() } else { open };
    let title = format!("{} {}", v.because.plain(props.now), v.more.plain(props.now));
    html! {
        <div class="verdict" role="status" aria-label="Verdict" data-kind={verdict_key(v.kind)} title={title}>
            <svg class="v-glyph" aria-hidden="true"><use href={format!("#v-{}", verdict_key(v.kind))} /></svg>
            <b><span data-voice="teacher">{word}</span><span data-voice="silent-teacher">{silent}</span></b>
            <span class="v-age" aria-hidden="true" data-voice="teacher">{told}</span>
            <span class="v-age" aria-hidden="true" data-voice="silent-teacher">{measured}</span>
            if props.what_if { <span class="what-if">{"what if"}</span> }
            <span class="v-because" data-voice="teacher">
                { rich(&v.because, props.now, &send) }{ but(props) }if !v.more.is_empty() { <span class="v-more">{" "}{ rich(&v.more, props.now, &send) }</span> }
            </span>
            <span class="v-said" data-voice="silent-teacher">{v.said.clone()}</span>
        </div>
    }
}
