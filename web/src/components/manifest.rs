//! The manifest: a plain textarea at first, the editor once its bundle is there. Very long files stay in the textarea.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kubestep_protocol::Checked;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use crate::browser;
use crate::editor::{self, Callbacks, Editor};
use crate::state::{FileMsg, Msg};
use crate::store::{Send, use_send};

/// Longer texts are edited in the textarea, which no highlighter slows down.
const LONG: usize = 5_000_000;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    /// Which file.
    pub(crate) index: usize,
    pub(crate) text: Rc<str>,
    pub(crate) checked: Option<Rc<Checked>>,
    pub(crate) teacher: bool,
    /// The page is alive: the bundle may be fetched.
    pub(crate) alive: bool,
}

/// The text field named Manifest.
#[component]
pub(crate) fn Manifest(props: &Props) -> Html {
    let send = use_send();
    let host = use_node_ref();
    let loaded = use_state_eq(|| false);
    let open = use_mut_ref(|| None::<Editor>);
    let index = use_mut_ref(|| props.index);
    *index.borrow_mut() = props.index;
    let rich = *loaded && props.text.len() <= LONG;

    use_fetch(props.alive, loaded);
    {
        let (host, text, send, open) = (host.clone(), props.text.clone(), send.clone(), open.clone());
        use_effect_with(rich, move |rich| {
            *open.borrow_mut() =
                if *rich { host.cast::<Element>().and_then(|h| show(&h, &text, &send, index)) } else { None };
        });
    }
    use_effect_with((props.text.clone(), rich), |(text, rich)| {
        if *rich {
            editor::set_text(text);
        }
    });
    use_effect_with(
        (props.checked.clone(), props.teacher, props.index, rich),
        |(checked, teacher, _, rich)| {
            if *rich {
                editor::mark(checked.as_deref(), *teacher);
            }
        },
    );

    use_first_note(props, rich);

    let oninput = {
        let (send, index) = (send, props.index);
        Callback::from(move |e: InputEvent| {
            let text = e.target_dyn_into::<HtmlTextAreaElement>().map(|t| t.value()).unwrap_or_default();
            send.emit(Msg::File(FileMsg::Draft(index, text)));
        })
    };
    html! {
        <div class="code-host" id="file">
            <div class="code-rich" ref={host} hidden={!rich} />
            if !rich {
                <textarea class="code code-plain" id="manifest" aria-label="Manifest" spellcheck="false" autocapitalize="off" wrap="off"
                    value={props.text.to_string()} oninput={oninput} />
            }
        </div>
    }
}

/// A file that comes to the front is shown where there is something to see.
#[hook]
fn use_first_note(props: &Props, rich: bool) {
    let place = props.checked.as_ref().and_then(|c| c.notes.first().map(|n| n.place));
    use_effect_with((props.index, rich, place.is_some()), move |(_, rich, _)| {
        if let Some(place) = place.filter(|_| *rich && !editor::has_focus()) {
            editor::go(place.line, place.column, false);
        }
    });
}

#[hook]
fn use_fetch(alive: bool, loaded: UseStateHandle<bool>) {
    use_effect_with(alive, move |alive| {
        if *alive {
            // After the picture that shows the page alive.
            browser::later(60, move || {
                wasm_bindgen_futures::spawn_local(async move {
                    if editor::fetch().await {
                        loaded.set(true);
                    }
                });
            });
        }
    });
}

/// Opens the editor in the place of the textarea; focus and caret go over.
fn show(host: &Element, text: &str, send: &Send, index: Rc<RefCell<usize>>) -> Option<Editor> {
    let had_focus = Cell::new(false);
    let mut caret = 0;
    if let Some(area) = browser::by_id("manifest").and_then(|e| e.dyn_into::<HtmlTextAreaElement>().ok()) {
        had_focus.set(browser::document().active_element().as_ref() == Some(area.as_ref()));
        caret = area.selection_start().ok().flatten().unwrap_or(0);
    }
    let told = send.clone();
    let change = Closure::<dyn FnMut(String)>::new(move |text: String| {
        told.emit(Msg::File(FileMsg::Draft(*index.borrow(), text)));
    });
    let told = send.clone();
    let apply = Closure::<dyn FnMut()>::new(move || told.emit(Msg::File(FileMsg::Apply)));
    let editor = Editor::open(host, text, Callbacks { change, apply });
    if had_focus.get() {
        let before: String = text.chars().take(caret as usize).collect();
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
        editor::go(line, column, true);
    }
    editor
}
