//! The gap: slots (a mould and what fills it), the ring (age against the person's limit), the pair of cards and the ruler.

use kubestep_protocol::{At, Details, Fact, Gap, Pair, Slots, age, age_short};
use yew::prelude::*;

use super::glyph::px;
use crate::words::{t, tf, w, ws};

/// How many boxes a slot bar may have before it becomes a bar with a number.
const BOXES: u32 = 4;

/// The slot bar.
pub(crate) fn slots(slots: Slots) -> Html {
    let total = slots.full + slots.old + slots.gap + slots.extra;
    if total > BOXES {
        let part = |n: u32| format!("width:{:.1}%", 100.0 * f64::from(n) / f64::from(total.max(1)));
        return html! {
            <span class="slots slotbar" aria-hidden="true">
                <i class="full" style={part(slots.full)} /><i class="old" style={part(slots.old)} /><i class="gap" style={part(slots.gap)} />
            </span>
        };
    }
    let of = |n: u32, class: &'static str| (0..n).map(move |_| html! { <i class={class} /> });
    html! {
        <span class="slots" aria-hidden="true">
            { for of(slots.full, "full") }{ for of(slots.old, "old") }{ for of(slots.gap, "") }{ for of(slots.extra, "half") }
        </span>
    }
}

/// The ring with its age in words: none, under the limit, past it.
pub(crate) fn ring(gap: Option<&Gap>, now: At, limit: u64) -> Html {
    let Some(gap) = gap else {
        return html! { <span class="age" data-none="">{ circle("100 100".into()) }<span class="vh">{w("gap")}{" "}</span>{w("none")}</span> };
    };
    let open = now.0.saturating_sub(gap.opened.0);
    let over = open >= limit;
    let part = 100.0 * open as f64 / limit.max(1) as f64;
    let dash = if over { "11.2 5.467".to_string() } else { format!("{part:.1} 100") };
    html! { <span class="age" data-over={over.then_some("")}>{ circle(dash) }<span class="vh">{w("gap open for")}{" "}</span>{age_short(open)}</span> }
}

fn circle(dash: String) -> Html {
    html! {
        <svg class="ring" viewBox="0 0 16 16" aria-hidden="true">
            <circle class="track" cx="8" cy="8" r="6" />
            <circle class="arc" cx="8" cy="8" r="6" pathLength="100" stroke-dasharray={dash} />
        </svg>
    }
}

/// spec beside status, and the age in full with its ruler.
pub(crate) fn gap_card(details: &Details, now: At, limit: u64) -> Html {
    html! {
        <div class="gapcard">
            { for details.pair.as_ref().map(pair) }
            <div>{ hero(details.gap.as_ref(), now, limit) }{ ruler(details, now, limit) }</div>
        </div>
    }
}

fn pair(pair: &Pair) -> Html {
    let closed = !pair.status.iter().any(|f| f.gap);
    let fact = |f: &Fact| {
        html! { <><dt>{f.name.clone()}</dt><dd class={classes!(f.gap.then_some("bad"))} title={f.value.clone()}>{ws(&f.value)}</dd></> }
    };
    html! {
        <div class="pair" data-closed={closed.then_some("")}>
            <div class="want"><h3><b>{"spec"}</b>{" "}{w("you write")}</h3><dl>{ for pair.spec.iter().map(fact) }</dl></div>
            <div class="between"><span aria-hidden="true">{"⟵ ⟶"}</span><span>{ws(&pair.between)}</span></div>
            <div class="has"><h3><b>{"status"}</b>{" "}{w("loops write")}</h3><dl>{ for pair.status.iter().map(fact) }</dl></div>
        </div>
    }
}

fn hero(gap: Option<&Gap>, now: At, limit: u64) -> Html {
    let Some(gap) = gap else {
        return html! {
            <div class="hero"><span class="big none">{w("no gap")}</span><span class="of">{w("spec and status agree")}</span></div>
        };
    };
    let open = now.0.saturating_sub(gap.opened.0);
    let words = match open.checked_sub(limit) {
        Some(past) => tf!("the gap is open: {} past your limit", age_short(past)),
        // Rounded up: what is left is at least this long.
        None => {
            tf!("the gap is open: {} to your limit", age_short((limit - open).div_ceil(1000) * 1000 + 59_000))
        }
    };
    html! {
        <div class="hero" data-under={(open < limit).then_some("")}>
            <span class="big">{age(open)}</span><span class="of">{words}</span>
        </div>
    }
}

