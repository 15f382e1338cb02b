//! What a command printed, line by line, in the golden recording's words.

use std::collections::BTreeSet;

use super::grid::{Grid, cells, unordered};
use super::jitter;
use super::printed::contradictions;
use super::reader::{About, Text, duration, words};
use super::recording::Step;
use super::table::May;
use super::view::View;

#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) command: Text,
    pub(super) exit: Option<i64>,
    pub(super) matched: Option<bool>,
    pub(super) lines: Vec<Text>,
    /// `Waiting for…` lines, in their own words.
    pub(super) waiting: Vec<String>,
    /// Cells that the recording's own objects contradict.
    pub(super) contradictions: Vec<String>,
}

pub(super) fn told(view: &View<'_>, step: &Step) -> Told {
    let mut told = Told { exit: step.exit, matched: step.matched, ..Told::default() };
    told.contradictions = contradictions(view.recording, step);
    let nodes = view.reader.dictionary.nodes_of(words(&step.command));
    told.command =
        view.reader.read(&step.command, About { at: None, step: Some(step.number), nodes: &nodes });
    let mut page = Page { view, step, told: &mut told, name: String::new() };
    page.take(&step.stdout, "");
    page.take(&step.stderr, "stderr: ");
    told
}

struct Page<'a, 'b> {
    view: &'a View<'b>,
    step: &'a Step,
    told: &'a mut Told,
    /// Of the object that is being described.
    name: String,
}

impl Page<'_, '_> {
    fn take(&mut self, text: &str, mark: &str) {
        let lines: Vec<&str> = text.split('\n').collect();
        let mut block = BTreeSet::new();
        let mut i = 0;
        while i < lines.len() {
            let line = lines[i];
            if let Some(name) = line.strip_prefix("Name:") {
                self.name = name.trim().to_owned();
            }
            if i == 0 || starts_block(line) {
                block = self.nodes_of_block(&lines[i..]);
            }
            if self.waits(line) && lines[i + 1..].iter().any(|line| !line.is_empty()) {
                self.told.waiting.push(line.to_owned());
                i += 1;
                continue;
            }
            if let Some(grid) = Grid::head(line, lines.get(i + 1).copied()) {
                i += self.table(&grid, &lines[i..], mark);
                continue;
            }
            let mut read = Text::plain(mark);
            read.append(self.line(line, &block));
            self.told.lines.push(read);
            i += 1;
        }
    }

    /// Whether the line is one of those that a watch sees in between; the last line is a result.
    fn waits(&self, line: &str) -> bool {
        let watched =
            !self.step.command.contains("--watch=false") && self.view.reader.allow.has(May::Waiting);
        watched && line.to_lowercase().starts_with("waiting for")
    }

    /// The nodes of the pods that are named from here to the next block.
    fn nodes_of_block(&self, lines: &[&str]) -> BTreeSet<String> {
        let end = lines.iter().skip(1).position(|line| starts_block(line)).map_or(lines.len(), |end| end + 1);
        self.view.reader.dictionary.nodes_of(lines[..end].iter().flat_map(|line| words(line)))
    }

    /// Reads a table and says how many lines it had.
    fn table(&mut self, grid: &Grid, lines: &[&str], mark: &str) -> usize {
        let is_row = |i: usize, line: &str| {
            Grid::head(line, lines.get(i + 1).copied()).is_none_or(|next| next == *grid)
                && !starts_block(line)
        };
        let rows: Vec<Vec<&str>> = lines
            .iter()
            .enumerate()
            .skip(1)
            .take_while(|(i, line)| is_row(*i, line))
            .map_while(|(_, line)| grid.row(line))
            .collect();
        let mut title = Text::plain(mark);
        title.append(grid.title(&grid.gaps(&rows)));
        self.told.lines.push(title);
        for row in &rows {
            let nodes = self.view.reader.dictionary.nodes_of(row.iter().flat_map(|cell| words(cell)));
            let about = About { at: Some(self.step.at), step: Some(self.step.number), nodes: &nodes };
            let mut read = Text::plain(mark);
            let mut cells = grid.read(row, &self.view.reader, about);
            if self.view.reader.allow.has(May::Jitter) {
                cells.loosen(jitter::of(self.view.recording, self.step, &self.name, grid, row));
            }
            read.append(cells);
            self.told.lines.push(read);
        }
        rows.len() + 1
    }

    fn line(&self, line: &str, nodes: &BTreeSet<String>) -> Text {
        let about = About { at: Some(self.step.at), step: Some(self.step.number), nodes };
        let reader = &self.view.reader;
        let mut out = Text::plain(&line[..line.len() - line.trim_start().len()]);
        let bare = self.step.command.contains("--no-headers");
        for (i, (_, cell)) in cells(line).into_iter().enumerate() {
            if i > 0 {
                out.skeleton.push(' ');
            }
            let timed = match (bare, line.starts_with("Duration:") && i == 1) {
                (true, _) => reader.age(cell, about),
                (_, true) if reader.allow.has(May::Age) => duration(cell),
                _ => None,
            };
            out.append(timed.unwrap_or_else(|| unordered(reader.read(cell, about))));
        }
        if line.ends_with(' ') && !line.trim().is_empty() {
            out.skeleton.push(' ');
        }
        self.in_a_row(out)
    }

    /// Items that a template prints in one line come in the order of their drawn names.
    fn in_a_row(&self, mut text: Text) -> Text {
        let template =
            ["jsonpath", "go-template", "-o name"].iter().any(|form| self.step.command.contains(form));
        if template && text.drawn && text.times.is_empty() && self.view.reader.allow.has(May::Order) {
            let mut words: Vec<&str> = text.skeleton.split(' ').collect();
            words.sort_unstable();
            text.skeleton = words.join(" ");
        }
        text
    }
}

fn starts_block(line: &str) -> bool {
    ["Name:", "- apiVersion:", "apiVersion:"].iter().any(|head| line.starts_with(head))
}
