//! A link to the exact state and step, and the proof that it is computed, not stored.

use std::rc::Rc;

use yew::prelude::*;

use crate::browser;
use crate::state::{Msg, State};
use crate::store::{Send, on, use_send};
use crate::words::{said, t, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// What floats under *Share*.
#[component]
pub(crate) fn ShareDialog(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let link = state.shared.as_ref().map(|s| browser::address_of(&s.text)).unwrap_or_default();
    let said = match state.copied {
        Some(true) => t("Copied."),
        Some(false) => t("The browser did not allow it: select the link and copy it."),
        None => "",
    };
    let proof = match state.recomputed {
        Some(true) => t("Computed again from the start and your inputs: the same state."),
        Some(false) => t(
            "Computed again from the start and your inputs: a different state. That is a fault of the simulator; please report it.",
        ),
        None => "",
    };
    let escape = {
        let send = send.clone();
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                e.stop_propagation();
                send.emit(Msg::Close(Some("open-share")));
            }
        })
    };
    let takes = use_takes(state);
    html! {
        <div class="breakmenu floats share" role="dialog" aria-label={t("Share this moment")} onkeydown={escape}>
            <h2>{w("Share this moment")}</h2>
            <div class="field">
                <input id="share-link" readonly=true aria-label={t("Link")} value={link.clone()} />
                // Always there: a neighbour that appears later would have the link made anew, and its focus lost.
                <span class="label">
                    { for state.shared.as_ref().map(|s| wf!("{} characters. Holds the start, the seed, your inputs and step {}.", with_commas(link.len()), s.moment.step)) }
                </span>
                <span>
                    <button class="btn btn-s btn-solid" onclick={on(&send, Msg::Copy)}>{w("Copy link")}</button>{" "}
                    <button class="btn btn-s" onclick={on(&send, Msg::Close(Some("open-share")))}>{w("Close")}</button>
                </span>
                <span class="label" role="status" aria-label={t("Link")}>{said}</span>
            </div>
            { state.shared.as_ref().map(|_| embed(&link, &send)).unwrap_or_default() }
            { takes }
            { state.shared.as_ref().map(|s| html! {
                <div class="field">
                    <span class="label">{w("State")}{" "}<code>{s.hash.clone()}</code></span>
                    <span><button class="btn btn-s" onclick={on(&send, Msg::Recompute)}>{w("Compute it again from the start")}</button></span>
                    <span class="label" role="status" aria-label={t("State")}>{proof}</span>
                </div>
            }).unwrap_or_default() }
        </div>
    }
}

/// The place where another script, fetched for it, offers what can be taken away: pictures, steps, a script, a lesson.
#[hook]
fn use_takes(state: &State) -> Html {
    let place = use_node_ref();
    let (at, scenario, title) = (place.clone(), state.loaded.scenario.clone(), said(&state.loaded.title));
    let language = state.ui.prefs.language;
    use_effect_with(state.shared.as_ref().map(|s| s.text.clone()), move |link| {
        if let (Some(place), Some(link)) = (at.get(), link) {
            let words = [link.as_str(), &scenario, &title, language].map(wasm_bindgen::JsValue::from);
            let mut args: Vec<wasm_bindgen::JsValue> = std::iter::once(place.into()).chain(words).collect();
            args.push(browser::translator());
            crate::editor::call_script("export.js", "fill", args);
        }
    });
    html! { <div class="field" ref={place} /> }
}

/// The lines that put this moment into somebody's page.
fn embed(link: &str, send: &Send) -> Html {
    let site = link.split('#').next().unwrap_or_default();
    let snippet = format!(
        "<script type=\"module\" src=\"{site}kubestep.js\"></script>\n<kubestep-figure link=\"{link}\" style=\"display:block;min-height:422px\"></kubestep-figure>"
    );
    html! {
        <div class="field">
            <label class="label" for="embed-snippet">{w("Embed this moment in a page")}</label>
            <textarea id="embed-snippet" readonly=true rows="3" aria-label={t("Embed")} value={snippet.clone()} />
            <span><button class="btn btn-s" onclick={on(send, Msg::CopyText(snippet))}>{w("Copy snippet")}</button></span>
        </div>
    }
}

fn with_commas(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}
