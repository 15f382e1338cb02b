//! Always in sight: ring, word, age, because. The age is not announced; a change of the kind is.

use kubestep_protocol::{At, Rich, Span, Verdict, VerdictKind, age};
use yew::prelude::*;

use super::glyph::verdict_key;
use super::rich::rich;
use crate::store::{Send, use_send};
use crate::words::{said, said_plain, t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) verdict: Verdict,
    pub(crate) now: At,
    pub(crate) what_if: bool,
    /// The first thing that the file in front would change: what is, what the file says.
    pub(crate) differs: Option<(String, String)>,
}

fn differs(is: &str, says: &str) -> Rich {
    let words = |w: &str| Span::Words(w.into());
    Rich::words("but the file says ")
        .then(Span::Code(says.into()))
        .then(words(" and the cluster has "))
        .then(Span::Code(is.into()))
        .then(words("."))
}

/// All is as asked; what is asked is not what the file says.
fn but(props: &Props, send: &Send) -> Html {
    let calm = props.verdict.kind == VerdictKind::Converged && props.verdict.because.is_empty();
    match props.differs.as_ref().filter(|_| calm) {
        Some((is, says)) => {
            html! { <>{ rich(&differs(is, says), props.now, send) }</> }
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
        VerdictKind::Converged => (t("Converged"), t("No gap")),
        VerdictKind::Converging => (t("Converging"), t("Gap open")),
        VerdictKind::Stalled => (t("Stalled"), t("Gap open")),
    };
    let since = |at: Option<At>| at.map(|at| age(props.now.0.saturating_sub(at.0)));
    let open = since(v.opened.or(v.since)).map(|a| tf!("for {}", a)).unwrap_or_default();
    let told = match v.kind {
        VerdictKind::Converged => since(v.since).map(|a| tf!("{} without a gap", a)).unwrap_or_default(),
        VerdictKind::Converging if !v.measure.is_empty() => said(&v.measure),
        VerdictKind::Converging => open.clone(),
        // The age that stands at the object on the board.
        VerdictKind::Stalled => {
            since(v.opened.or(v.since)).map(|a| tf!("gap open {}", a)).unwrap_or_default()
        }
    };
    let measured = if v.kind == VerdictKind::Converged { told.clone() } else { open };
    let title = format!("{} {}", said_plain(&v.because, props.now), said_plain(&v.more, props.now));
    html! {
        <div class="verdict" role="status" aria-label={t("Verdict")} data-kind={verdict_key(v.kind)} title={title}>
            <svg class="v-glyph" aria-hidden="true"><use href={format!("#v-{}", verdict_key(v.kind))} /></svg>
            <b><span data-voice="teacher">{word}</span><span data-voice="silent-teacher">{silent}</span></b>
            <span class="v-age" aria-hidden="true" data-voice="teacher">{told}</span>
            <span class="v-age" aria-hidden="true" data-voice="silent-teacher">{measured}</span>
            if props.what_if { <span class="what-if">{w("what if")}</span> }
            <span class="v-because" data-voice="teacher">
                { rich(&v.because, props.now, &send) }{ but(props, &send) }if !v.more.is_empty() { <span class="v-more">{" "}{ rich(&v.more, props.now, &send) }</span> }
            </span>
            <span class="v-said" data-voice="silent-teacher">{v.said.clone()}</span>
        </div>
    }
}
