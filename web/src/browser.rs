//! The few things the page asks of the browser, each in one place.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Element, HtmlElement, Storage, Window};

use crate::state::{CourseEntry, Prefs, Progress, StoredDraft, StoredRun};

pub(crate) fn window() -> Window {
    web_sys::window().expect_throw("a page has a window")
}

pub(crate) fn document() -> Document {
    window().document().expect_throw("a window has a document")
}

pub(crate) fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// Where the built assets are, as an absolute address.
pub(crate) fn asset(name: &str) -> String {
    let folder =
        document().document_element().and_then(|e| e.get_attribute("data-assets")).unwrap_or_default();
    let base = document().base_uri().ok().flatten().unwrap_or_default();
    let base = base.split('#').next().unwrap_or_default();
    let base = base.split('?').next().unwrap_or_default();
    let dir = base.rfind('/').map_or(base, |i| &base[..=i]);
    format!("{dir}{folder}{name}")
}

/// The text at an address; `None` if it cannot be had.
pub(crate) async fn fetch_text(address: &str) -> Option<String> {
    use wasm_bindgen_futures::JsFuture;
    let response = JsFuture::from(window().fetch_with_str(address)).await.ok()?;
    let response: web_sys::Response = response.dyn_into().ok()?;
    let text = response.ok().then(|| response.text().ok()).flatten()?;
    JsFuture::from(text).await.ok()?.as_string()
}

/// Milliseconds since the page began.
pub(crate) fn now() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}

/// Whether the system prefers dark colours.
pub(crate) fn prefers_dark() -> bool {
    let query = window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    query.is_some_and(|q| q.matches())
}

/// The window's inner size.
pub(crate) fn size() -> (u32, u32) {
    let number = |v: Result<JsValue, JsValue>| v.ok().and_then(|v| v.as_f64()).unwrap_or(0.0) as u32;
    (number(window().inner_width()), number(window().inner_height()))
}

/// The address' fragment.
pub(crate) fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// The language that the address asks for (`?lang=de`), or the one that was chosen before.
pub(crate) fn language() -> String {
    let query = query();
    let asked = query.trim_start_matches('?').split('&').find_map(|p| p.strip_prefix("lang="));
    let known = asked.filter(|l| crate::words::LANGUAGES.contains(l)).map(str::to_string);
    known.unwrap_or_else(|| load_prefs().language.to_string())
}

/// The address' query: `?lesson=NAME&step=N`.
pub(crate) fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Puts a fragment, or a query that begins with `?`, into the address without a new entry in the history. A lesson that
/// the query names goes when something else is opened; other queries stay.
pub(crate) fn set_fragment(text: &str) {
    places::address(text);
}

/// The places of the browser's history: `web/places/places.js`, which stands in the page's head.
mod places {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen(js_namespace = kubestepPlaces)]
    extern "C" {
        pub(super) fn begun() -> String;
        pub(super) fn listen(work: &JsValue);
        pub(super) fn fresh() -> bool;
        pub(super) fn open(run: &str, anew: bool);
        pub(super) fn keep(run: &str);
        pub(super) fn drafts(scenario: &str, text: &str) -> bool;
        pub(super) fn address(text: &str);
        pub(super) fn course(text: &str, language: &str) -> String;
        pub(super) fn dialog(open: bool);
    }
}

/// The run of the place for which the page was loaded, if the tab was there before.
pub(crate) fn begun_here() -> Option<StoredRun> {
    run_of(&places::begun())
}

/// Whether the browser itself has just made the entry of its history: somebody has followed a fragment.
pub(crate) fn is_followed() -> bool {
    places::fresh()
}

/// Back or Forward has come to another place, or (`None`) closes the dialog.
pub(crate) fn hear_places(hears: impl Fn(Option<StoredRun>) + 'static) {
    let hears = Closure::<dyn FnMut(String)>::new(move |run: String| hears(run_of(&run)));
    places::listen(hears.as_ref());
    hears.forget();
}

/// Something was opened, at a place of its own or at that which is shown.
pub(crate) fn open_place(run: Option<&StoredRun>, anew: bool) {
    places::open(&run.map(run_text).unwrap_or_default(), anew);
}

/// Whether a dialog stands above the place.
pub(crate) fn dialog(open: bool) {
    thread_local! { static OPEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }
    if OPEN.with(|o| o.replace(open)) != open {
        places::dialog(open);
    }
}

