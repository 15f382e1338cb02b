//! The page as a figure in somebody's page: only the parts that were asked for.

use std::rc::Rc;

use yew::prelude::*;

use super::banner::BannerRow;
use super::cluster::Cluster;
use super::desired::Desired;
use super::inspector::Inspector;
use super::timeline::TimePanel;
use super::topbar::verdict;
use crate::state::State;
use crate::words::w;

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The figure.
#[component]
pub(crate) fn Figure(props: &Props) -> Html {
    let state = &props.state;
    let now = state.frame.as_ref().map(|f| f.head.now).unwrap_or_default();
    let shows = |parts: &[&str]| parts.iter().any(|p| state.shows(p));
    let what_if = state.frame.as_ref().is_some_and(|f| f.head.what_if);
    let timed = shows(&["steps", "timeline"]) || state.embed.as_ref().is_some_and(|e| e.controls != "none");
    html! {
        <div class={classes!("app", "figure", what_if.then_some("is-what-if"), state.playing.then_some("is-playing"))}>
            <header class="fig-head">
                <h1 class="vh">{format!("Kubestep: {}", state.loaded.title)}</h1>
                if shows(&["verdict"]) { { verdict(state) } } else { <span class="grow" /> }
                <a class="open" href="./" target="_blank" rel="noopener">{w("Open in Kubestep")}</a>
            </header>
            <div class="banner-row">
                { for state.banner.as_ref().map(|b| html! { <BannerRow banner={b.clone()} hello={state.hello.clone()} begun={state.loaded.scenario.clone()} now={now} /> }) }
                if let Some(said) = refused(state) { <pre class="refused" role="alert">{said}</pre> }
            </div>
            <main class="main">
                if shows(&["lesson", "editor"]) { <Desired state={state.clone()} /> }
                if shows(&["board", "loops", "terminal", "registry"]) { <Cluster state={state.clone()} /> }
                if shows(&["why"]) { <Inspector state={state.clone()} /> }
            </main>
            if timed { <TimePanel state={state.clone()} /> }
        </div>
    }
}

/// What kubectl said of a manifest that was not taken, where no part of the figure shows its answers.
fn refused(state: &State) -> Option<String> {
    let answers = state.shows("editor") || state.shows("lesson");
    if answers && !state.readonly() {
        return None;
    }
    let apply = state.frame.as_ref()?.head.apply.clone()?;
    let said = || apply.output.iter().map(|c| c.text.as_str()).collect::<String>();
    (apply.exit? != 0).then(said)
}
