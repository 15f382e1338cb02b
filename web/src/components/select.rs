//! A list of which one is chosen.

use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    /// Its accessible name.
    pub(crate) name: AttrValue,
    /// The value of the option that is chosen.
    pub(crate) value: AttrValue,
    pub(crate) onchange: Callback<String>,
    /// The options.
    pub(crate) children: Html,
}

/// A list of which one is chosen. Once a person has chosen, the browser no longer follows the options' `selected`: what is
/// chosen elsewhere (Back, an undo) is set here.
#[component]
pub(crate) fn Select(props: &Props) -> Html {
    let select = use_node_ref();
    {
        let (select, value) = (select.clone(), props.value.clone());
        use_effect(move || {
            if let Some(select) = select.cast::<HtmlSelectElement>().filter(|s| s.value() != *value) {
                select.set_value(&value);
            }
        });
    }
    let onchange = props
        .onchange
        .reform(|e: Event| e.target_dyn_into::<HtmlSelectElement>().map(|s| s.value()).unwrap_or_default());
    html! {
        <label class="select"><span class="vh">{&props.name}</span>
            <select ref={select} aria-label={&props.name} onchange={onchange}>{props.children.clone()}</select></label>
    }
}
