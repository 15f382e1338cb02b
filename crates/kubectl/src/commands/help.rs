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
    let mut named: Vec<&Flag> = flags.iter().filter(|f| f.long != "help").collect();
    named.arrange_by(|a, b| a.long.cmp(b.long));
    let lines: String = named.into_iter().map(|flag| option(path, flag)).collect();
    let short = path.strip_prefix("kubectl ").unwrap_or(path);
    let words = usage(short).map(|words| format!("{words} ")).unwrap_or_default();
    kc.out(format!("{}.\n\nOptions:\n{lines}\nUsage:\n  {path} {words}[options]\n", entry.about));
}

/// What flags are for and what stands behind a command's name: `FLAG: WORDS`, where it holds for one command only
/// `COMMAND/FLAG: WORDS`, and `=COMMAND: WORDS`.
const WORDS: &str = include_str!("../flags.txt");

fn words(wanted: &str) -> Option<&'static str> {
    WORDS.lines().find_map(|line| line.strip_prefix(wanted)?.strip_prefix(": "))
}

/// What stands behind a command's name.
fn usage(command: &str) -> Option<&'static str> {
    words(&format!("={command}"))
}

/// What a flag of a command is for, in one line.
pub(crate) fn about(command: &str, flag: &str) -> Option<&'static str> {
    words(&format!("{command}/{flag}")).or_else(|| words(flag))
}

/// One flag of a command on a line of its own.
pub(super) fn option(path: &str, flag: &Flag) -> String {
    let short = flag.short.map_or_else(|| "    ".to_owned(), |c| format!("-{c}, "));
    let value = match flag.takes {
        Takes::Bool => "",
        Takes::Text | Takes::Maybe(_) => "=text",
        Takes::List => "=a,b",
        Takes::Each => "=text …",
        Takes::Int => "=number",
        Takes::Span => "=1m30s",
    };
    let command = path.strip_prefix("kubectl ").unwrap_or(path);
    let words = match about(command, flag.long) {
        _ if !flag.done => "(Kubestep does not do this)",
        words => words.unwrap_or_default(),
    };
    let name = format!("{}{value}", flag.long);
    format!("    {short}--{name:<28} {words}\n")
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
    use super::{super::COMMANDS, Does, Entry, WORDS, about, distance, usage};

    fn without_words(path: &str, entries: &[Entry], missing: &mut Vec<String>) {
        for entry in entries {
            let here = [path, entry.name].join(" ").trim_start().to_owned();
            let flags = match entry.does {
                Does::Run(flags, _) => flags,
                Does::Both(flags, _, inner) => {
                    without_words(&here, inner, missing);
                    flags
                }
                Does::Group(inner) => {
                    without_words(&here, inner, missing);
                    &[]
                }
                Does::Nothing => &[],
            };
            let nameless = flags.iter().filter(|f| f.done && about(&here, f.long).is_none_or(str::is_empty));
            missing.extend(nameless.map(|f| format!("{here} --{}", f.long)));
        }
    }

    #[test]
    fn every_flag_has_one_line_of_words() {
        let mut missing = vec![];
        without_words("", COMMANDS, &mut missing);
        for flag in crate::args::global().iter().filter(|f| f.done) {
            missing.extend(about("", flag.long).is_none().then(|| format!("--{}", flag.long)));
        }
        assert_eq!(missing, Vec::<String>::new());
        assert_eq!(about("top pod", "containers"), Some("One line for each container"));
        assert_eq!(about("set env", "containers"), Some("Which containers, by name or pattern"));
        assert_eq!(usage("cordon"), Some("NODE"));
        for line in WORDS.lines() {
            assert!(line.split_once(": ").is_some_and(|(_, words)| (4..75).contains(&words.len())), "{line}");
        }
    }

    #[test]
    fn distances() {
        for (a, b, want) in [("gett", "get", 1), ("gett", "set", 2), ("aply", "apply", 1), ("x", "apply", 3)]
        {
            assert_eq!(distance(a, b), want, "{a} {b}");
        }
    }
}
