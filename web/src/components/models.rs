//! What is modelled, and the one table of latencies.

use std::rc::Rc;

use kubestep_protocol::{Hello, age};
use yew::prelude::*;

use crate::state::Msg;
use crate::store::{on, use_send};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) hello: Option<Rc<Hello>>,
    pub(crate) latencies: Rc<Vec<(String, u64)>>,
}

/// The dialog.
#[component]
pub(crate) fn ModelsDialog(props: &Props) -> Html {
    let send = use_send();
    let escape = {
        let send = send.clone();
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                e.stop_propagation();
                send.emit(Msg::Close(None));
            }
        })
    };
    let version =
        props.hello.as_ref().map(|h| format!("{}; Kubestep {}", h.models, h.version)).unwrap_or_default();
    let length = |ms: u64| if ms < 1000 { format!("{ms} ms") } else { age(ms) };
    html! {
        <div class="sheet" role="dialog" aria-modal="true" aria-label="What is modelled" onkeydown={escape}>
            <div class="sheet-box">
                <div class="pane-head"><h2 class="grow">{"What is modelled"}</h2>
                    <button class="btn btn-s" id="menu-models" onclick={on(&send, Msg::Close(None))}>{"Close"}</button></div>
                <p>{format!("{version}. ")}{"Kubestep is a simulator of Kubernetes’ control loops. FIDELITY.md lists for each mechanism whether it is as upstream, simplified or absent."}</p>
                <p>{"Everything takes time. These are the lengths of what happens once, before jitter; back-offs, deadlines and other constants of Kubernetes are never shortened."}</p>
                <dl class="keymap scroll" tabindex="0">
                    { for props.latencies.iter().map(|(what, ms)| html! { <><dt>{length(*ms)}</dt><dd>{what.clone()}</dd></> }) }
                </dl>
            </div>
        </div>
    }
}
