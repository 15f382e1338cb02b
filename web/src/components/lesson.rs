//! The teacher's pane: text, goals, one question, hints, what is said at the end.

use std::rc::Rc;

use kubestep_protocol::*;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::rich::rich;
use crate::state::{LessonMsg, Msg, State, TimeMsg};
use crate::store::{Send, on, use_send};
use crate::words::{t, tf, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The lesson beside the cluster.
#[component]
pub(crate) fn LessonPane(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let Some(text) = state.lesson() else { return html! {} };
    let head = state.frame.as_ref().map(|f| f.head.clone()).unwrap_or_default();
    let stands = head.lesson.clone().unwrap_or_default();
    let above = if text.chapter.is_empty() { text.part.clone() } else { text.chapter.clone() };
    html! {
        <>
        <div class="lesson body scroll grow" role="region" id="file" aria-label={t("Lesson")} tabindex="0">
            <span class="label">{above}</span>
            <h1>{state.loaded.title.clone()}</h1>
            { paragraphs(&text.text, head.now, &send) }
            { goals(text, &stands, head.now, &send) }
            { for stands.trapped.as_ref().map(|t| trapped(t, head.now, &send)) }
            { for stands.asks.and_then(|i| text.predictions.get(i as usize).map(|p| html! { <Question key={i} index={i} ask={p.clone()} now={head.now} /> })) }
            { for stands.answers.iter().zip(&text.predictions).filter_map(|(a, of)| Some(answered(a.as_ref()?, of, head.now, &send))) }
            { for stands.hints.iter().enumerate().map(|(i, h)| html! { <div class="hint"><b>{wf!("Hint {}.", i + 1)}{" "}</b>{ rich(h, head.now, &send) }</div> }) }
            if stands.solved.is_some() { { debrief(state, text, &stands, head.now, &send) } }
        </div>
        { bar(state, text, &stands, &send) }
        </>
    }
}

/// Paragraphs; those that begin with a dash are items of a list.
fn paragraphs(text: &[Rich], now: At, send: &Send) -> Html {
    let mut parts: Vec<Html> = Vec::new();
    let mut items: Vec<Html> = Vec::new();
    for paragraph in text {
        match item(paragraph) {
            Some(inner) => items.push(html! { <li>{ rich(&inner, now, send) }</li> }),
            None => {
                if !items.is_empty() {
                    parts.push(html! { <ul class="dashes">{ for items.drain(..) }</ul> });
                }
                parts.push(html! { <p>{ rich(paragraph, now, send) }</p> });
            }
        }
    }
    if !items.is_empty() {
        parts.push(html! { <ul class="dashes">{ for items }</ul> });
    }
    parts.into_iter().collect()
}

/// The words of an item of a list.
fn item(paragraph: &Rich) -> Option<Rich> {
    let Some(Span::Words(first)) = paragraph.0.first() else { return None };
    let rest = first.strip_prefix("- ")?;
    let mut inner = paragraph.clone();
    inner.0[0] = Span::Words(rest.into());
    Some(inner)
}

fn goals(text: &LessonText, stands: &LessonNow, now: At, send: &Send) -> Html {
    let goal = |(i, words): (usize, &Rich)| {
        let goal = stands.goals.get(i).cloned().unwrap_or_default();
        let (class, tick, said, beside) = match goal.state {
            GoalState::Open => ("", "", "not yet", goal.now.clone()),
            GoalState::Holding(_, until) => {
                ("hold", "", "so, if it stays so", tf!("in {}", age(until.0.saturating_sub(now.0))))
            }
            GoalState::Done(_) => ("done", "✓", "done", String::new()),
            GoalState::Broken(_) => ("broken", "×", "lost on this timeline", t("lost").into()),
        };
        html! {
            <li class={class}><span class="tick" aria-hidden="true">{tick}</span>
                <span>{ rich(words, now, send) }<span class="vh">{format!(", {}", t(said))}</span></span><small>{beside}</small></li>
        }
    };
    html! { <ol class="goals" aria-label={t("Goals")}>{ for text.goals.iter().enumerate().map(goal) }</ol> }
}

fn trapped(trap: &Trapped, now: At, send: &Send) -> Html {
    html! {
        <div class="trap" role="alert"><p>{ rich(&trap.words, now, send) }</p>
            <button class="btn btn-s" onclick={on(send, Msg::Time(TimeMsg::Seek(trap.back)))}>{wf!("Back to step {}", trap.back)}</button></div>
    }
}

#[derive(Properties, PartialEq)]
struct QuestionProps {
    index: u32,
    ask: PredictionText,
    now: At,
}

/// A question before a step: one chooses or types; skipping is an answer, too.
#[component]
fn Question(props: &QuestionProps) -> Html {
    let send = use_send();
    let chosen = use_state_eq(String::new);
    let index = props.index;
    let answer = |answer: Option<String>| Msg::Act(Command::Predict { index, answer });
    let name = format!("question-{index}");
    let choice = |c: &Choice| {
        let (value, set) = (c.value.clone(), chosen.clone());
        let onchange = Callback::from(move |_: Event| set.set(value.clone()));
        html! { <label><input type="radio" name={name.clone()} checked={*chosen == c.value} onchange={onchange} /><span>{ rich(&c.words, props.now, &send) }</span></label> }
    };
    let oninput = {
        let set = chosen.clone();
        Callback::from(move |e: InputEvent| {
            set.set(e.target_dyn_into::<HtmlInputElement>().map(|i| i.value()).unwrap_or_default());
        })
    };
    let onsubmit = {
        let (send, chosen) = (send.clone(), chosen.clone());
        Callback::from(move |e: SubmitEvent| {
            e.prevent_default();
            if !chosen.trim().is_empty() {
                send.emit(Msg::Act(Command::Predict { index, answer: Some(chosen.trim().to_string()) }));
            }
        })
    };
    html! {
        <form class="predict" aria-label={t("Prediction")} onsubmit={onsubmit}>
            <h2>{ rich(&props.ask.ask, props.now, &send) }</h2>
            if props.ask.choices.is_empty() {
                <input class="typed" type="text" aria-label={t("Your prediction")} value={(*chosen).clone()} oninput={oninput} />
            } else {
                { for props.ask.choices.iter().map(choice) }
            }
            <footer><button class="btn btn-solid" disabled={chosen.trim().is_empty()}>{w("Predict")}</button>
                <button type="button" class="btn btn-bare" onclick={on(&send, answer(None))}>{w("Skip")}</button></footer>
        </form>
    }
}

fn graded(grade: Grade) -> &'static str {
    match grade {
        Grade::Skipped => "skipped",
        Grade::Right => "as it turned out",
        Grade::Close => "close",
        Grade::Wrong => "otherwise",
    }
}

