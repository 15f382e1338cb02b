//! The German table is whole: every text of the page is in it, with the same gaps, and nothing that the page does not say.

use std::fs;
use std::path::{Path, PathBuf};

use kubestep_protocol::{At, ObjectRef, Rich, Span};

use super::{Table, gap};
use crate::state::KEY_MAP;

const GERMAN: &str = include_str!("../../words/de.txt");

fn german() -> Table {
    Table::read(GERMAN.to_string())
}

/// The sources of the page, without their tests.
fn sources() -> Vec<(PathBuf, String)> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
            if path.is_dir() && name == "fixture" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".rs")
                && !name.contains("test")
                && !name.contains("fixture")
                && name != "words.rs"
            {
                let text = fs::read_to_string(&path).expect("a source");
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                let code: Vec<&str> = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
                found.push((path, code.join("\n")));
            }
        }
    }
    found
}

/// The texts in quotes, each with what stands before it.
fn quoted(code: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut before_at = 0;
    while let Some(start) = rest.find('"') {
        let mut end = start + 1;
        let bytes = rest.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        if end >= bytes.len() {
            break;
        }
        found.push((&code[before_at..before_at + start], rest[start + 1..end].replace("\\\"", "\"")));
        before_at += end + 1;
        rest = &rest[end + 1..];
    }
    found
}

/// Whether a text in quotes reads like words for people: a sentence, or a word with a capital letter.
fn reads(text: &str) -> bool {
    let word = |w: &str| w.len() > 1 && w.chars().all(|c| c.is_ascii_lowercase() || ".,;:?!’'".contains(c));
    let plain = text.split(' ').filter(|w| word(w)).count() >= 2 && text.split(' ').count() > 2;
    let code =
        ["{", "=", "px", "btn", "kubectl ", "--", "<", "label ", "grow "].iter().any(|c| text.contains(c));
    plain && !code
}

/// Texts that people never see.
const UNSEEN: &[&str] = &[
    "a page has a window",
    "a window has a document",
    "components stand inside the app",
    ".floats, .sheet, [aria-haspopup]",
    "The lessons cannot be fetched:",
    "but the file says",
    "and the cluster has",
    "ack ack-h teacher",
    "board verdict steps timeline",
    "code readonly grow",
    "scroll grow",
    "lesson body scroll grow",
    "anchor up extra wide",
    "teacher strip-note ack-h",
    "breakmenu floats share",
];

/// Whether this is a call of a function of exactly this name.
fn is_call(before: &str, name: &str) -> bool {
    let rest = before.strip_suffix(name);
    rest.is_some_and(|r| !r.ends_with(|c: char| c.is_alphanumeric() || "_.!".contains(c)))
}

#[test]
fn every_text_of_the_page_has_its_german() {
    let table = german();
    let mut missing = Vec::new();
    for (path, code) in sources() {
        for (before, text) in quoted(&code) {
            let before = before.trim_end();
            let marked = ["t(", "n(", "w(", "tf!(", "wf!(", "fill("].iter().any(|m| is_call(before, m));
            let asked = marked || reads(&text) && !UNSEEN.contains(&text.trim());
            let known = table.whole(text.trim()).is_some() || table.sentence(text.trim()).is_some();
            if asked && !known && text.chars().any(char::is_alphabetic) {
                missing.push(format!("{}: {text}", path.file_name().unwrap_or_default().to_string_lossy()));
            }
        }
    }
    missing.extend(
        KEY_MAP.iter().filter(|(_, does)| table.whole(does).is_none()).map(|(_, does)| does.to_string()),
    );
    assert!(missing.is_empty(), "without German in web/words/de.txt:\n{}", missing.join("\n"));
}

#[test]
fn every_text_has_the_same_gaps_in_both_languages_and_stands_once() {
    let gaps = |text: &str| {
        let (mut rest, mut count) = (text, 0);
        while let Some((_, _, after)) = gap(rest) {
            (rest, count) = (after, count + 1);
        }
        count
    };
    let table = german();
    let mut before = "";
    for (english, words) in table.pairs() {
        assert_eq!(gaps(english), gaps(words), "{english}");
        assert_eq!(english.matches('*').count(), words.matches('*').count(), "{english}");
        assert!(english != before, "twice: {english}");
        before = english;
    }
    let lines = GERMAN.lines().filter(|l| l.starts_with("> ")).count();
    assert_eq!(lines, GERMAN.lines().filter(|l| l.starts_with("< ")).count());
    assert_eq!(lines, table.pairs().count(), "a pair is not read");
}

#[test]
fn a_sentence_keeps_what_is_no_word_in_its_place() {
    let table = german();
    let said = |rich: &Rich| table.rich(rich).map(|r| r.plain(At(0)));
    let words = |w: &str| Span::Words(w.into());
    let blocked = Rich::words("Blocked by ")
        .then(Span::Strong("the registry".into()))
        .then(words(": it has no "))
        .then(Span::Code("checkout:1.9.2".into()))
        .then(words(". The kubelet asked 7 times; next in "))
        .then(Span::Until(At(220_000)))
        .then(words(". No loop rolls back."));
    assert_eq!(
        said(&blocked).as_deref(),
        Some(
            "Blockiert von der Registry: Sie hat kein checkout:1.9.2. Das Kubelet hat 7-mal gefragt; das nächste Mal in 3m 40s. Keine Schleife rollt zurück."
        )
    );
    let german = table.rich(&blocked).expect("known");
    assert!(
        german.0.contains(&Span::Code("checkout:1.9.2".into()))
            && german.0.contains(&Span::Strong("der Registry".into()))
    );
    let object = ObjectRef { kind: "Pod".into(), ..ObjectRef::default() };
    let deed = Rich::words("The ReplicaSet controller created ")
        .then(Span::Object(object, "Pod x2k4p".into()))
        .then(words("."));
    assert_eq!(said(&deed).as_deref(), Some("Der ReplicaSet controller legte Pod x2k4p an."));
    assert_eq!(
        table.sentence("You made everything take 20 ms longer for node-1.").as_deref(),
        Some("Für node-1 dauert jetzt alles 20 ms länger.")
    );
    assert_eq!(table.sentence("Something nobody ever says."), None);
    assert_eq!(table.sentence("× 3"), None);
}

#[test]
fn a_step_that_stands_in_a_title_is_told_in_the_language_too() {
    let text = Rich(vec![Span::Step(3)]);
    assert_eq!(super::said_plain(&text, At(0)), "step 3");
    let table: &'static Table = Box::leak(Box::new(german()));
    super::speak(Some(table));
    assert_eq!(super::said_plain(&text, At(0)), "Schritt 3");
    super::speak(None);
}
