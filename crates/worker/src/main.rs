//! wasm entry for the Web Worker: bytes in, `engine.handle`, bytes out.
//!
//! A message is a postcard-encoded [`Request`]; the answers go back as one postcard-encoded `Vec<Update>`. While a run
//! is going on the worker posts itself a wake-up after every slice, so that a message from the page is never more than
//! one slice away from being read. A panic posts [`Update::Broken`] and ends the worker; the page starts another.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Uint8Array;
use kubestep_engine::Engine;
use kubestep_protocol::{Broken, Doc, Request, Update};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent};

/// Inner steps of one slice: some milliseconds of work.
const SLICE: u32 = 200;

/// So much memory is asked for at once.
const ROOM: usize = 16 << 20;

/// Lets the allocator have room for a slice before it begins. Left to itself it asks the browser for 64 KiB at a time, and each of
/// some thousand such requests costs more than the work that needs the memory. What is not touched is not taken.
fn make_room() {
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(ROOM).ok();
    std::hint::black_box(&mut room);
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

fn post(updates: &[Update]) {
    if updates.is_empty() {
        return;
    }
    // Encoding plain data fails only when memory is at its end; then there is nobody left to tell.
    if let Ok(bytes) = postcard::to_stdvec(updates) {
        let array = Uint8Array::from(bytes.as_slice());
        let transfer = js_sys::Array::of1(&array.buffer());
        scope().post_message_with_transfer(&array, &transfer).ok();
    }
}

fn report(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let message = payload.downcast_ref::<&str>().map(|s| s.to_string());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
    post(&[Update::Broken(Broken { message, place })]);
}

/// Gives the next turn to the run: a message to oneself, which waits behind messages of the page but not for a timer.
fn wake(channel: &MessageChannel) {
    channel.port2().post_message(&JsValue::NULL).ok();
}

/// What a person takes away from a link, for a worker of its own: see [`kubestep_engine::author`]. The files of lessons come
/// as one text: names and texts in turn, each with a record separator behind it. Throws why it cannot be made.
#[allow(unreachable_pub)]
#[wasm_bindgen]
pub fn author(what: &str, text: &str, sources: &str) -> Result<String, JsValue> {
    let parts: Vec<&str> = sources.split('\u{1e}').collect();
    let doc = |pair: &[&str]| Doc { name: pair[0].into(), text: pair[1].into() };
    let docs: Vec<Doc> = parts.chunks_exact(2).map(doc).collect();
    kubestep_engine::author(what, text, &docs).map_err(|why| why.into())
}

fn main() {
    std::panic::set_hook(Box::new(report));
    let engine = Rc::new(RefCell::new(Engine::new()));
    let channel = MessageChannel::new().expect_throw("workers have message channels");
    let (run, again) = (engine.clone(), channel.clone());
    let turn = Closure::<dyn FnMut()>::new(move || {
        make_room();
        let updates = run.borrow_mut().idle(SLICE);
        post(&updates);
        if run.borrow().busy() {
            wake(&again);
        }
    });
    channel.port1().set_onmessage(Some(turn.as_ref().unchecked_ref()));
    let onmessage = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        make_room();
        let bytes = event.data().unchecked_into::<Uint8Array>().to_vec();
        let Ok(request) = postcard::from_bytes::<Request>(&bytes) else {
            let message = "a message of the page could not be read".to_string();
            post(&[Update::Broken(Broken { message, place: String::new() })]);
            return;
        };
        let was_busy = engine.borrow().busy();
        let updates = engine.borrow_mut().handle(request);
        post(&updates);
        if !was_busy && engine.borrow().busy() {
            wake(&channel);
        }
    });
    scope().set_onmessage(Some(onmessage.as_ref().unchecked_ref()));
    // The worker lives as long as its page.
    onmessage.forget();
    turn.forget();
    // Says that messages are listened to from now on.
    scope().post_message(&JsValue::NULL).ok();
}