/// The whole address of a shared text.
pub(crate) fn address_of(text: &str) -> String {
    let location = window().location();
    let path = location.pathname().unwrap_or_default();
    format!("{}{path}#{text}", location.origin().unwrap_or_default())
}

/// The element around an event's target that matches. (`current_target` is the root: listeners are delegated to it.)
pub(crate) fn closest(event: &web_sys::Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok().flatten()
}

/// Gives the focus to an element, once it is drawn.
pub(crate) fn focus(id: &str) {
    if let Some(element) = by_id(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        let options = web_sys::FocusOptions::new();
        // A menu opens at its top.
        options.set_prevent_scroll(id.starts_with("menu-"));
        element.focus_with_options(&options).ok();
    }
}

/// Scrolls as little as brings an element into sight.
pub(crate) fn in_sight(selector: &str) {
    if let Ok(Some(element)) = document().query_selector(selector) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        options.set_inline(web_sys::ScrollLogicalPosition::Nearest);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
}

/// Writes into a field now: what is typed next follows it.
pub(crate) fn write_field(id: &str, text: &str) {
    if let Some(field) = by_id(id).and_then(|e| e.dyn_into::<web_sys::HtmlInputElement>().ok()) {
        field.set_value(text);
    }
}

/// The id of what has the focus.
pub(crate) fn focused_id() -> String {
    document().active_element().map(|e| e.id()).unwrap_or_default()
}

/// Whether an element has the focus.
pub(crate) fn has_focus(id: &str) -> bool {
    by_id(id).is_some_and(|e| document().active_element().as_ref() == Some(&e))
}

/// Runs with the next picture.
pub(crate) fn next_picture(work: impl FnOnce(f64) + 'static) {
    let work = Closure::once_into_js(work);
    if document().hidden() {
        later(16, move || {
            let call: &js_sys::Function = work.unchecked_ref();
            call.call1(&JsValue::NULL, &JsValue::from_f64(now())).ok();
        });
    } else {
        window().request_animation_frame(work.unchecked_ref()).ok();
    }
}

/// Runs when what waits to be drawn is in the page, before the browser hears anything else; on a slow machine some of it
/// may still wait.
pub(crate) fn once_drawn(work: impl FnOnce() + 'static) {
    wasm_bindgen_futures::spawn_local(async move {
        let turn = js_sys::Promise::resolve(&JsValue::NULL);
        wasm_bindgen_futures::JsFuture::from(turn).await.ok();
        work();
    });
}

/// Tries once with every picture until it is done, some times at most: what was asked for may be drawn one picture later.
pub(crate) fn soon(tries: u8, work: impl Fn(bool) -> bool + 'static) {
    next_picture(move |_| {
        if !work(tries == 0) && tries > 0 {
            soon(tries - 1, work);
        }
    });
}

/// Runs after so many milliseconds.
pub(crate) fn later(millis: i32, work: impl FnOnce() + 'static) {
    let work = Closure::once_into_js(work);
    window().set_timeout_with_callback_and_timeout_and_arguments_0(work.unchecked_ref(), millis).ok();
}

const PREFS: &str = "kubestep.prefs";
const DRAFTS: &str = "kubestep.drafts";
const RUN: &str = "kubestep.run";
const LESSONS: &str = "kubestep.lessons";
/// Between a draft's scenario, name and text, and between drafts: characters that YAML does not allow.
const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';

/// Whether this page is a figure in somebody's page. Several may stand there: they keep nothing, so that none finds
/// what another has kept.
pub(crate) fn embedded() -> bool {
    document().document_element().is_some_and(|e| e.has_attribute("data-embed"))
}

/// Hands the shown moment to the script that speaks with the page around.
pub(crate) fn tell_outside(text: &str) {
    if let Ok(hears) = js_sys::Reflect::get(&window(), &"kubestepNow".into())
        && let Some(hears) = hears.dyn_ref::<js_sys::Function>()
    {
        hears.call1(&JsValue::NULL, &text.into()).ok();
    }
}

/// For scripts: a sentence of the simulator in the person's language.
pub(crate) fn translator() -> JsValue {
    thread_local! {
        static SAID: Closure<dyn FnMut(String) -> String> = Closure::new(|text: String| crate::words::said(&text));
    }
    SAID.with(|said| said.as_ref().clone())
}

/// What that script asks for. It lives as long as the page.
pub(crate) fn hear_outside(hears: impl Fn(String) + 'static) {
    let hears = Closure::<dyn FnMut(String)>::new(hears);
    js_sys::Reflect::set(&window(), &"kubestepDo".into(), hears.as_ref()).ok();
    hears.forget();
}

