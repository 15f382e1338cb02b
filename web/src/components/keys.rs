//! The list of keys, and whether single keys act.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::state::{KEY_MAP, Msg, SingleKeys};
use crate::store::{on, use_send};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) keys: SingleKeys,
}

/// The dialog.
#[component]
pub(crate) fn KeysDialog(props: &Props) -> Html {
    let send = use_send();
    let close = on::<MouseEvent>(&send, Msg::Close(None));
    let escape = {
        let send = send.clone();
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                e.stop_propagation();
                send.emit(Msg::Close(None));
            }
        })
    };
    let onchange = {
        let send = send.clone();
        Callback::from(move |e: Event| {
            let value = e.target_dyn_into::<HtmlSelectElement>().map(|s| s.value()).unwrap_or_default();
            send.emit(Msg::Keys(match value.as_str() {
                "time" => SingleKeys::Time,
                "off" => SingleKeys::Off,
                _ => SingleKeys::On,
            }));
        })
    };
    let option = |value: &'static str, keys: SingleKeys, words: &'static str| {
        html! { <option value={value} selected={props.keys == keys}>{words}</option> }
    };
    html! {
        <div class="sheet" role="dialog" aria-modal="true" aria-label="Keyboard" onkeydown={escape}>
            <div class="sheet-box">
                <div class="pane-head"><h2 class="grow">{"Keyboard"}</h2>
                    <button class="btn btn-s" id="menu-keys" onclick={close}>{"Close"}</button></div>
                <p><label>{"Single keys act "}
                    <span class="select"><select aria-label="Single keys act" onchange={onchange}>
                        { option("on", SingleKeys::On, "everywhere but in text fields") }
                        { option("time", SingleKeys::Time, "only in the time panel") }
                        { option("off", SingleKeys::Off, "never") }
                    </select></span></label></p>
                <dl class="keymap scroll" tabindex="0">
                    { for KEY_MAP.iter().map(|(key, does)| html! { <><dt><kbd>{*key}</kbd></dt><dd>{*does}</dd></> }) }
                </dl>
            </div>
        </div>
    }
}
