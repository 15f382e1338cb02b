//! `kubestep lesson index`: the map of all lessons, for a page that fetches them one by one.

use super::files::Shelf;
use kubestep_lessons::lesson::{Lesson, Source, folders_of, language_of, translated};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, path::Path};

/// The command.
pub(super) fn main(args: &[String]) -> Result<i32, String> {
    let (folder, out) = match args {
        [folder] => (folder, None),
        [folder, flag, out] if flag == "-o" => (folder, Some(out)),
        _ => return Err("usage: kubestep lesson index FOLDER [-o OUT.json]".into()),
    };
    let shelf = Shelf::open(Path::new(folder))?;
    if let Some((file, why)) = shelf.unread.first() {
        return Err(format!("{file}: {why}"));
    }
    let text = index(&shelf)?;
    match out {
        None => print!("{text}"),
        Some(out) => std::fs::write(out, text).map_err(|e| format!("{out}: {e}"))?,
    }
    Ok(0)
}

/// The map as JSON: for each lesson its id, its words by language, what it needs, and which files it is made of.
/// Errors: lessons that cannot be read, or two with one id.
pub fn index(shelf: &Shelf) -> Result<String, String> {
    let mut rows = vec![];
    let mut ids = BTreeSet::new();
    for path in &shelf.lessons {
        let read = |language: &str| {
            Lesson::read(path, &shelf.sources, language)
                .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        };
        let lesson = read("en")?;
        if !ids.insert(lesson.id.clone()) {
            return Err(format!("two lessons have the id {}", lesson.id));
        }
        let mut words = Map::new();
        let mut languages = vec!["en".to_string()];
        languages.extend(others(path, &shelf.sources));
        for language in languages {
            let one = read(&language)?;
            let row = json!({"title": one.title, "part": one.part, "chapter": one.chapter, "files": files(path, &language, &shelf.sources)});
            words.insert(language, row);
        }
        rows.push(json!({
            "id": lesson.id, "path": path, "minutes": lesson.minutes, "rows": lesson.rows, "needs": lesson.needs, "words": words,
        }));
    }
    let known = |need: &Value| need.as_str().is_some_and(|n| ids.contains(n));
    for row in &rows {
        if let Some(need) = row["needs"].as_array().into_iter().flatten().find(|n| !known(n)) {
            return Err(format!("{} needs {need}, which is not there", row["id"]));
        }
    }
    let text =
        serde_json::to_string_pretty(&json!({"format": 1, "lessons": rows})).map_err(|e| e.to_string())?;
    Ok(text + "\n")
}

/// The languages of a lesson beside the original's.
fn others(path: &str, sources: &[Source]) -> Vec<String> {
    let stem = path.strip_suffix(".md").unwrap_or(path);
    let mine = sources.iter().filter(|s| s.path.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.')));
    mine.filter_map(|s| language_of(&s.path)).map(Into::into).collect()
}

/// Every file that a lesson is made of in a language: its folders', its own, and their translations.
fn files(path: &str, language: &str, sources: &[Source]) -> Vec<String> {
    let mut all: Vec<String> = folders_of(path);
    all.push(path.into());
    if language != "en" {
        all.extend(all.clone().iter().map(|p| translated(p, language)));
    }
    all.retain(|p| sources.iter().any(|s| s.path == *p));
    all
}
