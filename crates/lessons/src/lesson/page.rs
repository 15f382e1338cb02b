//! A Markdown file of a lesson as front matter, prose and fenced blocks; nothing of it is understood yet.

use super::Problem;
use kubestep_model::yaml;
use serde_json::{Map, Value};

/// A lesson's file is never longer.
const MOST_BYTES: usize = 200_000;
const MOST_BLOCKS: usize = 200;

/// A file by its path below the folder of lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// `course/1-loops/01-read-a-green-exit-code.md`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A fenced block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// `goal`, `file`.
    pub(super) name: String,
    /// What stands after the name: a file's name.
    pub(super) argument: String,
    /// The line of its fence.
    pub(super) line: usize,
    pub(super) body: String,
}

/// A file that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) path: String,
    pub(super) front: Map<String, Value>,
    /// The lines of its keys.
    front_lines: Vec<(String, usize)>,
    /// Paragraphs before the heading, and after it.
    pub(super) text: Vec<String>,
    pub(super) debrief: Vec<String>,
    /// The lines on which they begin.
    pub(super) text_lines: Vec<usize>,
    pub(super) debrief_lines: Vec<usize>,
    /// The line of the heading; 0 if there is none.
    pub(super) heading: usize,
    pub(super) blocks: Vec<Block>,
}

impl Page {
    pub(super) fn problem(&self, line: usize, text: impl Into<String>, remedy: &str) -> Problem {
        Problem { path: self.path.clone(), line, text: text.into(), remedy: remedy.into() }
    }

    /// The line of a key of the front matter.
    pub(super) fn front_line(&self, key: &str) -> usize {
        self.front_lines.iter().find(|(k, _)| k == key).map_or(1, |(_, line)| *line)
    }

    /// A block's body as data. Errors: the line in the file.
    pub(super) fn value(&self, block: &Block) -> Result<Value, Problem> {
        if let Some((key, line)) = twice(&block.body) {
            let text = format!("There is a second {key} in the block {}.", block.name);
            return Err(self.problem(block.line + line, text, "Keep one."));
        }
        read_yaml(&block.body)
            .map_err(|(line, text)| self.problem(block.line + line, text, "Mend the YAML of this block."))
    }

    /// Reads a file.
    pub(super) fn read(source: &Source) -> Result<Page, Problem> {
        let mut page = Page { path: source.path.clone(), ..Page::default() };
        if source.text.len() > MOST_BYTES {
            return Err(page.problem(1, "The file is longer than 200,000 bytes.", "Make two lessons of it."));
        }
        // Editors of Windows write a mark before the first line; old ones of the Mac end lines otherwise.
        let text = source.text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
        if let Some(line) = text.lines().position(|l| l.contains(|c: char| c.is_control() && c != '\t')) {
            let remedy = "Take it out: only tabs and ends of lines may stand in a text.";
            return Err(page.problem(line + 1, "There is a character that nobody can see.", remedy));
        }
        let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l)).peekable();
        if lines.peek().is_some_and(|(_, l)| l.trim_end() == "---") {
            lines.next();
            let mut front = String::new();
            let mut closed = false;
            for (_, line) in lines.by_ref() {
                if line.trim_end() == "---" {
                    closed = true;
                    break;
                }
                front.push_str(line);
                front.push('\n');
            }
            if !closed {
                return Err(page.problem(1, "The front matter has no end.", "Put a line --- after it."));
            }
            if let Some((key, line)) = twice(&front) {
                let text = format!("There is a second {key} in the front matter.");
                return Err(page.problem(1 + line, text, "Keep one."));
            }
            let keyed =
                front.lines().enumerate().filter_map(|(i, l)| Some((l.split_once(':')?.0.into(), i + 2)));
            page.front_lines = keyed.collect();
            match read_yaml(&front).map_err(|(l, t)| page.problem(1 + l, t, "Mend the front matter."))? {
                Value::Object(map) => page.front = map,
                Value::Null => {}
                _ => {
                    return Err(page.problem(
                        1,
                        "The front matter is not a map.",
                        "Write `key: value` lines.",
                    ));
                }
            }
        }
        page.body(lines)?;
        Ok(page)
    }

    fn body<'t>(&mut self, mut lines: impl Iterator<Item = (usize, &'t str)>) -> Result<(), Problem> {
        let mut paragraph = String::new();
        let mut begun = 0;
        while let Some((number, line)) = lines.next() {
            let fence = line.len() - line.trim_start_matches('`').len();
            if fence >= 3 {
                self.end_paragraph(&mut paragraph, begun);
                let (block, closed) = block(number, &line[fence..], &"`".repeat(fence), &mut lines);
                if !closed {
                    return Err(self.problem(
                        number,
                        "The block has no end.",
                        "Close it with the same fence.",
                    ));
                }
                if block.name.is_empty() {
                    let remedy = "Say after the fence what the block is: ```yaml goal";
                    return Err(self.problem(number, "The block has no name.", remedy));
                }
                self.blocks.push(block);
                if self.blocks.len() > MOST_BLOCKS {
                    return Err(self.problem(
                        number,
                        "There are more than 200 blocks.",
                        "Make two lessons of it.",
                    ));
                }
            } else if let Some(title) = line.strip_prefix('#') {
                self.end_paragraph(&mut paragraph, begun);
                if !title.starts_with("# ") {
                    let remedy = "The title stands in the front matter; one heading ## begins the debrief.";
                    return Err(self.problem(number, "This heading has no place here.", remedy));
                }
                if self.heading > 0 {
                    let remedy = "Keep one: what follows it is the debrief.";
                    return Err(self.problem(number, "There is a second heading.", remedy));
                }
                self.heading = number;
            } else if line.trim().is_empty() {
                self.end_paragraph(&mut paragraph, begun);
            } else {
                if line.trim_start().starts_with("- ") {
                    self.end_paragraph(&mut paragraph, begun);
                }
                if let Some((text, remedy)) = not_drawn(line) {
                    return Err(self.problem(number, text, remedy));
                }
                if paragraph.is_empty() {
                    begun = number;
                } else {
                    paragraph.push(' ');
                }
                paragraph.push_str(line.trim());
            }
        }
        self.end_paragraph(&mut paragraph, begun);
        Ok(())
    }

    fn end_paragraph(&mut self, paragraph: &mut String, begun: usize) {
        if !paragraph.is_empty() {
            let (list, lines) = if self.heading > 0 {
                (&mut self.debrief, &mut self.debrief_lines)
            } else {
                (&mut self.text, &mut self.text_lines)
            };
            list.push(std::mem::take(paragraph));
            lines.push(begun);
        }
    }
}