/// The whole age on one line, with the person's limit and the object's own deadline.
fn ruler(details: &Details, now: At, limit: u64) -> Html {
    let open = details.gap.as_ref().map(|g| now.0.saturating_sub(g.opened.0));
    let deadline = details.gap.as_ref().and_then(|g| g.deadline).or(details.deadline);
    let reach = [open.unwrap_or(0) * 11 / 10, limit * 3 / 2, deadline.unwrap_or(0) * 5 / 4]
        .into_iter()
        .max()
        .unwrap_or(1);
    let unit = nice(reach);
    let most = reach.div_ceil(unit) * unit;
    let x = |ms: u64| 4.0 + 364.0 * ms as f64 / most as f64;
    let label = match (open, deadline) {
        (Some(open), Some(d)) => {
            tf!("The gap is {} old. Your limit is {}, the deadline is at {}.", age(open), age(limit), age(d))
        }
        (Some(open), None) => tf!("The gap is {} old. Your limit is {}.", age(open), age(limit)),
        (None, Some(d)) => tf!("No gap. Your limit is {}, the deadline {}.", age(limit), age(d)),
        (None, None) => tf!("No gap. Your limit is {}.", age(limit)),
    };
    // A tick makes room for "now".
    let now_at = open.map(|open| x(open).clamp(13.0, 359.0));
    let free = |i: &u64| now_at.is_none_or(|n| (x(i * unit) - n).abs() > 34.0);
    let ticks = (0..=most / unit).filter(free).map(|i| {
        let anchor = if i == 0 { "start" } else if i == most / unit { "end" } else { "middle" };
        html! { <text class="mute" x={px(x(i * unit))} y="50" text-anchor={anchor}>{age_short(i * unit)}</text> }
    });
    let mark = |words: &'static str, ms: u64, far: f64| Mark {
        x: x(ms),
        far,
        wide: 6.0 * (t(words).chars().count() + 1 + age(ms).chars().count()) as f64,
    };
    let limit_mark = mark("your limit", limit, 8.0);
    let (limit_end, deadline_end, above) =
        beside(&limit_mark, deadline.map(|d| mark("its deadline", d, 12.0)).as_ref());
    let limit_at = limit_mark.from(limit_end);
    let limit_anchor = if limit_end { "end" } else { "start" };
    // Where both have no room in one line, the limit's words stand in one above.
    let limit_y = if above { "0" } else { "14" };
    let view = if above { "0 -14 372 66" } else { "0 0 372 52" };
    html! {
        <svg class="ruler" viewBox={view} role="img" aria-label={label}>
            <rect x="4" y="24" width="364" height="12" rx="3" style="fill:var(--sunk);stroke:var(--line-2)" />
            { for open.map(|open| filled(open, limit, &x)) }
            <path d={format!("M{:.1} 20V40", x(limit))} style="stroke:var(--ink)" stroke-width="2" />
            <circle cx={px(x(limit))} cy="17" r="4" style="fill:var(--raised);stroke:var(--ink)" stroke-width="2" />
            <text x={px(limit_at)} y={limit_y} text-anchor={limit_anchor}>{w("your limit")}{" "}<tspan class="strong">{age(limit)}</tspan></text>
            { for deadline.map(|d| flag(d, x(d), deadline_end)) }
            { for ticks }
            { for open.map(|open| { let now_x = x(open).clamp(13.0, 359.0); html! {
                <>
                <path d={format!("M{:.1} 21V40", x(open))} style="stroke:var(--gap-over)" stroke-width="2.5" />
                <rect x={px(now_x - 15.0)} y="41" width="30" height="11" style="fill:var(--panel)" />
                <text class="over" x={px(now_x)} y="50" text-anchor="middle">{w("now")}</text>
                </>
            } }) }
        </svg>
    }
}

