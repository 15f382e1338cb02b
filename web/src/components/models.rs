//! What is modelled, and the one table of latencies.

use std::rc::Rc;

use kubestep_protocol::{Hello, age};
use yew::prelude::*;

use super::sheet::Sheet;
use crate::words::{t, w, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) hello: Option<Rc<Hello>>,
    pub(crate) latencies: Rc<Vec<(String, u64)>>,
}

/// The dialog.
#[component]
pub(crate) fn ModelsDialog(props: &Props) -> Html {
    let version =
        props.hello.as_ref().map(|h| format!("{}; Kubestep {}", h.models, h.version)).unwrap_or_default();
    let length = |us: u64| match us {
        1_000_000.. => age(us / 1000),
        _ if us % 1000 == 0 => format!("{} ms", us / 1000),
        _ => format!("{}.{} ms", us / 1000, us % 1000 / 100),
    };
    html! {
        <Sheet name={t("What is modelled")} close="menu-models">
                <p>{format!("{version}. ")}{w("Kubestep is a simulator of Kubernetes’ control loops. FIDELITY.md lists for each mechanism whether it is as upstream, simplified or absent.")}</p>
                <p>{w("Everything takes time. These are the lengths of what happens once, before jitter; back-offs, deadlines and other constants of Kubernetes are never shortened.")}</p>
                <dl class="keymap scroll" tabindex="0">
                    { for props.latencies.iter().map(|(what, us)| html! { <><dt>{length(*us)}</dt><dd>{ws(what)}</dd></> }) }
                </dl>
        </Sheet>
    }
}
