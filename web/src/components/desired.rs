//! Left, desired: files, the manifest, problems, what would change, Apply and its words.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::breakmenu::BreakMenu;
use super::filemenu::FileMenu;
use super::lesson::LessonPane;
use super::manifest::Manifest;
use super::resizer::Resizer;
use super::rich::rich;
use crate::state::{Column, File, FileMsg, Health, LessonMsg, Msg, Open, State};
use crate::store::{Send, on, use_send};
use crate::words::{fill, n, t, tf, w, wf, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The pane.
#[component]
pub(crate) fn Desired(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let now = state.frame.as_ref().map_or(At(0), |f| f.head.now);
    let front = state.front().cloned().unwrap_or_default();
    // Its mark makes a tab wider.
    use_effect_with((state.ui.front, state.ui.files.len(), state.ui.lesson, front.unapplied()), |_| {
        crate::browser::in_sight(".filetabs [aria-selected=true]");
    });
    let file: Rc<str> = Rc::from(format!("{}/{}", state.loaded.scenario, front.name));
    html! {
        <section class="pane desired" aria-label={t("Desired: your files")} data-file={front.name.to_string()}>
            <h2 class="vh">{w("Your files")}</h2>
            <Resizer column={Column::Desired} width={state.ui.widths.0} />
            { tabs(state, &send) }
            if state.ui.lesson && state.lesson().is_some() {
                <LessonPane state={state.clone()} />
            } else {
                { file_parts(state, &front, file, now, &send) }
            }
        </section>
    }
}

/// The manifest and what is said about it.
fn file_parts(state: &State, front: &File, file: Rc<str>, now: At, send: &Send) -> Html {
    html! {
        <>
            if state.readonly() {
                <pre class="code readonly grow" role="region" aria-label="Manifest" tabindex="0">{front.text.to_string()}</pre>
            } else {
            <Manifest index={state.ui.front} file={file} text={front.text.clone()} version={front.version} checked={fresh(front)} teacher={state.ui.prefs.teacher}
                alive={state.frame.is_some()} />
            }
            { problems(front, send) }
            { note(front, now, send) }
            { would_change(front, now) }
            { apply_bar(state, front, send) }
            { apply_out(state, send) }
            { ack(state, now, send) }
        </>
    }
}

fn fresh(file: &File) -> Option<Rc<Checked>> {
    file.checked.clone().filter(|c| c.version == file.version)
}

fn tabs(state: &State, send: &Send) -> Html {
    let lesson = state.ui.lesson && state.lesson().is_some();
    let open = state.ui.open == Some(Open::File);
    let tab = |(i, file): (usize, &File)| {
        html! {
            <button role="tab" aria-selected={(i == state.ui.front && !lesson).to_string()} onclick={on(send, Msg::File(FileMsg::Front(i)))}
                ondblclick={on(send, Msg::Open(Open::File))}>
                {file.name.to_string()}
                if file.unapplied() { <span class="dot" title={t("not applied as it is")} /> }
            </button>
        }
    };
    html! {
        <div class="pane-head" style="padding:0 8px 0 0">
            <div class="tabs filetabs" role="tablist" aria-label={t("Files")}>
                if state.lesson().is_some() {
                    <button role="tab" aria-selected={lesson.to_string()} onclick={on(send, Msg::Lesson(LessonMsg::Front(true)))}>{w("Lesson")}</button>
                }
                { for state.ui.files.iter().enumerate().map(tab) }</div>
            <span class="grow" />
            if state.frame.as_ref().is_some_and(|f| f.head.what_if) { <span class="what-if">{w("what if")}</span> }
            <button class="btn btn-bare btn-s" aria-label={t("New file")} title={t("New file")} onclick={on(send, Msg::File(FileMsg::New))}>{"+"}</button>
            <span class="anchor">
                <button class="btn btn-bare btn-s" id="open-file" aria-label={t("File: name, close")} title={t("File: name, close")} aria-haspopup="dialog"
                    aria-expanded={open.to_string()} disabled={state.ui.files.is_empty()} onclick={on(send, Msg::Open(Open::File))}>{"⋯"}</button>
                if open { <FileMenu files={state.ui.files.clone()} front={state.ui.front} closed={state.ui.closed.clone()} /> }
            </span>
        </div>
    }
}

/// The first problem, and how many there are; or that there is none.
fn problems(file: &File, send: &Send) -> Html {
    let Some(checked) = file.fresh() else {
        let words = if file.checked.is_some() { t("Reading…") } else { "" };
        return html! { <div class="strip" role="group" aria-label={t("Problems")}><span class="grow">{words}</span></div> };
    };
    let leave = html! { <span class="label hide-p">{w("Esc, Tab to leave")}</span> };
    let Some(first) = checked.problems.first() else {
        let words = if file.text.trim().is_empty() {
            t("Nothing in this file yet.")
        } else {
            t("No problems. The API server accepts it.")
        };
        return html! { <div class="strip" role="group" aria-label={t("Problems")}><span class="grow">{words}</span>{leave}</div> };
    };
    let place = first.place;
    let more = match checked.problems.len() {
        1 => String::new(),
        n => tf!("1 of {}", n),
    };
    let meant = first.remedy.as_ref().map(|edit| {
        html! {
            <div class="strip-note teacher"><span>{ remedy(edit, send) }</span></div>
        }
    });
    html! {
        <>
        <div class="strip" role="group" aria-label={t("Problems")} data-bad="">
            <span class="pos">{format!("{}:{}", place.line, place.column)}</span>
            <span class="grow whole">{first.message.clone()}</span>
            if !more.is_empty() { <span class="label nowrap">{more}</span> }
            <button class="btn btn-s" onclick={on(send, Msg::File(FileMsg::Go(None, place.line, place.column)))}>{w("Go to line")}</button>
        </div>
        { for meant }
        </>
    }
}

/// What was probably meant, and the button that writes it.
fn remedy(edit: &Edit, send: &Send) -> Html {
    html! {
        <>{" "}{ rich(&edit.words, At(0), send) }{" "}
            <button class="link" onclick={on(send, Msg::File(FileMsg::Remedy(edit.clone())))}>{w("Change it")}</button></>
    }
}

fn note(file: &File, now: At, send: &Send) -> Html {
    let Some(note) = file.fresh().filter(|c| c.problems.is_empty()).and_then(|c| {
        // What can be put right at once comes first.
        c.notes.iter().find(|n| n.remedy.is_some()).or(c.notes.first())
    }) else {
        return html! {};
    };
    html! {
        <div class="strip-note teacher">
            <span class="pos">{format!("{}:{}", note.place.line, note.place.column)}</span>
            <span>{ rich(&note.words, now, send) }{ for note.remedy.as_ref().map(|edit| remedy(edit, send)) }</span>
        </div>
    }
}

fn would_change(file: &File, now: At) -> Html {
    let Some(checked) = file.fresh() else {
        return html! { <div class="strip"><span class="label nowrap">{w("Would change")}</span></div> };
    };
    let refused = checked.problems.iter().any(|p| p.severity == Severity::Error);
    let words = match (checked.changes.first(), checked.applied) {
        _ if refused => html! { <span class="grow">{w("nothing: it would be refused")}</span> },
        (None, Some(at)) => {
            let ago = age_short(now.0.saturating_sub(at.0));
            html! { <span class="grow">{wf!("nothing: this is what you applied {} ago", ago)}</span> }
        }
        (None, None) => html! { <span class="grow">{w("nothing")}</span> },
        (Some(first), _) if objects(&checked.counts) < 2 => {
            html! { <>{ change(first) }{ more(checked.changes.len()) }</> }
        }
        _ => {
            let words = counted(&checked.counts);
            html! { <span class="grow cut" title={words.clone()}>{words}</span> }
        }
    };
    html! { <div class="strip"><span class="label nowrap">{w("Would change")}</span>{words}</div> }
}

/// How many objects would not stay as they are.
fn objects(counts: &Counts) -> u32 {
    counts.new + counts.changed + counts.unread
}

/// "300 new, 2 changed, 1 as it is".
fn counted(counts: &Counts) -> String {
    let same = if counts.same == 1 { n("{} as it is") } else { n("{} as they are") };
    let parts = [
        (counts.new, n("{} new")),
        (counts.changed, n("{} changed")),
        (counts.same, same),
        (counts.unread, n("{} not compared")),
    ];
    let words: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| fill(words, &[n])).collect();
    words.join(", ")
}

