//! The score, drawn at 1 : 1 for its width, and the slider over it.

use std::rc::Rc;

use kubestep_protocol::*;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::glyph::{px, who_at, who_key};
use super::marks::Pen;
use crate::browser;
use crate::score_plan::{self, Score, Shape};
use crate::state::{Msg, TimeMsg};
use crate::store::{Send, on, use_send};
use crate::words::{fill, n, t, tf, w, wf, ws};

#[derive(Properties, PartialEq)]
pub(crate) struct Props {
    pub(crate) frame: Rc<Frame>,
    pub(crate) limit: u64,
    pub(crate) window: (u32, u32),
}

/// The lanes that are always there, so that none has to be put in between.
const LANES: &[(Who, &str)] = &[
    (Who::Person, "you"),
    (Who::Api, "api server"),
    (Who::Deployment, "deployment"),
    (Who::ReplicaSet, "replicaset"),
    (Who::Scheduler, "scheduler"),
    (Who::Kubelet, "kubelet"),
    (Who::EndpointSlice, "endpointslice"),
];
/// So many more have room below them.
const MORE_LANES: usize = 1;
/// How much room the list of timelines needs, in pixels.
const LIST: f64 = 300.0;
/// The API server's place in it.
const API: usize = 1;

/// The score and its slider.
#[component]
pub(crate) fn ScoreBox(props: &Props) -> Html {
    let send = use_send();
    let frame = &props.frame;
    let (width, height) = props.window;
    let full = width >= 1240 && height > 840;
    let inner = f64::from(width.max(320)) - 24.0;
    let shape = if full { Shape::full(inner) } else { Shape::small(inner) };
    let (lanes, map) = lanes(&frame.timeline);
    let score = Rc::new(score_plan::plan(&frame.timeline, &frame.head, props.limit, shape, &map, API));
    let high = if full { 148.0 } else { 50.0 };
    let past = frame.head.moment.step < frame.head.last;
    html! {
        <div class="score-box">
            <div class="score-wrap" style={format!("height:{high}px")}>
                <svg class="score" width={px(inner)} height={px(high)} viewBox={format!("0 0 {inner:.0} {high:.0}")} role="img" aria-label={words(frame)}>
                    { for full.then(|| branch_line(frame, &score)) }
                    { drawn(&score, shape, &lanes, props.limit) }
                </svg>
                <i class={classes!("playhead", past.then_some("is-past"))} style={format!("--x:{:.1}px", score.now)} />
                { branch_list(frame, &score, full, &send) }
                { slider(frame, score, &send) }
            </div>
        </div>
    }
}

/// The drawn lanes, and in which of them each lane of the engine is. More lanes than there is room for share the last;
/// that time has passed is nobody's act and has none.
fn lanes(timeline: &Timeline) -> (Vec<(Who, String)>, Vec<usize>) {
    let mut lanes: Vec<(Who, String)> = LANES.iter().map(|(w, n)| (*w, n.to_string())).collect();
    let is_time = |l: &Lane| l.who == Who::Other && l.name == "time";
    let known = |lanes: &[(Who, String)], l: &Lane| {
        lanes.iter().position(|(w, n)| *w == l.who && (l.who != Who::Other || *n == l.name))
    };
    let more: Vec<&Lane> =
        timeline.lanes.iter().filter(|l| !is_time(l) && known(&lanes, l).is_none()).collect();
    if more.len() > MORE_LANES {
        lanes.push((Who::Other, "other loops".into()));
    } else {
        for lane in more {
            if known(&lanes, lane).is_none() {
                lanes.push((lane.who, lane.name.clone()));
            }
        }
    }
    let last = lanes.len() - 1;
    let place = |l: &Lane| if is_time(l) { usize::MAX } else { known(&lanes, l).unwrap_or(last) };
    let map = timeline.lanes.iter().map(place).collect();
    (lanes, map)
}

fn words(frame: &Frame) -> String {
    let marks = frame.timeline.marks.iter().filter(|m| m.at >= frame.head.zero).count();
    let gap = match frame.timeline.gaps.last().and_then(|g| g.opened) {
        Some(at) => tf!("a gap is open for {}", age(frame.head.now.0.saturating_sub(at.0))),
        None => t("no gap is open").into(),
    };
    tf!("Score of {} steps; {}.", marks, gap)
}

