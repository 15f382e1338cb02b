//! Slow decay: edges between crates, file lengths, words, notes, commands and links of the documents.

mod documents;
mod edges;
mod notes;
mod words;

use crate::golden::root;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours.
const NOT_OURS: [&str; 5] = ["target", "node_modules", "dist", ".git", "golden"];

/// Every file of the repository whose name ends so, by path from the root, with its text.
fn files(ends: &[&str]) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut folders: Vec<PathBuf> = vec![root()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("a folder").flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !NOT_OURS.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if ends.iter().any(|e| name.ends_with(e)) && name != "package-lock.json" {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                found.push((from_root(&path), text));
            }
        }
    }
    found
}

fn from_root(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The longest that a file may be.
const LONGEST: usize = 700;
/// Files that may be longer, and why.
const LONGER: [(&str, &str); 0] = [];

#[test]
fn files_are_short() {
    let rust = files(&[".rs", ".mjs", ".css"]);
    assert!(rust.len() > 200, "only {} files were found", rust.len());
    let long: Vec<String> = rust
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(path, lines)| *lines > LONGEST && LONGER.iter().all(|(p, _)| p != path))
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "more than {LONGEST} lines:\n{}", long.join("\n"));
}
