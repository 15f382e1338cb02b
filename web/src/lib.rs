//! The Yew app. Knows `protocol` and nothing behind it.
#![warn(missing_docs)]

mod app;
pub mod board_plan;
mod browser;
mod components;
mod editor;
mod effects;
#[cfg(any(test, feature = "fixture"))]
mod fixture;
mod link;
pub mod score_plan;
pub mod state;
mod store;
pub mod words;

/// Starts the page.
pub fn start() {
    let Some(root) = browser::by_id("app") else { return };
    let language = browser::language();
    if language == words::ENGLISH {
        yew::Renderer::<app::App>::with_root(root).render();
        return;
    }
    // The words come before the first picture; without them the page is English.
    wasm_bindgen_futures::spawn_local(async move {
        effects::learn(&language).await;
        yew::Renderer::<app::App>::with_root(root).render();
    });
}