fn answered(answer: &Answered, of: &PredictionText, now: At, send: &Send) -> Html {
    let given = answer.given.as_deref().unwrap_or_default();
    let said = match of.choices.iter().find(|c| c.value == given) {
        Some(choice) => rich(&choice.words, now, send),
        None if given.is_empty() => t("nothing").into(),
        None => given.into(),
    };
    html! {
        <div class="hint answered">
            <b>{w("You said:")}{" "}</b>{ said }{format!(" ({}). ", t(graded(answer.grade)))}
            { rich(&answer.truth, now, send) }{". "}{ rich(&answer.because, now, send) }
        </div>
    }
}

/// How many answers were right, of how many that were given: what was skipped, or never asked, is not wrong.
fn scored(answers: &[Option<Answered>]) -> (usize, usize) {
    let given = || answers.iter().flatten().filter(|a| a.grade != Grade::Skipped);
    (given().filter(|a| a.grade == Grade::Right).count(), given().count())
}

fn predictions(right: usize, answered: usize, skipped: usize) -> String {
    match (answered, skipped) {
        (0, _) => t("none answered").to_string(),
        (_, 0) => tf!("{} of {} right", right, answered),
        _ => tf!("{} of {} right, {} skipped", right, answered, skipped),
    }
}

fn debrief(state: &State, text: &LessonText, stands: &LessonNow, now: At, send: &Send) -> Html {
    let (right, answered) = scored(&stands.answers);
    let skipped = text.predictions.len() - answered;
    let fact = |name: &'static str, value: String| html! { <><dt>{w(name)}</dt><dd>{value}</dd></> };
    html! {
        <div class="debrief" role="region" aria-label={t("Debrief")}>
            <h2><svg class="v-glyph" aria-hidden="true"><use href="#v-converged" /></svg>{w("Solved")}</h2>
            { paragraphs(&text.debrief, now, send) }
            <dl>
                if !text.predictions.is_empty() { { fact("Predictions", predictions(right, answered, skipped)) } }
                { fact("What you did", tf!("{} (the shown way takes {})", stands.acts, text.solution)) }
                { fact("Hints", stands.hints.len().to_string()) }
            </dl>
            { for state.next_lesson(&text.id).map(|n| html! { <p><button class="btn btn-solid" onclick={on(send, Msg::Lesson(LessonMsg::Start(n.id.clone())))}>{wf!("Next: {}", n.title)}</button></p> }) }
        </div>
    }
}

fn bar(state: &State, text: &LessonText, stands: &LessonNow, send: &Send) -> Html {
    let place = state.place_of(&text.id);
    let act = |command: Command| on::<MouseEvent>(send, Msg::Act(command));
    let none = stands.shown >= text.solution;
    html! {
        <div class="lessonbar" role="group" aria-label={t("Lesson controls")}>
            <button class="btn btn-s" disabled={!stands.more_hints} title={t("Asks the teacher for a hint")} onclick={act(Command::Hint)}>{w("Hint")}</button>
            <button class="btn btn-s" disabled={none} title={t("Plays the next step of the solution, on a timeline of its own")} onclick={act(Command::ShowMe)}>{w("Show me")}</button>
            <button class="btn btn-bare btn-s" onclick={on(send, Msg::Lesson(LessonMsg::Start(text.id.clone())))}>{w("Reset")}</button>
            <span class="grow" />
            { for place.map(|(n, all)| html! { <span class="label nowrap">{wf!("{} of {}", n, all)}</span> }) }
            { for state.next_lesson(&text.id).map(|n| html! { <button class="btn btn-s" title={n.title.clone()} onclick={on(send, Msg::Lesson(LessonMsg::Start(n.id.clone())))}>{w("Next")}</button> }) }
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_not_wrong() {
        let of = |grade| Some(Answered { grade, ..Answered::default() });
        let answers = [of(Grade::Right), of(Grade::Skipped), None, of(Grade::Wrong)];
        assert_eq!(scored(&answers), (1, 2));
        assert_eq!(predictions(1, 2, 2), "1 of 2 right, 2 skipped");
        assert_eq!(predictions(0, 0, 2), "none answered");
    }
}
