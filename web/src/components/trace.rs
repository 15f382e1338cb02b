//! The trace: what was asked for as a line, what there was as what fills it, and the gap between the two.

use kubestep_protocol::{At, TracePoint};
use yew::prelude::*;

use super::glyph::px;
use super::tabs::when;
use crate::words::{t, tf};

const LEFT: f64 = 20.0;
const RIGHT: f64 = 262.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 60.0;
/// Two lines of text lie so far apart.
const LINE: f64 = 14.0;
/// So many changes are told, the latest.
const TOLD: usize = 6;

/// Where the figure's numbers lie on the paper.
struct Scale {
    from: u64,
    now: u64,
    most: u32,
}

impl Scale {
    fn of(trace: &[TracePoint], now: At) -> Self {
        let most = trace.iter().map(|p| p.desired.max(p.observed)).max().unwrap_or(0).max(1);
        Scale { from: trace.first().map_or(now.0, |p| p.at.0), now: now.0, most }
    }
    fn x(&self, at: At) -> f64 {
        let span = self.now.saturating_sub(self.from).max(1);
        let done = at.0.saturating_sub(self.from).min(span);
        LEFT + (RIGHT - LEFT) * done as f64 / span as f64
    }
    fn y(&self, n: u32) -> f64 {
        BOTTOM - (BOTTOM - TOP) * f64::from(n) / f64::from(self.most)
    }
    /// A line in steps: each value holds until the next.
    fn steps(&self, trace: &[TracePoint], value: fn(&TracePoint) -> u32) -> String {
        let mut path = format!("M{LEFT} {}", px(self.y(trace.first().map_or(0, value))));
        for point in trace {
            path += &format!("H{}V{}", px(self.x(point.at)), px(self.y(value(point))));
        }
        format!("{path}H{RIGHT}")
    }
}

/// The figure, with its words, as the text of a drawing: it holds numbers and the page's own words only.
pub(crate) fn figure(trace: &[TracePoint], opened: Option<At>, now: At, zero: At) -> Html {
    // What was there once and for all needs no figure; a gap that never got smaller does.
    let tells = |p: &&TracePoint| trace.len() > 1 || (p.desired != p.observed && now.0 > p.at.0);
    let Some(last) = trace.last().filter(tells) else { return Html::default() };
    let scale = Scale::of(trace, now);
    let desired = scale.steps(trace, |p| p.desired);
    let observed = scale.steps(trace, |p| p.observed);
    // Each of the two words stands at its line; where these are close, the upper one is that of the larger number.
    let (want, have) = (scale.y(last.desired), scale.y(last.observed));
    let apart = ((LINE - (want - have).abs()) / 2.0).max(0.0);
    let apart = if want > have { -apart } else { apart };
    let (want, have) = (px(want - apart + 4.0), px(have + apart + 4.0));
    let wants = tf!("desired {}", last.desired);
    let has = tf!("observed {}", last.observed);
    let mut label = format!("{wants}, {has}");
    let mut since = String::new();
    if let Some(at) = opened {
        let (words, x) = (tf!("since {}", when(at, zero)), scale.x(at));
        let (anchor, x) = (if x > 150.0 { "end" } else { "start" }, px(x));
        label = format!("{label}, {words}");
        since = format!(
            r#"<path class="since" d="M{x} 8V64"/><text class="seen" x="{x}" y="76" text-anchor="{anchor}">{words}</text>"#
        );
    }
    label = format!("{label}. {}", tf!("Observed of desired until now: {}.", told(trace, zero)));
    let most = scale.most;
    let (state, now) = (if opened.is_some() { "open" } else { "" }, t("now"));
    let title = t("Desired and observed, over time");
    let drawing = format!(
        r#"<section><h3>{title}</h3><svg class="speech trace {state}" viewBox="0 0 372 80" role="img" aria-label="{label}"><path class="lack" d="{desired}V60H20Z"/><path class="has" d="{observed}V60H20Z"/><path class="want" d="{desired}"/><text class="mute" x="14" y="20" text-anchor="end">{most}</text><text class="mute" x="14" y="64" text-anchor="end">0</text><text class="strong" x="272" y="{want}">{wants}</text><text class="seen" x="272" y="{have}">{has}</text>{since}<text class="mute" x="272" y="76">{now}</text></svg></section>"#
    );
    Html::from_html_unchecked(drawing.into())
}

/// The same in words: "0:03 0/3, 0:12 3/3".
fn told(trace: &[TracePoint], zero: At) -> String {
    let mut words = String::new();
    for p in &trace[trace.len().saturating_sub(TOLD)..] {
        let comma = if words.is_empty() { "" } else { ", " };
        words += &format!("{comma}{} {}/{}", when(p.at, zero), p.observed, p.desired);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: u64, desired: u32, observed: u32) -> TracePoint {
        TracePoint { at: At(at), desired, observed }
    }

    #[test]
    fn each_value_holds_until_the_next() {
        let trace = [point(0, 2, 0), point(50_000, 2, 1), point(100_000, 4, 1)];
        let scale = Scale::of(&trace, At(200_000));
        assert_eq!((scale.most, scale.x(At(0)), scale.x(At(200_000))), (4, LEFT, RIGHT));
        assert_eq!((scale.y(0), scale.y(4)), (BOTTOM, TOP));
        assert_eq!(scale.steps(&trace, |p| p.observed), "M20 60.0H20.0V60.0H80.5V49.0H141.0V49.0H262");
        assert_eq!(scale.steps(&trace, |p| p.desired), "M20 38.0H20.0V38.0H80.5V38.0H141.0V16.0H262");
        assert_eq!(told(&trace, At(50_000)), "−50s 0/2, 0:00 1/2, 0:50 1/4");
    }
}
