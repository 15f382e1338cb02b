//! What the documents name must be there: commands, files, and the documents themselves.

use super::{document, files};
use crate::golden::root;
use std::collections::BTreeSet;

const DOCUMENTS: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "FIDELITY.md",
    "BENCHMARKS.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

#[test]
fn every_document_is_there() {
    for name in DOCUMENTS {
        assert!(document(name).len() > 300, "{name} says nothing");
    }
}

/// Where links of a Markdown text lead, without those to other sites and within the page.
fn links(text: &str) -> Vec<&str> {
    let all = text.split("](").skip(1).filter_map(|p| p.split(')').next());
    all.map(|l| l.split('#').next().unwrap_or_default())
        .filter(|l| !l.is_empty() && !l.contains("://"))
        .collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut count = 0;
    for (path, text) in files(&[".md"]) {
        let folder = root().join(&path).parent().expect("a folder").to_owned();
        for link in links(&text) {
            count += 1;
            assert!(folder.join(link).exists(), "{path} links to {link}, which is not there");
        }
    }
    assert!(count > 5, "only {count} links were found");
}

/// The commands that stand in fenced blocks and between backticks.
fn commands(text: &str) -> BTreeSet<String> {
    let fenced = text.split("```").skip(1).step_by(2).flat_map(str::lines).map(str::trim);
    let inline = text.split('`').skip(1).step_by(2);
    fenced.chain(inline).map(|l| l.trim_start_matches("$ ").to_owned()).collect()
}

#[test]
fn commands_in_the_documents_exist() {
    let xtask = document("xtask/src/main.rs");
    let cli = document("crates/cli/src/main.rs");
    let aliases = document(".cargo/config.toml");
    let mut count = 0;
    for (path, text) in files(&[".md"]) {
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let known = match words.as_slice() {
                ["cargo", "xtask", name, ..] => xtask.contains(&format!("\"{name}\"")),
                ["kubestep", name, ..] => cli.contains(&format!("\"{name}\"")),
                ["cargo", name, ..] if !OF_CARGO.contains(name) => aliases.contains(&format!("{name} = ")),
                _ => continue,
            };
            count += 1;
            assert!(known, "{path}: there is no command {command:?}");
        }
    }
    assert!(count > 5, "only {count} commands were found");
}

const OF_CARGO: [&str; 8] = ["test", "check", "clippy", "fmt", "run", "build", "deny", "metadata"];

/// Paths into this repository that documents name in backticks.
#[test]
fn files_that_the_documents_name_are_there() {
    let mut count = 0;
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "FIDELITY.md"] {
        let text = document(name);
        for word in text.split('`').skip(1).step_by(2) {
            let ours = ["crates/", "web/", "tests/", "xtask/"].iter().any(|p| word.starts_with(p));
            if ours && !word.contains(['<', '*', '…', ' ', '{']) {
                count += 1;
                assert!(root().join(word).exists(), "{name} names {word}, which is not there");
            }
        }
    }
    assert!(count > 20, "only {count} paths were found");
}

#[test]
fn readme_is_one_screen() {
    let lines = document("README.md").lines().count();
    assert!(lines <= 70, "README.md has {lines} lines");
}
