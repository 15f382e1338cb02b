//! Virtual time: exact instants inside, whole seconds where the API shows them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, ops::Add, ops::Sub, time::Duration};

const NANOS: i64 = 1_000_000_000;

/// A moment of virtual time: nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instant(pub i64);

impl Instant {
    /// Where every session's clock starts: 2026-01-01T00:00:00Z.
    pub const START: Instant = Instant(1_767_225_600 * NANOS);
    /// Later than anything that happens.
    pub const NEVER: Instant = Instant(i64::MAX);

    /// The moment so many whole seconds after 1970.
    pub const fn from_secs(secs: i64) -> Self {
        Instant(secs.saturating_mul(NANOS))
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Nanoseconds from `earlier` to this, negative if this is before it.
    pub fn nanos_since(self, earlier: Instant) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// As the API shows it: cut to the whole second.
    pub fn to_time(self) -> Time {
        Time(self.0.div_euclid(NANOS))
    }

    /// As the API shows it where microseconds are kept.
    pub fn to_micro(self) -> MicroTime {
        MicroTime(self.0.div_euclid(1000))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, d: Duration) -> Instant {
        Instant(self.0.saturating_sub(i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)))
    }
}

/// A time in the API: whole seconds since 1970, written as RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The exact moment at which this second began.
    pub fn instant(self) -> Instant {
        Instant::from_secs(self.0)
    }

    /// Reads RFC 3339 with any offset; fractions of a second are cut.
    pub fn parse(text: &str) -> Option<Time> {
        parse_nanos(text).map(|n| Time(i64::try_from(n.div_euclid(i128::from(NANOS))).unwrap_or(0)))
    }
}

/// A time in the API with microseconds, written as RFC 3339 with six digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(pub i64);

impl MicroTime {
    /// The exact moment.
    pub fn instant(self) -> Instant {
        Instant(self.0.saturating_mul(1000))
    }
}

fn parse_nanos(text: &str) -> Option<i128> {
    let b = text.as_bytes();
    if !text.is_ascii() || b.len() < 20 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b't') {
        return None;
    }
    let num = |r: std::ops::Range<usize>| {
        text.get(r).filter(|t| t.bytes().all(|c| c.is_ascii_digit()))?.parse::<i64>().ok()
    };
    let (y, mo, d, h, mi, s) =
        (num(0..4)?, num(5..7)?, num(8..10)?, num(11..13)?, num(14..16)?, num(17..19)?);
    if b[13] != b':'
        || b[16] != b':'
        || !(1..=12).contains(&mo)
        || d < 1
        || d > days_in(y, mo)
        || h > 23
        || mi > 59
        || s > 59
    {
        return None;
    }
    let mut i = 19;
    let mut nanos = 0i64;
    if b.get(i) == Some(&b'.') {
        let start = i + 1;
        i = start;
        while i < b.len() && b[i].is_ascii_digit() {
            if i - start < 9 {
                nanos += i64::from(b[i] - b'0') * 10i64.pow(8 - u32::try_from(i - start).unwrap_or(0));
            }
            i += 1;
        }
        if i == start {
            return None;
        }
    }
    let offset = match b.get(i)? {
        b'Z' | b'z' if i + 1 == b.len() => 0,
        sign @ (b'+' | b'-') if b.len() == i + 6 && b[i + 3] == b':' => {
            let o = num(i + 1..i + 3)? * 3600 + num(i + 4..i + 6)? * 60;
            if *sign == b'+' { o } else { -o }
        }
        _ => return None,
    };
    let secs = days_from_civil(y, mo, d) * 86_400 + h * 3600 + mi * 60 + s - offset;
    Some(i128::from(secs) * i128::from(NANOS) + i128::from(nanos))
}

fn days_in(y: i64, m: i64) -> i64 {
    match m {
        4 | 6 | 9 | 11 => 30,
        2 if y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
pub fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((m + 9) % 12) + 2) / 5 + d - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(m <= 2), m, doy - (153 * mp + 2) / 5 + 1)
}

fn stamp(f: &mut fmt::Formatter<'_>, secs: i64) -> fmt::Result {
    let (y, m, d) = civil_from_days(secs.div_euclid(86_400));
    let t = secs.rem_euclid(86_400);
    write!(f, "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}", t / 3600, t / 60 % 60, t % 60)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stamp(f, self.0)?;
        f.write_str("Z")
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stamp(f, self.0.div_euclid(1_000_000))?;
        write!(f, ".{:06}Z", self.0.rem_euclid(1_000_000))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Time::parse(&text).ok_or_else(|| D::Error::custom(format!("not a time in RFC 3339: {text:?}")))
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let nanos = parse_nanos(&text)
            .ok_or_else(|| D::Error::custom(format!("not a time in RFC 3339: {text:?}")))?;
        Ok(MicroTime(i64::try_from(nanos.div_euclid(1000)).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_and_read_back() {
        for (text, secs) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
        ] {
            assert_eq!(Time::parse(text), Some(Time(secs)));
            assert_eq!(Time(secs).to_string(), text);
        }
        assert_eq!(Time::parse("2026-01-01T01:00:00.5+01:00"), Some(Time(1_767_225_600)));
        for bad in [
            "",
            "2026-02-30T00:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00",
            "２026-01-01T00:00:00Z",
        ] {
            assert_eq!(Time::parse(bad), None, "{bad}");
        }
        assert_eq!(MicroTime(1_767_225_600_000_007).to_string(), "2026-01-01T00:00:00.000007Z");
    }
}
