//! Where everything stands in the score. Long waits are folded (their width grows with the 0.62th power of their
//! length) and labelled; the age of the oldest gap is a wedge below. Pure: a timeline in, coordinates out.

use kubestep_protocol::*;

/// Width of one step, at most.
const UNIT: f64 = 8.83;
/// A wait this long, in seconds, is worth a label.
const LABELLED: f64 = 20.0;

/// How the score is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The whole width.
    pub width: f64,
    /// Where the lanes begin.
    pub left: f64,
    /// One lane for all, or one for each loop.
    pub lanes: bool,
    /// The base of the wedge.
    pub base: f64,
    /// How high the person's limit stands over the base.
    pub limit_height: f64,
    /// How high the wedge may become.
    pub wedge_height: f64,
}

impl Shape {
    /// A lane for each loop: 148 px high.
    pub fn full(width: f64) -> Self {
        Shape { width, left: 132.0, lanes: true, base: 135.0, limit_height: 10.5, wedge_height: 34.0 }
    }

    /// One lane: 50 px high.
    pub fn small(width: f64) -> Self {
        Shape { width, left: 4.0, lanes: false, base: 37.0, limit_height: 6.3, wedge_height: 20.0 }
    }
}

/// The score with its coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// `x[n]` is where step `n` stands; `x[0]` the start.
    pub x: Vec<f64>,
    /// Marks to draw: x and lane (its place in `lanes`), thinned where they would touch.
    pub marks: Vec<(f64, usize)>,
    /// Silence of the Deployment's lane: from, to.
    pub hush: Vec<(f64, f64)>,
    /// The wedge: x and age in milliseconds.
    pub wedge: Vec<(f64, u64)>,
    /// Pixels per millisecond of age.
    pub rise: f64,
    /// Flags: x and words.
    pub flags: Vec<(f64, String)>,
    /// Texts below: x of their middle, words, strong.
    pub labels: Vec<(f64, String, bool)>,
    /// Where the clock stands.
    pub now: f64,
    /// The whole width.
    pub room: f64,
}

/// Plans the score. `lanes[i]` says in which drawn lane the engine's lane `i` is (`usize::MAX`: in none); `api` is the API server's.
pub fn plan(
    timeline: &Timeline,
    head: &Head,
    limit: u64,
    shape: Shape,
    lanes: &[usize],
    api: usize,
) -> Score {
    let marks = &timeline.marks;
    let before = marks.iter().take_while(|m| m.at < head.zero).count();
    let start = shape.left + 12.0;
    let live = head.moment.step >= head.last;
    let end_at = marks.last().map_or(head.zero, |m| m.at).max(if live { head.now } else { At(0) });

    let mut weights: Vec<f64> = Vec::with_capacity(marks.len() - before + 1);
    let mut last = head.zero;
    for mark in &marks[before..] {
        weights.push(1.0 + folded(last, mark.at));
        last = mark.at;
    }
    let tail = folded(last, end_at);
    let total: f64 = weights.iter().sum::<f64>() + tail;
    let room = (shape.width - 24.0 - start).max(1.0);
    let mut unit = UNIT;
    while unit * total > room {
        // In jumps, so that the picture moves seldom while it grows.
        unit *= 0.8;
    }

    let mut x: Vec<f64> =
        (0..=before).map(|i| start - 8.0 * (before - i) as f64 / before.max(1) as f64).collect();
    let mut at = start;
    for weight in &weights {
        at += weight * unit;
        x.push(at);
    }
    let end = at + tail * unit;
    let mut score = Score { x, ..Score::default() };
    let place = Place { x: &score.x, marks, zero: head.zero, start, end, end_at, before };
    let now = if live {
        place.of(head.now.max(head.zero))
    } else {
        score.x[(head.moment.step as usize).min(marks.len())]
    };
    let wedge = wedge(timeline, &place);
    let deepest = wedge.iter().map(|w| w.1).max().unwrap_or(0).max(limit);
    let rise = (shape.limit_height / limit.max(1) as f64).min(shape.wedge_height / deepest as f64);
    let flags = timeline.flags.iter().filter(|f| f.at <= end_at && f.at >= head.zero);
    let flags = flags.map(|f| (place.of(f.at), f.name.clone())).collect();
    let hush = hush(timeline, &place);
    let labels = labels(&place, shape);
    score.marks = thin(timeline, &score.x, before, lanes, api, shape.lanes);
    Score { now, wedge, rise, flags, hush, labels, room: shape.width, ..score }
}

/// The additional width of a wait, in units.
fn folded(from: At, to: At) -> f64 {
    let seconds = to.0.saturating_sub(from.0) as f64 / 1000.0;
    if seconds < 2.0 { 0.0 } else { 0.7 * seconds.powf(0.62) }
}

