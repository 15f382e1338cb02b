//! The log of sentences: the last in sight, all of them behind a button. A line is drawn again only when it changes.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::rich::rich;
use crate::state::{Msg, Open, StepLine};
use crate::store::{on, use_send};
use crate::words::{t, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) steps: Rc<Vec<StepLine>>,
    pub(crate) now: At,
    pub(crate) open: bool,
    /// While playing fast nobody can listen: only what it ends with is announced.
    pub(crate) playing: bool,
}

/// The log and its button.
#[component]
pub(crate) fn StepLog(props: &Props) -> Html {
    let send = use_send();
    let open = props.open;
    let live = if props.playing { "off" } else { "polite" };
    html! {
        <>
        <div role="log" aria-label={t("Steps")} aria-live={live} class={classes!(open.then_some("is-open"))} tabindex={open.then_some("0")}>
            { for grouped(&props.steps).into_iter().map(|group| line(group, props)) }
        </div>
        <button class="btn btn-bare btn-s hide-p" id="open-steps" aria-label={t("All steps")} title={t("All steps")} aria-expanded={open.to_string()}
            onclick={on(&send, Msg::Open(Open::Steps))}>{ if open { "▾" } else { "▴" } }</button>
        </>
    }
}

/// A step with what runs said at it.
type Group = (Option<Rc<Sentence>>, Vec<Rich>);

fn grouped(lines: &[StepLine]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in lines {
        match line {
            StepLine::Step(sentence) => groups.push((Some(sentence.clone()), Vec::new())),
            StepLine::Said(_, words) => match groups.last_mut() {
                Some((_, said)) => said.push(words.clone()),
                None => groups.push((None, vec![words.clone()])),
            },
        }
    }
    groups
}

fn line((sentence, said): Group, props: &Props) -> Html {
    let inside = sentence.iter().flat_map(|s| s.inside.iter().filter(|_| props.open));
    let counts = sentence.iter().map(|s| &s.words).chain(&said).chain(inside).any(counts);
    let key = sentence.as_ref().map_or(u32::MAX, |s| s.step);
    let now = if counts { props.now } else { At(0) };
    html! { <Line key={key} sentence={sentence} said={said} now={now} open={props.open} /> }
}

/// Whether a text has times that are counted from the shown moment.
fn counts(text: &Rich) -> bool {
    text.0.iter().any(|s| matches!(s, Span::Since(_) | Span::Until(_)))
}

#[derive(Properties, PartialEq)]
struct LineProps {
    sentence: Option<Rc<Sentence>>,
    said: Vec<Rich>,
    now: At,
    open: bool,
}

#[component]
fn Line(props: &LineProps) -> Html {
    let send = use_send();
    let now = props.now;
    let said: Html = props
        .said
        .iter()
        .map(|w| html! { <span class="said-run">{" "}{ rich(w, now, &send) }</span> })
        .collect();
    let Some(s) = &props.sentence else { return html! { <p>{said}</p> } };
    html! {
        <p>
            if s.step > 0 { <b>{wf!("Step {}.", s.step)}</b>{" "} }
            { rich(&s.words, now, &send) }{said}
            if props.open && !s.inside.is_empty() {
                <details><summary>{w("what led to it")}</summary><ol>{ for s.inside.iter().map(|i| html! { <li>{ rich(i, now, &send) }</li> }) }</ol></details>
            }
        </p>
    }
}
