//! Text with meaning, each span in its voice; times are counted from the shown moment.

use kubestep_protocol::{At, Rich, Span, age};
use yew::prelude::*;

use crate::state::{Msg, TimeMsg};
use crate::store::{Send, on};
use crate::words::{said_rich, wf};

/// Draws a text.
pub(crate) fn rich(text: &Rich, now: At, send: &Send) -> Html {
    said_rich(text).0.iter().map(|span| one(span, now, send)).collect()
}

fn one(span: &Span, now: At, send: &Send) -> Html {
    match span {
        Span::Words(s) => html! { {s.clone()} },
        Span::Strong(s) => html! { <b>{s.clone()}</b> },
        Span::Code(s) => html! { <code>{s.clone()}</code> },
        Span::Since(at) => html! { <span class="nowrap">{age(now.0.saturating_sub(at.0))}</span> },
        Span::Until(at) => html! { <span class="nowrap">{age(at.0.saturating_sub(now.0))}</span> },
        Span::Lasting(ms) => html! { <span class="nowrap">{age(*ms)}</span> },
        Span::Object(object, words) => html! {
            <button class="link" onclick={on(send, Msg::Select(object.clone()))}>{words.clone()}</button>
        },
        Span::Step(n) => step_link(*n, send),
    }
}

/// "step 207", which shows that step.
pub(crate) fn step_link(n: u32, send: &Send) -> Html {
    html! {
        <button class="link step" onclick={on(send, Msg::Time(TimeMsg::Seek(n)))}>{wf!("step {}", n)}</button>
    }
}
