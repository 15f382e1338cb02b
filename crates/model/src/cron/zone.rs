//! Time zones: when clocks show what, from each zone's present rule.
//!
//! The table is taken from the time zone database, which is in the public domain; `zones.txt` has a rule in POSIX
//! form and then the zones that follow it. Rules of the past are not in it: a zone keeps its present rule for ever.

use crate::{
    Time,
    time::{civil_from_days, days_from_civil},
};

const ZONES: &str = include_str!("zones.txt");
const DAY: i64 = 86_400;

/// A day of the year at which clocks are changed: weekday `day` (0 is Sunday) of week `week` (5 is the last) of a
/// month, and the second of that day by the clocks of before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    month: i64,
    week: i64,
    day: i64,
    second: i64,
}

/// A time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Seconds that clocks are ahead of UTC.
    standard: i64,
    /// The same in summer, and when summer begins and ends.
    summer: Option<(i64, Turn, Turn)>,
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone { standard: 0, summer: None };

    /// The zone of this exact name; `UTC`, `Local` and no name at all stand for UTC.
    ///
    /// Upstream: Go's time, LoadLocation, on a machine whose clock is UTC.
    pub fn named(name: &str) -> Option<Zone> {
        if matches!(name, "" | "UTC" | "Local") {
            return Some(Zone::UTC);
        }
        rule_of(name).and_then(read)
    }

    /// How many seconds clocks are ahead of UTC at this second of Unix time.
    pub fn offset(&self, unix: i64) -> i64 {
        let Some((summer, begin, end)) = self.summer else { return self.standard };
        let (year, _, _) = civil_from_days((unix + self.standard).div_euclid(DAY));
        let begins = begin.at(year) - self.standard;
        let ends = end.at(year) - summer;
        let is_summer =
            if begins < ends { begins <= unix && unix < ends } else { unix < ends || begins <= unix };
        if is_summer { summer } else { self.standard }
    }
}

impl Zone {
    /// A time as Go writes RFC 3339 by these clocks: `Z` for UTC, else the offset.
    pub fn rfc3339(&self, time: Time) -> String {
        let offset = self.offset(time.0);
        if offset == 0 {
            return time.to_string();
        }
        let local = Time(time.0 + offset).to_string();
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
        format!("{}{sign}{hours:02}:{minutes:02}", local.trim_end_matches('Z'))
    }
}

impl Turn {
    /// The second at which clocks are changed in a year, by the clocks of before.
    fn at(self, year: i64) -> i64 {
        let first = days_from_civil(year, self.month, 1);
        // 1 January 1970 was a Thursday.
        let weekday = (first + 4).rem_euclid(7);
        let mut day = (self.day - weekday).rem_euclid(7) + (self.week - 1) * 7;
        let (next_year, next_month) = if self.month == 12 { (year + 1, 1) } else { (year, self.month + 1) };
        let length = days_from_civil(next_year, next_month, 1) - first;
        while day >= length {
            day -= 7;
        }
        (first + day) * DAY + self.second
    }
}

/// The rule that stands before a name in the table.
fn rule_of(name: &str) -> Option<&'static str> {
    let mut rule = "";
    for line in ZONES.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some("") | None => {}
            Some(first) => rule = first,
        }
        if words.any(|word| word == name) {
            return Some(rule);
        }
    }
    None
}

/// Reads a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
fn read(rule: &str) -> Option<Zone> {
    let (clocks, turns) = rule.split_once(',').unwrap_or((rule, ""));
    let (standard, rest) = abbreviation_and_offset(clocks)?;
    let standard = -standard?;
    if turns.is_empty() {
        return Some(Zone { standard, summer: None });
    }
    let (summer, _) = abbreviation_and_offset(rest)?;
    // Without a number, summer is one hour ahead.
    let summer = summer.map_or(standard + 3600, |west| -west);
    let (begin, end) = turns.split_once(',')?;
    Some(Zone { standard, summer: Some((summer, turn(begin)?, turn(end)?)) })
}

/// Passes over an abbreviation and reads the offset after it, if there is one; west is positive.
fn abbreviation_and_offset(text: &str) -> Option<(Option<i64>, &str)> {
    let rest = match text.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?.1,
        None => text.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
    };
    let end = rest.find(|c: char| c == '<' || c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let offset = if number.is_empty() { None } else { Some(seconds(number)?) };
    Some((offset, rest))
}

/// Reads `-9:30` as seconds.
fn seconds(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut sum = 0;
    for (part, unit) in digits.split(':').zip([3600, 60, 1]) {
        sum += part.parse::<i64>().ok()? * unit;
    }
    Some(sign * sum)
}

/// Reads `M10.5.0/3`; without a time, clocks change at two.
fn turn(text: &str) -> Option<Turn> {
    let (date, time) = text.strip_prefix('M')?.split_once('/').unwrap_or((text.strip_prefix('M')?, "2"));
    let mut parts = date.split('.').map(|part| part.parse::<i64>().ok());
    let (month, week, day) = (parts.next()??, parts.next()??, parts.next()??);
    let valid = (1..=12).contains(&month) && (1..=5).contains(&week) && (0..=6).contains(&day);
    valid.then_some(Turn { month, week, day, second: seconds(time)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_of_the_table_can_be_read() {
        let mut names = 0;
        for name in ZONES.lines().flat_map(|line| line.split(' ').skip(1)) {
            let zone = Zone::named(name).unwrap_or_else(|| panic!("{name}"));
            assert!(zone.standard.abs() <= 14 * 3600, "{name}");
            names += 1;
        }
        assert!(names > 400, "{names}");
        assert_eq!(Zone::named("europe/berlin"), None);
        assert_eq!(Zone::named("Nope"), None);
        assert_eq!(Zone::named("UTC"), Some(Zone::UTC));
    }

    #[test]
    fn times_are_written_with_their_offset() {
        let time = Time::parse("2026-01-01T00:30:00Z").expect("a time");
        let of = |name| Zone::named(name).expect(name).rfc3339(time);
        assert_eq!(of("UTC"), "2026-01-01T00:30:00Z");
        assert_eq!(of("Europe/Berlin"), "2026-01-01T01:30:00+01:00");
        assert_eq!(of("America/St_Johns"), "2025-12-31T21:00:00-03:30");
    }

    #[test]
    fn clocks_in_winter_and_summer() {
        let rows = [
            ("Europe/Berlin", "2026-03-29T00:59:59Z", 3600),
            ("Europe/Berlin", "2026-03-29T01:00:00Z", 7200),
            ("Europe/Berlin", "2026-10-25T00:59:59Z", 7200),
            ("Europe/Berlin", "2026-10-25T01:00:00Z", 3600),
            ("America/New_York", "2026-03-08T06:59:59Z", -18_000),
            ("America/New_York", "2026-03-08T07:00:00Z", -14_400),
            ("Australia/Lord_Howe", "2026-01-01T00:00:00Z", 39_600),
            ("Australia/Lord_Howe", "2026-07-01T00:00:00Z", 37_800),
            ("Asia/Kathmandu", "2026-07-01T00:00:00Z", 20_700),
            ("Europe/Dublin", "2026-07-01T00:00:00Z", 3600),
            ("Europe/Dublin", "2026-12-01T00:00:00Z", 0),
        ];
        for (name, at, want) in rows {
            let zone = Zone::named(name).expect(name);
            assert_eq!(zone.offset(Time::parse(at).expect(at).0), want, "{name} {at}");
        }
    }
}
