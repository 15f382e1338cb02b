//! When a schedule comes next. Upstream: github.com/robfig/cron/v3, spec.go and constantdelay.go.

use super::{ALL, Schedule, Zone};
use crate::{
    Time,
    time::{civil_from_days, days_from_civil},
};

const DAY: i64 = 86_400;
/// A schedule that does not come within so many years never comes.
const YEARS: i64 = 5;

/// A second of Unix time and what clocks show then.
#[derive(Clone, Copy)]
struct Clock {
    unix: i64,
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Clock {
    fn at(unix: i64, zone: &Zone) -> Self {
        let local = unix + zone.offset(unix);
        let (year, month, day) = civil_from_days(local.div_euclid(DAY));
        let second = local.rem_euclid(DAY);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        Clock { unix, year, month, day, hour, minute, second: second % 60 }
    }

    /// The moment at which clocks show this; a time that is passed over is moved as Go's time.Date moves it.
    fn date(year: i64, month: i64, day: i64, second: i64, zone: &Zone) -> Self {
        let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
        let local = (days_from_civil(year, month, 1) + day - 1) * DAY + second;
        let guess = zone.offset(local);
        let offset = zone.offset(local - guess);
        Clock::at(local - offset, zone)
    }

    fn midnight(self, days: i64, zone: &Zone) -> Self {
        Clock::date(self.year, self.month, self.day + days, self.in_day(), zone)
    }

    fn in_day(self) -> i64 {
        self.hour * 3600 + self.minute * 60 + self.second
    }
}

fn has(set: u64, bit: i64) -> bool {
    u32::try_from(bit).is_ok_and(|bit| bit < 63 && set & (1 << bit) != 0)
}

impl Schedule {
    /// The first time after `after` at which the schedule comes; `None` if it does not within five years.
    pub fn next(&self, after: Time) -> Option<Time> {
        match self {
            Schedule::Every { seconds } => Some(Time(after.0.saturating_add(*seconds))),
            Schedule::Fields { .. } => self.next_by_clock(after.0).map(Time),
        }
    }

    fn next_by_clock(&self, after: i64) -> Option<i64> {
        let Schedule::Fields { minute, hour, month, zone, .. } = self else { return None };
        let mut t = Clock::at(after.saturating_add(1), zone);
        let last = t.year + YEARS;
        // Whether what is smaller than the unit that moved has been set back to its start.
        let mut reset = false;
        'wrap: while t.year <= last {
            while !has(*month, t.month) {
                if !reset {
                    reset = true;
                    t = Clock::date(t.year, t.month, 1, 0, zone);
                }
                t = Clock::date(t.year, t.month + 1, t.day, t.in_day(), zone);
                if t.month == 1 {
                    continue 'wrap;
                }
            }
            while !self.day_matches(&t) {
                if !reset {
                    reset = true;
                    t = Clock::date(t.year, t.month, t.day, 0, zone);
                }
                t = t.midnight(1, zone);
                // Clocks were changed at midnight.
                if t.hour > 12 {
                    t = Clock::at(t.unix + (24 - t.hour) * 3600, zone);
                } else if t.hour != 0 {
                    t = Clock::at(t.unix - t.hour * 3600, zone);
                }
                if t.day == 1 {
                    continue 'wrap;
                }
            }
            while !has(*hour, t.hour) {
                if !reset {
                    reset = true;
                    t = Clock::date(t.year, t.month, t.day, t.hour * 3600, zone);
                }
                t = Clock::at(t.unix + 3600, zone);
                if t.hour == 0 {
                    continue 'wrap;
                }
            }
            while !has(*minute, t.minute) {
                if !reset {
                    reset = true;
                    t = Clock::at(t.unix - t.unix.rem_euclid(60), zone);
                }
                t = Clock::at(t.unix + 60, zone);
                if t.minute == 0 {
                    continue 'wrap;
                }
            }
            if t.second != 0 {
                reset = true;
                t = Clock::at(t.unix + 60 - t.second, zone);
                // Upstream counts seconds up and begins again when they are over.
                continue 'wrap;
            }
            return Some(t.unix);
        }
        None
    }

    /// Both have to fit if one of them names every day; else one is enough. Upstream: dayMatches.
    fn day_matches(&self, t: &Clock) -> bool {
        let Schedule::Fields { day, weekday, .. } = self else { return false };
        let of_week = (days_from_civil(t.year, t.month, t.day) + 4).rem_euclid(7);
        let (by_day, by_weekday) = (has(*day, t.day), has(*weekday, of_week));
        if day & ALL != 0 || weekday & ALL != 0 { by_day && by_weekday } else { by_day || by_weekday }
    }
}
