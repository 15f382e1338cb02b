//! What is wrong with a folder of lessons as a whole: names, ids, translations that belong to nothing.

use super::files::{LANGUAGES, Shelf, is_lesson};
use kubestep_lessons::lesson::{Lesson, id_of, language_of};
use std::collections::BTreeMap;

/// A file, and what is wrong with it.
pub(super) fn strays(shelf: &Shelf) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> =
        shelf.unread.iter().filter(|(p, _)| shelf.is_asked(p)).cloned().collect();
    for source in shelf.sources.iter().filter(|s| shelf.is_asked(&s.path)) {
        found.extend(name(shelf, &source.path).map(|why| (source.path.clone(), why)));
    }
    found.extend(ids(shelf));
    found
}

/// What is wrong with the name of a file.
fn name(shelf: &Shelf, path: &str) -> Option<String> {
    let file = path.rsplit('/').next().unwrap_or(path);
    if !file.ends_with(".md") {
        return Some("It is taken for no lesson. Let its name end in .md.".into());
    }
    let language = language_of(path)?;
    if !LANGUAGES.contains(&language) {
        let known = LANGUAGES.join(", ");
        return Some(format!(
            "There is no language {language}; the page speaks {known} beside English. A lesson's own name has no full stop."
        ));
    }
    let original = path.replace(&format!(".{language}.md"), ".md");
    let there = shelf.sources.iter().any(|s| s.path == original);
    (!there).then(|| format!("It translates {original}, which is not there."))
}

/// Two lessons of one id, and needs that nothing meets.
fn ids(shelf: &Shelf) -> Vec<(String, String)> {
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = vec![];
    for path in shelf.sources.iter().map(|s| s.path.as_str()).filter(|p| is_lesson(p) && p.ends_with(".md")) {
        if let Some(other) = first.get(&id_of(path)).filter(|o| shelf.is_asked(path) || shelf.is_asked(o)) {
            let why = format!("It has the id {}, as {other} has. Give it another name.", id_of(path));
            found.push((path.to_string(), why));
        }
        first.entry(id_of(path)).or_insert(path);
    }
    for path in &shelf.lessons {
        let Ok(lesson) = Lesson::read(path, &shelf.sources, "en") else { continue };
        for need in lesson.needs.iter().filter(|n| !first.contains_key(*n)) {
            found.push((
                path.clone(),
                format!("It needs {need}, and there is no such lesson in these folders."),
            ));
        }
    }
    found
}
