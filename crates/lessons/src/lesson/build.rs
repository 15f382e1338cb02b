//! From files to a lesson: what the folders above say, then the file's own.

use super::{
    Lesson, Lines, Problem, Source, blocks,
    blocks::word,
    folders_of, id_of, known,
    page::{Block, Page},
};
use crate::{
    faults,
    script::{self, ScriptAct, ScriptStep},
};
use kubestep_cluster::Registry;
use serde_json::Value;

/// Blocks that stand in a file once.
const ONCE: [&str; 3] = ["solution", "nodes", "file"];
/// The list of what is taught has so many rows.
const ROWS: u32 = 22;
/// The longest that one step may wait, in seconds: a learner's browser computes it at each start.
const MOST_WAIT: f64 = 7.0 * 86_400.0;

const KEYS: [&str; 9] = ["title", "part", "chapter", "minutes", "rows", "needs", "select", "front", "fresh"];

/// Reads the original of a lesson.
pub(super) fn lesson(path: &str, sources: &[Source]) -> Result<Lesson, Vec<Problem>> {
    let find = |path: &str| sources.iter().find(|s| s.path == path);
    let mut pages = vec![];
    let mut problems = vec![];
    let own = find(path);
    if own.is_none() {
        let text = "There is no such file.".to_string();
        return Err(vec![Problem {
            path: path.into(),
            line: 0,
            text,
            remedy: "Name a lesson's file.".into(),
        }]);
    }
    for source in folders_of(path).iter().filter_map(|p| find(p)).chain(own) {
        match Page::read(source) {
            Ok(page) => pages.push(page),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut lesson = empty(path);
    for (i, page) in pages.iter().enumerate() {
        take(&mut lesson, page, i + 1 == pages.len(), &mut problems);
    }
    // What is missing may stand in a block that could not be read.
    if let Some(own) = pages.last().filter(|_| problems.is_empty()) {
        whole(&lesson, own, &mut problems);
    }
    if problems.is_empty() { Ok(lesson) } else { Err(problems) }
}

fn empty(path: &str) -> Lesson {
    Lesson {
        id: id_of(path),
        path: path.into(),
        language: "en".into(),
        title: String::new(),
        part: String::new(),
        chapter: String::new(),
        minutes: 5,
        rows: vec![],
        needs: vec![],
        select: None,
        text: vec![],
        debrief: vec![],
        nodes: script::nodes(None).unwrap_or_default(),
        registry: Registry::default(),
        files: Default::default(),
        front: String::new(),
        start: vec![],
        goals: vec![],
        traps: vec![],
        hints: vec![],
        predictions: vec![],
        solution: vec![],
        wrong: vec![],
        lines: Lines::default(),
    }
}

fn take(lesson: &mut Lesson, page: &Page, own: bool, problems: &mut Vec<Problem>) {
    if page.front.contains_key("fresh") {
        // Not the files and the beginning of the folders above.
        lesson.files.clear();
        lesson.front.clear();
        lesson.start.clear();
    }
    front(lesson, page, own, problems);
    if own {
        lesson.text = page.text.clone();
        lesson.debrief = page.debrief.clone();
        lesson.lines.text.clone_from(&page.text_lines);
        lesson.lines.debrief.clone_from(&page.debrief_lines);
    }
    for (i, block) in page.blocks.iter().enumerate() {
        let same = |b: &Block| b.name == block.name && b.argument == block.argument;
        if ONCE.contains(&block.name.as_str()) && page.blocks[..i].iter().any(same) {
            let name = format!("{} {}", block.name, block.argument);
            let text = format!("There is a second block {}: only one of them would count.", name.trim_end());
            problems.push(page.problem(block.line, text, "Keep one."));
        }
        if let Err(problem) = take_block(lesson, page, block) {
            problems.push(problem);
        }
    }
}

fn front(lesson: &mut Lesson, page: &Page, own: bool, problems: &mut Vec<Problem>) {
    for (key, value) in &page.front {
        if let Err((text, remedy)) = front_key(lesson, key, value, own) {
            problems.push(page.problem(page.front_line(key), text, &remedy));
        }
    }
}

/// Errors: what is wrong, and what to do about it.
fn front_key(lesson: &mut Lesson, key: &str, value: &Value, own: bool) -> Result<(), (String, String)> {
    let text = word(value).unwrap_or_default();
    let list = || match value {
        Value::Array(rows) => Ok(rows.iter().filter_map(word).collect::<Vec<_>>()),
        _ => Err((format!("{key} is not a list."), format!("Write `{key}: [{text}]`."))),
    };
    match key {
        // A folder's title is for readers of the folder.
        "title" if own => lesson.title = text,
        "title" | "fresh" => {}
        "part" => lesson.part = text,
        "chapter" => lesson.chapter = text,
        "minutes" => {
            let minutes = text.parse().ok().filter(|m| (1..=600).contains(m));
            let said =
                (format!("minutes: {text} is no number of minutes."), "Write it as `minutes: 5`.".into());
            lesson.minutes = minutes.ok_or(said)?;
        }
        "rows" => {
            let is_row = |r: &str| {
                r.strip_prefix('P')
                    .filter(|n| n.len() == 2)
                    .and_then(|n| n.parse().ok())
                    .is_some_and(|n| (1..=ROWS).contains(&n))
            };
            lesson.rows = list()?;
            if let Some(row) = lesson.rows.iter().find(|r| !is_row(r)) {
                let remedy = "They go from P01 to P22 (docs/AUTHORING.md); leave `rows` out if none fits.";
                return Err((format!("rows: there is no {row}."), remedy.into()));
            }
        }
        "needs" => {
            lesson.needs = list()?;
            if lesson.needs.contains(&lesson.id) {
                return Err(("The lesson needs itself.".into(), "Take it out of `needs`.".into()));
            }
        }
        "front" => lesson.front = text,
        "select" => {
            let remedy = || "Write kind and name: `select: Deployment/web`.".to_string();
            let pair = text.split_once('/').filter(|(kind, name)| !kind.is_empty() && !name.is_empty());
            let (kind, name) = pair.ok_or_else(|| (format!("select: {text} names no object."), remedy()))?;
            lesson.select = Some((kind.into(), name.into()));
        }
        other => {
            let text = format!("The front matter has a key {other} that is not known.");
            return Err((text, format!("Known are {}.", KEYS.join(", "))));
        }
    }
    Ok(())
}

fn take_block(lesson: &mut Lesson, page: &Page, block: &Block) -> Result<(), Problem> {
    let bad = |why: String, remedy: &str| page.problem(block.line, why, remedy);
    match block.name.as_str() {
        "goal" => lesson.goals.push(blocks::goal(page, block)?),
        "fail" | "forbid" => lesson.traps.push(blocks::trap(page, block)?),
        "hint" => lesson.hints.push(blocks::hint(page, block)?),
        "predict" => lesson.predictions.push(blocks::prediction(page, block)?),
        "solution" => {
            lesson.lines.solution = block.line;
            lesson.solution = blocks::steps(page, block)?;
        }
        "wrong" => {
            lesson.lines.wrong.push(block.line);
            lesson.wrong.push(blocks::steps(page, block)?);
        }
        "start" => {
            lesson.lines.start = block.line;
            lesson.start.extend(blocks::steps(page, block)?);
        }
        "file" if block.argument.is_empty() => {
            return Err(bad("The file has no name.".into(), "Write ```yaml file checkout.yaml"));
        }
        "file" => {
            if lesson.front.is_empty() {
                lesson.front = block.argument.clone();
            }
            lesson.files.insert(block.argument.clone(), block.body.clone());
        }
        "files" => {
            let files: crate::stage::Files = serde_json::from_value(page.value(block)?)
                .map_err(|e| bad(format!("files: {e}."), "Write `name.yaml: |` and the text below it."))?;
            lesson.files.extend(files);
        }
        "images" => {
            let value = page.value(block)?;
            known::images(&value).map_err(|e| bad(e, "Take it out, or look for a slip in its spelling."))?;
            let images = script::images(value)
                .map_err(|e| bad(format!("{e}."), "Write `name:tag: {pullSeconds: 1}`."))?;
            if let Some(why) = images.iter().find_map(|(name, _)| known::image_name(name).err()) {
                return Err(bad(format!("{why}."), "Write it as `registry.example.com/web:1.0.0`."));
            }
            images.into_iter().for_each(|(name, image)| lesson.registry.push(&name, image));
        }
        "nodes" => {
            let value = page.value(block)?;
            known::nodes(&value).map_err(|e| bad(e, "Take it out, or look for a slip in its spelling."))?;
            lesson.nodes = script::nodes(Some(value))
                .map_err(|e| bad(format!("{e}."), "Write `- {name: node-1, cpu: \"4\", memory: 8Gi}`."))?;
        }
        other => {
            return Err(bad(
                format!("There is no block {other}."),
                "Known are start, file, files, images, nodes, goal, fail, forbid, hint, predict, solution, wrong.",
            ));
        }
    }
    Ok(())
}

/// What a lesson must have.
fn whole(lesson: &Lesson, page: &Page, problems: &mut Vec<Problem>) {
    let mut missing = |so: bool, text: &str, remedy: &str| {
        if so {
            problems.push(page.problem(0, text, remedy));
        }
    };
    missing(lesson.title.is_empty(), "There is no title.", "Add `title:` to the front matter.");
    missing(lesson.text.is_empty(), "There is no text.", "Say in a few sentences what there is to see.");
    missing(lesson.debrief.is_empty(), "There is no debrief.", "Add a heading ## and what was learned.");
    missing(lesson.goals.is_empty(), "There is no goal.", "Add a block goal.");
    missing(lesson.solution.is_empty(), "There is no solution.", "Add a block solution with its steps.");
    missing(
        lesson.predictions.is_empty(),
        "There is no prediction.",
        "Add a block predict: a quiz that can be failed.",
    );
    missing(lesson.files.is_empty(), "There is no file.", "Add a block file with a manifest.");
    missing(
        !lesson.front.is_empty() && !lesson.files.contains_key(&lesson.front),
        "The file in front is not there.",
        "Name one of the lesson's files in `front:`.",
    );
    missing(
        lesson.goals.iter().all(|g| matches!(g.mood, super::Mood::Always | super::Mood::Never)),
        "Nothing has to be reached: every goal is one that only has to stay.",
        "Add a goal with `is:` or `once:`.",
    );
    for step in steps_of(lesson) {
        let why = match &step.act {
            ScriptAct::Fault { id, .. } => faults::known(id).err(),
            ScriptAct::Parallel(_) => Some("parallel steps belong to recordings".into()),
            ScriptAct::Wait(s) | ScriptAct::Settle(s) if *s > MOST_WAIT => {
                Some(format!("it waits {s} s, which is more than a week; every start would compute that"))
            }
            ScriptAct::Images(images) => images.iter().find_map(|(name, _)| known::image_name(name).err()),
            _ => None,
        };
        if let Some(why) = why {
            problems.push(page.problem(0, format!("A step cannot be done: {why}."), "Mend the step."));
        }
    }
}

/// All steps of a lesson, wherever they stand.
pub(crate) fn steps_of(lesson: &Lesson) -> impl Iterator<Item = &ScriptStep> {
    lesson
        .start
        .iter()
        .chain(&lesson.solution)
        .chain(lesson.wrong.iter().flatten())
        .chain(lesson.predictions.iter().flat_map(|p| &p.steps))
}
