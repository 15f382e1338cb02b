//! Shapes: who moved, verdicts, controls. One sprite, used by name.

use kubestep_protocol::{VerdictKind, Who};
use yew::prelude::*;

/// The name of a loop in ids, classes and data attributes.
pub(crate) fn who_key(who: Who) -> &'static str {
    match who {
        Who::Person => "person",
        Who::Api => "api",
        Who::Deployment => "deployment",
        Who::ReplicaSet => "replicaset",
        Who::Scheduler => "scheduler",
        Who::Kubelet => "kubelet",
        Who::EndpointSlice => "endpointslice",
        Who::Gc => "gc",
        Who::Node => "node",
        Who::Fault => "fault",
        Who::Other => "other",
    }
}

/// The name of a verdict's glyph and colours.
pub(crate) fn verdict_key(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Converged => "converged",
        VerdictKind::Converging => "converging",
        VerdictKind::Stalled => "stalled",
    }
}

/// The mark of a loop.
pub(crate) fn who(who: Who) -> Html {
    html! { <svg class="g" aria-hidden="true"><use href={format!("#who-{}", who_key(who))} /></svg> }
}

/// The same inside a drawing, with its middle at a place.
pub(crate) fn who_at(who: Who, x: f64, y: f64, size: f64) -> Html {
    let (half, key) = (size / 2.0, who_key(who));
    html! {
        <g data-who={key} style="color:var(--who)">
            <svg x={px(x - half)} y={px(y - half)} width={px(size)} height={px(size)} fill="currentColor">
                <use href={format!("#who-{key}")} />
            </svg>
        </g>
    }
}

/// A number for an SVG attribute.
pub(crate) fn px(n: f64) -> String {
    format!("{n:.1}")
}

/// The icon of a time control.
pub(crate) fn icon(name: &'static str) -> Html {
    html! { <svg aria-hidden="true"><use href={format!("#i-{name}")} /></svg> }
}

const SYMBOLS: &[(&str, &str, &str)] = &[
    ("who-person", "0 0 16 16", "<circle cx='8' cy='8' r='5.6'/>"),
    ("who-api", "0 0 16 16", "<rect x='2.8' y='2.8' width='10.4' height='10.4'/>"),
    ("who-deployment", "0 0 16 16", "<path d='M8 1.8 14.6 13.6H1.4z'/>"),
    ("who-replicaset", "0 0 16 16", "<path d='M8 .8 15.2 8 8 15.2.8 8z'/>"),
    ("who-scheduler", "0 0 16 16", "<path d='M6 1.5h4V6h4.5v4H10v4.5H6V10H1.5V6H6z'/>"),
    ("who-kubelet", "0 0 16 16", "<path d='M8 14.2 14.6 2.4H1.4z'/>"),
    ("who-endpointslice", "0 0 16 16", "<path d='M1.5 2.5 14.5 13.5V2.5L1.5 13.5z'/>"),
    (
        "who-gc",
        "0 0 16 16",
        "<path d='M2.2 4.3 4.3 2.2 8 5.9l3.7-3.7 2.1 2.1L10.1 8l3.7 3.7-2.1 2.1L8 10.1l-3.7 3.7-2.1-2.1L5.9 8z'/>",
    ),
    ("who-node", "0 0 16 16", "<path d='M1.5 12a6.5 6.5 0 0 1 13 0z'/>"),
    (
        "who-other",
        "0 0 16 16",
        "<circle cx='8' cy='8' r='4.6' fill='none' stroke='currentColor' stroke-width='2.4'/>",
    ),
    ("who-fault", "0 0 16 16", "<path d='M8 .5 10 6l5.5 2L10 10l-2 5.5L6 10 .5 8 6 6z'/>"),
    ("v-converged", "0 0 18 18", "<circle cx='9' cy='9' r='7'/><path d='m5.8 9.2 2.3 2.3 4.2-4.7'/>"),
    (
        "v-converging",
        "0 0 18 18",
        "<path d='M12.6 3.1A7 7 0 1 1 4.3 3.7'/><path d='M.6 4.9 5 3.1l.9 4.6' stroke-linejoin='round'/>",
    ),
    (
        "v-stalled",
        "0 0 18 18",
        "<path d='M14.6 4.8A7 7 0 1 1 11.2 2.36'/><path d='M9 5.2v4.6M9 11.8v1.6' stroke-width='2.2'/>",
    ),
    ("brand", "0 0 20 20", "<path d='M1 14h6v4H1zM7.5 8.5h5.5V18H7.5zM13.5 3H19v15h-5.5z'/>"),
    ("i-back", "0 0 16 12", "<path d='M11 1v10L3.5 6z'/>"),
    ("i-fwd", "0 0 16 12", "<path d='M5 1v10l7.5-5z'/>"),
    ("i-step", "0 0 16 12", "<path d='M7 1h2.4v10H7z'/>"),
    (
        "i-rec",
        "0 0 16 12",
        "<path d='M3.5 2.5h2v7h-2zM7 2.5h2v7H7zM10.5 2.5h2v7h-2zM0 0h3v1.2H1.2v9.6H3V12H0zM16 0h-3v1.2h1.8v9.6H13V12h3z'/>",
    ),
    (
        "i-calm",
        "0 0 16 12",
        "<path d='M0 3h1.8v6H0zM2.8 1.5h1.8v9H2.8zM5.6 4h1.8v4H5.6zM8.5 5.4H16v1.2H8.500z'/>",
    ),
    ("i-play", "0 0 16 12", "<path d='M3.5 0v12L14 6z'/>"),
    ("i-pause", "0 0 16 12", "<path d='M4 1h3v10H4zM9 1h3v10H9z'/>"),
];

/// All shapes, once in the page.
#[component]
pub(crate) fn Sprite() -> Html {
    let mut inner =
        String::from("<svg width='0' height='0' style='position:absolute' aria-hidden='true'><defs>");
    for (id, view, body) in SYMBOLS {
        inner.push_str(&format!("<symbol id='{id}' viewBox='{view}'>{body}</symbol>"));
    }
    inner.push_str(
        "<pattern id='over' width='5' height='5' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>\
         <path d='M0 0V5' style='stroke:var(--gap-over)' stroke-width='2.2'/></pattern></defs></svg>",
    );
    Html::from_html_unchecked(AttrValue::from(inner))
}
