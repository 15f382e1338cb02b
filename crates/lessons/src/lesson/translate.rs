//! A lesson in another language: `name.de.md` beside `name.md` holds the texts and nothing else.

use super::{
    Lesson, Problem, Source,
    blocks::{Keys, word},
    folders_of,
    page::{Block, Page},
    translated,
};
use kubestep_model::arrange::Arrange;
use serde_json::Value;

/// Replaces every text by its translation. Errors: what is missing, what is too much.
pub(super) fn translate(lesson: &mut Lesson, sources: &[Source], language: &str) -> Result<(), Vec<Problem>> {
    let path = translated(&lesson.path, language);
    let Some(source) = sources.iter().find(|s| s.path == path) else {
        let text = format!("The translation into {language} is missing.");
        let remedy = format!("Write {path}.");
        return Err(vec![Problem { path: lesson.path.clone(), line: 0, text, remedy }]);
    };
    let page = Page::read(source).map_err(|p| vec![p])?;
    let mut problems = vec![];
    folders(lesson, sources, language, &mut problems);
    let folder_blocks = inherited(lesson, sources, language, &mut problems);
    lesson.language = language.into();
    match page.front.get("title").and_then(word) {
        Some(title) => lesson.title = title,
        None => problems.push(page.problem(1, "There is no title.", "Add `title:` to the front matter.")),
    }
    for key in page.front.keys().filter(|k| *k != "title") {
        problems.push(page.problem(1, format!("{key} belongs to the original."), "Take it out."));
    }
    texts(lesson, &page, &mut problems);
    lesson.lines.text.clone_from(&page.text_lines);
    lesson.lines.debrief.clone_from(&page.debrief_lines);
    let blocks: Vec<(&Page, &Block)> = folder_blocks
        .iter()
        .flat_map(|p| p.blocks.iter().map(move |b| (p, b)))
        .chain(page.blocks.iter().map(|b| (&page, b)))
        .collect();
    fill(lesson, &page, &blocks, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Names of part and chapter.
fn folders(lesson: &mut Lesson, sources: &[Source], language: &str, problems: &mut Vec<Problem>) {
    for path in folders_of(&lesson.path) {
        let Some(original) = sources.iter().find(|s| s.path == path).and_then(|s| Page::read(s).ok()) else {
            continue;
        };
        let other = translated(&path, language);
        let page = sources.iter().find(|s| s.path == other).and_then(|s| Page::read(s).ok());
        for key in ["part", "chapter"] {
            if !original.front.contains_key(key) {
                continue;
            }
            let text = page.as_ref().and_then(|p| p.front.get(key)).and_then(word);
            match (text, key) {
                (Some(text), "part") => lesson.part = text,
                (Some(text), _) => lesson.chapter = text,
                (None, _) => problems.push(Problem {
                    path: other.clone(),
                    line: 0,
                    text: format!("The name of the {key} is not translated."),
                    remedy: format!("Add `{key}:` to its front matter."),
                }),
            }
        }
    }
}

/// The folders' translations that hold blocks.
fn inherited(lesson: &Lesson, sources: &[Source], language: &str, problems: &mut Vec<Problem>) -> Vec<Page> {
    let mut pages = vec![];
    for path in folders_of(&lesson.path) {
        let other = translated(&path, language);
        if let Some(source) = sources.iter().find(|s| s.path == other) {
            match Page::read(source) {
                Ok(page) => pages.push(page),
                Err(problem) => problems.push(problem),
            }
        }
    }
    pages
}

fn texts(lesson: &mut Lesson, page: &Page, problems: &mut Vec<Problem>) {
    for (name, own, other, lines) in [
        ("text", &mut lesson.text, &page.text, &page.text_lines),
        ("debrief", &mut lesson.debrief, &page.debrief, &page.debrief_lines),
    ] {
        if own.len() != other.len() {
            problems.push(page.problem(
                0,
                format!("The {name} has {} paragraphs, the original {}.", other.len(), own.len()),
                "Translate paragraph by paragraph.",
            ));
        }
        for (i, (a, b)) in own.iter().zip(other.iter()).enumerate() {
            marks(page, lines.get(i).copied().unwrap_or(0), a, b, problems);
        }
        own.clone_from(other);
    }
}

/// What Kubernetes says is the same in every language: words between backticks and links to objects.
fn marks(page: &Page, line: usize, original: &str, translation: &str, problems: &mut Vec<Problem>) {
    let (mut a, mut b) = (spans(original), spans(translation));
    a.arrange();
    b.arrange();
    if a != b {
        let differs = a.iter().find(|s| !b.contains(s)).or_else(|| b.iter().find(|s| !a.contains(s)));
        let which = differs.map_or(String::new(), |s| format!(": `{s}`"));
        problems.push(page.problem(
            line,
            format!(
                "Words between backticks or links differ from the original's{which}, in “{}”.",
                head(translation)
            ),
            "Kubernetes' words stay as they are, as many times as in the original.",
        ));
    }
}

fn head(text: &str) -> String {
    text.chars().take(50).collect()
}

/// The words between backticks and the targets of links.
pub(crate) fn spans(text: &str) -> Vec<String> {
    let code = text.split('`').skip(1).step_by(2).map(str::to_string);
    let links = text.split("](#").skip(1).filter_map(|p| p.split(')').next()).map(|t| format!("#{t}"));
    code.chain(links).collect()
}

fn fill(lesson: &mut Lesson, page: &Page, blocks: &[(&Page, &Block)], problems: &mut Vec<Problem>) {
    let mut take = |name: &'static [&'static str], count: usize| -> Vec<(&Page, &Block)> {
        let found: Vec<(&Page, &Block)> =
            blocks.iter().copied().filter(|(_, b)| name.contains(&b.name.as_str())).collect();
        if found.len() != count {
            problems.push(page.problem(
                0,
                format!("There are {} blocks {}, in the original {count}.", found.len(), name.join(" or ")),
                "Translate each, in the same order.",
            ));
        }
        found
    };
    let goals = take(&["goal"], lesson.goals.len());
    let traps = take(&["fail", "forbid"], lesson.traps.len());
    let hints = take(&["hint"], lesson.hints.len());
    let predictions = take(&["predict"], lesson.predictions.len());
    let known = ["goal", "fail", "forbid", "hint", "predict"];
    for (page, block) in blocks.iter().filter(|(_, b)| !known.contains(&b.name.as_str())) {
        problems.push(page.problem(
            block.line,
            format!("The block {} belongs to the original.", block.name),
            "Take it out.",
        ));
    }
    let says = lesson.goals.iter_mut().map(|g| &mut g.say).zip(goals);
    let says = says.chain(lesson.traps.iter_mut().map(|t| &mut t.say).zip(traps));
    let says = says.chain(lesson.hints.iter_mut().map(|h| &mut h.say).zip(hints));
    for (say, (page, block)) in says {
        let mut keys = match Keys::of(page, block) {
            Ok(keys) => keys,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        match keys.must("say") {
            Ok(text) => {
                marks(page, block.line, say, &text, problems);
                *say = text;
            }
            Err(problem) => problems.push(problem),
        }
        problems.extend(keys.done().err());
    }
    for (prediction, (page, block)) in lesson.predictions.iter_mut().zip(predictions) {
        problems.extend(predict(prediction, page, block).err());
    }
}

fn predict(prediction: &mut super::Prediction, page: &Page, block: &Block) -> Result<(), Problem> {
    let mut keys = Keys::of(page, block)?;
    let mut found = vec![];
    for (key, text) in [("ask", &mut prediction.ask), ("because", &mut prediction.because)] {
        let other = keys.must(key)?;
        marks(page, block.line, text, &other, &mut found);
        *text = other;
    }
    let words = keys.take("choices");
    keys.done()?;
    if let Some(problem) = found.into_iter().next() {
        return Err(problem);
    }
    let worded = prediction.choices.iter().any(|(value, words)| value != words);
    let rows: Vec<String> = match &words {
        Some(Value::Array(rows)) => rows.iter().filter_map(word).collect(),
        _ => vec![],
    };
    if worded && rows.len() != prediction.choices.len() {
        return Err(page.problem(
            block.line,
            format!("choices has {} rows, the original {}.", rows.len(), prediction.choices.len()),
            "Translate each, in the same order, without its value.",
        ));
    }
    for ((_, words), row) in prediction.choices.iter_mut().zip(rows) {
        *words = row;
    }
    Ok(())
}
