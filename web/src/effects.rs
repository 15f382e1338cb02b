//! Performs what [`crate::state::reduce`] asks for: the only place where the page changes anything but its picture.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kubestep_protocol::Doc;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser;
use crate::editor;
use crate::link::{self, Heard};
use crate::state::{Effect, FileMsg, LessonMsg, Msg, Phone, State, TimeMsg, View};
use crate::words::{self, t};

/// How long the person has to stop typing before a draft is checked.
const PAUSE: i32 = 180;

/// Sends a message to the reducer.
pub(crate) type Send = Rc<dyn Fn(Msg)>;

/// Performs one effect.
pub(crate) fn perform(effect: Effect, state: &State, send: &Send) {
    let send = send.clone();
    match effect {
        Effect::Send(request) => link::send(&request),
        Effect::Restart => browser::later(50, move || start_engine(&send)),
        Effect::Drawn(id) => browser::next_picture(move |_| {
            mark_first_frame();
            send(Msg::Time(TimeMsg::Drawn(id)));
        }),
        Effect::NextSlice => next_slice(send),
        Effect::CheckLater(version) => {
            browser::later(PAUSE, move || send(Msg::File(FileMsg::CheckDue(version))));
        }
        Effect::FetchDescriptions => wasm_bindgen_futures::spawn_local(async move {
            let text = browser::fetch_text(&browser::asset("descriptions.txt")).await;
            send(Msg::Descriptions(text.unwrap_or_default()));
        }),
        Effect::StorePrefs(prefs) => drop(browser::store_prefs(&prefs)),
        Effect::StoreDrafts(scenario, drafts) => {
            if !browser::store_drafts(&scenario, &drafts) {
                warn_once(&send);
            }
        }
        Effect::StoreRun(run) => {
            if !browser::store_run(run.as_ref()) {
                warn_once(&send);
            }
        }
        Effect::Place(run, anew) => browser::open_place(run.as_ref(), anew),
        Effect::Help(field) => editor::help(field.as_ref()),
        Effect::StoreProgress(progress) => drop(browser::store_progress(&progress)),
        Effect::FetchCourse => {
            let language = state.ui.prefs.language;
            wasm_bindgen_futures::spawn_local(async move {
                let text = browser::fetch_text("lessons/index.json").await;
                let course = text.and_then(|t| browser::read_course(&t, language));
                let failed = || LessonMsg::Failed("their map is not there".into());
                send(Msg::Lesson(course.map_or_else(failed, LessonMsg::Course)));
            });
        }
        Effect::Learn(language) => wasm_bindgen_futures::spawn_local(async move {
            if learn(language).await {
                send(Msg::Speaks(language));
            }
        }),
        Effect::FetchLesson(id, names) => wasm_bindgen_futures::spawn_local(async move {
            send(Msg::Lesson(match fetch_files(names).await {
                Ok(docs) => LessonMsg::Files(id, docs),
                Err(why) => LessonMsg::Failed(why),
            }));
        }),
        Effect::Focus(id) => at_once(move |_| give_focus(&id)),
        Effect::Into(id) => {
            remember_focus();
            at_once(move |_| give_focus(&id));
        }
        Effect::Return(id) => {
            let before = BEFORE.with(|b| b.borrow_mut().take());
            at_once(move |last| return_focus(before.as_ref(), &id, last));
        }
        Effect::Line(text) => browser::write_field("kubectl", &text),
        Effect::Go(line, column, focus) => browser::next_picture(move |_| {
            if editor::is_open() {
                editor::go(line, column, focus);
            } else if focus {
                browser::focus("manifest");
            }
        }),
        Effect::CopyText(text) => copy(&text, send),
        Effect::Copy(text) => copy(&browser::address_of(&text), send),
        Effect::Address(text) => browser::set_fragment(&text),
        Effect::Look => look(state),
    }
}