fn change(change: &WouldChange) -> Html {
    if change.field.is_empty() {
        let what = if change.after.is_some() { t("new:") } else { t("gone:") };
        return html! { <span class="grow diff cut">{what}{" "}<ins>{change.object.clone()}</ins></span> };
    }
    html! {
        <span class="grow diff cut" title={format!("{} {}", change.object, change.field)}>
            {format!("{} ", change.field)}
            { for change.before.as_ref().map(|b| html! { <><del>{b.clone()}</del>{" "}</> }) }
            { for change.after.as_ref().map(|a| html! { <ins>{a.clone()}</ins> }) }
            { for change.writer.as_ref().map(|w| html! { <span class="label">{format!(" {w}")}</span> }) }
        </span>
    }
}

fn more(n: usize) -> Html {
    if n < 2 {
        html! {}
    } else {
        html! { <span class="label nowrap">{wf!("and {} more", n - 1)}</span> }
    }
}

fn apply_bar(state: &State, front: &File, send: &Send) -> Html {
    let sending = state.waits_for(|c| matches!(c, Command::Apply { .. }));
    let past = state.frame.as_ref().is_some_and(|f| f.head.moment.step < f.head.last);
    let ready = state.health != Health::Gone && !state.ui.files.is_empty() && state.frame.is_some();
    let title = if past {
        t("Apply here, in the past: starts a new timeline; the old one is kept")
    } else {
        t("kubectl apply -f, with this file")
    };
    let open = state.ui.open == Some(Open::Break);
    let changed = front.origin.as_ref().is_some_and(|o| *o != front.text);
    html! {
        <div class="applybar">
            <button class="btn btn-solid" id="apply" aria-keyshortcuts="Control+Enter" title={title} aria-busy={sending.to_string()}
                disabled={!ready} onclick={on(send, Msg::File(FileMsg::Apply))}>
                {w("Apply")}<kbd aria-hidden="true">{ if past { t("new timeline") } else { t("Ctrl ⏎") } }</kbd>
            </button>
            <button class="btn" id="break-it" aria-haspopup="menu" aria-expanded={open.to_string()} style="height:32px" disabled={!ready}
                onclick={on(send, Msg::Open(Open::Break))}>{w("Break it")}{" "}<span aria-hidden="true">{"▾"}</span></button>
            <span class="grow" />
            <button class="btn btn-bare btn-s" disabled={!changed} onclick={on(send, Msg::File(FileMsg::Reset))}>{w("Reset file")}</button>
            if open {
                <BreakMenu items={state.breaks.clone()} file={front.name.clone()} undo={!front.before.is_empty()}
                    waiting={state.waits_for(|c| matches!(c, Command::BreakMenu { .. }))} />
            }
        </div>
    }
}

