//! The manifest: a plain textarea at first, the editor once its bundle is there. Very long files stay in the textarea.
//!
//! The draft lives in the state. The textarea stays in its place until the editor has taken over its text, its selection
//! and the focus, all within one turn of the browser: a person who is typing goes on typing.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kubestep_protocol::Checked;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use crate::browser;
use crate::editor::{self, Callbacks, Editor};
use crate::state::{FileMsg, Msg};
use crate::store::{Send, use_send};
use crate::words::t;

/// Longer texts are edited in the textarea, which no highlighter slows down.
const LONG: usize = 5_000_000;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    /// Which file.
    pub(crate) index: usize,
    /// What tells it from every other file, of other scenarios, too.
    pub(crate) file: Rc<str>,
    pub(crate) text: Rc<str>,
    /// Counted up with every change of the text.
    pub(crate) version: u32,
    pub(crate) checked: Option<Rc<Checked>>,
    pub(crate) teacher: bool,
    /// The page is alive: the bundle may be fetched.
    pub(crate) alive: bool,
}

/// What outlives a picture.
#[derive(Default)]
struct Field {
    open: RefCell<Option<Editor>>,
    /// The file that the editor shows: what it says is about this one.
    index: Rc<Cell<usize>>,
    /// That file, and the version of its text that the editor holds. A picture may be late: what was typed since it was
    /// made is not taken back.
    shown: RefCell<Rc<str>>,
    version: Rc<Cell<u32>>,
    /// An input method is in the middle of a word.
    composing: Cell<bool>,
    /// The selection that the textarea gets when it comes back.
    caret: Cell<Option<(u32, u32)>>,
}

/// The text field named Manifest.
#[component]
pub(crate) fn Manifest(props: &Props) -> Html {
    let send = use_send();
    let (host, area) = (use_node_ref(), use_node_ref());
    let loaded = use_state_eq(|| false);
    let rich = use_state_eq(|| false);
    let field = use_memo((), |()| Field::default());
    // Counted up when an input method has finished its word.
    let words = use_state_eq(|| 0u32);

    use_fetch(props.alive, loaded.clone());
    let wanted = *loaded && props.text.len() <= LONG;
    {
        let (host, area, rich, field, send) =
            (host.clone(), area.clone(), rich.clone(), field.clone(), send.clone());
        let (file, index, text, version) =
            (props.file.clone(), props.index, props.text.clone(), props.version);
        use_effect_with((wanted, *words), move |(wanted, _)| {
            if *wanted && !field.composing.get() && field.open.borrow().is_none() {
                field.index.set(index);
                field.version.set(version);
                *field.shown.borrow_mut() = file.clone();
                if let (Some(host), Some(area)) = (host.cast(), area.cast::<HtmlTextAreaElement>()) {
                    let live = area.value();
                    *field.open.borrow_mut() = swap(&host, &area, &file, &send, &field);
                    if *live != *text {
                        field.version.set(version + 1);
                        send.emit(Msg::File(FileMsg::Draft(index, live)));
                    }
                }
            } else if !*wanted {
                field.caret.set(editor::has_focus().then(editor::caret));
                *field.open.borrow_mut() = None;
            }
            rich.set(field.open.borrow().is_some());
        });
    }
    use_shown(props, *rich, &field);
    use_returned(*rich, &field, &area);
    use_effect_with(
        (props.checked.clone(), props.teacher, props.file.clone(), *rich),
        |(checked, teacher, _, rich)| {
            if *rich {
                editor::mark(checked.as_deref(), *teacher);
            }
        },
    );
    use_first_note(props, *rich);

    html! {
        <div class="code-host" id="file">
            <div class="code-rich" ref={host} hidden={!*rich} />
            if !*rich { { plain(props, &field, &words, area, &send) } }
        </div>
    }
}

