//! Every note of a controller has a sentence and says where upstream decides it; every sentence is used.

use super::files;
use std::collections::{BTreeMap, BTreeSet};

/// All pieces of text in quotes, of one line of code each.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|l| !l.trim_start().starts_with("//")).flat_map(|l| l.split('"').skip(1).step_by(2))
}

/// `group.word-word`
fn is_code(text: &str, groups: &BTreeSet<&str>) -> bool {
    let plain = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    text.split_once('.').is_some_and(|(group, rest)| groups.contains(group) && plain(rest))
}

/// A table with the values of its constants in their places.
fn with_constants(text: &str) -> String {
    let value = |l: &str| {
        let (name, rest) = l.strip_prefix("const ")?.split_once(": &str = \"")?;
        Some((name.to_owned(), rest.strip_suffix("\";")?.to_owned()))
    };
    text.lines().filter_map(value).fold(text.to_owned(), |text, (name, value)| {
        let whole = |end: &str| (format!(" {name}{end}"), format!(" \"{value}\"{end}"));
        let (argument, last) = (whole(","), whole(")"));
        text.replace(&argument.0, &argument.1).replace(&last.0, &last.1)
    })
}

/// Sentences of the tables and of the modules that hold their own: code to text and upstream.
fn sentences(sources: &[(String, String)]) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for (path, text) in sources {
        // A table whose rows all come from one place upstream says so once, in the function that makes a row.
        let shared = text.split("const fn of(").nth(1).and_then(|f| f.split("upstream: \"").nth(1));
        let shared = shared.and_then(|f| f.split('"').next());
        let table = path.ends_with("sentences.rs") || shared.is_some();
        let rows = with_constants(text);
        for row in rows.split(" of(").skip(1).filter(|r| table && r.trim_start().starts_with('"')) {
            let parts: Vec<_> = quoted(row).collect();
            if let [code, sentence, rest @ ..] = parts.as_slice()
                && let Some(upstream) = shared.or(rest.first().copied())
            {
                found.insert((*code).to_owned(), ((*sentence).to_owned(), upstream.to_owned()));
            }
        }
        for piece in text.split("code: \"").skip(1) {
            let code = piece.split('"').next().unwrap_or_default();
            let field =
                |name: &str| piece.split(name).nth(1).and_then(|p| quoted(p).next()).unwrap_or_default();
            found.insert(code.to_owned(), (field("text:").to_owned(), field("upstream:").to_owned()));
        }
    }
    found
}

#[test]
fn every_note_has_a_sentence_and_every_sentence_a_note() {
    let sources: Vec<(String, String)> = files(&[".rs"])
        .into_iter()
        .filter(|(path, _)| path.starts_with("crates/controllers/src") && !path.contains("tests"))
        .map(|(path, text)| {
            (path, text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned())
        })
        .collect();
    let sentences = sentences(&sources);
    assert!(sentences.len() > 60, "only {} sentences were found", sentences.len());
    let groups: BTreeSet<&str> = sentences.keys().filter_map(|c| c.split('.').next()).collect();
    let mut used: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| !path.ends_with("sentences.rs")) {
        let own = text.replace("code: \"", "code: '");
        // What chance is drawn for is named alike.
        let lines: Vec<&str> = own.lines().filter(|l| !l.contains("jitter")).collect();
        for code in quoted(&lines.join("\n")).filter(|t| is_code(t, &groups)) {
            let known = sentences.get_key_value(code).map(|(k, _)| k.as_str());
            assert!(known.is_some(), "{path}: the note {code} has no sentence");
            if let Some(known) = known {
                used.insert(known, path);
            }
        }
        for piece in text.split("because(").skip(1).filter_map(|p| p.trim_start().strip_prefix('"')) {
            let code = piece.split('"').next().unwrap_or_default();
            assert!(sentences.contains_key(code), "{path}: the note {code} has no sentence");
        }
    }
    for (code, (text, upstream)) in &sentences {
        assert!(used.contains_key(code.as_str()), "nobody says {code}");
        assert!(text.len() > 15 && text.ends_with(['.', '}']), "the sentence of {code}: {text:?}");
        assert!(
            upstream.contains(".go") || upstream.contains('/'),
            "where upstream decides {code}: {upstream:?}"
        );
    }
}
