//! Words that must not stand in the code, each with its reason.

use super::files;

/// A word, and where it must not stand.
struct Ban {
    /// Looked for as a whole word, in code and comments.
    word: &'static str,
    /// Which files: the beginning of their paths. Empty: all.
    below: &'static [&'static str],
    why: &'static str,
}

/// Where the world is made: nothing there may depend on the machine it runs on.
const ENGINE: &[&str] = &[
    "crates/model/src",
    "crates/apiserver/src",
    "crates/control/src",
    "crates/controllers/src",
    "crates/cluster/src",
    "crates/kubectl/src",
    "crates/insight/src",
    "crates/lessons/src",
    "crates/engine/src",
];

const SORT: &str = "5 kB of wasm for each: kubestep_model::arrange";

const BANS: &[Ban] = &[
    Ban { word: concat!("TO", "DO"), below: &[], why: "do it, or say in FIDELITY.md what is left out" },
    Ban { word: concat!("FIX", "ME"), below: &[], why: "do it, or say in FIDELITY.md what is left out" },
    Ban { word: concat!("XX", "X"), below: &[], why: "do it, or say in FIDELITY.md what is left out" },
    Ban { word: concat!("to", "do!"), below: &[], why: "nothing is half done" },
    Ban { word: concat!("unimple", "mented!"), below: &[], why: "nothing is half done" },
    Ban {
        word: concat!("#[ig", "nore"),
        below: &[],
        why: "a wrong behaviour is asserted as it is and listed",
    },
    Ban {
        word: concat!("Hash", "Map"),
        below: ENGINE,
        why: "order must not depend on a hasher: BTreeMap or kubestep_model::tree",
    },
    Ban {
        word: concat!("Hash", "Set"),
        below: ENGINE,
        why: "order must not depend on a hasher: BTreeSet or kubestep_model::tree",
    },
    Ban { word: concat!("System", "Time"), below: ENGINE, why: "time is the world's" },
    Ban { word: concat!("std::time::", "Instant"), below: ENGINE, why: "time is the world's" },
    Ban { word: concat!("std::", "fs"), below: ENGINE, why: "the engine does no I/O" },
    Ban { word: concat!("std::", "env"), below: ENGINE, why: "the engine does no I/O" },
    Ban { word: concat!("thread_", "rng"), below: ENGINE, why: "chance is the world's dice" },
    Ban { word: concat!("Default", "Hasher"), below: ENGINE, why: "hash canonical bytes of fixed width" },
    Ban { word: concat!("println", "!"), below: ENGINE, why: "the engine does no I/O" },
    Ban { word: concat!(".sor", "t("), below: ENGINE, why: SORT },
    Ban { word: concat!(".sor", "t_by("), below: ENGINE, why: SORT },
    Ban { word: concat!(".sor", "t_by_key("), below: ENGINE, why: SORT },
    Ban { word: concat!(".sor", "t_unstable("), below: ENGINE, why: SORT },
    Ban { word: concat!(".sor", "t_unstable_by("), below: ENGINE, why: SORT },
    Ban { word: concat!(".sor", "t_unstable_by_key("), below: ENGINE, why: SORT },
    Ban { word: concat!("on_", "tick"), below: &["crates", "web"], why: "what happens is called a step" },
    Ban { word: concat!("Tick", "ed"), below: &["crates", "web"], why: "what happens is called a step" },
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a word stands in a line and no letter touches it.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let free = |side: Option<char>, edge: Option<char>| {
            !(side.is_some_and(is_word) && edge.is_some_and(is_word))
        };
        free(before, word.chars().next()) && free(after, word.chars().next_back())
    })
}

/// Tests may read files and print.
fn is_test(path: &str) -> bool {
    path.contains("tests")
        || path.ends_with("laws.rs")
        || path.ends_with("vectors.rs")
        || path.ends_with("recordings.rs")
}

#[test]
fn words_that_must_not_stand_in_the_code_do_not() {
    let mut wrong = vec![];
    for (path, text) in files(&[".rs", ".mjs", ".js", ".css", ".toml", ".html"]) {
        let bans: Vec<&Ban> = BANS
            .iter()
            .filter(|b| {
                b.below.is_empty() || (b.below.iter().any(|p| path.starts_with(p)) && !is_test(&path))
            })
            .collect();
        let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in own.lines().enumerate() {
            for ban in bans.iter().filter(|b| holds(line, b.word)) {
                wrong.push(format!("{path}:{}: {} ({})", number + 1, ban.word, ban.why));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_place_of_one_machine_is_named() {
    let places =
        [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/tmp/", "kubestep")];
    let mut wrong = vec![];
    for (path, text) in
        files(&[".rs", ".mjs", ".js", ".css", ".toml", ".html", ".md", ".yaml", ".json", "run"])
    {
        for (number, line) in text.lines().enumerate() {
            if places.iter().any(|p| line.contains(p)) {
                wrong.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_word_is_a_whole_word() {
    assert!(holds("a tick.", "tick") && holds("tick", "tick") && holds("x = to!()", "to!"));
    assert!(!holds("ticket", "tick") && !holds("sticks", "tick") && !holds("", "tick"));
}
