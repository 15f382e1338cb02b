//! The app: starts the engine, hears keys, and puts the panels in their places.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, KeyboardEvent, PointerEvent};
use yew::prelude::*;

use crate::browser;
use crate::components::{
    BannerRow, Behaviour, Cluster, CourseDialog, Desired, Figure, Inspector, KeysDialog, ModelsDialog,
    Sprite, TimePanel, Topbar,
};
use crate::effects;
use crate::state::{KeyPress, Msg, Open, Phone, Prefs, State, is_single_key};
use crate::store::{Send, on, use_store};
use crate::words::{self, t, w};

/// The page.
#[component]
pub(crate) fn App() -> Html {
    let (state, send) = use_store();
    {
        let send = send.clone();
        use_effect_with((), move |()| begin(send));
    }
    // Once it is drawn, which may be later than the next picture where the machine is slow.
    use_effect_with(state.ui.has_dialog(), |open| browser::dialog(*open));
    use_effect_with(state.frame.as_ref().map(|f| f.head.id), |_| {
        browser::next_picture(|_| effects::find_focus())
    });
    let now = state.frame.as_ref().map(|f| f.head.now).unwrap_or_default();
    let what_if = state.frame.as_ref().is_some_and(|f| f.head.what_if);
    // Behind a dialog nothing can be reached.
    let inert = state.ui.has_dialog();
    if state.embed.is_some() {
        return html! {
            <ContextProvider<Send> context={send.clone()}>
                <Sprite />
                <Figure state={state.clone()} />
                if state.ui.open == Some(Open::Keys) { <KeysDialog keys={state.ui.prefs.keys} /> }
                { for behaviour(&state) }
            </ContextProvider<Send>>
        };
    }
    html! {
        <ContextProvider<Send> context={send.clone()}>
            <key={state.ui.prefs.language}>
            <Sprite />
            { skips(inert) }
            <div inert={inert} class={classes!("app", what_if.then_some("is-what-if"), state.playing.then_some("is-playing"))}>
                <Topbar state={state.clone()} />
                <div class="banner-row">
                    { for state.banner.as_ref().map(|b| html! { <BannerRow banner={b.clone()} hello={state.hello.clone()} begun={state.loaded.scenario.clone()} now={now} /> }) }
                </div>
                <main class="main">
                    { sides(&state, &send) }
                    <Desired state={state.clone()} />
                    <Cluster state={state.clone()} />
                    <Inspector state={state.clone()} />
                </main>
                <TimePanel state={state.clone()} />
                { phone_tabs(&state, &send) }
            </div>
            if state.ui.open == Some(Open::Models) { <ModelsDialog hello={state.hello.clone()} latencies={state.latencies.clone()} /> }
            if state.ui.open == Some(Open::Course) { <CourseDialog state={state.clone()} /> }
            if state.ui.open == Some(Open::Keys) { <KeysDialog keys={state.ui.prefs.keys} /> }
            { for behaviour(&state) }
            </>
        </ContextProvider<Send>>
    }
}

/// The form for what an image's process does, of the image that it is open for.
fn behaviour(state: &State) -> Option<Html> {
    let Some(Open::Behaviour(id)) = state.ui.open else { return None };
    let image = state.frame.as_ref()?.images.iter().find(|i| i.id == id)?;
    let (name, reference, fields) = (image.name.clone(), image.reference.clone(), image.behaviour.clone());
    Some(html! { <Behaviour id={id} name={name} reference={reference} fields={fields} /> })
}

/// Where one can jump to first.
fn skips(inert: bool) -> Html {
    let skip = |id: &'static str, words: &'static str| {
        let onclick = Callback::from(move |e: MouseEvent| {
            // The fragment belongs to links.
            e.prevent_default();
            match id {
                "file" if crate::editor::is_open() => crate::editor::focus(),
                // Or the lesson, which stands in its place.
                "file" => ["manifest", id].into_iter().for_each(browser::focus),
                id => browser::focus(id),
            }
        });
        html! { <a class="skip" href={format!("#{id}")} onclick={onclick}>{w(words)}</a> }
    };
    html! {
        <nav aria-label={t("Skip to")} inert={inert}>
            { skip("file", "Skip to the editor") }{ skip("cluster", "Skip to the cluster") }{ skip("tab-why", "Skip to the inspector") }
            { skip("time-step", "Skip to the time controls") }{ skip("kubectl", "Skip to the terminal") }
        </nav>
    }
}

fn sides(state: &State, send: &Send) -> Html {
    let tab = |inspect: bool, words: &'static str| {
        html! { <button role="tab" aria-selected={(state.ui.side_inspect == inspect).to_string()} onclick={on(send, Msg::Side(inspect))}>{w(words)}</button> }
    };
    html! {
        <div class="side-tabs"><div class="tabs" role="tablist" aria-label={t("Side")}>{ tab(false, if state.lesson().is_some() { "Lesson" } else { "File" }) }{ tab(true, "Inspector") }</div></div>
    }
}

