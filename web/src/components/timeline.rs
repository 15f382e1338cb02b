//! Bottom, time: the controls, the sentence of the step, the clock, the score.

use std::rc::Rc;

use kubestep_protocol::*;
use yew::prelude::*;

use super::glyph::icon;
use super::menu::{Entry, Menu};
use super::moves::MovesMenu;
use super::score::ScoreBox;
use super::select::Select;
use super::steps::StepLog;
use super::tabs::when;
use crate::state::{Health, Msg, Open, Speed, State, TimeMsg};
use crate::store::{Send, on, use_send};
use crate::words::{said, t, tf, w, wf};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) state: Rc<State>,
}

/// The panel.
#[component]
pub(crate) fn TimePanel(props: &Props) -> Html {
    let send = use_send();
    let state = &props.state;
    let now = state.frame.as_ref().map_or(At(0), |f| f.head.now);
    html! {
        <section class="time" aria-label={t("Time")} id="time">
            <div class="controls" role="toolbar" aria-label={t("Time controls")}>
                { look_back(state, &send) }
                <span class="sep" />
                { move_on(state, &send) }
                <span class="sep" />
                { play(state, &send) }
                <div class="now">
                    <StepLog steps={state.steps.clone()} now={now} open={state.ui.open == Some(Open::Steps)} playing={state.playing} />
                    { clock(state) }
                </div>
            </div>
            { for state.frame.as_ref().map(|f| html! {
                <ScoreBox frame={f.clone()} limit={state.ui.prefs.limit} window={state.ui.window} />
            }) }
        </section>
    }
}

/// A control: disabled ones stay focusable and say why.
struct Control<'a> {
    /// Where the skip link leads.
    id: Option<&'static str>,
    name: &'static str,
    words: &'static str,
    key: &'static str,
    icon: Option<&'static str>,
    class: &'static str,
    /// Why it cannot be pressed.
    not: Option<&'static str>,
    msg: TimeMsg,
    send: &'a Send,
}

impl Control<'_> {
    fn draw(self) -> Html {
        let title = self.not.map_or(format!("{} ({})", t(self.name), self.key), |why| {
            format!("{}: {}", t(self.name), t(why))
        });
        let onclick =
            if self.not.is_none() { Some(on::<MouseEvent>(self.send, Msg::Time(self.msg))) } else { None };
        html! {
            <button class={classes!("btn", self.class)} id={self.id} aria-label={t(self.name)} aria-keyshortcuts={self.key} title={title}
                aria-disabled={self.not.is_some().then_some("true")} onclick={onclick}>{ for self.icon.map(icon) }{w(self.words)}</button>
        }
    }
}

/// Why nothing can be pressed yet.
fn not_yet(state: &State) -> Option<&'static str> {
    match (&state.frame, state.health) {
        (_, Health::Gone) => Some("the simulator does not run"),
        (None, _) => Some("the simulator is starting"),
        _ => None,
    }
}

fn look_back(state: &State, send: &Send) -> Html {
    let (step, last) = state.frame.as_ref().map_or((0, 0), |f| (f.head.moment.step, f.head.last));
    let back = not_yet(state).or((step == 0).then_some("this is the first step"));
    let forward = not_yet(state).or((step >= last).then_some("this is the last step so far"));
    html! {
        <span class="group" role="group" aria-label={t("Look at what has happened")}>
            { Control { id: None, name: "Back", words: "Back", key: "b", icon: Some("back"), class: "", not: back, msg: TimeMsg::Back, send }.draw() }
            { Control { id: None, name: "Forward", words: "Forward", key: "f", icon: Some("fwd"), class: "", not: forward, msg: TimeMsg::Forward, send }.draw() }
        </span>
    }
}

fn move_on(state: &State, send: &Send) -> Html {
    let not = not_yet(state);
    let control = |name, words, key, icon, class, msg| {
        let id = (name == "Step").then_some("time-step");
        Control { id, name, words, key, icon, class, not, msg, send }.draw()
    };
    html! {
        <span class="group" role="group" aria-label={t("Move on")}>
            { control("Step", "Step", "s", Some("step"), "b-main btn-main", TimeMsg::Step) }
            { control("Reconcile", "Reconcile", "r", Some("rec"), "b-main", TimeMsg::Reconcile) }
            { control("Run until calm", "Until calm", "c", Some("calm"), "b-main", TimeMsg::Calm) }
            { control("+10 s", "+10 s", "1", None, "", TimeMsg::Advance(10_000)) }
            { control("+1 min", "+1 min", "2", None, "", TimeMsg::Advance(60_000)) }
        </span>
    }
}