/// From times to places.
struct Place<'a> {
    x: &'a [f64],
    marks: &'a [Mark],
    zero: At,
    start: f64,
    end: f64,
    end_at: At,
    before: usize,
}

impl Place<'_> {
    fn of(&self, at: At) -> f64 {
        let i = self.marks.partition_point(|m| m.at <= at);
        if i < self.before {
            return self.x[i];
        }
        let (x0, t0) =
            if i > self.before { (self.x[i], self.marks[i - 1].at) } else { (self.start, self.zero) };
        let (x1, t1) = match self.marks.get(i) {
            Some(mark) => (self.x[i + 1], mark.at),
            None => (self.end, self.end_at),
        };
        let part = at.0.saturating_sub(t0.0) as f64 / t1.0.saturating_sub(t0.0).max(1) as f64;
        x0 + (x1 - x0) * part.clamp(0.0, 1.0)
    }
}

fn thin(
    timeline: &Timeline,
    x: &[f64],
    before: usize,
    lanes: &[usize],
    api: usize,
    split: bool,
) -> Vec<(f64, usize)> {
    let mut drawn: Vec<(f64, usize)> = Vec::new();
    let most = lanes.iter().filter(|l| **l != usize::MAX).max().map_or(1, |m| m + 1);
    let mut last: Vec<f64> = vec![f64::MIN; most.max(api + 1)];
    let mut last_any = f64::MIN;
    for (i, mark) in timeline.marks.iter().enumerate().skip(before) {
        let lane = lanes.get(mark.lane as usize).copied().unwrap_or(api);
        let here = x[i + 1];
        if lane == usize::MAX {
            // Nobody's act.
            continue;
        }
        if split {
            for (l, at) in [(Some(lane), here), ((mark.stored && lane != api).then_some(api), here + 4.0)] {
                if let Some(l) = l.filter(|&l| at - last[l] >= 4.0) {
                    last[l] = at;
                    drawn.push((at, l));
                }
            }
        } else if here - last[lane] >= 30.0 && here - last_any >= 9.0 {
            // One lane: one mark per loop and burst.
            (last[lane], last_any) = (here, here);
            drawn.push((here, lane));
        }
    }
    drawn
}

/// The age of the oldest gap at every step and wherever the gap changes.
fn wedge(timeline: &Timeline, place: &Place<'_>) -> Vec<(f64, u64)> {
    let mut points = Vec::new();
    for (i, span) in timeline.gaps.iter().enumerate() {
        let until = timeline.gaps.get(i + 1).map_or(place.end_at, |s| s.from);
        let from = span.from.max(place.zero);
        let Some(opened) = span.opened.filter(|_| until > from || i + 1 == timeline.gaps.len()) else {
            continue;
        };
        let age = |at: At| at.0.saturating_sub(opened.0);
        // The gap before ended: the wedge drops to nothing, or to the age of the next oldest.
        points.push((place.of(from), 0));
        points.push((place.of(from), age(from)));
        let inside = place.marks.iter().filter(|m| m.at > from && m.at < until);
        let mut last = f64::MIN;
        for mark in inside {
            let x = place.of(mark.at);
            if x - last >= 3.0 {
                points.push((x, age(mark.at)));
                last = x;
            }
        }
        points.push((place.of(until), age(until)));
        points.push((place.of(until), 0));
    }
    points
}

/// Where the Deployment has been silent for a minute or more.
fn hush(timeline: &Timeline, place: &Place<'_>) -> Vec<(f64, f64)> {
    let is_deployment =
        |m: &&Mark| timeline.lanes.get(m.lane as usize).is_some_and(|l| l.who == Who::Deployment);
    let spoke: Vec<At> =
        timeline.marks.iter().filter(is_deployment).map(|m| m.at).filter(|a| *a >= place.zero).collect();
    let ends = spoke.iter().skip(1).copied().chain([place.end_at]);
    let long = spoke.iter().zip(ends).filter(|(a, b)| b.0.saturating_sub(a.0) >= 60_000);
    // Past all marks of the same moment.
    long.map(|(a, b)| (place.of(*a) + 8.0, place.of(b) - 3.0)).filter(|(a, b)| b > a).collect()
}