fn drawn(score: &Score, shape: Shape, lanes: &[(Who, String)], limit: u64) -> Html {
    let gap = if shape.lanes { (82.0 / lanes.len() as f64).min(11.8) } else { 0.0 };
    let y = |lane: usize| if shape.lanes { 19.0 + gap * lane as f64 } else { 9.0 };
    let right = shape.width - 6.0;
    let line = |i: usize| html! { <line class="lane" x1={px(shape.left)} x2={px(right)} y1={px(y(i))} y2={px(y(i))} /> };
    let size = if shape.lanes { 9.0 } else { 8.0 };
    let count = if shape.lanes { lanes.len() } else { 1 };
    let names = lanes.iter().enumerate().filter(|_| shape.lanes).map(|(i, (w, name))| {
        html! { <>{ who_at(*w, 13.0, y(i), 10.0) }<text class="lbl" x="24" y={px(y(i) + 3.8)}>{ws(name)}</text></> }
    });
    let hush = score.hush.iter().filter(|_| shape.lanes).map(|(a, b)| {
        html! { <line class="hush" x1={px(*a)} x2={px(*b)} y1={px(y(2))} y2={px(y(2))} /> }
    });
    html! {
        <>
        { for (0..count).map(line) }
        { for names }
        { for hush }
        { wedge(score, shape, limit) }
        { for marks(score, lanes, size, y) }
        { for score.labels.iter().map(|(x, words, strong)| html! {
            <text x={px(*x)} y={px(shape.base + 11.0)} text-anchor="middle" class={if *strong { "strong" } else { "mute" }}>{words.clone()}</text>
        }) }
        </>
    }
}

/// One path for the marks of each lane.
fn marks(
    score: &Score,
    lanes: &[(Who, String)],
    size: f64,
    y: impl Fn(usize) -> f64,
) -> impl Iterator<Item = Html> {
    let mut paths: Vec<(Pen, String)> =
        lanes.iter().map(|(who, _)| (Pen::new(*who, size), String::new())).collect();
    for (x, lane) in &score.marks {
        if let Some((pen, path)) = paths.get_mut(*lane) {
            pen.draw(path, *x, y(*lane));
        }
    }
    let keys: Vec<&'static str> = lanes.iter().map(|(who, _)| who_key(*who)).collect();
    keys.into_iter().zip(paths).filter(|(_, (_, path))| !path.is_empty()).map(|(key, (_, path))| {
        html! { <path class="marks" data-who={key} d={path} /> }
    })
}

/// The age of the oldest gap, the person's limit, deadlines.
fn wedge(score: &Score, shape: Shape, limit: u64) -> Html {
    let top = |ms: u64| shape.base - (score.rise * ms as f64).min(shape.wedge_height);
    let threshold = top(limit);
    let path = |points: &[(f64, u64)], floor: f64| {
        let mut d = String::new();
        for (i, (x, ms)) in points.iter().enumerate() {
            d.push_str(&format!("{}{x:.1} {:.1}", if i == 0 { "M" } else { "L" }, top(*ms).min(floor)));
        }
        d
    };
    let right = shape.width - 6.0;
    let over: Vec<Vec<(f64, u64)>> = over(&score.wedge, limit);
    html! {
        <>
        if !score.wedge.is_empty() { <path class="wedge" d={path(&score.wedge, shape.base)} /> }
        { for over.iter().map(|points| {
            let (first, last) = (points.first().map_or(0.0, |p| p.0), points.last().map_or(0.0, |p| p.0));
            html! { <>
                <path d={format!("{}L{last:.1} {threshold:.1}L{first:.1} {threshold:.1}Z", path(points, threshold))} fill="url(#over)" />
                <path class="wedge-over" fill="none" d={path(points, threshold)} />
            </> }
        }) }
        <line class="thr" x1={px(shape.left)} x2={px(right)} y1={px(threshold)} y2={px(threshold)} />
        if shape.lanes {
            <text class="strong" x="24" y="125.3">{w("age of the gap")}</text>
            <text x="128" y={px(threshold + 4.0)} text-anchor="end">{age_short(limit)}</text>
        }
        { for score.flags.iter().map(|(x, name)| flag(*x, name, shape)) }
        </>
    }
}

/// The parts of the wedge past the limit.
fn over(wedge: &[(f64, u64)], limit: u64) -> Vec<Vec<(f64, u64)>> {
    let mut parts: Vec<Vec<(f64, u64)>> = Vec::new();
    let mut open = false;
    for pair in wedge.windows(2) {
        let ((xa, a), (xb, b)) = (pair[0], pair[1]);
        if a < limit && b >= limit {
            let part = (limit - a) as f64 / (b - a).max(1) as f64;
            parts.push(vec![(xa + (xb - xa) * part, limit), (xb, b)]);
            open = true;
        } else if a >= limit && b >= limit {
            match parts.last_mut().filter(|_| open) {
                Some(last) => last.push((xb, b)),
                None => parts.push(vec![(xa, a), (xb, b)]),
            }
            open = true;
        } else {
            open = false;
        }
    }
    parts
}

fn flag(x: f64, name: &str, shape: Shape) -> Html {
    let top = shape.base - if shape.lanes { 33.4 } else { 21.0 };
    html! {
        <>
        <line x1={px(x)} x2={px(x)} y1={px(top)} y2={px(shape.base)} stroke="var(--ink)" stroke-width="1.5" />
        <path class="flag" d={format!("M{x:.1} {top:.1}h9l-2.5 3 2.5 3h-9z")} />
        if shape.lanes { <text class="strong" x={px(x - 6.0)} y={px(top + 11.0)} text-anchor="end">{ws(name)}</text> }
        </>
    }
}