/// Fetches the words of a language and speaks it from then on; whether it does.
pub(crate) async fn learn(language: &str) -> bool {
    if language == words::ENGLISH {
        words::speak(None);
        return true;
    }
    let text = browser::fetch_text(&browser::asset(&format!("{language}.txt"))).await;
    let Some(text) = text else { return false };
    words::speak(Some(Box::leak(Box::new(words::Table::read(text)))));
    true
}

thread_local! {
    /// What had the focus before something floated.
    static BEFORE: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
}

thread_local! {
    /// What has the focus, or had it last.
    static FOCUSED: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
}

/// Something got the focus.
pub(crate) fn focused(element: HtmlElement) {
    FOCUSED.with(|f| *f.borrow_mut() = Some(element));
}

/// Moves the focus now, or the next letter that is typed would go astray; else when what it waits for is drawn, which may
/// take a few pictures.
fn at_once(work: impl Fn(bool) -> bool + 'static) {
    if !work(false) {
        browser::once_drawn(move || {
            if !work(false) {
                browser::soon(TRIES, work);
            }
        });
    }
}

/// A picture may have taken away what had the focus: it goes to the board's tab stop, or to the cluster.
pub(crate) fn find_focus() {
    let lost = FOCUSED.with(|f| f.borrow().as_ref().is_some_and(|e| !e.is_connected()));
    let nowhere = browser::document().active_element().is_none_or(|e| e.tag_name() == "BODY");
    if !(lost && nowhere) {
        return;
    }
    let gone = FOCUSED.with(|f| f.borrow_mut().take()).map(|e| e.id()).unwrap_or_default();
    let on_board = ["row-", "pod-"].iter().any(|start| gone.starts_with(start));
    let stop = browser::document().query_selector("[role=tree] [tabindex=\"0\"]").ok().flatten();
    match stop.filter(|_| on_board).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        Some(stop) => drop(stop.focus()),
        None => browser::focus("cluster"),
    }
}

/// Of one thing that floats after another, the first opener counts.
fn remember_focus() {
    let here = browser::document().active_element().and_then(|e| e.dyn_into::<HtmlElement>().ok());
    let floats = here.as_ref().is_some_and(|e| e.closest(".floats, .sheet").ok().flatten().is_some());
    if !floats {
        BEFORE.with(|b| *b.borrow_mut() = here.filter(|e| e.tag_name() != "BODY"));
    }
}

/// How many pictures an element that is to have the focus may take to appear, or to become reachable.
const TRIES: u8 = 8;

/// The files of a lesson, one after the other: they are few and small.
async fn fetch_files(names: Vec<String>) -> Result<Vec<Doc>, String> {
    let mut docs = Vec::new();
    for name in names {
        let text =
            browser::fetch_text(&format!("lessons/{name}")).await.ok_or(format!("{name} is not there"))?;
        docs.push(Doc { name, text });
    }
    Ok(docs)
}

/// Whether it has it now.
fn give_focus(id: &str) -> bool {
    if id == "manifest" && editor::is_open() {
        editor::focus();
        return editor::has_focus();
    }
    browser::focus(id);
    browser::has_focus(id)
}

/// Back to what had it; where that is gone or hidden, to the opener, and at last to the cluster: never to nowhere.
fn return_focus(before: Option<&HtmlElement>, opener: &str, last: bool) -> bool {
    if let Some(before) = before.filter(|e| e.is_connected()) {
        before.focus().ok();
        if browser::document().active_element().as_ref() == Some(before.as_ref()) {
            return true;
        }
    }
    give_focus(opener) || last && give_focus("cluster")
}

/// For the benchmark of the first picture.
fn mark_first_frame() {
    thread_local! { static DONE: Cell<bool> = const { Cell::new(false) }; }
    if !DONE.with(|d| d.replace(true))
        && let Some(performance) = browser::window().performance()
    {
        performance.mark("first-frame").ok();
    }
}

