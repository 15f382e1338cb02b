//! The line to the engine: postcard bytes to a Web Worker and back.

use std::cell::RefCell;
use std::rc::Rc;

use kubestep_protocol::{Request, Update};

#[cfg(feature = "fixture")]
use alone::Line;
#[cfg(not(feature = "fixture"))]
use worker::Line;

/// What comes over the line.
pub(crate) enum Heard {
    /// The worker listens.
    Ready,
    /// Answers.
    Updates(Vec<Update>),
    /// It died, or could not be loaded.
    #[cfg_attr(feature = "fixture", allow(dead_code))]
    Died(String),
}

thread_local! {
    static LINK: RefCell<Option<Line>> = const { RefCell::new(None) };
}

/// Starts the engine, or another in the place of the one that died.
pub(crate) fn start(address: &str, tell: Rc<dyn Fn(Heard)>) {
    let line = Line::start(address, tell);
    LINK.with(|l| *l.borrow_mut() = Some(line));
}

/// Sends a request to the engine that runs now.
pub(crate) fn send(request: &Request) {
    LINK.with(|l| {
        if let Some(line) = l.borrow().as_ref() {
            line.send(request);
        }
    });
}

#[cfg(not(feature = "fixture"))]
mod worker {
    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::*;
    use web_sys::{MessageEvent, Worker};

    use super::{Heard, Rc, Request, Update};

    /// A running worker. Dropping it ends the worker.
    pub(super) struct Line {
        worker: Option<Worker>,
        _heard: Closure<dyn FnMut(MessageEvent)>,
        _failed: Closure<dyn FnMut(web_sys::Event)>,
    }

    impl Line {
        /// Starts a worker.
        pub(super) fn start(address: &str, tell: Rc<dyn Fn(Heard)>) -> Line {
            let told = tell.clone();
            let heard =
                Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| told(read(&event.data())));
            let told = tell.clone();
            let failed = Closure::<dyn FnMut(web_sys::Event)>::new(move |event: web_sys::Event| {
                event.prevent_default();
                let words = event.dyn_ref::<web_sys::ErrorEvent>().map(web_sys::ErrorEvent::message);
                told(Heard::Died(words.unwrap_or_else(|| "its file could not be loaded".into())));
            });
            let (worker, said) = match early() {
                Some((worker, said)) => (Some(worker), said),
                None => (Worker::new(address).ok(), js_sys::Array::new()),
            };
            match &worker {
                Some(worker) => {
                    worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
                    worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
                    // Once the line is known to those who answer.
                    crate::browser::later(0, move || {
                        for word in said.iter() {
                            // An error is kept as its text.
                            tell(word.as_string().map_or_else(|| read(&word), Heard::Died));
                        }
                    });
                }
                None => tell(Heard::Died("this browser starts no workers here".into())),
            }
            Line { worker, _heard: heard, _failed: failed }
        }

        /// Sends a request.
        pub(super) fn send(&self, request: &Request) {
            let Some(worker) = &self.worker else { return };
            if let Ok(bytes) = postcard::to_stdvec(request) {
                let array = js_sys::Uint8Array::from(bytes.as_slice());
                let transfer = js_sys::Array::of1(&array.buffer());
                // It fails only for what cannot be sent at all, and bytes can.
                worker.post_message_with_transfer(&array, &transfer).ok();
            }
        }
    }

    impl Drop for Line {
        fn drop(&mut self) {
            if let Some(worker) = &self.worker {
                worker.set_onmessage(None);
                worker.set_onerror(None);
                worker.terminate();
            }
        }
    }

    /// The worker that the page's head started before this program was loaded, and what it has said; once.
    fn early() -> Option<(Worker, js_sys::Array)> {
        let window = crate::browser::window();
        let name = JsValue::from("kubestepEarly");
        let early = js_sys::Reflect::get(&window, &name).ok()?;
        js_sys::Reflect::set(&window, &name, &JsValue::UNDEFINED).ok()?;
        let part = |name: &str| js_sys::Reflect::get(&early, &name.into()).ok();
        Some((part("worker")?.dyn_into().ok()?, part("said")?.dyn_into().ok()?))
    }

    fn read(data: &JsValue) -> Heard {
        match data.dyn_ref::<js_sys::Uint8Array>() {
            None => Heard::Ready,
            Some(array) => match postcard::from_bytes::<Vec<Update>>(&array.to_vec()) {
                Ok(updates) => Heard::Updates(updates),
                Err(_) => Heard::Died("an answer could not be read".into()),
            },
        }
    }
}

#[cfg(feature = "fixture")]
mod alone {
    use super::{Heard, Rc, RefCell, Request};
    use crate::fixture::Alone;

    /// The made-up cluster answers at once.
    pub(super) struct Line {
        alone: RefCell<Alone>,
        tell: Rc<dyn Fn(Heard)>,
    }

    impl Line {
        pub(super) fn start(_address: &str, tell: Rc<dyn Fn(Heard)>) -> Line {
            let told = tell.clone();
            crate::browser::later(0, move || told(Heard::Ready));
            Line { alone: RefCell::default(), tell }
        }

        pub(super) fn send(&self, request: &Request) {
            let updates = self.alone.borrow_mut().handle(request.clone());
            let tell = self.tell.clone();
            crate::browser::later(0, move || tell(Heard::Updates(updates)));
        }
    }
}
