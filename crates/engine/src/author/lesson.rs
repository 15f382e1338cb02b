//! A session as a lesson: its scenario's beginning is the lesson's, what the person did is the solution, and goals are
//! what is so now and was not then. Words are the author's to write; the lines in capitals say where.

use super::{
    goals,
    walk::{Did, Walk},
};
use crate::{
    lesson::{PREFIX, Shelf},
    link::Saved,
    scenarios,
};
use kubestep_lessons::lesson::folders_of;
use kubestep_lessons::script::Script;
use kubestep_protocol::Doc;
use std::{collections::BTreeMap, time::Duration};

/// A shorter wait is none.
const WAIT: Duration = Duration::from_millis(300);

/// The lesson's text. Errors: why this session is no lesson's.
pub(super) fn markdown(walk: &Walk, sources: &[Doc]) -> Result<String, String> {
    if walk.parted {
        let why = "This run leaves its scenario before the beginning is over, and a lesson begins where that ends. Go to the end of the beginning, and do it from there.";
        return Err(why.into());
    }
    if walk.did.is_empty() {
        return Err("Nothing was done yet: do what the learner is to find out, then save it.".into());
    }
    let blocks = beginning(walk, sources)?;
    let solution = solution(walk);
    let goals = goals::suggest(&walk.begin, (walk.session.world(), &walk.session.note().gaps));
    let mut out = format!(
        "---\ntitle: {}\nminutes: 5\n{}---\n\nWHAT THERE IS TO SEE, in a few short sentences: begin with what is on the page.\n\nWHAT THE LEARNER IS TO DO, and where to look.\n",
        scalar(&format!("From: {}", walk.session.title)),
        selected(walk, sources)
    );
    out.push_str(&blocks);
    for goal in &goals {
        let body = format!("say: {}\nis: {}\nhold: 10s\n", scalar(&goal.say), scalar(&goal.question));
        fence("goal", &body, &mut out);
    }
    if goals.is_empty() {
        fence("goal", &last_line(walk), &mut out);
    }
    fence("predict", &prediction(walk), &mut out);
    fence("hint", "say: A QUESTION BACK, that leads the eye to the right place.\n", &mut out);
    fence("solution", &solution, &mut out);
    out.push_str(
        "\n## What you saw\n\nTHE IDEA IN ONE SENTENCE, and the wrong idea that it replaces. Which loop did it, and where does Kubernetes say so?\n",
    );
    Ok(out)
}

/// The line that says what is selected at first, as the scenario or the lesson has it.
fn selected(walk: &Walk, sources: &[Doc]) -> String {
    let line = |text: &str| {
        let found = text.lines().find(|l| l.starts_with("select: "));
        found.map_or(String::new(), |l| format!("{}\n", l.trim_end()))
    };
    match walk.session.scenario.strip_prefix(PREFIX) {
        Some(id) => {
            let own = format!("{id}.md");
            sources.iter().find(|s| s.name.ends_with(&own)).map_or(String::new(), |s| line(&s.text))
        }
        None => scenarios::find(&walk.session.scenario).map_or(String::new(), line),
    }
}

/// A question that can be failed: what comes of the first act. The author asks a better one.
fn prediction(walk: &Walk) -> String {
    let mut first = String::new();
    if let Some(did) = walk.did.first() {
        step(did, &mut files(walk), &mut first);
    }
    format!(
        "ask: WHAT WOULD A LEARNER GET WRONG HERE? For now - after the first act and a minute, how many pods are there?\ndo:\n{first}- wait: 60\nanswer: pods count\nbecause: WHY IT IS SO, and where Kubernetes says it.\n"
    )
}

fn files(walk: &Walk) -> BTreeMap<String, String> {
    walk.files.iter().map(|f| (f.name.clone(), f.text.clone())).collect()
}

fn fence(name: &str, body: &str, out: &mut String) {
    let last = if body.ends_with('\n') { "" } else { "\n" };
    let ticks = if body.contains("```") { "````" } else { "```" };
    out.push_str(&format!("\n{ticks}yaml {name}\n{body}{last}{ticks}\n"));
}