/// Earlier timelines: a dashed line that leaves the score where they part. The newest is drawn; all are in the list.
fn branch_line(frame: &Frame, score: &Score) -> Html {
    let Some(branch) = frame.timeline.branches.last() else { return html! {} };
    let from = branch_x(branch, score);
    html! { <path class="branch" d={format!("M{from:.1} 54 L{:.1} 6 H{:.1}", from + 9.0, from + 100.0)} /> }
}

fn branch_x(branch: &Branch, score: &Score) -> f64 {
    score.x.get(branch.from.step as usize).copied().unwrap_or(132.0).max(132.0)
}

/// The buttons that go over to another timeline.
fn branch_list(frame: &Frame, score: &Score, full: bool, send: &Send) -> Html {
    let branches = &frame.timeline.branches;
    let Some(newest) = branches.last() else { return html! {} };
    let place = list_place(branch_x(newest, score), score.room, full);
    let one = |b: &Branch| {
        let which = if b.id < frame.head.moment.branch {
            n("earlier timeline{}, {} steps")
        } else {
            n("other timeline{}, {} steps")
        };
        let name = if b.name.is_empty() { String::new() } else { format!(": {}", b.name) };
        let words = fill(which, &[&name, &b.steps]);
        html! { <button class="link label cut" title={tf!("{}: go to it ([ and ])", words)} onclick={on(send, Msg::Time(TimeMsg::Branch(b.id)))}>{words.clone()}</button> }
    };
    let rest = branches.len().saturating_sub(3);
    html! {
        <div class="branches" style={place}>
            { for branches.iter().rev().take(3).map(one) }
            if rest > 0 { <span class="label">{wf!("and {} more", rest)}</span> }
        </div>
    }
}

/// Behind the line that leaves the score; where it parts too far at the right for the names, before it.
fn list_place(parts: f64, room: f64, full: bool) -> String {
    match full {
        false => "left:40px".into(),
        true if parts + 104.0 + LIST <= room => format!("left:{:.0}px", parts + 104.0),
        true => format!("left:132px;right:{:.0}px;justify-content:flex-end", (room - parts + 8.0).max(0.0)),
    }
}

/// The slider: keys move by steps; the pointer goes to the step under it, which folding has moved.
fn slider(frame: &Frame, score: Rc<Score>, send: &Send) -> Html {
    let head = &frame.head;
    let time = age(head.now.0.saturating_sub(head.zero.0));
    let gap = match head.verdict.opened {
        Some(at) => tf!("gap open for {}", age(head.now.0.saturating_sub(at.0))),
        None => t("no gap").into(),
    };
    let under = {
        let score = score.clone();
        move |e: &PointerEvent| {
            let wrap = browser::closest(e, ".score-wrap");
            let left = wrap.map_or(0.0, |w| w.get_bounding_client_rect().left());
            score.step_at(f64::from(e.client_x()) - left)
        }
    };
    let emit = |send: &Send, msg: TimeMsg| send.emit(Msg::Time(msg));
    let down = {
        let (send, under) = (send.clone(), under.clone());
        Callback::from(move |e: PointerEvent| {
            e.prevent_default();
            if let Some(input) = e.target_dyn_into::<HtmlInputElement>() {
                input.focus().ok();
                input.set_pointer_capture(e.pointer_id()).ok();
            }
            emit(&send, TimeMsg::Drag(under(&e)));
        })
    };
    let drag = {
        let (send, under) = (send.clone(), under.clone());
        Callback::from(move |e: PointerEvent| {
            if e.buttons() & 1 == 1 {
                emit(&send, TimeMsg::Drag(under(&e)));
            }
        })
    };
    let up = {
        let send = send.clone();
        Callback::from(move |e: PointerEvent| emit(&send, TimeMsg::Seek(under(&e))))
    };
    let oninput = {
        let send = send.clone();
        Callback::from(move |e: InputEvent| {
            let step = e.target_dyn_into::<HtmlInputElement>().and_then(|i| i.value().parse().ok());
            if let Some(step) = step {
                emit(&send, TimeMsg::Seek(step));
            }
        })
    };
    html! {
        <input type="range" aria-label={t("Timeline")} min="0" max={head.last.to_string()} step="1" value={head.moment.step.to_string()}
            aria-valuetext={tf!("Step {} of {}, {}, {}", head.moment.step, head.last, time, gap)}
            onpointerdown={down} onpointermove={drag} onpointerup={up} oninput={oninput} />
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_timelines_stand_where_there_is_room() {
        assert_eq!(list_place(200.0, 1400.0, true), "left:304px");
        assert_eq!(list_place(1100.0, 1400.0, true), "left:132px;right:308px;justify-content:flex-end");
        assert_eq!(list_place(1100.0, 900.0, false), "left:40px");
    }
}
