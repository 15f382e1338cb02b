//! The editor's bundle, loaded when the page is alive, behind a few functions.

use std::cell::RefCell;

use crate::words::{t, tf};
use js_sys::{Array, Function, Promise, Reflect};
use kubestep_protocol::{Checked, FieldDoc, Severity};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

#[wasm_bindgen(inline_js = "export function load(address) { return import(address); }")]
extern "C" {
    fn load(address: &str) -> Promise;
}

thread_local! {
    static MODULE: RefCell<Option<JsValue>> = const { RefCell::new(None) };
    static OPEN: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}

/// Loads the bundle; `true` once it is there.
pub(crate) async fn fetch() -> bool {
    if MODULE.with(|m| m.borrow().is_some()) {
        return true;
    }
    match JsFuture::from(load(&crate::browser::asset("editor.js"))).await {
        Ok(module) => {
            MODULE.with(|m| *m.borrow_mut() = Some(module));
            true
        }
        Err(_) => false,
    }
}

/// Calls a function of another script of the site, which is fetched for it; what it answers is not waited for.
pub(crate) fn call_script(file: &'static str, name: &'static str, args: Vec<JsValue>) {
    wasm_bindgen_futures::spawn_local(async move {
        let Ok(module) = JsFuture::from(load(&crate::browser::asset(file))).await else { return };
        let function = Reflect::get(&module, &name.into()).ok().and_then(|f| f.dyn_into::<Function>().ok());
        let list: Array = args.iter().collect();
        // What it cannot do it says itself.
        function.map(|f| f.apply(&JsValue::NULL, &list).ok());
    });
}

fn call(name: &str, args: &[&JsValue]) -> Option<JsValue> {
    let module = MODULE.with(|m| m.borrow().clone())?;
    let function: Function = Reflect::get(&module, &name.into()).ok()?.dyn_into().ok()?;
    let list: Array = args.iter().copied().collect();
    function.apply(&JsValue::NULL, &list).ok()
}

fn call_open(name: &str, args: &[&JsValue]) {
    if let Some(editor) = OPEN.with(|o| o.borrow().clone()) {
        let mut all = vec![&editor];
        all.extend_from_slice(args);
        call(name, &all);
    }
}

/// What the editor tells the page.
pub(crate) struct Callbacks {
    /// The text changed.
    pub(crate) change: Closure<dyn FnMut(String)>,
    /// Ctrl-Enter.
    pub(crate) apply: Closure<dyn FnMut()>,
    /// What stands at this line and column?
    pub(crate) help: Closure<dyn FnMut(u32, u32)>,
}

/// An open editor; dropping it takes it away.
pub(crate) struct Editor {
    _callbacks: Callbacks,
}

impl Editor {
    /// Opens an editor in an element, with this text of this file.
    pub(crate) fn open(parent: &Element, file: &str, text: &str, callbacks: Callbacks) -> Option<Editor> {
        let (change, apply) = (callbacks.change.as_ref(), callbacks.apply.as_ref());
        let help = callbacks.help.as_ref();
        let texts = [file, text, t("Manifest")].map(JsValue::from);
        let [file, text, label] = &texts;
        let opened = call("create", &[parent, file, text, label, change, apply, help])?;
        OPEN.with(|o| *o.borrow_mut() = Some(opened));
        Some(Editor { _callbacks: callbacks })
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        call_open("destroy", &[]);
        OPEN.with(|o| *o.borrow_mut() = None);
    }
}

/// Whether an editor is open.
pub(crate) fn is_open() -> bool {
    OPEN.with(|o| o.borrow().is_some())
}

/// Another file, or another text from outside.
pub(crate) fn show(file: &str, text: &str) {
    call_open("show", &[&file.into(), &text.into()]);
}

/// Takes over a selection, in UTF-16 units, the place a field was scrolled to, and the focus.
pub(crate) fn adopt(from: u32, to: u32, top: i32, focus: bool) {
    call_open("adopt", &[&from.into(), &to.into(), &top.into(), &focus.into()]);
}

/// The selection, in UTF-16 units.
pub(crate) fn caret() -> (u32, u32) {
    let editor = OPEN.with(|o| o.borrow().clone());
    let pair = editor.and_then(|e| call("caret", &[&e])).map(|p| Array::from(&p));
    let number = |i: u32| pair.as_ref().and_then(|p| p.get(i).as_f64()).unwrap_or(0.0) as u32;
    (number(0), number(1))
}

/// Marks problems and notes.
pub(crate) fn mark(checked: Option<&Checked>, teacher: bool) {
    let list = Array::new();
    let push = |place: &kubestep_protocol::Place, kind: &str, message: &str| {
        let numbers = [place.line, place.column, place.length].map(JsValue::from);
        let item: Array = numbers.into_iter().chain([kind.into(), message.into()]).collect();
        list.push(&item);
    };
    for problem in checked.iter().flat_map(|c| &c.problems) {
        let kind = if problem.severity == Severity::Error { "error" } else { "warning" };
        push(&problem.place, kind, &problem.message);
    }
    for note in checked.iter().flat_map(|c| &c.notes) {
        push(&note.place, "note", "");
    }
    call_open("mark", &[&list, &teacher.into()]);
}

/// Shows what is known of a field, at the place that was asked about.
pub(crate) fn help(field: Option<&FieldDoc>) {
    let lines = Array::new();
    for line in field.into_iter().flat_map(told) {
        lines.push(&line.into());
    }
    call_open("help", &[&lines.into()]);
}

/// A field in a few lines: its name, what it holds, Kubernetes' own words.
fn told(field: &FieldDoc) -> Vec<String> {
    let mut facts = vec![field.holds.clone()];
    if field.required {
        facts.push(t("required").into());
    }
    facts.extend(field.default.as_ref().map(|d| tf!("{} if left out", d)));
    let mut lines = vec![format!("{}.{}", field.kind, field.path), facts.join(" · ")];
    lines.extend((!field.text.is_empty()).then(|| field.text.clone()));
    lines
}

/// Shows a place.
pub(crate) fn go(line: u32, column: u32, focus: bool) {
    call_open("go", &[&line.into(), &column.into(), &focus.into()]);
}

/// Gives it the focus.
pub(crate) fn focus() {
    call_open("focus", &[]);
}

/// Whether the person is in it.
pub(crate) fn has_focus() -> bool {
    let active = crate::browser::document().active_element();
    active.is_some_and(|e| e.class_list().contains("cm-content"))
}
