//! The map of lessons: what there is, what each needs, what was solved, and where to go on.

use std::rc::Rc;

use yew::prelude::*;

use super::sheet::Sheet;
use crate::state::{CourseEntry, LessonMsg, Msg, State};
use crate::store::{Send, on, use_send};
use crate::words::{t, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The dialog.
#[component]
pub(crate) fn CourseDialog(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let content = match &state.course {
        None => html! { <p class="label">{w("The lessons are on their way…")}</p> },
        Some(course) => html! {
            <>
            { go_on(state, &send) }
            <div class="scroll course">{ for parts(course).into_iter().map(|(name, list)| part(name, &list, state, &send)) }</div>
            </>
        },
    };
    html! { <Sheet name={t("Lessons")} close="menu-course">{content}</Sheet> }
}

/// "Continue where I left".
fn go_on(state: &State, send: &Send) -> Html {
    let done = state.progress.solved.len();
    let all = state.course.as_ref().map_or(0, |c| c.len());
    match state.goes_on() {
        Some(entry) => html! {
            <p class="course-go"><button class="btn btn-solid" onclick={on(send, Msg::Lesson(LessonMsg::Start(entry.id.clone())))}>
                { if done == 0 && state.progress.last.is_empty() { t("Start") } else { t("Continue where I left") } }</button>
                <span>{entry.title.clone()}<span class="label">{" · "}{wf!("{} of {} solved", done, all)}</span></span></p>
        },
        None => html! { <p class="course-go">{wf!("All {} are solved.", all)}</p> },
    }
}

/// Parts and chapters in their order.
fn parts(course: &[CourseEntry]) -> Vec<(String, Vec<&CourseEntry>)> {
    let mut found: Vec<(String, Vec<&CourseEntry>)> = Vec::new();
    for entry in course {
        let name = if entry.chapter.is_empty() { entry.part.clone() } else { entry.chapter.clone() };
        match found.last_mut() {
            Some((last, list)) if *last == name => list.push(entry),
            _ => found.push((name, vec![entry])),
        }
    }
    found
}

fn part(name: String, list: &[&CourseEntry], state: &State, send: &Send) -> Html {
    html! {
        <section><h3>{name.clone()}</h3><ol aria-label={name}>{ for list.iter().map(|e| lesson(e, state, send)) }</ol></section>
    }
}

fn lesson(entry: &CourseEntry, state: &State, send: &Send) -> Html {
    let solved = |id: &str| state.progress.solved.iter().any(|s| s == id);
    let title = |id: &String| {
        let found = state.course.iter().flat_map(|c| c.iter()).find(|e| e.id == *id);
        found.map_or(id.clone(), |e| e.title.clone())
    };
    let open: Vec<String> = entry.needs.iter().filter(|n| !solved(n)).map(title).collect();
    let here = state.lesson().is_some_and(|l| l.id == entry.id);
    let done = solved(&entry.id);
    html! {
        <li class={classes!(done.then_some("done"))}>
            <span class="tick" aria-hidden="true">{ if done { "✓" } else { "" } }</span>
            <button class="link" aria-current={here.then_some("step")} onclick={on(send, Msg::Lesson(LessonMsg::Start(entry.id.clone())))}>{entry.title.clone()}</button>
            <small>{wf!("{} min", entry.minutes)}{ if done { format!(", {}", t("solved")) } else { String::new() } }</small>
            if !open.is_empty() { <span class="label needs">{wf!("builds on {}", open.join(", "))}</span> }
        </li>
    }
}