const SPEEDS: &[u32] = &[1, 10, 60, 600];

fn play(state: &State, send: &Send) -> Html {
    let running = state.running();
    let onchange = {
        let send = send.clone();
        Callback::from(move |value: String| {
            if let Ok(speed) = value.parse() {
                send.emit(Msg::Time(TimeMsg::Speed(Speed(speed))));
            }
        })
    };
    let option = |s: &u32| html! { <option value={s.to_string()} selected={Speed(*s) == state.ui.prefs.speed}>{format!("{s}×")}</option> };
    let until = state.ui.open == Some(Open::Until);
    let moves = state.ui.open == Some(Open::Moves);
    let not = not_yet(state);
    html! {
        <span class="group">
            <button class="btn b-play" aria-label={t("Play")} aria-pressed={running.to_string()} aria-keyshortcuts="p" title={t(not.unwrap_or("Play, pause (p)"))}
                aria-disabled={not.is_some().then_some("true")} onclick={on(send, Msg::Time(TimeMsg::Play))}>
                { icon(if running { "pause" } else { "play" }) }{ if running { t("Pause") } else { t("Play") } }</button>
            <Select name={t("Speed")} value={state.ui.prefs.speed.0.to_string()} onchange={onchange}>{ for SPEEDS.iter().map(option) }</Select>
            <span class="anchor up extra wide">
                <button class="btn btn-bare" id="open-until" aria-haspopup="menu" aria-expanded={until.to_string()} disabled={not.is_some()}
                    onclick={on(send, Msg::Open(Open::Until))}>{w("Until…")}</button>
                if until && !state.ui.is_phone() { { until_menu(state) } }
            </span>
            <span class="anchor up extra wide">
                <button class="btn btn-bare" id="open-moves" aria-haspopup="menu" aria-expanded={moves.to_string()} disabled={not.is_some()}
                    title={t("Who moves next: choose")} onclick={on(send, Msg::Open(Open::Moves))}>{w("Who…")}</button>
                if moves && !state.ui.is_phone() { { moves_menu(state) } }
            </span>
        </span>
    }
}

/// *Who moves next*.
pub(crate) fn moves_menu(state: &State) -> Html {
    let waiting = state.waits_for(|c| matches!(c, Command::Moves));
    let now = state.frame.as_ref().map_or(At(0), |f| f.head.now);
    html! { <MovesMenu moves={state.moves.clone()} now={now} waiting={waiting} /> }
}

/// *Run until*.
pub(crate) fn until_menu(state: &State) -> Html {
    let until = |u: Until| Msg::Time(TimeMsg::Until(u));
    let mut entries = vec![
        Entry::of("someone speaks about this gap", "", until(Until::Spoken)),
        Entry::of("a gap is older than my limit", "", until(Until::PastLimit)),
    ];
    if let Some(object) = state.ui.selected.clone() {
        let words = tf!("{} {} changes", object.kind, object.name);
        entries.push(Entry::of(words, "", until(Until::Changes(object))));
    }
    let loops = state.frame.iter().flat_map(|f| &f.loops);
    entries.extend(loops.map(|l| {
        Entry::of(
            tf!("{} moves", format!("{} {}", said(&l.name), l.detail).trim()),
            "",
            until(Until::Moves(l.id)),
        )
    }));
    entries.push(Entry::of(
        "one step inside",
        "a delivery, a thought or a request",
        Msg::Time(TimeMsg::StepInside),
    ));
    html! { <Menu name={t("Run until")} key_name="until" small={t("stops at the first that comes true")} entries={entries} /> }
}

fn clock(state: &State) -> Html {
    let Some(frame) = &state.frame else { return html! {} };
    let head = &frame.head;
    let time = if head.now >= head.zero { age(head.now.0 - head.zero.0) } else { when(head.now, head.zero) };
    let past = if head.moment.step < head.last { format!(" · {}", t("in the past")) } else { String::new() };
    html! {
        <div class="clock"><b>{time}</b><span class="label">{wf!("step {} of {}", head.moment.step, head.last)}{past}</span></div>
    }
}
