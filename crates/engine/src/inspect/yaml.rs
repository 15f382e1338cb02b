//! The object as YAML, with the fields that this step changed and who wrote each line last.

use crate::{session::Session, words::who};
use kubestep_cluster::LogEntry;
use kubestep_model::arrange::Gather;
use kubestep_model::{Object, yaml::to_yaml};
use kubestep_protocol::{Rich, Span, Who, YamlLine};
use std::collections::BTreeMap;

/// How many of the last writes are looked through for writers.
const WRITES: usize = 400;

/// A line of YAML with the path that it belongs to.
struct Line {
    path: String,
    text: String,
}

/// The lines of an object.
pub(super) fn lines(session: &Session, object: &Object) -> Vec<YamlLine> {
    let key = object.key();
    let now = split(&to_yaml(object));
    let entries: Vec<&LogEntry> = session.world().store().log_after(0).filter(|e| e.key == key).collect();
    let writers = writers(session, &entries);
    let before = step_before(session, &entries).map(|o| by_path(&split(&to_yaml(&o))));
    now.iter()
        .map(|line| {
            let old = before.as_ref().map(|b| b.get(&line.path).cloned().unwrap_or_default());
            let was = old.filter(|old| old.trim() != line.text.trim()).map(|old| value_of(&old));
            let (who, writer) = writers.get(&line.path).cloned().unwrap_or((None, Rich::default()));
            YamlLine { text: line.text.clone(), was, who, writer }
        })
        .collect()
}

/// The object before the step that is looked at, if that step changed it.
fn step_before(session: &Session, entries: &[&LogEntry]) -> Option<Object> {
    let records = session.history.records_of(session.step());
    let revisions: Vec<u64> = records.iter().flat_map(|r| &r.changes).map(|c| c.revision).collect();
    entries.iter().find(|e| revisions.contains(&e.revision)).and_then(|e| e.old.clone())
}

fn value_of(line: &str) -> String {
    line.trim().trim_start_matches("- ").split_once(": ").map_or("", |(_, v)| v).to_string()
}

/// Who wrote each line last, as far as the log goes back.
fn writers(session: &Session, entries: &[&LogEntry]) -> BTreeMap<String, (Option<Who>, Rich)> {
    let mut found: BTreeMap<String, (Option<Who>, Rich)> = BTreeMap::new();
    for entry in entries.iter().skip(entries.len().saturating_sub(WRITES)) {
        let Some(new) = &entry.new else { continue };
        let before = entry.old.as_ref().map(|o| by_path(&split(&to_yaml(o)))).unwrap_or_default();
        let (who, lane) = who::of_agent(&entry.who);
        let words = Rich::words(format!("{lane}, "))
            .then(Span::Since(session.at(entry.at)))
            .then(Span::Words(" ago".into()));
        for line in split(&to_yaml(new)) {
            if before.get(&line.path) != Some(&line.text) {
                found.insert(line.path, (Some(who), words.clone()));
            }
        }
    }
    found
}

fn by_path(lines: &[Line]) -> BTreeMap<String, String> {
    lines.iter().map(|l| (l.path.clone(), l.text.clone())).gather()
}

/// Splits YAML into lines and says for each which field it belongs to, by its indent.
fn split(text: &str) -> Vec<Line> {
    let mut stack: Vec<(usize, String)> = vec![];
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    text.lines()
        .map(|text| {
            let bare = text.trim_start();
            let mut indent = text.len() - bare.len();
            let mut rest = bare;
            while let Some(item) = rest.strip_prefix("- ") {
                pop(&mut stack, indent, true);
                let parent = path_of(&stack);
                let index = counts.entry(parent.clone()).and_modify(|n| *n += 1).or_insert(0);
                stack.push((indent, format!("[{index}]")));
                indent += 2;
                rest = item;
            }
            let name = rest.split_once(':').map_or(rest, |(name, _)| name);
            pop(&mut stack, indent, false);
            stack.push((indent, name.to_string()));
            Line { path: path_of(&stack), text: text.to_string() }
        })
        .collect()
}

/// Leaves the fields that a line of this indent is not part of. Items of a list stand at their field's own indent.
fn pop(stack: &mut Vec<(usize, String)>, indent: usize, item: bool) {
    while stack
        .last()
        .is_some_and(|(at, name)| *at > indent || (*at == indent && (!item || name.starts_with('['))))
    {
        stack.pop();
    }
}

fn path_of(stack: &[(usize, String)]) -> String {
    stack.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_fields() {
        let text = "spec:\n  containers:\n  - image: a\n    name: x\n  - image: b\n  node: n\nstatus: {}\n";
        let paths: Vec<String> = split(text).into_iter().map(|l| l.path).collect();
        assert_eq!(
            paths,
            [
                "spec",
                "spec/containers",
                "spec/containers/[0]/image",
                "spec/containers/[0]/name",
                "spec/containers/[1]/image",
                "spec/node",
                "status"
            ]
        );
    }
}
