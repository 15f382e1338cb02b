//! Time: moments and ages as the recordings spell them, and two recordings' clocks laid side by side.

use super::table;

/// A moment or a duration in seconds on the golden clock and on the recording's own, and how coarsely it was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Time {
    pub(super) seconds: f64,
    pub(super) own: f64,
    pub(super) coarse: f64,
}

impl Time {
    pub(super) fn near(self, other: Time) -> bool {
        (self.seconds - other.seconds).abs() <= table::SECONDS_APART + self.coarse.max(other.coarse)
    }
}

/// Maps moments of a recording to the golden recording's clock, aligned at the beginning of each step.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// (moment here, moment in the golden recording), both rising.
    anchors: Vec<(f64, f64)>,
}

impl Clock {
    /// Pairs the beginnings of steps; pairs that run backwards are left out.
    pub(super) fn aligned(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut anchors: Vec<(f64, f64)> = Vec::new();
        for (here, golden) in pairs {
            if anchors.last().is_none_or(|&(h, g)| here > h && golden > g) {
                anchors.push((here, golden));
            }
        }
        Clock { anchors }
    }

    pub(super) fn golden(&self, here: f64) -> f64 {
        let after = self.anchors.partition_point(|&(h, _)| h <= here);
        let Some(&(h0, g0)) = after.checked_sub(1).and_then(|i| self.anchors.get(i)) else {
            return here - self.anchors.first().map_or(0.0, |&(h, g)| h - g);
        };
        match self.anchors.get(after) {
            Some(&(h1, g1)) => g0 + (here - h0) * (g1 - g0) / (h1 - h0),
            None => here - h0 + g0,
        }
    }
}

/// Reads `T+12.3s` at the start of the text: the seconds and the length read.
pub(super) fn moment(text: &str) -> Option<(f64, usize)> {
    let rest = text.strip_prefix('T')?;
    if !rest.starts_with(['+', '-']) {
        return None;
    }
    let digits = rest[1..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let number: f64 = rest[..=digits].parse().ok()?;
    rest[1 + digits..].starts_with('s').then_some((number, digits + 3))
}

/// Reads an age as kubectl prints it (`5s`, `2m3s`, `119m`, `3h5m`, `4d`): seconds and the smallest unit printed.
pub(super) fn age(word: &str) -> Option<(f64, f64)> {
    let (mut total, mut number, mut unit) = (0.0, None::<f64>, 0.0);
    for c in word.chars() {
        if let Some(d) = c.to_digit(10) {
            number = Some(number.unwrap_or(0.0) * 10.0 + f64::from(d));
            continue;
        }
        let size = match c {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3_600.0,
            'd' => 86_400.0,
            'y' => 31_536_000.0,
            _ => return None,
        };
        if unit != 0.0 && size >= unit {
            return None;
        }
        unit = size;
        total += number.take()? * size;
    }
    (unit != 0.0 && number.is_none()).then_some((total, unit))
}

/// Reads a Go duration of seconds at the start of the text (`1.002s`, `890ms`): seconds and the length read.
pub(super) fn pull_time(text: &str) -> Option<(f64, usize)> {
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let number: f64 = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    if rest.starts_with("ms") {
        return Some((number / 1_000.0, digits + 2));
    }
    if rest.starts_with("µs") {
        return Some((number / 1_000_000.0, digits + "µs".len()));
    }
    if let Some(after) = rest.strip_prefix('m') {
        let (seconds, length) = pull_time(after)?;
        return Some((number * 60.0 + seconds, digits + 1 + length));
    }
    rest.starts_with('s').then_some((number, digits + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_ages_are_read_as_printed() {
        assert_eq!(moment("T+12.3s, then"), Some((12.3, 7)));
        assert_eq!(moment("T-10.0s"), Some((-10.0, 7)));
        assert_eq!(moment("Tue"), None);
        assert_eq!(age("119s"), Some((119.0, 1.0)));
        assert_eq!(age("2m3s"), Some((123.0, 1.0)));
        assert_eq!(age("3h"), Some((10_800.0, 3_600.0)));
        assert_eq!(age("5"), None);
        assert_eq!(age("3s2m"), None);
        assert_eq!(age("s"), None);
        assert_eq!(pull_time("1.002s (…)"), Some((1.002, 6)));
        assert_eq!(pull_time("890ms"), Some((0.89, 5)));
        assert_eq!(pull_time("1m2.5s"), Some((62.5, 6)));
    }

    #[test]
    fn a_clock_is_aligned_at_each_step() {
        let clock = Clock::aligned([(0.0, 0.0), (10.0, 20.0), (30.0, 25.0)].into_iter());
        assert_eq!(clock.golden(5.0), 10.0);
        assert_eq!(clock.golden(20.0), 22.5);
        assert_eq!(clock.golden(31.0), 26.0);
        assert_eq!(clock.golden(-1.0), -1.0);
    }
}