/// Starts the worker, or another one.
pub(crate) fn start_engine(send: &Send) {
    let send = send.clone();
    let tell = move |heard: Heard| {
        let send = send.clone();
        let msg = match heard {
            Heard::Ready => Msg::EngineReady,
            Heard::Updates(updates) => Msg::Engine(updates),
            Heard::Died(why) => Msg::EngineDied(why),
        };
        send(msg);
    };
    link::start(&browser::asset("worker_loader.js"), Rc::new(tell));
}

/// Storage may be refused from the beginning or run full; the person is told once. A figure keeps nothing on purpose.
fn warn_once(send: &Send) {
    if browser::embedded() {
        return;
    }
    thread_local! { static TOLD: Cell<bool> = const { Cell::new(false) }; }
    if !TOLD.with(|t| t.replace(true)) {
        let send = send.clone();
        browser::later(0, move || send(Msg::NoStorage));
    }
}

/// Says at the start whether drafts will survive.
pub(crate) fn probe_storage(send: &Send) {
    if !browser::can_store() {
        warn_once(send);
    }
}

fn next_slice(send: Send) {
    thread_local! { static LAST: Cell<f64> = const { Cell::new(0.0) }; }
    browser::next_picture(move |now| {
        let before = LAST.with(|l| l.replace(now));
        send(Msg::Time(TimeMsg::Tick(now - before)));
    });
}

fn copy(text: &str, send: Send) {
    let clipboard = browser::window().navigator().clipboard();
    let promise = clipboard.write_text(text);
    wasm_bindgen_futures::spawn_local(async move {
        let done = wasm_bindgen_futures::JsFuture::from(promise).await;
        send(Msg::Copied(done.is_ok()));
    });
}

/// The attributes that the styles read.
fn look(state: &State) {
    let document = browser::document();
    let ui = &state.ui;
    let title = if state.loaded.title.is_empty() {
        t("step through Kubernetes' control loops")
    } else {
        &crate::words::said(&state.loaded.title)
    };
    document.set_title(&format!("Kubestep: {title}"));
    if let Some(root) = document.document_element() {
        let teacher = if ui.prefs.teacher { "on" } else { "off" };
        root.set_attribute("lang", ui.prefs.language).ok();
        root.set_attribute("data-theme", if ui.prefs.dark { "dark" } else { "light" }).ok();
        root.set_attribute("data-teacher", teacher).ok();
    }
    if let Some(body) = document.body() {
        body_look(&body, state);
    }
}

fn body_look(body: &HtmlElement, state: &State) {
    let ui = &state.ui;
    let phone = match ui.phone {
        Phone::Cluster => "cluster",
        Phone::Why => "why",
        Phone::File => "file",
        Phone::Terminal => "terminal",
    };
    let view = if ui.view == View::Objects { "objects" } else { "loops" };
    if let Some(embed) = &state.embed {
        let marks = [("data-show", &embed.show), ("data-controls", &embed.controls)];
        marks.iter().for_each(|(name, value)| drop(body.set_attribute(name, value)));
        body.toggle_attribute_with_force("data-readonly", embed.readonly).ok();
    }
    let side = if ui.side_inspect { "inspect" } else { "desired" };
    for (name, value) in [("data-view", view), ("data-side", side), ("data-phone", phone)] {
        body.set_attribute(name, value).ok();
    }
    body.toggle_attribute_with_force("data-wide", ui.wide).ok();
    // Here, not where the terminal is drawn: what is shown can have the focus in the same moment.
    body.toggle_attribute_with_force("data-undocked", !ui.dock).ok();
    for (name, width) in [("--w-desired", ui.widths.0), ("--w-inspect", ui.widths.1)] {
        match width.filter(|_| ui.window.0 >= 1240) {
            Some(width) => body.style().set_property(name, &format!("{width}px")).ok(),
            None => body.style().remove_property(name).ok().map(drop),
        };
    }
}