/// What the last Apply answered, unless it was that of another file.
fn answer(state: &State) -> Option<std::sync::Arc<ApplyOut>> {
    let out = state.frame.as_ref()?.head.apply.clone()?;
    let other = |(i, f): (usize, &File)| i != state.ui.front && out.line.ends_with(&format!(" {}", f.name));
    let others = state.ui.files.iter().enumerate().any(other);
    (!others).then_some(out)
}

fn apply_out(state: &State, send: &Send) -> Html {
    let Some(out) = answer(state) else {
        return html! {
            <div class="applyout" role="region" aria-label={t("Apply output")} tabindex="0">
                <span class="label" style="align-self:start">{w("kubectl’s answer comes here, with its exit code.")}</span>
            </div>
        };
    };
    let text: String = out.output.iter().map(|c| c.text.as_str()).collect();
    let go = out.place.map(|(line, column)| {
        html! { <button class="btn btn-s" onclick={on(send, Msg::File(FileMsg::Go(None, line, column)))}>{w("Go to line")}</button> }
    });
    html! {
        <div class="applyout" role="region" aria-label={t("Apply output")} tabindex="0">
            <pre><span class="cmd">{format!("$ {}\n", out.line)}</span>{text.trim_end().to_string()}</pre>
            <span class="applyend">
                { for go }
                { for out.exit.map(|code| html! { <span class="exit">{format!("exit {code}")}</span> }) }
            </span>
        </div>
    }
}

/// The two-column card after an exit 0, or what to do first.
fn ack(state: &State, now: At, send: &Send) -> Html {
    let out = answer(state);
    let list = |words: &[String]| words.iter().map(|w| html! { <li>{ws(w)}</li> }).collect::<Html>();
    match out {
        Some(out) if out.exit == Some(0) && !out.told.is_empty() => html! {
            <div class="ack ack-h teacher">
                <div><h3>{w("Exit 0 told you")}</h3><ul>{ list(&out.told) }</ul></div>
                <div class="not"><h3>{w("It did not tell you")}</h3><ul>{ list(&out.not_told) }</ul></div>
            </div>
        },
        Some(_) => html! { <div class="ack-h ack-empty teacher" /> },
        None if state.frame.as_ref().is_some_and(|f| f.head.apply.is_some()) => {
            html! { <div class="ack-h ack-empty teacher" /> }
        }
        None => html! {
            <div class="teacher strip-note ack-h" style="align-items:center"><span>{ rich(&state.loaded.opening, now, send) }</span></div>
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_change_is_counted_by_objects() {
        let counts = |new, changed, same, unread| Counts { new, changed, same, unread };
        assert_eq!(counted(&counts(300, 0, 0, 0)), "300 new");
        assert_eq!(counted(&counts(1, 2, 1, 4)), "1 new, 2 changed, 1 as it is, 4 not compared");
        assert_eq!(objects(&counts(0, 1, 9, 0)), 1);
    }
}