/// Times at the marks after a wait, lengths in the middle of waits; what has no room stays away.
fn labels(place: &Place<'_>, shape: Shape) -> Vec<(f64, String, bool)> {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut labels = Vec::new();
    let mut put = |x: f64, words: String, strong: bool| {
        let half = words.chars().count() as f64 * 3.4 + 4.0;
        let x = x.clamp(shape.left + half.min(12.0), shape.width - half - 6.0);
        if taken.iter().all(|(a, b)| x + half < *a || x - half > *b) {
            taken.push((x - half, x + half));
            labels.push((x, words, strong));
        }
    };
    put(place.start + 10.0, "0:00".into(), true);
    let mut waits = Vec::new();
    let mut last = (place.start, place.zero);
    for (i, mark) in place.marks.iter().enumerate().skip(place.before) {
        let x = place.x[i + 1];
        waits.push((last, (x, mark.at)));
        last = (x, mark.at);
    }
    waits.push((last, (place.end, place.end_at)));
    waits.retain(|((_, a), (_, b))| b.0.saturating_sub(a.0) as f64 / 1000.0 >= LABELLED);
    // The longest first: they are the lesson.
    waits.sort_by_key(|((_, a), (_, b))| std::cmp::Reverse(b.0 - a.0));
    for ((xa, a), (xb, b)) in waits.iter().take(60) {
        // A length, not a place on the clock.
        put((xa + xb) / 2.0, format!("+{}", age(b.0 - a.0)), false);
    }
    for (_, (x, at)) in waits.iter().take(60).filter(|(_, (_, at))| *at < place.end_at) {
        put(*x, clock(at.0 - place.zero.0), true);
    }
    labels
}

/// `10:01`, `1:02:03`.
pub fn clock(ms: u64) -> String {
    let s = ms / 1000;
    if s < 3600 {
        format!("{}:{:02}", s / 60, s % 60)
    } else {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    }
}

impl Score {
    /// The step nearest to a place.
    pub fn step_at(&self, x: f64) -> u32 {
        let i = self.x.partition_point(|&p| p < x);
        let nearer = |a: usize, b: usize| if (self.x[b] - x).abs() < (x - self.x[a]).abs() { b } else { a };
        match i {
            0 => 0,
            i if i >= self.x.len() => self.x.len() as u32 - 1,
            i => nearer(i - 1, i) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(times: &[u64]) -> Timeline {
        let lanes = vec![Lane { who: Who::Deployment, name: "deployment".into() }];
        let marks = times.iter().map(|&s| Mark { at: At(s * 1000), lane: 0, stored: true }).collect();
        let gaps = vec![GapSpan { from: At(0), opened: Some(At(0)) }];
        Timeline { lanes, marks, gaps, ..Timeline::default() }
    }

    fn head(step: u32, last: u32, now: u64) -> Head {
        Head { moment: Moment { branch: BranchId(0), step }, last, now: At(now * 1000), ..Head::default() }
    }

    fn drawn(times: &[u64], now: u64) -> Score {
        let n = times.len() as u32;
        plan(&timeline(times), &head(n, n, now), 300_000, Shape::full(1416.0), &[2], 1)
    }

    #[test]
    fn places_grow_with_time_and_stay_inside() {
        let score = drawn(&[0, 0, 1, 30, 300, 601, 640], 724);
        assert!(score.x.windows(2).all(|w| w[0] < w[1]), "{:?}", score.x);
        assert!(score.now > score.x[7] && score.now < 1416.0);
        assert!((score.x[2] - score.x[1] - UNIT).abs() < 0.01, "steps of one moment stand one unit apart");
        let (short, long) = (score.x[4] - score.x[3], score.x[6] - score.x[5]);
        assert!(long > short && long < short * 10.4, "ten times as long is drawn about four times as wide");
    }

    #[test]
    fn a_growing_score_does_not_move_what_is_already_there() {
        let (a, b) = (drawn(&[0, 1, 30], 30), drawn(&[0, 1, 30, 31], 31));
        assert_eq!(a.x[..], b.x[..4]);
    }

    #[test]
    fn ten_thousand_steps_fit_and_few_marks_are_drawn() {
        let times: Vec<u64> = (0..10_000).collect();
        let score = drawn(&times, 10_000);
        assert!(score.x.last().is_some_and(|x| *x < 1416.0));
        assert!(score.marks.len() < 800, "{}", score.marks.len());
    }

    #[test]
    fn a_place_names_the_nearest_step() {
        let score = drawn(&[0, 10, 20, 600], 600);
        for (step, x) in score.x.iter().enumerate() {
            assert_eq!(score.step_at(*x), step as u32);
        }
        assert_eq!(score.step_at(-5.0), 0);
        assert_eq!(score.step_at(9999.0), 4);
    }

    #[test]
    fn the_wedge_rises_to_the_age_of_the_gap_and_silence_is_drawn() {
        let score = drawn(&[0, 1, 601], 724);
        assert_eq!(score.wedge.iter().map(|w| w.1).max(), Some(724_000));
        assert_eq!(score.hush.len(), 2);
        assert!(score.labels.iter().any(|l| l.1 == "+10m" && !l.2), "{:?}", score.labels);
    }

    #[test]
    fn an_empty_timeline_is_drawn_too() {
        let score = plan(&Timeline::default(), &head(0, 0, 0), 300_000, Shape::small(344.0), &[], 0);
        assert_eq!(score.step_at(100.0), 0);
        assert!(score.marks.is_empty());
    }
}