fn block<'t>(
    line: usize,
    info: &str,
    fence: &str,
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
) -> (Block, bool) {
    let mut words: Vec<&str> = info.split_whitespace().collect();
    if words.len() > 1 && words[0] == "yaml" {
        words.remove(0);
    }
    let name = words.first().copied().unwrap_or_default().to_string();
    let argument = words.get(1..).unwrap_or_default().join(" ");
    let mut block = Block { name, argument, line, body: String::new() };
    for (_, text) in lines {
        if text.trim_end() == fence {
            return (block, true);
        }
        // The next block begins: this one was not closed.
        if text.strip_prefix(fence).is_some_and(|rest| !rest.starts_with('`')) {
            return (block, false);
        }
        block.body.push_str(text);
        block.body.push('\n');
    }
    (block, false)
}

/// A key at the margin that stands there before, and its line.
fn twice(text: &str) -> Option<(&str, usize)> {
    let mut seen: Vec<&str> = vec![];
    for (i, line) in text.lines().enumerate() {
        // A second document is another matter.
        if line.starts_with("---") {
            return None;
        }
        let begins = line.starts_with(|c: char| c.is_ascii_alphanumeric());
        let key = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1));
        let Some(key) = key.filter(|_| begins).map(|end| &line[..end]) else { continue };
        if seen.contains(&key) {
            return Some((key, i + 1));
        }
        seen.push(key);
    }
    None
}

/// Marks of Markdown that a forge would draw and the page does not.
fn not_drawn(line: &str) -> Option<(String, &'static str)> {
    let (line, said) = (line.trim_start(), "is not drawn by the page: it would stand there as it is.");
    let numbered =
        line.split_once(". ").is_some_and(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let sort = match line.split_once(' ').map_or(line, |(first, _)| first) {
        "*" | "+" => "A list with this sign",
        _ if numbered => "A numbered list",
        ">" => "A quotation",
        _ if line.starts_with('|') => "A table",
        _ => return not_drawn_within(line).map(|(mark, remedy)| (format!("`{mark}` {said}"), remedy)),
    };
    Some((format!("{sort} {said}"), "Write lines that begin with `- `, or sentences."))
}

/// The same within a line, outside of what stands between backticks.
fn not_drawn_within(line: &str) -> Option<(String, &'static str)> {
    for text in line.split('`').step_by(2) {
        if text.contains("![") {
            return Some(("![".into(), "Pictures have no place here; the running figure is one."));
        }
        if let Some((_, target)) = text.split_once("](").filter(|(_, target)| !target.starts_with('#')) {
            let target = target.split(')').next().unwrap_or_default();
            let remedy =
                "Links lead to objects: [the Deployment](#Deployment/web). Say in words where else to look.";
            return Some((format!("]({target})"), remedy));
        }
        let bold = text.replace("**", "");
        let mut stars = bold.match_indices('*').map(|(i, _)| i);
        if let (Some(a), Some(b)) = (stars.next(), stars.next()) {
            let word = bold.get(a..=b).unwrap_or_default();
            let tight = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && c != '*');
            if tight(word[1..].chars().next()) && tight(word[..word.len() - 1].chars().last()) {
                return Some((word.into(), "Write `**strong**`, or no mark at all."));
            }
        }
    }
    None
}

/// Errors: line and words.
fn read_yaml(text: &str) -> Result<Value, (usize, String)> {
    let reading = yaml::read(text);
    if let Some(error) = reading.error {
        return Err((usize::try_from(error.line).unwrap_or(0).max(1), error.text));
    }
    Ok(reading.documents.into_iter().next().map(|d| d.value).unwrap_or_default())
}
