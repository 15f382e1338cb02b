//! The editor's files, as far as the session has seen them: their names, the images they name, when each was applied.

use super::Session;
use crate::link::Saved;
use kubestep_model::arrange::Arrange;
use kubestep_protocol::{At, Doc};

/// The names of so many files are remembered.
const MOST_FILES: usize = 200;
/// So many images of one file are shown, and so long a text is looked through.
const MOST_IMAGES: usize = 40;
const MOST_READ: usize = 1 << 20;

impl Session {
    /// A file of the editor was named: Tab may offer it from now on.
    /// Whether it names other images than before.
    pub(crate) fn sees(&mut self, doc: &Doc) -> bool {
        if self.files.len() >= MOST_FILES || doc.name.len() >= 200 {
            return false;
        }
        self.files.insert(doc.name.clone());
        let named = images_in(&doc.text);
        let before = self.named.insert(doc.name.clone(), named);
        before.as_ref().map_or(&[][..], Vec::as_slice) != self.named[&doc.name].as_slice()
    }

    /// The images that the files name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.named.values().flatten().map(String::as_str)
    }

    /// When a file was applied with exactly this text, if it was and nothing else was applied from it since.
    pub(crate) fn applied_at(&self, doc: &Doc) -> Option<At> {
        let inputs = &self.history.branches()[self.history.branch()].inputs;
        let now = self.shown.now();
        let rows = inputs
            .iter()
            .zip(&self.track().saved)
            .filter(|(input, _)| input.at <= now && input.after < self.shown.next_record());
        let text = |saved: &Saved| match saved {
            Saved::Run { line, files, .. }
                if line.starts_with("kubectl apply") && line.contains(&doc.name) =>
            {
                files.iter().find(|(name, _)| *name == doc.name).map(|(_, text)| *text == doc.text)
            }
            _ => None,
        };
        let (at, same) = rows.rev().find_map(|(input, saved)| text(saved).map(|same| (input.at, same)))?;
        same.then(|| self.at(at))
    }
}

/// The images that a manifest names, whether it can be read as a whole or not: a person may be in the middle of a line.
fn images_in(text: &str) -> Vec<String> {
    if text.len() > MOST_READ {
        return vec![];
    }
    let image = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        let value = ["image:", "\"image\":", "'image':"].iter().find_map(|key| line.strip_prefix(key))?;
        let value = value.split('#').next()?.trim().trim_end_matches(',').trim_matches(['"', '\'']);
        let fits = |c: char| c.is_ascii_alphanumeric() || "./:_@-".contains(c);
        (!value.is_empty() && value.len() <= 200 && value.chars().all(fits)).then(|| value.to_string())
    };
    let mut found: Vec<String> = text.lines().filter_map(image).take(MOST_IMAGES).collect();
    found.arrange();
    found.dedup();
    found
}
