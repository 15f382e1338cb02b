//! Between the recordings' relative times and absolute ones, and what counts as the same output.

use kubestep_model::{
    Instant, MicroTime, Time,
    client::{Chunk, Stream},
};
use serde_json::Value;

/// What stands before the number of a resource version, so that it can be told from other numbers.
const VERSION: &str = "770077";

/// Puts absolute times in the place of `T+12.3s`.
pub(crate) fn absolute(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(absolute_text(text)),
        Value::Array(items) => Value::Array(items.iter().map(absolute).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), absolute(v))).collect()),
        other => other.clone(),
    }
}

fn absolute_text(text: &str) -> String {
    if let Some(number) = text.strip_prefix("rv-").filter(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        return format!("{VERSION}{number}");
    }
    let Some((length, seconds)) = relative(text).filter(|(length, _)| *length == text.len()) else {
        return text.to_owned();
    };
    let micros = (Instant::START.0 / 1000) + (seconds * 1e6).round() as i64;
    let digits = text[..length - 1].split('.').nth(1).map_or(0, str::len);
    if digits <= 1 && micros % 1_000_000 == 0 {
        Time(micros / 1_000_000).to_string()
    } else {
        MicroTime(micros).to_string()
    }
}

/// The length of a relative time at the start of a text, and how many seconds it stands for.
fn relative(text: &str) -> Option<(usize, f64)> {
    let rest =
        text.strip_prefix("T+").map(|r| (1.0, r)).or_else(|| text.strip_prefix("T-").map(|r| (-1.0, r)));
    let (sign, rest) = rest?;
    let end = rest.find('s')?;
    let seconds: f64 = rest[..end].parse().ok()?;
    Some((end + 3, sign * seconds))
}

/// Puts relative times in the place of absolute ones, as the recorder does; a time in a table keeps its width.
pub(crate) fn normal(text: &str) -> String {
    let text = text.replace(VERSION, "rv-");
    let mut out = String::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        if let Some((length, shown)) = date(rest).or_else(|| stamp(rest)) {
            let tail = &rest[length..];
            let blanks = tail.len() - tail.trim_start_matches(' ').len();
            out.push_str(&shown);
            if blanks >= 2 && !tail.trim_start_matches(' ').starts_with('\n') {
                out.extend(std::iter::repeat_n(' ', length.saturating_sub(shown.len())));
            }
            rest = tail;
            continue;
        }
        let c = rest.chars().next().expect("there is a character");
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Standard output and standard error, with relative times.
pub(crate) fn streams(output: &[Chunk]) -> (String, String) {
    let join = |stream: Stream| {
        output.iter().filter(|c| c.stream == stream).map(|c| c.text.as_str()).collect::<String>()
    };
    (normal(&join(Stream::Out)), normal(&join(Stream::Err)))
}

fn shown(seconds: i64) -> String {
    let relative = seconds - Instant::START.0 / 1_000_000_000;
    let sign = if relative < 0 { '-' } else { '+' };
    format!("T{sign}{}.0s", relative.abs())
}

fn stamp(text: &str) -> Option<(usize, String)> {
    let head = text.get(..20)?;
    if !head.starts_with("20") {
        return None;
    }
    if let Some(time) = Time::parse(head) {
        return Some((20, shown(time.0)));
    }
    let end = text.find('Z')?;
    let time: MicroTime = serde_json::from_value(Value::String(text.get(..=end)?.to_owned())).ok()?;
    let tenths = (time.0 - Instant::START.0 / 1000) as f64 / 1e6;
    Some((end + 1, format!("T+{tenths:.1}s")))
}

fn date(text: &str) -> Option<(usize, String)> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let head = text.get(..31)?;
    let b = head.as_bytes();
    if b[3] != b',' || !head.ends_with(" +0000") {
        return None;
    }
    let month = MONTHS.iter().position(|m| *m == &head[8..11])? + 1;
    let time = Time::parse(&format!("{}-{month:02}-{}T{}Z", &head[12..16], &head[5..7], &head[17..25]))?;
    (head[12..16].starts_with("20")).then(|| (31, shown(time.0)))
}

/// Whether two outputs are the same: line for line. Where events are shown, those of one second may stand in any order,
/// and their ages may differ by the second that lies between writing an event and seeing it.
pub(crate) fn same(ours: &str, recorded: &str) -> bool {
    if ours == recorded {
        return true;
    }
    let (a, b) = (lines(ours), lines(recorded));
    if a.len() != b.len() {
        return false;
    }
    let events = recorded.contains("LAST SEEN") || recorded.contains("Events:");
    if !events {
        return a == b;
    }
    let mut left = b;
    a.iter().all(|line| {
        let place = left
            .iter()
            .position(|other| other == line)
            .or_else(|| left.iter().position(|other| close(line, other)));
        place.map(|at| left.remove(at)).is_some()
    })
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(tidy).collect()
}

/// Whether two lines differ in ages only, by a second at most.
fn close(a: &str, b: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let seconds = |word: &str| word.trim_end_matches(')').strip_suffix('s').and_then(span);
    let (a, b) = (words(a), words(b));
    a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|(x, y)| x == y || seconds(x).zip(seconds(y)).is_some_and(|(x, y)| x.abs_diff(y) <= 1))
}

/// The seconds of `90` or `2m5`.
fn span(text: &str) -> Option<u64> {
    match text.split_once('m') {
        Some((minutes, seconds)) => Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?),
        None => text.parse().ok(),
    }
}

/// Without what the recordings cannot give: when leases and node conditions were renewed, and how old the objects are
/// that were there before the session.
fn tidy(line: &str) -> String {
    let bare = line.trim_start();
    if ["RenewTime:", "AcquireTime:"].iter().any(|f| bare.starts_with(f)) {
        return bare.split(':').next().unwrap_or_default().to_owned();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["MemoryPressure" | "DiskPressure" | "PIDPressure" | "Ready", status, beat, rest @ ..]
            if beat.starts_with('T') =>
        {
            format!("{} {status} {}", words[0], rest.join(" "))
        }
        ["kubernetes", middle @ .., _, "<none>"] | ["kubernetes", middle @ .., _] => middle.join(" "),
        _ => line.to_owned(),
    }
}

/// The lines of two texts that only one of them has.
pub(crate) fn diff(recorded: &str, ours: &str) -> Vec<String> {
    let (mut a, mut b): (Vec<String>, Vec<String>) =
        (recorded.lines().map(tidy).collect(), ours.lines().map(tidy).collect());
    a.retain(|line| match b.iter().position(|other| other == line) {
        Some(place) => {
            b.remove(place);
            false
        }
        None => true,
    });
    let mut out: Vec<String> = a.iter().map(|line| format!("  - {line}\n")).collect();
    out.extend(b.iter().map(|line| format!("  + {line}\n")));
    out
}