/// The blocks that the lesson begins from: of the scenario's script, or of the lesson that was open.
fn beginning(walk: &Walk, sources: &[Doc]) -> Result<String, String> {
    if let Some(id) = walk.session.scenario.strip_prefix(PREFIX) {
        return of_lesson(id, sources);
    }
    let text = scenarios::find(&walk.session.scenario).ok_or("Its scenario is not here.")?;
    let script = Script::read(text)?;
    let mut out = String::new();
    for name in ["nodes", "images"] {
        let body = section(text, name);
        if !body.trim().is_empty() {
            fence(name, &body, &mut out);
        }
    }
    for (name, text) in &script.files {
        fence(&format!("file {name}"), text, &mut out);
    }
    let start = section(text, "steps");
    if !start.trim().is_empty() {
        fence("start", &start, &mut out);
    }
    Ok(out)
}

/// What stands below a key of a script, moved to the left.
fn section(text: &str, key: &str) -> String {
    let top = |line: &str| !line.is_empty() && !line.starts_with([' ', '-', '#']);
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{key}:")));
    let first = lines.next().and_then(|l| l.split_once(':')).map_or("", |(_, rest)| rest.trim());
    let below: Vec<&str> = lines.take_while(|line| !top(line)).collect();
    let indent = below.iter().filter(|l| !l.trim().is_empty()).map(|l| l.len() - l.trim_start().len()).min();
    let moved = below.iter().map(|line| line.get(indent.unwrap_or(0)..).unwrap_or("").to_string());
    let head = (!first.is_empty() && !first.starts_with('#')).then(|| first.to_string());
    let all: Vec<String> = head.into_iter().chain(moved).collect();
    let body = all.join("\n");
    if body.trim().is_empty() { String::new() } else { format!("{}\n", body.trim_end()) }
}

/// The blocks of a lesson and of the folders above it that make its beginning.
fn of_lesson(id: &str, sources: &[Doc]) -> Result<String, String> {
    let mut shelf = Shelf::default();
    shelf.take(sources, "en");
    let path = shelf.find(id).ok_or("Its lesson is not at hand.")?;
    let mut found: Vec<(String, String)> = vec![];
    for name in folders_of(path).into_iter().chain([path.to_string()]) {
        let Some(source) = sources.iter().find(|s| s.name == name) else { continue };
        if source.text.lines().take(20).any(|l| l.trim_end() == "fresh: true") {
            found.retain(|(head, _)| !head.starts_with("file ") && head != "start");
        }
        for (head, body) in blocks(&source.text) {
            // A file of the same name stands in the place of the one above.
            found.retain(|(old, _)| !(head.starts_with("file ") && *old == head));
            found.push((head, body));
        }
    }
    let mut out = String::new();
    found.iter().for_each(|(head, body)| fence(head, body, &mut out));
    Ok(out)
}

fn blocks(text: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("```yaml ") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|l| l.trim_end() != "```").collect();
        let name = head.split_whitespace().next().unwrap_or("");
        if ["file", "images", "nodes", "start"].contains(&name) {
            found.push((head.trim().to_string(), format!("{}\n", body.join("\n"))));
        }
    }
    found
}

/// The steps of the solution.
fn solution(walk: &Walk) -> String {
    let mut files = files(walk);
    let mut out = String::new();
    for did in &walk.did {
        wait(did.wait, &mut out);
        step(did, &mut files, &mut out);
    }
    // As long as a goal has to hold.
    wait(walk.rest.max(Duration::from_secs(10)), &mut out);
    out
}

fn wait(span: Duration, out: &mut String) {
    if span >= WAIT {
        let tenths = span.as_millis().div_ceil(100);
        let (whole, part) = (tenths / 10, tenths % 10);
        let text = if part == 0 { whole.to_string() } else { format!("{whole}.{part}") };
        out.push_str(&format!("- wait: {text}\n"));
    }
}