fn phone_tabs(state: &State, send: &Send) -> Html {
    let tab = |phone: Phone, words: &'static str| {
        html! { <button role="tab" aria-selected={(state.ui.phone == phone).to_string()} onclick={on(send, Msg::Phone(phone))}>{w(words)}</button> }
    };
    html! {
        <nav aria-label={t("Panels")}><div class="phone-tabs" role="tablist" aria-label={t("Panels")}>
            { tab(Phone::Cluster, "Cluster") }{ tab(Phone::Why, "Why") }{ tab(Phone::File, if state.lesson().is_some() { "Lesson" } else { "File" }) }{ tab(Phone::Terminal, "Terminal") }
        </div></nav>
    }
}

/// Once: what was stored, the address, the worker, and the listeners of the whole page. The page lives as long as they do.
fn begin(send: Send) {
    let emit = send.clone();
    let tell: effects::Send = Rc::new(move |m| emit.emit(m));
    let (width, height) = browser::size();
    send.emit(Msg::Resized(width, height));
    send.emit(Msg::Stored(browser::query(), browser::load_run(), browser::load_progress()));
    let prefs = Prefs { language: words::spoken(&browser::language()), ..browser::load_prefs() };
    send.emit(Msg::Start(prefs, browser::load_drafts(), browser::fragment()));
    if let Some(run) = browser::begun_here() {
        send.emit(Msg::Went(run, browser::load_drafts()));
    }
    let went = send.clone();
    browser::hear_places(move |run| {
        went.emit(run.map_or(Msg::Close(None), |run| Msg::Went(run, browser::load_drafts())));
    });
    effects::probe_storage(&tell);
    effects::start_engine(&tell);
    if browser::embedded() {
        let outside = send.clone();
        browser::hear_outside(move |text| outside.emit(Msg::Outside(text)));
    }

    let window = browser::window();
    let told = send.clone();
    let resized = Closure::<dyn FnMut()>::new(move || {
        let (width, height) = browser::size();
        told.emit(Msg::Resized(width, height));
    });
    let told = send.clone();
    let away = Closure::<dyn FnMut(PointerEvent)>::new(move |e: PointerEvent| {
        let target = e.target().and_then(|t| t.dyn_into::<Element>().ok());
        let inside =
            target.is_some_and(|t| t.closest(".floats, .sheet, [aria-haspopup]").ok().flatten().is_some());
        if !inside && browser::document().query_selector(".floats").ok().flatten().is_some() {
            told.emit(Msg::Away);
        }
    });
    let focus = Closure::<dyn FnMut(FocusEvent)>::new(|e: FocusEvent| {
        if let Some(element) = e.target().and_then(|t| t.dyn_into().ok()) {
            effects::focused(element);
        }
    });
    let told = send.clone();
    let address = Closure::<dyn FnMut()>::new(move || {
        if browser::is_followed() {
            told.emit(Msg::Fragment(browser::fragment()));
        }
    });
    let key = Closure::<dyn FnMut(KeyboardEvent)>::new(move |e: KeyboardEvent| key(&e, &send));
    let listeners: [(&str, &js_sys::Function); 5] = [
        ("focusin", focus.as_ref().unchecked_ref()),
        ("pointerdown", away.as_ref().unchecked_ref()),
        ("resize", resized.as_ref().unchecked_ref()),
        ("hashchange", address.as_ref().unchecked_ref()),
        ("keydown", key.as_ref().unchecked_ref()),
    ];
    for (name, listener) in listeners {
        window.add_event_listener_with_callback(name, listener).ok();
    }
    resized.forget();
    away.forget();
    focus.forget();
    address.forget();
    key.forget();
}

const TEXT: &str =
    "input:not([type=range]), textarea, select, [contenteditable=true], [role=menu], [role=dialog]";

fn key(event: &KeyboardEvent, send: &Send) {
    if event.default_prevented() {
        return;
    }
    let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
    let within =
        |selector: &str| target.as_ref().is_some_and(|t| t.closest(selector).ok().flatten().is_some());
    let press = KeyPress {
        key: event.key(),
        ctrl: event.ctrl_key() || event.meta_key(),
        alt: event.alt_key(),
        typing: within(TEXT),
        in_time: within("#time"),
    };
    // A key that leads into a text field is not typed there as well.
    let acts = is_single_key(&press.key) && !press.typing && !press.ctrl && !press.alt;
    if press.ctrl && press.key == "Enter" || acts {
        event.prevent_default();
    }
    send.emit(Msg::Key(press));
}
