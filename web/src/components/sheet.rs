//! A dialog over the whole page: the focus stays in it, Esc and a press beside it close it.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::browser;
use crate::state::Msg;
use crate::store::{Send, on, use_send};
use crate::words::w;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    /// Its name, for all.
    pub(crate) name: AttrValue,
    /// The id of the button that has the focus first.
    pub(crate) close: AttrValue,
    pub(crate) children: Html,
}

/// The dialog. The rest of the page is inert as long as it is there (`crate::app`).
#[component]
pub(crate) fn Sheet(props: &Props) -> Html {
    let send = use_send();
    let beside = {
        let send = send.clone();
        Callback::from(move |e: MouseEvent| {
            if browser::closest(&e, ".sheet-box").is_none() {
                send.emit(Msg::Close(None));
            }
        })
    };
    html! {
        <div class="sheet" onclick={beside}>
            <div class="sheet-box" role="dialog" aria-modal="true" aria-label={props.name.clone()} onkeydown={keys(&send)}>
                <div class="pane-head"><h2 class="grow">{props.name.clone()}</h2>
                    <button class="btn btn-s" id={props.close.clone()} onclick={on(&send, Msg::Close(None))}>{w("Close")}</button></div>
                { props.children.clone() }
            </div>
        </div>
    }
}

const STOPS: &str = "button:not([disabled]), a[href], input, select, textarea, [tabindex=\"0\"]";

/// Esc closes; Tab goes round.
fn keys(send: &Send) -> Callback<KeyboardEvent> {
    let send = send.clone();
    Callback::from(move |event: KeyboardEvent| match event.key().as_str() {
        "Escape" => {
            event.stop_propagation();
            send.emit(Msg::Close(None));
        }
        "Tab" => {
            let dialog = browser::closest(&event, ".sheet-box");
            if dialog.is_some_and(|d| around(&d, event.shift_key())) {
                event.prevent_default();
            }
        }
        _ => {}
    })
}

/// From the last to the first, and back; whether it did.
fn around(dialog: &Element, back: bool) -> bool {
    let Ok(stops) = dialog.query_selector_all(STOPS) else { return false };
    let at = |i: u32| stops.get(i).and_then(|n| n.dyn_into::<HtmlElement>().ok());
    let (Some(first), Some(last)) = (at(0), at(stops.length().saturating_sub(1))) else { return false };
    let (from, to) = if back { (first, last) } else { (last, first) };
    let here = browser::document().active_element();
    here.as_ref() == Some(from.as_ref()) && to.focus().is_ok()
}