fn storage() -> Option<Storage> {
    if embedded() {
        return None;
    }
    window().local_storage().ok().flatten()
}

/// Whether anything can be stored.
pub(crate) fn can_store() -> bool {
    storage()
        .is_some_and(|s| s.set_item("kubestep.probe", "1").is_ok() && s.remove_item("kubestep.probe").is_ok())
}

pub(crate) fn load_prefs() -> Prefs {
    let text = storage().and_then(|s| s.get_item(PREFS).ok().flatten()).unwrap_or_default();
    Prefs::from_text(&text, prefers_dark())
}

/// Whether it was stored.
pub(crate) fn store_prefs(prefs: &Prefs) -> bool {
    storage().is_some_and(|s| s.set_item(PREFS, &prefs.to_text()).is_ok())
}

pub(crate) fn load_drafts() -> Vec<StoredDraft> {
    let text = storage().and_then(|s| s.get_item(DRAFTS).ok().flatten()).unwrap_or_default();
    let draft = |record: &str| {
        let mut fields = record.splitn(3, FIELD).map(str::to_string);
        Some(StoredDraft { scenario: fields.next()?, name: fields.next()?, text: fields.next()? })
    };
    text.split(RECORD).filter_map(draft).collect()
}

/// Keeps the drafts of one scenario beside those of the others. Whether it was stored.
pub(crate) fn store_drafts(scenario: &str, drafts: &[StoredDraft]) -> bool {
    places::drafts(scenario, &drafts_text(drafts))
}

fn drafts_text(drafts: &[StoredDraft]) -> String {
    let mut text = String::new();
    for d in drafts {
        if !text.is_empty() {
            text.push(RECORD);
        }
        for (i, part) in [&d.scenario, &d.name, &d.text].into_iter().enumerate() {
            if i > 0 {
                text.push(FIELD);
            }
            text.push_str(part);
        }
    }
    text
}

pub(crate) fn load_run() -> Option<StoredRun> {
    run_of(&storage()?.get_item(RUN).ok().flatten()?)
}

fn run_of(text: &str) -> Option<StoredRun> {
    let mut fields = text.splitn(4, FIELD).map(str::to_string);
    let (scenario, address) = (fields.next()?, fields.next()?);
    Some(StoredRun { scenario, address, step: fields.next()?.parse().ok()?, save: fields.next()? })
}

fn run_text(run: &StoredRun) -> String {
    format!("{}{FIELD}{}{FIELD}{}{FIELD}{}", run.scenario, run.address, run.step, run.save)
}

/// Keeps a run, or none. Whether it was stored.
pub(crate) fn store_run(run: Option<&StoredRun>) -> bool {
    let text = run.map(run_text);
    if let Some(text) = &text {
        places::keep(text);
    }
    storage().is_some_and(|storage| match text {
        Some(text) => storage.set_item(RUN, &text).is_ok(),
        None => storage.remove_item(RUN).is_ok(),
    })
}

/// What was done in lessons: the last one first, then those that were solved.
pub(crate) fn load_progress() -> Progress {
    let text = storage().and_then(|s| s.get_item(LESSONS).ok().flatten()).unwrap_or_default();
    let mut lines = text.lines().map(str::to_string);
    Progress { last: lines.next().unwrap_or_default(), solved: lines.collect() }
}

/// Whether it was stored.
pub(crate) fn store_progress(progress: &Progress) -> bool {
    let text = format!("{}\n{}", progress.last, progress.solved.join("\n"));
    storage().is_some_and(|s| s.set_item(LESSONS, &text).is_ok())
}

/// The map of lessons as it lies beside the page.
pub(crate) fn read_course(text: &str, language: &str) -> Option<Vec<CourseEntry>> {
    let text = places::course(text, language);
    let list = |field: Option<&str>| -> Vec<String> {
        field.unwrap_or_default().split(',').filter(|s| !s.is_empty()).map(str::to_string).collect()
    };
    let entry = |line: &str| {
        let mut fields = line.split(FIELD);
        let mut next = || fields.next().unwrap_or_default().to_string();
        let (id, part, chapter, title, minutes) = (next(), next(), next(), next(), next());
        CourseEntry {
            id,
            part,
            chapter,
            title,
            minutes: minutes.parse().unwrap_or(0),
            needs: list(fields.next()),
            files: list(fields.next()),
        }
    };
    (!text.is_empty()).then(|| text.split(RECORD).map(entry).collect())
}