fn step(did: &Did, files: &mut BTreeMap<String, String>, out: &mut String) {
    let json = |text: &str| serde_json::Value::String(text.into()).to_string();
    match &did.saved {
        Saved::Run { line, files: beside, .. } => {
            for (name, text) in beside.iter().filter(|(name, _)| line.contains(name.as_str())) {
                change(name, text, files, out);
            }
            match line.strip_prefix("kubectl ") {
                Some(rest) => {
                    out.push_str(&format!("- kubectl: {}\n", scalar(rest.trim())));
                    if let Some(code) = did.exit.filter(|code| *code != 0) {
                        out.push_str(&format!("  exit: {code}\n"));
                    }
                }
                None => out.push_str(&format!("- program: {}\n", scalar(line.trim()))),
            }
        }
        Saved::Image { name, image: Some(image) } => {
            let pull = image.pull_millis as f64 / 1000.0;
            let denied = if image.denied { ", denied: true" } else { "" };
            out.push_str(&format!("- image: {{{}: {{pullSeconds: {pull}{denied}}}}}\n", json(name)));
        }
        Saved::NodeAdd { name } => out.push_str(&format!("- node: {{add: {{name: {}}}}}\n", json(name))),
        Saved::NodeStop { name } => out.push_str(&format!("- node: {{stop: {}}}\n", json(name))),
        Saved::NodeStart { name } => out.push_str(&format!("- node: {{start: {}}}\n", json(name))),
        Saved::Probe { ready, .. } => {
            out.push_str(&format!("- probe: {{pod: {}, ready: {ready}}}\n", json(&did.labels)));
        }
        Saved::Exit { container, code, .. } => {
            let of = container.as_ref().map_or(String::new(), |c| format!(", container: {}", json(c)));
            out.push_str(&format!("- exit: {{pod: {}, code: {code}{of}}}\n", json(&did.labels)));
        }
        Saved::Fault { id, on } => {
            out.push_str(&format!("- {}: {}\n", if *on { "fault" } else { "heal" }, json(id)));
        }
        Saved::WhatIf(on) => out.push_str(&format!("- whatIf: {on}\n")),
        Saved::Script(text) => out.push_str(&format!("- {}\n", text.replace(['\n', '\r'], " "))),
        Saved::Image { name, image: None } => out.push_str(&remark(&format!("taking the image {name} away"))),
        Saved::Interrupt { .. } => out.push_str(&remark("Ctrl-C")),
        Saved::Choice(name) => out.push_str(&remark(&format!("choosing who moves next ({name})"))),
        Saved::Predicted { .. } | Saved::Hinted | Saved::Shown => {}
    }
}

fn remark(what: &str) -> String {
    format!("# No step of a lesson does this: {}\n", what.replace(['\n', '\r'], " "))
}

/// A file that is not as it was: a small edit where one line differs, else the whole.
fn change(name: &str, text: &str, files: &mut BTreeMap<String, String>, out: &mut String) {
    let old = files.insert(name.into(), text.into());
    if old.as_deref() == Some(text) {
        return;
    }
    let json = |text: &str| serde_json::Value::String(text.into()).to_string();
    let name = json(name);
    match old.and_then(|old| edit(&old, text)) {
        Some((from, to)) => out.push_str(&format!(
            "- edit: {{file: {name}, replace: {}, with: {}}}\n",
            json(&from),
            json(&to)
        )),
        None => out.push_str(&format!("- files: {{{name}: {}}}\n", json(text))),
    }
}

/// The edit that makes one text of the other, where only one line differs.
fn edit(old: &str, new: &str) -> Option<(String, String)> {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if a.len() != b.len() {
        return None;
    }
    let mut differ = a.iter().zip(&b).filter(|(x, y)| x != y);
    let (from, to) = (differ.next()?, differ.next());
    let (from, with) = (from.0.trim(), from.1.trim());
    (to.is_none() && !from.is_empty() && old.replace(from, with) == new).then(|| (from.into(), with.into()))
}

/// Where nothing else is known: that the last command was typed.
fn last_line(walk: &Walk) -> String {
    let line = walk.did.iter().rev().find_map(|d| match &d.saved {
        Saved::Run { line, .. } => Some(line.replace('"', "")),
        _ => None,
    });
    let line = line.unwrap_or_else(|| "kubectl".into());
    format!(
        "say: WHAT IS REACHED.\nonce: {}\n",
        scalar(&format!("commands where line has \"{line}\" count >= 1"))
    )
}

/// A text as YAML: as it is where that is plain, else in quotation marks.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./=+".contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(plain) && !text.ends_with(' ')
    {
        return text.into();
    }
    serde_json::Value::String(text.into()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_that_differs_is_a_small_edit() {
        let old = "a: 1\nb: 2\n";
        assert_eq!(edit(old, "a: 1\nb: 3\n"), Some(("b: 2".into(), "b: 3".into())));
        assert_eq!(edit(old, "a: 1\n"), None);
        assert_eq!(edit("x\nx\n", "x\ny\n"), None, "it would change both");
    }

    #[test]
    fn a_section_of_a_script_is_moved_to_the_left() {
        let text = "id: x\nimages:\n  a:1: {pullSeconds: 1}\n# words\nsteps:\n- wait: 1\n- kubectl: get pods\nlast: 1\n";
        assert_eq!(section(text, "steps"), "- wait: 1\n- kubectl: get pods\n");
        assert!(section(text, "images").contains("a:1: {pullSeconds: 1}"));
        assert_eq!(section(text, "nodes"), "");
    }
}