fn filled(open: u64, limit: u64, x: &impl Fn(u64) -> f64) -> Html {
    let under = open.min(limit);
    let over = open.saturating_sub(limit);
    let (from, width) = (px(x(limit)), px((x(limit + over) - x(limit)).max(0.1)));
    html! {
        <>
        <rect x="4" y="24" width={px((x(under) - 4.0).max(0.1))} height="12" style="fill:var(--gap)" />
        if over > 0 {
            <rect x={from.clone()} y="24" width={width.clone()} height="12" fill="url(#over)" />
            <rect x={from} y="24.75" width={width} height="10.5" fill="none" style="stroke:var(--gap-over)" stroke-width="1.5" />
        }
        </>
    }
}

/// Words beside a mark of the ruler.
struct Mark {
    x: f64,
    /// How far from the mark the words stand.
    far: f64,
    /// About how wide they are.
    wide: f64,
}

impl Mark {
    /// Where the words begin, or end.
    fn from(&self, end: bool) -> f64 {
        if end { self.x - self.far.min(8.0) } else { self.x + self.far }
    }

    fn span(&self, end: bool) -> (f64, f64) {
        let at = self.from(end);
        if end { (at - self.wide, at) } else { (at, at + self.wide) }
    }
}

/// On which side of their marks the words of the limit and of the deadline end, and whether the limit's stand a line above.
fn beside(limit: &Mark, deadline: Option<&Mark>) -> (bool, bool, bool) {
    let inside = |(from, to): (f64, f64)| from >= 0.0 && to <= 372.0;
    let side = |mark: &Mark| !inside(mark.span(false));
    let Some(deadline) = deadline else { return (limit.x > 90.0 || side(limit), false, false) };
    // The words of the one keep off the words and the mark of the other.
    let free = |(end, other): &(bool, bool)| {
        let (a, b) = (limit.span(*end), deadline.span(*other));
        let off = |(from, to): (f64, f64), x: f64| x < from - 5.0 || x > to + 10.0;
        inside(a)
            && inside(b)
            && (a.1 + 6.0 < b.0 || b.1 + 6.0 < a.0)
            && off(a, deadline.x)
            && off(b, limit.x)
    };
    let found = [(true, false), (false, true), (true, true), (false, false)].into_iter().find(free);
    match found {
        Some((end, other)) => (end, other, false),
        None => (side(limit), side(deadline), true),
    }
}

fn flag(deadline: u64, x: f64, end: bool) -> Html {
    html! {
        <>
        <path d={format!("M{x:.1} 18V40")} style="stroke:var(--ink)" stroke-width="1.5" />
        <path d={format!("M{x:.1} 16h9l-2.5 3 2.5 3h-9z")} style="fill:var(--ink)" />
        <text x={px(if end { x - 8.0 } else { x + 12.0 })} y="14" text-anchor={if end { "end" } else { "start" }}>
            {w("its deadline")}{" "}<tspan class="strong">{age(deadline)}</tspan>
        </text>
        </>
    }
}

/// A round length of time that divides the ruler into three to six parts.
fn nice(reach: u64) -> u64 {
    const SECONDS: &[u64] =
        &[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];
    let wanted = reach.div_ceil(5);
    let found = SECONDS.iter().map(|s| s * 1000).find(|&s| s >= wanted);
    found.unwrap_or_else(|| wanted.div_ceil(86_400_000) * 86_400_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_limit_and_deadline_never_lie_upon_each_other() {
        for limit in 0..=37 {
            for deadline in 0..=37 {
                let mark = |i: u32, far| Mark { x: 4.0 + 10.0 * f64::from(i).min(36.4), far, wide: 96.0 };
                let (a, b) = (mark(limit, 8.0), mark(deadline, 12.0));
                let (end, other, above) = beside(&a, Some(&b));
                let ((a0, a1), (b0, b1)) = (a.span(end), b.span(other));
                assert!(above || a1 < b0 || b1 < a0, "{limit} {deadline}");
                assert!(a0 >= -1.0 && a1 <= 373.0 && b0 >= -1.0 && b1 <= 373.0, "{limit} {deadline}");
            }
        }
    }

    #[test]
    fn the_ruler_has_a_few_round_parts() {
        for (reach, unit) in
            [(796_400, 300_000), (450_000, 120_000), (90_000, 30_000), (900_000_000, 259_200_000)]
        {
            assert_eq!(nice(reach), unit);
            assert!((2..=6).contains(&reach.div_ceil(unit)), "{reach}");
        }
    }
}
