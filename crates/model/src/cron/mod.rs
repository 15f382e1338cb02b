//! Schedules of cron jobs: reading them, and when they come next.
//!
//! Upstream: github.com/robfig/cron/v3, ParseStandard and Schedule.Next, as Kubernetes v1.37 uses them.

mod next;
mod zone;

pub use zone::Zone;

use crate::text::{duration, go};

/// The mark of a field that names every value.
const ALL: u64 = 1 << 63;

/// When something happens again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Schedule {
    /// At certain minutes, hours and days by the clocks of a zone.
    Fields { minute: u64, hour: u64, day: u64, month: u64, weekday: u64, zone: Zone },
    /// Always after so many whole seconds.
    Every { seconds: i64 },
}

struct Bounds {
    low: u32,
    high: u32,
    names: &'static [&'static str],
}

const MINUTE: Bounds = Bounds { low: 0, high: 59, names: &[] };
const HOUR: Bounds = Bounds { low: 0, high: 23, names: &[] };
const DAY: Bounds = Bounds { low: 1, high: 31, names: &[] };
const MONTHS: &[&str] =
    &["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH: Bounds = Bounds { low: 1, high: 12, names: MONTHS };
const WEEKDAY: Bounds = Bounds { low: 0, high: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

impl Schedule {
    /// Reads a schedule; a time zone may stand before it, as `TZ=Europe/Berlin` or `CRON_TZ=Europe/Berlin`.
    /// Errors are in the parser's words.
    pub fn parse(text: &str) -> Result<Schedule, String> {
        if text.is_empty() {
            return Err("empty spec string".into());
        }
        let (mut rest, mut zone) = (text, Zone::UTC);
        if text.starts_with("TZ=") || text.starts_with("CRON_TZ=") {
            let (word, after) = text.split_once(' ').unwrap_or((text, ""));
            let name = word.split_once('=').map_or("", |(_, name)| name);
            zone = Zone::named(name)
                .ok_or_else(|| format!("provided bad location {name}: unknown time zone {name}"))?;
            rest = after.trim();
        }
        if rest.starts_with('@') {
            return descriptor(rest, zone);
        }
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            let found = fields.join(" ");
            return Err(format!("expected exactly 5 fields, found {}: [{found}]", fields.len()));
        };
        Ok(Schedule::Fields {
            minute: field(minute, &MINUTE)?,
            hour: field(hour, &HOUR)?,
            day: field(day, &DAY)?,
            month: field(month, &MONTH)?,
            weekday: field(weekday, &WEEKDAY)?,
            zone,
        })
    }

    /// A schedule of a cron job, by the clocks of its time zone.
    pub fn of(schedule: &str, zone: Option<&str>) -> Result<Schedule, String> {
        match zone {
            Some(zone) => Schedule::parse(&format!("TZ={zone} {schedule}")),
            None => Schedule::parse(schedule),
        }
    }
}

/// Upstream: parseDescriptor.
fn descriptor(text: &str, zone: Zone) -> Result<Schedule, String> {
    let (every, one) = (|bounds: &Bounds| bits(bounds.low, bounds.high, 1) | ALL, |n: u32| 1u64 << n);
    let (day, month, weekday) = match text {
        "@yearly" | "@annually" => (one(1), one(1), every(&WEEKDAY)),
        "@monthly" => (one(1), every(&MONTH), every(&WEEKDAY)),
        "@weekly" => (every(&DAY), every(&MONTH), one(0)),
        "@daily" | "@midnight" | "@hourly" => (every(&DAY), every(&MONTH), every(&WEEKDAY)),
        _ => {
            let Some(span) = text.strip_prefix("@every ") else {
                return Err(format!("unrecognized descriptor: {text}"));
            };
            let nanos =
                duration::parse(span).map_err(|why| format!("failed to parse duration {text}: {why}"))?;
            return Ok(Schedule::Every { seconds: (nanos / 1_000_000_000).max(1) });
        }
    };
    let hour = if text == "@hourly" { every(&HOUR) } else { one(0) };
    Ok(Schedule::Fields { minute: one(0), hour, day, month, weekday, zone })
}

fn bits(low: u32, high: u32, step: u32) -> u64 {
    (low..=high.min(62)).step_by(step.max(1) as usize).fold(0, |sum, n| sum | 1 << n)
}

/// Upstream: getField.
fn field(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let mut sum = 0;
    for part in text.split(',').filter(|part| !part.is_empty()) {
        sum |= range(part, bounds)?;
    }
    Ok(sum)
}

/// Upstream: getRange.
fn range(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let (mut star, low, mut high);
    if matches!(ends[0], "*" | "?") {
        (low, high, star) = (bounds.low, bounds.high, ALL);
    } else {
        low = number_or_name(ends[0], bounds)?;
        high = match ends[..] {
            [_] => low,
            [_, last] => number_or_name(last, bounds)?,
            _ => return Err(format!("too many hyphens: {text}")),
        };
        star = 0;
    }
    let step = match parts[..] {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            // A single number with a step goes on to the end.
            if ends.len() == 1 {
                high = bounds.high;
            }
            if step > 1 {
                star = 0;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if low < bounds.low {
        return Err(format!("beginning of range ({low}) below minimum ({}): {text}", bounds.low));
    }
    if high > bounds.high {
        return Err(format!("end of range ({high}) above maximum ({}): {text}", bounds.high));
    }
    if low > high {
        return Err(format!("beginning of range ({low}) beyond end of range ({high}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(bits(low, high, step) | star)
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u32, String> {
    let lower = text.to_ascii_lowercase();
    let named = bounds.names.iter().position(|name| !name.is_empty() && *name == lower);
    match named.and_then(|at| u32::try_from(at).ok()) {
        Some(number) => Ok(number),
        None => number(text),
    }
}

/// Upstream: mustParseInt.
fn number(text: &str) -> Result<u32, String> {
    let parsed = go::parse_int(text).map_err(|fault| {
        format!("failed to parse int from {text}: {}", go::number_error("Atoi", text, fault))
    })?;
    if parsed < 0 {
        return Err(format!("negative number ({parsed}) not allowed: {text}"));
    }
    Ok(u32::try_from(parsed).unwrap_or(u32::MAX))
}
