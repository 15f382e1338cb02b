//! Spans of time as Kubernetes shows and reads them. Spans are in nanoseconds.

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The AGE of `kubectl get`: two or three digits of it.
///
/// Upstream: k8s.io/apimachinery/pkg/util/duration, HumanDuration (v1.37).
pub fn human_duration(span: i64) -> String {
    let seconds = span / SECOND;
    if let Some(text) = invalid_or_now(seconds) {
        return text;
    }
    if seconds < 120 {
        return format!("{seconds}s");
    }
    let (minutes, hours) = (span / MINUTE, span / HOUR);
    let (days, years) = (hours / 24, hours / 24 / 365);
    if minutes < 10 {
        two(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        two(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if days < 8 {
        two(days, "d", hours % 24, "h")
    } else if years < 2 {
        format!("{days}d")
    } else if years < 8 {
        two(years, "y", days % 365, "d")
    } else {
        format!("{years}y")
    }
}

/// A span in its largest unit only, as the older columns show it.
///
/// Upstream: k8s.io/apimachinery/pkg/util/duration, ShortHumanDuration (v1.37).
pub fn short_human_duration(span: i64) -> String {
    let seconds = span / SECOND;
    if let Some(text) = invalid_or_now(seconds) {
        return text;
    }
    let (minutes, hours) = (span / MINUTE, span / HOUR);
    match () {
        () if seconds < 60 => format!("{seconds}s"),
        () if minutes < 60 => format!("{minutes}m"),
        () if hours < 24 => format!("{hours}h"),
        () if hours < 24 * 365 => format!("{}d", hours / 24),
        () => format!("{}y", hours / 24 / 365),
    }
}

/// Clocks may differ by a second; more into the past than that cannot be right.
fn invalid_or_now(seconds: i64) -> Option<String> {
    match seconds {
        i64::MIN..=-2 => Some("<invalid>".to_owned()),
        -1 => Some("0s".to_owned()),
        _ => None,
    }
}

/// The second unit is left out when there is none of it.
fn two(large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 {
        return format!("{large}{large_unit}");
    }
    format!("{large}{large_unit}{small}{small_unit}")
}

/// A span as Go prints it: `1m30s`, `1.003s`, `150ms`, `0s`.
///
/// Upstream: Go's time, Duration.String.
pub fn go_string(span: i64) -> String {
    let sign = if span < 0 { "-" } else { "" };
    let nanos = span.unsigned_abs();
    let second = SECOND.unsigned_abs();
    if nanos < second {
        return match nanos {
            0 => "0s".to_owned(),
            1..1_000 => format!("{sign}{nanos}ns"),
            1_000..1_000_000 => format!("{sign}{}µs", decimal(nanos, 3)),
            _ => format!("{sign}{}ms", decimal(nanos, 6)),
        };
    }
    let minutes = nanos / (60 * second);
    let seconds = decimal(nanos % (60 * second), 9);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `value` with the last `places` digits behind a point, without zeros at the end.
fn decimal(value: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let fraction = format!("{:0width$}", value % unit, width = places as usize);
    match fraction.trim_end_matches('0') {
        "" => format!("{}", value / unit),
        digits => format!("{}.{digits}", value / unit),
    }
}

/// Reads a span as Go's flags do: `300ms`, `-1.5h`, `2h45m`, or says what is wrong.
///
/// Upstream: Go's time, ParseDuration.
pub fn parse(text: &str) -> Result<i64, String> {
    let quoted = || quote(text);
    let invalid = || format!("time: invalid duration {}", quoted());
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let digits_end = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (whole, after) = rest.split_at(digits_end(rest));
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits_end(after)),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        if whole > 1 << 63 {
            return Err(invalid());
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", quoted()));
        }
        let Some(size) = unit_size(unit) else {
            return Err(format!("time: unknown unit {} in duration {}", quote(unit), quoted()));
        };
        // Beyond the 18th place nothing of even an hour is left.
        let fraction = &fraction[..fraction.len().min(18)];
        let part = fraction.parse::<i128>().unwrap_or(0) * size / 10_i128.pow(fraction.len() as u32);
        total += whole * size + part;
        if total > 1 << 63 {
            return Err(invalid());
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

/// Go's time quotes bytes, not characters.
fn quote(text: &str) -> String {
    let escaped = text.bytes().map(|b| match b {
        b'"' | b'\\' => format!("\\{}", char::from(b)),
        b' '..=b'~' | 0x7f => char::from(b).to_string(),
        _ => format!("\\x{b:02x}"),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn unit_size(unit: &str) -> Option<i128> {
    Some(i128::from(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_like_go() {
        for (span, want) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (1_003_000_000, "1.003s"),
            (90 * SECOND, "1m30s"),
            (HOUR, "1h0m0s"),
            (-(5 * HOUR + 1), "-5h0m0.000000001s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
            (i64::MAX, "2562047h47m16.854775807s"),
        ] {
            assert_eq!(go_string(span), want);
            assert_eq!(parse(want), Ok(span));
        }
    }

    #[test]
    fn reads_like_go() {
        for (text, want) in [
            ("0", 0),
            ("+5s", 5 * SECOND),
            ("-.5m", -30 * SECOND),
            ("1.5h0.25s", HOUR + HOUR / 2 + SECOND / 4),
            ("3.s", 3 * SECOND),
            ("0.3333333333333333333h", 20 * MINUTE - 1),
        ] {
            assert_eq!(parse(text), Ok(want), "{text}");
        }
        for (text, want) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            (".s", "time: invalid duration \".s\""),
            ("3", "time: missing unit in duration \"3\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            ("1h 2m", "time: unknown unit \"h \" in duration \"1h 2m\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("µs", "time: invalid duration \"\\xc2\\xb5s\""),
            ("3000000h", "time: invalid duration \"3000000h\""),
        ] {
            assert_eq!(parse(text).unwrap_err(), want);
        }
    }
}
