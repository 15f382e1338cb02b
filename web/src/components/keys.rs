//! The list of keys, and whether single keys act.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::sheet::Sheet;
use crate::state::{KEY_MAP, Msg, SingleKeys};
use crate::store::use_send;
use crate::words::{t, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) keys: SingleKeys,
}

/// The dialog.
#[component]
pub(crate) fn KeysDialog(props: &Props) -> Html {
    let send = use_send();
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
        html! { <option value={value} selected={props.keys == keys}>{w(words)}</option> }
    };
    html! {
        <Sheet name={t("Keyboard")} close="menu-keys">
                <p><label>{w("Single keys act")}{" "}
                    <span class="select"><select aria-label={t("Single keys act")} onchange={onchange}>
                        { option("on", SingleKeys::On, "everywhere but in text fields") }
                        { option("time", SingleKeys::Time, "only in the time panel") }
                        { option("off", SingleKeys::Off, "never") }
                    </select></span></label></p>
                <dl class="keymap scroll" tabindex="0">
                    { for KEY_MAP.iter().map(|(key, does)| html! { <><dt><kbd>{w(key)}</kbd></dt><dd>{w(does)}</dd></> }) }
                </dl>
        </Sheet>
    }
}
