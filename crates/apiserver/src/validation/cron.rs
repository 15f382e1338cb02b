//! What is wrong with a schedule, in the words of the parser that Kubernetes uses.
//!
//! Upstream: github.com/robfig/cron/v3, ParseStandard (v3.0.1).

use kubestep_model::text::{duration, go};

/// The time zones that there are, one name a line.
const ZONES: &str = include_str!("zones.txt");

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// What one of the five fields may hold.
struct Bounds {
    least: u64,
    most: u64,
    names: &'static [&'static str],
}

const FIELDS: [Bounds; 5] = [
    Bounds { least: 0, most: 59, names: &[] },
    Bounds { least: 0, most: 23, names: &[] },
    Bounds { least: 1, most: 31, names: &[] },
    Bounds { least: 1, most: 12, names: &MONTHS },
    Bounds { least: 0, most: 6, names: &DAYS },
];

/// Whether there is a time zone of this name.
pub(super) fn is_zone(name: &str) -> bool {
    name == "UTC" || ZONES.lines().any(|zone| zone == name)
}

/// What is wrong with a schedule.
pub(super) fn fault(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if rest.is_empty() {
        return Err("empty spec string".into());
    }
    if rest.starts_with("TZ=") || rest.starts_with("CRON_TZ=") {
        let (zone, schedule) = rest.split_once(' ').unwrap_or((rest, ""));
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if !zone.is_empty() && !is_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        rest = schedule.trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let shown = fields.join(" ");
        return Err(format!("expected exactly {} fields, found {}: [{shown}]", FIELDS.len(), fields.len()));
    }
    for (field, bounds) in fields.iter().zip(&FIELDS) {
        for part in field.split(',').filter(|p| !p.is_empty()) {
            range(part, bounds)?;
        }
    }
    Ok(())
}

fn descriptor(text: &str) -> Result<(), String> {
    match text {
        "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => Ok(()),
        _ => match text.strip_prefix("@every ") {
            Some(span) => duration::parse(span)
                .map(drop)
                .map_err(|why| format!("failed to parse duration {text}: {why}")),
            None => Err(format!("unrecognized descriptor: {text}")),
        },
    }
}

fn range(text: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let (start, mut end) = if matches!(ends[0], "*" | "?") {
        (bounds.least, bounds.most)
    } else {
        let start = number_or_name(ends[0], bounds)?;
        match ends.as_slice() {
            [_] => (start, start),
            [_, end] => (start, number_or_name(end, bounds)?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            if ends.len() == 1 {
                end = bounds.most;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < bounds.least {
        return Err(format!("beginning of range ({start}) below minimum ({}): {text}", bounds.least));
    }
    if end > bounds.most {
        return Err(format!("end of range ({end}) above maximum ({}): {text}", bounds.most));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let lower = text.to_lowercase();
    match bounds.names.iter().position(|n| *n == lower) {
        Some(at) => Ok(bounds.least + at as u64),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let read = go::parse_int(text).map_err(|fault| {
        format!("failed to parse int from {text}: {}", go::number_error("Atoi", text, fault))
    })?;
    u64::try_from(read).map_err(|_| format!("negative number ({read}) not allowed: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_refused_in_the_parsers_words() {
        for (schedule, why) in [
            ("*/5 * * * *", ""),
            ("0 9-17 * jan-mar mon,fri", ""),
            ("? * * * ?", ""),
            ("@every 90s", ""),
            ("0 0 30 2 *", ""),
            ("TZ=Europe/Berlin 0 3 * * *", ""),
            ("*/5 * * *", "expected exactly 5 fields, found 4: [*/5 * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("*/2/3 * * * *", "too many slashes: */2/3"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("@reboot", "unrecognized descriptor: @reboot"),
        ] {
            assert_eq!(fault(schedule).err().unwrap_or_default(), why, "{schedule}");
        }
    }

    #[test]
    fn zones_are_known_by_their_exact_names() {
        assert!(is_zone("Europe/Berlin") && is_zone("UTC") && is_zone("Asia/Kolkata"));
        assert!(!is_zone("europe/berlin") && !is_zone("Mars/Base") && !is_zone(""));
    }
}
