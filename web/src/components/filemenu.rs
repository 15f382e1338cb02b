//! The file in front: its name, closing it, and what was closed before.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::state::{File, FileMsg, Msg, name_problem};
use crate::store::{on, use_send};
use crate::words::{t, tf, w};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) files: Rc<Vec<File>>,
    pub(crate) front: usize,
    /// Files that came and were closed.
    pub(crate) closed: Rc<Vec<Rc<str>>>,
}

/// What floats under the dots beside the files.
#[component]
pub(crate) fn FileMenu(props: &Props) -> Html {
    let send = use_send();
    let file = props.files.get(props.front).cloned().unwrap_or_default();
    let name = {
        let file = file.name.clone();
        use_state_eq(move || file.to_string())
    };
    let problem = name_problem(&props.files, props.front, name.trim());
    let oninput = {
        let name = name.clone();
        Callback::from(move |e: InputEvent| {
            name.set(e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default());
        })
    };
    let onsubmit = {
        let (send, name) = (send.clone(), name.clone());
        Callback::from(move |e: SubmitEvent| {
            e.prevent_default();
            send.emit(Msg::File(FileMsg::Rename(name.to_string())));
        })
    };
    let escape = {
        let send = send.clone();
        Callback::from(move |e: KeyboardEvent| {
            if e.key() == "Escape" {
                e.stop_propagation();
                send.emit(Msg::Close(None));
            }
        })
    };
    let again = |closed: &Rc<str>| {
        let words = tf!("Open {} again", closed);
        html! { <button class="btn btn-s" onclick={on(&send, Msg::File(FileMsg::Reopen(closed.clone())))}>{words}</button> }
    };
    html! {
        <div class="breakmenu floats share" role="dialog" aria-label={t("File")} onkeydown={escape}>
            <form class="field" onsubmit={onsubmit}>
                <label for="menu-file">{w("Name of this file")}</label>
                <input id="menu-file" spellcheck="false" autocomplete="off" autocapitalize="off" value={(*name).clone()} oninput={oninput} />
                <span class="label" role="status" aria-label={t("Name")}>{ t(problem.unwrap_or("kubectl -f and -k find it under this name.")) }</span>
                <span class="row-of"><button class="btn btn-s btn-solid" disabled={problem.is_some() || name.trim() == &*file.name}>{w("Rename")}</button>
                    <button type="button" class="btn btn-s" disabled={props.files.len() < 2} onclick={on(&send, Msg::File(FileMsg::Close))}>{w("Close file")}</button>
                    { for props.closed.iter().map(again) }</span>
            </form>
        </div>
    }
}
