//! Who spoke, and when: a lane for each who could; dots are silence.

use kubestep_protocol::{At, Speaker, Speech, age, age_short};
use yew::prelude::*;

use super::glyph::{px, who_at};
use crate::words::{said, tf, w, wf, ws};

const LEFT: f64 = 88.0;
const RIGHT: f64 = 262.0;

/// The lanes.
pub(crate) fn lanes(speech: &Speech, now: At, deadline: Option<At>) -> Html {
    let span = now.0.saturating_sub(speech.from.0).max(1);
    let reach = deadline.map_or(0, |d| d.0.saturating_sub(speech.from.0)).max(span);
    let x =
        |at: At| LEFT + (RIGHT - LEFT) * at.0.saturating_sub(speech.from.0).min(reach) as f64 / reach as f64;
    let height = 14.0 + 21.0 * speech.lanes.len() as f64;
    let now_x = x(now);
    let tick = |part: u64| {
        let ms = reach * part / 2;
        let here = x(At(speech.from.0 + ms));
        let words = if part == 0 { "0".to_string() } else { age_short(ms) };
        let free = (here - now_x).abs() > 22.0;
        html! {
            <><line x1={px(here)} x2={px(here)} y1="14" y2={px(height)} style="stroke:var(--line)" />
            if free { <text class="mute" x={px(here)} y="10" text-anchor="middle">{words}</text> }</>
        }
    };
    let label: Vec<String> =
        speech.lanes.iter().map(|l| format!("{} {}", said(&l.name), said(&l.words))).collect();
    html! {
        <svg class="speech" viewBox={format!("0 0 372 {:.0}", height + 18.0)} role="img" aria-label={tf!("Who spoke, and when. {}.", label.join("; "))}>
            { for (0..3).map(tick) }
            <line x1={px(now_x)} x2={px(now_x)} y1="14" y2={px(height)} style="stroke:var(--ink)" stroke-width="1.5" />
            <text class="strong" x={px(now_x)} y="10" text-anchor="middle">{w("now")}</text>
            { for speech.lanes.iter().enumerate().map(|(i, l)| lane(l, speech.from, 25.0 + 21.0 * i as f64, now, &x)) }
            <text class="mute" x="88" y={px(height + 15.0)}>{w("a mark = it spoke   ····  = silence")}</text>
        </svg>
    }
}

fn lane(speaker: &Speaker, from: At, y: f64, now: At, x: &impl Fn(At) -> f64) -> Html {
    // What has ended is silent for no reason of its own.
    let end = if speaker.ended { speaker.spoke.last().copied().unwrap_or(from) } else { now };
    let ends = speaker.spoke.iter().copied().chain([end]);
    let starts = [LEFT].into_iter().chain(speaker.spoke.iter().map(|a| x(*a) + 8.0));
    let gaps: Vec<(f64, f64)> = starts.zip(ends.map(|a| x(a) - 4.0)).collect();
    let dots = gaps.iter().filter(|(a, b)| b - a > 6.0).map(|(a, b)| {
        html! { <line x1={px(*a)} x2={px(*b)} y1={px(y)} y2={px(y)} style="stroke:var(--silence)" stroke-width="2" stroke-dasharray="0.1 5" stroke-linecap="round" /> }
    });
    html! {
        <>
        <text class="lane" x="0" y={px(y + 4.0)}>{ws(&speaker.name)}</text>
        { for dots }
        { for speaker.spoke.iter().map(|a| who_at(speaker.who, x(*a), y, 10.0)) }
        { for silence(speaker, from, y, now, x) }
        <text class={if speaker.helps { "strong" } else { "mute" }} x="272" y={px(y + 4.0)}>{ws(&speaker.words)}</text>
        </>
    }
}

/// The longest silence of one who could have spoken: before its first word, between two, or up to now.
fn longest(speaker: &Speaker, since: At, now: At) -> Option<(At, At)> {
    if speaker.ended {
        return None;
    }
    let starts = [since].into_iter().chain(speaker.spoke.iter().copied());
    let ends = speaker.spoke.iter().copied().chain([now]);
    starts.zip(ends).max_by_key(|(a, b)| b.0.saturating_sub(a.0))
}

/// The longest silence, with its length.
fn silence(speaker: &Speaker, since: At, y: f64, now: At, x: &impl Fn(At) -> f64) -> Option<Html> {
    let (from, to) = longest(speaker, since, now)?;
    let (a, b) = (x(from), x(to));
    if b - a < 96.0 {
        return None;
    }
    let middle = (a + b) / 2.0;
    Some(html! {
        <><rect x={px(middle - 40.0)} y={px(y - 8.0)} width="80" height="15" rx="3" style="fill:var(--panel)" />
        <text class="strong" x={px(middle)} y={px(y + 4.0)} text-anchor="middle">{wf!("silent {}", age(to.0.saturating_sub(from.0)))}</text></>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_protocol::Who;

    #[test]
    fn silence_counts_from_the_opening_of_the_gap() {
        let speaker = |spoke: &[u64], ended: bool| Speaker {
            name: String::new(),
            who: Who::Deployment,
            spoke: spoke.iter().map(|s| At(*s)).collect(),
            words: String::new(),
            helps: true,
            ended,
        };
        let of = |spoke: &[u64], ended| {
            longest(&speaker(spoke, ended), At(0), At(724_000)).map(|(a, b)| age(b.0 - a.0))
        };
        assert_eq!(of(&[601_000], false).as_deref(), Some("10m 01s"));
        assert_eq!(of(&[], false).as_deref(), Some("12m 04s"));
        assert_eq!(of(&[1_000, 2_000], false).as_deref(), Some("12m 02s"));
        assert_eq!(of(&[1_000], true), None);
    }
}