fn plain(props: &Props, field: &Rc<Field>, words: &UseStateHandle<u32>, area: NodeRef, send: &Send) -> Html {
    let oninput = {
        let (send, index, field) = (send.clone(), props.index, field.clone());
        Callback::from(move |e: InputEvent| {
            field.composing.set(e.is_composing());
            let text = e.target_dyn_into::<HtmlTextAreaElement>().map(|t| t.value()).unwrap_or_default();
            send.emit(Msg::File(FileMsg::Draft(index, text)));
        })
    };
    let (field, words) = (field.clone(), words.clone());
    let ended = move || {
        if field.composing.replace(false) {
            words.set(*words + 1);
        }
    };
    let typed = ended.clone();
    let onkeyup = Callback::from(move |e: KeyboardEvent| {
        if !e.is_composing() {
            typed();
        }
    });
    let onblur = Callback::from(move |_: FocusEvent| ended());
    html! {
        <textarea class="code code-plain" id="manifest" ref={area} aria-label={t("Manifest")} spellcheck="false" autocapitalize="off" wrap="off"
            value={props.text.to_string()} oninput={oninput} onkeyup={onkeyup} onblur={onblur} />
    }
}

/// The editor shows the file that the state says, and what it says is about that file.
#[hook]
fn use_shown(props: &Props, rich: bool, field: &Rc<Field>) {
    let field = field.clone();
    let now = (props.file.clone(), props.text.clone(), props.index, props.version, rich);
    use_effect_with(now, move |(file, text, index, version, rich)| {
        let late = *field.shown.borrow() == *file && *version < field.version.get();
        if *rich && !late {
            field.index.set(*index);
            field.version.set(*version);
            *field.shown.borrow_mut() = file.clone();
            editor::show(file, text);
        }
    });
}

/// A text has become too long for the editor: the textarea takes the selection and the focus back.
#[hook]
fn use_returned(rich: bool, field: &Rc<Field>, area: &NodeRef) {
    let (field, area) = (field.clone(), area.clone());
    use_effect_with(rich, move |rich| {
        if let Some((from, to)) = field.caret.take().filter(|_| !*rich)
            && let Some(area) = area.cast::<HtmlTextAreaElement>()
        {
            area.focus().ok();
            area.set_selection_range(from, to).ok();
        }
    });
}

/// A file that comes to the front is shown where there is something to see.
#[hook]
fn use_first_note(props: &Props, rich: bool) {
    let place = props.checked.as_ref().and_then(|c| c.notes.first().map(|n| n.place));
    use_effect_with((props.file.clone(), rich, place.is_some()), move |(_, rich, _)| {
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

/// Opens the editor in the place of the textarea, which is still there: what is in it now goes over, not what was drawn
/// last.
fn swap(
    host: &Element,
    area: &HtmlTextAreaElement,
    file: &str,
    send: &Send,
    field: &Field,
) -> Option<Editor> {
    let text = area.value();
    let focused = browser::document().active_element().as_ref() == Some(area.as_ref());
    let place = |at: Result<Option<u32>, _>| at.ok().flatten().unwrap_or(0);
    let (from, to) = (place(area.selection_start()), place(area.selection_end()));
    let top = area.scroll_top();

    let (told, of, version) = (send.clone(), field.index.clone(), field.version.clone());
    let change = Closure::<dyn FnMut(String)>::new(move |text: String| {
        version.set(version.get() + 1);
        told.emit(Msg::File(FileMsg::Draft(of.get(), text)));
    });
    let told = send.clone();
    let apply = Closure::<dyn FnMut()>::new(move || told.emit(Msg::File(FileMsg::Apply)));
    let told = send.clone();
    let help = Closure::<dyn FnMut(u32, u32)>::new(move |line, column| {
        told.emit(Msg::File(FileMsg::Help(line, column)));
    });
    // What is hidden cannot take the focus.
    host.remove_attribute("hidden").ok();
    let editor = Editor::open(host, file, &text, Callbacks { change, apply, help });
    if editor.is_some() {
        editor::adopt(from, to, top, focused);
        // It goes with the next picture, but there is one field named Manifest at every moment.
        area.set_attribute("hidden", "").ok();
    } else {
        host.set_attribute("hidden", "").ok();
    }
    editor
}
