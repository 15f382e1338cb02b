//! What a lesson's texts may say: nothing that never was, and not the solution.

use super::corpus::Corpus;
use crate::{
    lesson::{Lesson, Problem, spans},
    script::ScriptAct,
};

/// Commands that only look may stand in a text.
const LOOKS: [&str; 5] = ["get", "describe", "logs", "events", "explain"];

/// Checks every text of a lesson in one language.
pub(super) fn check(lesson: &Lesson, corpus: &Corpus, problems: &mut Vec<Problem>) {
    let mut problem = |line: usize, text: String, remedy: &str| {
        problems.push(Problem { path: lesson.path.clone(), line, text, remedy: remedy.into() });
    };
    let solution = solution(lesson);
    if let Some((kind, name)) = lesson.select.as_ref().filter(|(k, n)| !corpus.has_object(k, n)) {
        let remedy = "Write kind and name of an object that is there: `select: Deployment/web`.";
        problem(1, format!("select: there never is a {kind} {name}."), remedy);
    }
    let edits = edits(lesson);
    let all = texts(lesson);
    let before_debrief = all.len() - lesson.debrief.len();
    for (i, (line, text)) in all.into_iter().enumerate() {
        for span in spans(text) {
            if let Some(target) = span.strip_prefix('#') {
                let (kind, name) = target.split_once('/').unwrap_or((target, ""));
                if !corpus.has_object(kind, name) {
                    let remedy = "Link as (#Deployment/web) to an object that is there at some time.";
                    problem(line, format!("The text links to {target}, which never is there."), remedy);
                }
            } else if let Some(word) = corpus.stranger(&span) {
                let remedy = "Name what is there at some time in the lesson, or write it without backticks; a command's own words are \
                              known once the solution or a wrong way types it.";
                problem(line, format!("The text names `{word}` in `{span}`, which never is there."), remedy);
            }
        }
        if let Some(path) = spans(text).iter().find_map(|s| corpus.strange_path(s)).map(str::to_string) {
            let remedy = "Look for the field in `kubectl explain`.";
            problem(line, format!("The text names `{path}`, which no kind of this lesson has."), remedy);
        }
        if text.matches('`').count() % 2 == 1 {
            problem(line, format!("A backtick is left open in “{text}”."), "Close it.");
        }
        let flat = flat(text);
        if let Some(given) = edits.iter().find(|with| i < before_debrief && flat.contains(with.as_str())) {
            let remedy = "Say what is wrong with it, not what to write.";
            problem(line, format!("The text prints the edit that solves it: {given}."), remedy);
        }
        if let Some(given) = solution.iter().find(|line| flat.contains(line.as_str())) {
            let remedy = "Say what to change, not the command.";
            problem(line, format!("The text prints the command that solves it: {given}."), remedy);
        }
    }
}

/// Every text with its line; the debrief comes last.
pub(super) fn texts(lesson: &Lesson) -> Vec<(usize, &str)> {
    let mut all: Vec<(usize, &str)> = vec![(1, &lesson.title)];
    all.extend(lined(&lesson.text, &lesson.lines.text));
    all.extend(lesson.goals.iter().map(|g| (g.line, g.say.as_str())));
    all.extend(lesson.traps.iter().map(|t| (t.line, t.say.as_str())));
    all.extend(lesson.hints.iter().map(|h| (h.line, h.say.as_str())));
    for prediction in &lesson.predictions {
        all.push((prediction.line, &prediction.ask));
        all.push((prediction.line, &prediction.because));
        all.extend(prediction.choices.iter().map(|(_, words)| (prediction.line, words.as_str())));
    }
    all.extend(lined(&lesson.debrief, &lesson.lines.debrief));
    all
}

fn lined<'t>(texts: &'t [String], lines: &'t [usize]) -> impl Iterator<Item = (usize, &'t str)> {
    texts.iter().enumerate().map(|(i, t)| (lines.get(i).copied().unwrap_or(0), t.as_str()))
}

/// What the solution writes into files. A word or a number alone may stand anywhere.
fn edits(lesson: &Lesson) -> Vec<String> {
    let with = lesson.solution.iter().filter_map(|s| match &s.act {
        ScriptAct::Edit { with, .. } => Some(flat(with)),
        _ => None,
    });
    with.filter(|w| w.contains(": ") && w.len() > 5).collect()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commands of the solution that change something.
fn solution(lesson: &Lesson) -> Vec<String> {
    let lines = lesson.solution.iter().filter_map(|s| match &s.act {
        ScriptAct::Kubectl(lines) => Some(lines),
        _ => None,
    });
    let flat = |l: &String| l.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = lines.flatten().map(flat).map(|l| l.trim_start_matches("kubectl ").to_string());
    lines.filter(|l| l.split(' ').count() >= 2 && !LOOKS.iter().any(|w| l.starts_with(w))).collect()
}
