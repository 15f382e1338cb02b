//! What an image's process does: a form, each error beside its field.

use kubestep_protocol::{Command, Id, ImageAct};
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use super::sheet::Sheet;
use crate::state::Msg;
use crate::store::{on, use_send};
use crate::words::{t, tf, w};

/// What may be typed.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Code,
    Amount,
    Switch,
    Text,
    Lines,
}

/// Keys of a row of the registry, with their names.
const FIELDS: [(&str, &str, Sort); 10] = [
    ("exit", "Exit code (empty: runs until stopped)", Sort::Code),
    ("afterSeconds", "ends after (s)", Sort::Amount),
    ("readyAfterSeconds", "ready after (s)", Sort::Amount),
    ("failsAfterSeconds", "fails after (s)", Sort::Amount),
    ("startError", "cannot be started because", Sort::Text),
    ("logs", "log lines", Sort::Lines),
    ("ignoresTerm", "ignores SIGTERM", Sort::Switch),
    ("stopSeconds", "stops within (s)", Sort::Amount),
    ("memoryMiB", "memory at its start (MiB)", Sort::Amount),
    ("memoryGrowsMiBPerSecond", "memory grows each second (MiB)", Sort::Amount),
];

/// So many figures an amount has, at most, before its point and after it.
const FIGURES: usize = 9;

/// What is wrong with what was typed.
fn problem(sort: Sort, text: &str) -> Option<&'static str> {
    let text = text.trim();
    match sort {
        Sort::Code if !text.is_empty() && text.parse::<u8>().is_err() => Some("a whole number from 0 to 255"),
        Sort::Amount if !text.is_empty() && !is_amount(text) => Some("a number, 0 or more"),
        _ => None,
    }
}

/// Whether it is a plain number. Told by its figures: the library's reader of numbers is large.
fn is_amount(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let figures = |s: &str| (1..=FIGURES).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
    figures(whole) && figures(part)
}

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) reference: String,
    pub(crate) fields: Vec<(String, String)>,
}

/// The form.
#[component]
pub(crate) fn Behaviour(props: &Props) -> Html {
    let send = use_send();
    // Keys come faster than pictures: what is typed is kept beside them.
    let typed = {
        let fields = props.fields.clone();
        use_mut_ref(move || {
            let said = |key: &str| fields.iter().find(|(k, _)| k == key).map(|(_, text)| text.clone());
            FIELDS.map(|(key, ..)| said(key).unwrap_or_default())
        })
    };
    let redraw = use_force_update();
    let is_wrong =
        |typed: &[String]| FIELDS.iter().zip(typed).any(|((.., sort), text)| problem(*sort, text).is_some());
    let wrong = is_wrong(&*typed.borrow());
    let onsubmit = {
        let (send, typed, reference) = (send.clone(), typed.clone(), props.reference.clone());
        Callback::from(move |e: SubmitEvent| {
            e.prevent_default();
            let typed = typed.borrow();
            if !is_wrong(&*typed) {
                let fields =
                    FIELDS.iter().zip(typed.iter()).map(|((key, ..), text)| ((*key).into(), text.clone()));
                send.emit(Msg::Act(Command::Image(ImageAct::Behave(reference.clone(), fields.collect()))));
                send.emit(Msg::Close(None));
            }
        })
    };
    let first = format!("menu-behaviour-{}", props.id.0);
    let row = |(i, (key, name, sort)): (usize, &(&str, &'static str, Sort))| {
        let id = if i == 0 { first.clone() } else { format!("behaviour-{key}") };
        let set = {
            let (typed, redraw) = (typed.clone(), redraw.clone());
            move |text: String| {
                typed.borrow_mut()[i] = text;
                redraw.force_update();
            }
        };
        let oninput = {
            let (set, sort) = (set, *sort);
            Callback::from(move |e: InputEvent| {
                let Some(target) = e.target() else { return };
                use wasm_bindgen::JsCast;
                set(match target.dyn_ref::<HtmlInputElement>() {
                    Some(input) if sort == Sort::Switch => {
                        if input.checked() {
                            "true".into()
                        } else {
                            String::new()
                        }
                    }
                    Some(input) => input.value(),
                    None => target.dyn_ref::<HtmlTextAreaElement>().map(|a| a.value()).unwrap_or_default(),
                });
            })
        };
        let value = typed.borrow()[i].clone();
        let said = problem(*sort, &value);
        let told = format!("wrong-{key}");
        let (invalid, about) = (said.map(|_| "true"), said.map(|_| told.clone()));
        let field = match sort {
            Sort::Switch => {
                html! { <input id={id.clone()} type="checkbox" checked={value == "true"} oninput={oninput} /> }
            }
            Sort::Lines => html! { <textarea id={id.clone()} rows="2" value={value} oninput={oninput} /> },
            _ => {
                html! { <input id={id.clone()} autocomplete="off" spellcheck="false" value={value} aria-invalid={invalid} aria-describedby={about} oninput={oninput} /> }
            }
        };
        html! {
            <p class="behaves" key={*key}>
                <label for={id}>{w(name)}</label>{field}
                // It is there before it says anything: a field beside which something comes and goes would lose the focus.
                <span class="label strong" id={told} role="status">{ for said.map(w) }</span>
            </p>
        }
    };
    html! {
        <Sheet name={tf!("Behaviour of {}", props.name)} close="close-behaviour">
            <div class="share scroll"><form class="field" onsubmit={onsubmit}>
                { for FIELDS.iter().enumerate().map(row) }
                <span class="label">{w("Containers that run go on as they began.")}</span>
                <span class="row-of"><button class="btn btn-s btn-solid" aria-disabled={wrong.to_string()}>{w("Save")}</button>
                    <button type="button" class="btn btn-s" onclick={on(&send, Msg::Close(None))}>{ t("Cancel") }</button></span>
            </form></div>
        </Sheet>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_of_each_field() {
        for (sort, good, bad) in
            [(Sort::Code, "137", "256"), (Sort::Code, "", "x"), (Sort::Amount, "2.5", "-1")]
        {
            assert!(problem(sort, good).is_none() && problem(sort, bad).is_some(), "{good} {bad}");
        }
        for bad in ["NaN", "1.", ".5", "1e3", "1234567890", "1.2.3"] {
            assert_eq!(problem(Sort::Amount, bad), Some("a number, 0 or more"), "{bad}");
        }
        assert_eq!(problem(Sort::Text, "x"), None);
    }
}
