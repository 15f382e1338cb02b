//! Commands that only read, answered from the state that a recording had when they ran: their output must be what
//! the real kubectl printed at that moment.
//!
//! The recordings give each object's changes with their times, and each event's. A command ran for a tenth of a second
//! or so, so several moments are tried: that is the recording's race window, and the only thing that may vary.

mod events;
mod past;
mod text;
mod writes;

use past::Past;
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf};

/// What is compared: the commands that only read.
fn reads(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    matches!(
        words.as_slice(),
        ["kubectl", "get" | "describe", ..] | ["kubectl", "rollout", "status" | "history", ..]
    )
}

#[derive(Default)]
struct Tally {
    same: usize,
    all: usize,
    wrong: Vec<String>,
    by_verb: BTreeMap<String, (usize, usize)>,
}

fn sessions() -> Vec<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/sessions");
    let folder = std::env::var("RECORDINGS").map_or(own, PathBuf::from);
    let only: Option<Vec<String>> =
        std::env::var("SESSIONS").ok().map(|s| s.split(',').map(str::to_owned).collect());
    let wanted = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let id = name.split('-').next().unwrap_or_default();
        let listed =
            only.as_ref().map_or_else(|| SESSIONS.contains(&id), |only| only.iter().any(|o| o == id));
        listed && name.ends_with(".json")
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the recordings are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(wanted)
        .collect();
    paths.sort();
    paths
}

const SESSIONS: &[&str] = &[
    "s01", "s01b", "s02", "s02b", "s03", "s04", "s06", "s07", "s08", "s09", "s13", "s14", "s15", "s16",
    "s22", "s23", "s25", "s26", "s34", "s35", "s36",
];

fn replay(path: &PathBuf, tally: &mut Tally, writing: bool) {
    let text = std::fs::read_to_string(path).expect("the recording can be read");
    let recording: Value = serde_json::from_str(&text).expect("the recording is JSON");
    let past = Past::of(&recording);
    let script = std::fs::read_to_string(path.with_extension("yaml")).expect("the script can be read");
    let steps = recording["steps"].as_array().expect("there are steps");
    for (at, step) in steps.iter().enumerate() {
        let command = step["command"].as_str().unwrap_or_default();
        if reads(command) == writing || !command.starts_with("kubectl") || step["stdout"].is_null() {
            continue;
        }
        let verb = command.split_whitespace().skip(1).take(1).collect::<String>();
        let verb = if verb == "rollout" {
            command.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" ")
        } else {
            verb
        };
        let count = tally.by_verb.entry(verb).or_default();
        tally.all += 1;
        count.1 += 1;
        let tried = if writing {
            writes::try_command(&past, &recording, &script, step)
        } else {
            past.try_command(step)
        };
        match tried {
            Ok(()) => {
                tally.same += 1;
                count.0 += 1;
            }
            Err(why) => {
                let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
                tally.wrong.push(format!("== {name} step {at} (at {}): {command}\n{why}", step["at"]));
            }
        }
    }
}

/// Plays all sessions; of the commands at least `floor` per cent must do as recorded.
fn play(writing: bool, floor: usize) {
    let mut tally = Tally::default();
    for path in sessions() {
        replay(&path, &mut tally, writing);
    }
    let verbs = tally.by_verb.iter().map(|(verb, (same, all))| format!("{verb} {same}/{all}"));
    println!("{} of {} ({})", tally.same, tally.all, verbs.collect::<Vec<_>>().join(", "));
    if let Ok(show) = std::env::var("SHOW") {
        let show: usize = show.parse().unwrap_or(usize::MAX);
        tally.wrong.iter().take(show).for_each(|w| println!("{w}"));
    }
    if std::env::var("SESSIONS").is_err() {
        assert!(
            tally.all > 0 && tally.same * 100 >= tally.all * floor,
            "{} of {} are equal, at least {floor} % must be; SHOW=9 shows what differs",
            tally.same,
            tally.all
        );
    }
}

#[test]
fn reading_commands_print_what_was_recorded() {
    play(false, 99);
}

#[test]
fn writing_commands_ask_and_print_what_was_recorded() {
    play(true, 97);
}
