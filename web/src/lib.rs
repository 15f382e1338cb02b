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

/// Starts the page.
pub fn start() {
    let root = browser::by_id("app");
    if let Some(root) = root {
        yew::Renderer::<app::App>::with_root(root).render();
    }
}
