//! What is wrong with a schedule, in the words of the parser that Kubernetes uses.

use kubestep_model::cron::{Schedule, Zone};

/// Whether there is a time zone of this name. The server's own clock has no name here.
pub(super) fn is_zone(name: &str) -> bool {
    !matches!(name, "" | "Local") && Zone::named(name).is_some()
}

/// What is wrong with a schedule.
pub(super) fn fault(schedule: &str) -> Result<(), String> {
    Schedule::parse(schedule).map(drop)
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
