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
    /// Paragraphs before the heading, and after it.
    pub(super) text: Vec<String>,
    pub(super) debrief: Vec<String>,
    /// The line of the heading; 0 if there is none.
    pub(super) heading: usize,
    pub(super) blocks: Vec<Block>,
}

impl Page {
    pub(super) fn problem(&self, line: usize, text: impl Into<String>, remedy: &str) -> Problem {
        Problem { path: self.path.clone(), line, text: text.into(), remedy: remedy.into() }
    }

    /// A block's body as data. Errors: the line in the file.
    pub(super) fn value(&self, block: &Block) -> Result<Value, Problem> {
        read_yaml(&block.body)
            .map_err(|(line, text)| self.problem(block.line + line, text, "Mend the YAML of this block."))
    }

    /// Reads a file.
    pub(super) fn read(source: &Source) -> Result<Page, Problem> {
        let mut page = Page { path: source.path.clone(), ..Page::default() };
        if source.text.len() > MOST_BYTES {
            return Err(page.problem(1, "The file is longer than 200,000 bytes.", "Make two lessons of it."));
        }
        let mut lines = source.text.lines().enumerate().map(|(i, l)| (i + 1, l)).peekable();
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
        while let Some((number, line)) = lines.next() {
            let fence = line.len() - line.trim_start_matches('`').len();
            if fence >= 3 {
                self.end_paragraph(&mut paragraph);
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
                self.end_paragraph(&mut paragraph);
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
                self.end_paragraph(&mut paragraph);
            } else {
                if line.trim_start().starts_with("- ") {
                    self.end_paragraph(&mut paragraph);
                }
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(line.trim());
            }
        }
        self.end_paragraph(&mut paragraph);
        Ok(())
    }

    fn end_paragraph(&mut self, paragraph: &mut String) {
        if !paragraph.is_empty() {
            let list = if self.heading > 0 { &mut self.debrief } else { &mut self.text };
            list.push(std::mem::take(paragraph));
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
        block.body.push_str(text);
        block.body.push('\n');
    }
    (block, false)
}

/// Errors: line and words.
fn read_yaml(text: &str) -> Result<Value, (usize, String)> {
    let reading = yaml::read(text);
    if let Some(error) = reading.error {
        return Err((usize::try_from(error.line).unwrap_or(0).max(1), error.text));
    }
    Ok(reading.documents.into_iter().next().map(|d| d.value).unwrap_or_default())
}
