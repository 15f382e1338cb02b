//! What kubectl says of itself: help, and what it makes of unknown commands.

use super::{Does, Entry};
use crate::{
    args::{Flag, Takes},
    kc::{Kc, Stop},
};
use kubestep_model::arrange::Arrange;

/// Help without a command.
pub(super) fn top(kc: &mut Kc<'_>, entries: &[Entry], asked: bool) {
    let text = format!(
        "kubectl asks the cluster and changes what it is to be.\n\nCommands:\n{}\nUsage:\n  kubectl [flags] [options]\n",
        list(entries)
    );
    if asked { kc.out(text) } else { kc.err(text) }
}

fn list(entries: &[Entry]) -> String {
    let known = entries.iter().filter(|e| !matches!(e.does, Does::Nothing));
    known.map(|e| format!("  {:<15} {}\n", e.name, e.about)).collect()
}

/// Help of a group: asked for to standard output, otherwise to standard error.
pub(super) fn group(kc: &mut Kc<'_>, path: &str, entry: &Entry, entries: &[Entry], asked: bool) {
    let text =
        format!("{}.\n\nCommands:\n{}\nUsage:\n  {path} SUBCOMMAND [options]\n", entry.about, list(entries));
    if asked { kc.out(text) } else { kc.err(text) }
}

/// Help of one command, with its flags.
pub(super) fn command(kc: &mut Kc<'_>, path: &str, entry: &Entry, flags: &[Flag]) {
    let mut lines: Vec<String> = flags.iter().map(option).collect();
    lines.arrange();
    kc.out(format!("{}.\n\nOptions:\n{}\nUsage:\n  {path} [options]\n", entry.about, lines.concat()));
}

/// One flag on a line of its own.
pub(super) fn option(flag: &Flag) -> String {
    let short = flag.short.map(|c| format!("-{c}, ")).unwrap_or_else(|| "    ".to_owned());
    let value = match flag.takes {
        Takes::Bool => "",
        Takes::Text | Takes::Maybe(_) => "=text",
        Takes::List => "=a,b",
        Takes::Each => "=text …",
        Takes::Int => "=number",
        Takes::Span => "=1m30s",
    };
    let note = if flag.done { "" } else { "  (Kubestep does not do this)" };
    format!("    {short}--{}{value}{note}\n", flag.long)
}

/// The error about a command that is not known, with those that it may have been meant for.
pub(super) fn unknown(kc: &mut Kc<'_>, entries: &[Entry], name: &str) -> Stop {
    let near = |entry: &&Entry| {
        let starts = entry.name.to_ascii_lowercase().starts_with(&name.to_ascii_lowercase());
        distance(name, entry.name) <= 2 || starts || entry.also.iter().any(|a| a.eq_ignore_ascii_case(name))
    };
    let near: Vec<&str> = entries.iter().filter(near).map(|e| e.name).collect();
    let mut text = format!("unknown command \"{name}\" for \"kubectl\"");
    if !near.is_empty() {
        text += &format!(
            "\n\nDid you mean this?\n{}",
            near.iter().map(|n| format!("\t{n}\n")).collect::<String>()
        );
    }
    kc.fail(text)
}

/// The one command that a word is nearest to, at most two letters away and not a different word.
pub(crate) fn nearest(entries: &'static [Entry], name: &str) -> Option<&'static str> {
    let done = entries.iter().filter(|e| !matches!(e.does, Does::Nothing));
    let far = |entry: &Entry| distance(name, entry.name);
    // Of a short word two letters are nearly all, but where they have only changed places.
    let swapped = |entry: &Entry| sorted(name) == sorted(entry.name);
    let near = done.filter(|e| far(e) == 1 || far(e) == 2 && (name.len() > 4 || swapped(e)));
    near.min_by_key(|e| (far(e), !swapped(e))).map(|e| e.name)
}

fn sorted(word: &str) -> Vec<u8> {
    let mut letters = word.to_ascii_lowercase().into_bytes();
    letters.arrange();
    letters
}

/// How many letters must be added, removed or changed to make one word of another.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_ascii_lowercase().chars().collect(), b.to_ascii_lowercase().chars().collect());
    if a.len().abs_diff(b.len()) > 2 {
        return 3;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal } else { 1 + diagonal.min(above).min(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        for (a, b, want) in [("gett", "get", 1), ("gett", "set", 2), ("aply", "apply", 1), ("x", "apply", 3)]
        {
            assert_eq!(distance(a, b), want, "{a} {b}");
        }
    }
}
