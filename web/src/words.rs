//! The page's words in the person's language. English stands where it is used; every other language is a table of one
//! file (`web/words/de.txt`), fetched only by those who ask for it.
//!
//! A line of the table that begins with `>` is the English, the one below it, with `<`, the same in the other language.
//! `{}` stands for what differs: a number, a name, a time. Sentences of the simulator come in English and are found in the
//! same table by their pattern, with everything in them that is no word (objects, code, ages, steps) kept as it is.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Display;

use kubestep_protocol::{At, Rich, Span};
use yew::prelude::*;
use yew::virtual_dom::VText;

/// How many sentences are remembered before the memory is emptied.
const REMEMBERED: usize = 4000;
/// The first of the characters that stand for spans while a sentence is looked up; Unicode gives them no meaning.
const SPAN: u32 = 0xE000;
/// Around words that carry a sentence.
const STRONG: char = '*';
/// With fewer letters than this a pattern says little of what stands in its gaps.
const FEW: usize = 6;
/// The language that needs no table.
pub const ENGLISH: &str = "en";
/// The languages there are.
pub const LANGUAGES: &[&str] = &[ENGLISH, "de"];

/// A language other than English.
#[derive(Debug)]
pub struct Table {
    /// Sorted by the English; whole texts.
    exact: Vec<(&'static str, &'static str)>,
    /// Texts with gaps, those with the most words first.
    open: Vec<(Vec<&'static str>, &'static str)>,
    /// What was looked up.
    known: RefCell<Vec<(String, Option<String>)>>,
}

thread_local! {
    static TABLE: Cell<Option<&'static Table>> = const { Cell::new(None) };
}

/// Speaks the language of this table from now on; `None`: English.
pub fn speak(table: Option<&'static Table>) {
    TABLE.with(|t| t.set(table));
}

/// A language that there is; else English.
pub fn known(language: &str) -> &'static str {
    LANGUAGES.iter().find(|l| **l == language).copied().unwrap_or(ENGLISH)
}

/// The wished language if its words are there.
pub(crate) fn spoken(wished: &str) -> &'static str {
    if TABLE.with(Cell::get).is_some() { known(wished) } else { ENGLISH }
}

/// The words for an English text of the page.
#[inline(never)]
pub(crate) fn t(english: &'static str) -> &'static str {
    TABLE.with(Cell::get).and_then(|table| table.whole(english)).unwrap_or(english)
}

/// Marks a text that is looked up later, by the place that draws it.
pub(crate) const fn n(english: &'static str) -> &'static str {
    english
}

/// A text of the page with its gaps filled.
#[inline(never)]
pub(crate) fn fill(english: &'static str, with: &[&dyn Display]) -> String {
    let with: Vec<String> = with.iter().map(ToString::to_string).collect();
    filled(t(english), &with)
}

/// `tf!("Hint {}.", 3)`: a text of the page with what differs in it.
macro_rules! tf {
    ($english:literal, $($with:expr),+ $(,)?) => {
        $crate::words::fill($english, &[$(&$with as &dyn std::fmt::Display),+])
    };
}
pub(crate) use tf;

/// The same as a part of the picture.
macro_rules! wf {
    ($english:literal, $($with:expr),+ $(,)?) => {
        $crate::words::drawn($crate::words::fill($english, &[$(&$with as &dyn std::fmt::Display),+]))
    };
}
pub(crate) use wf;

/// [`t`] as a part of the picture.
#[inline(never)]
pub(crate) fn w(english: &'static str) -> Html {
    VText::new(t(english)).into()
}

/// [`said`] as a part of the picture.
#[inline(never)]
pub(crate) fn ws(text: &str) -> Html {
    drawn(said(text))
}

/// A text as a part of the picture.
#[inline(never)]
pub(crate) fn drawn(text: String) -> Html {
    VText::new(text).into()
}

/// A text of the simulator, or one of the page that comes as a parameter.
#[inline(never)]
pub(crate) fn said(text: &str) -> String {
    TABLE.with(Cell::get).and_then(|table| table.sentence(text)).unwrap_or_else(|| text.to_string())
}

/// A text in small letters, for searching: those of the languages there are. All of Unicode's would be a table of their own.
pub(crate) fn lower(text: &str) -> String {
    let small = |c: char| match c {
        'Ä' => 'ä',
        'Ö' => 'ö',
        'Ü' => 'ü',
        c => c.to_ascii_lowercase(),
    };
    text.chars().map(small).collect()
}

/// A text with meaning of the simulator.
pub(crate) fn said_rich(text: &Rich) -> Cow<'_, Rich> {
    match TABLE.with(Cell::get).and_then(|table| table.rich(text)) {
        Some(words) => Cow::Owned(words),
        None => Cow::Borrowed(text),
    }
}

/// The same without marks, for what is only heard or stands in a title.
pub(crate) fn said_plain(text: &Rich, now: At) -> String {
    let mut words = said_rich(text).into_owned();
    for span in &mut words.0 {
        if let Span::Step(n) = span {
            *span = Span::Words(tf!("step {}", n));
        }
    }
    words.plain(now)
}

impl Table {
    /// Reads a file of words; it stays for as long as the page.
    pub fn read(text: String) -> Table {
        let text: &'static str = Box::leak(text.into_boxed_str());
        let mut table = Table { exact: Vec::new(), open: Vec::new(), known: RefCell::default() };
        let mut english = "";
        for line in text.lines() {
            if let Some(words) = line.strip_prefix("> ") {
                english = words;
            } else if let Some(words) = line.strip_prefix("< ") {
                table.put(english, words);
            }
        }
        table
    }

    /// Every text is put where it belongs: there is no need to sort them.
    fn put(&mut self, english: &'static str, words: &'static str) {
        let at = self.exact.partition_point(|(e, _)| *e < english);
        self.exact.insert(at, (english, words));
        if english.contains("{}") {
            let parts: Vec<&'static str> = english.split("{}").collect();
            let letters = |parts: &[&str]| parts.iter().map(|p| p.len()).sum::<usize>();
            let many = letters(&parts);
            let at = self.open.partition_point(|(other, _)| letters(other) >= many);
            self.open.insert(at, (parts, words));
        }
    }

    /// Every English text in it with its words.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.exact.iter().copied()
    }

    fn whole(&self, english: &str) -> Option<&'static str> {
        let at = self.exact.binary_search_by_key(&english, |(e, _)| e).ok()?;
        Some(self.exact[at].1)
    }

    /// The words for a sentence of the simulator; several sentences are looked up one by one if not together.
    pub fn sentence(&self, text: &str) -> Option<String> {
        if !text.bytes().any(|b| b.is_ascii_alphabetic()) {
            return None;
        }
        let place = |known: &[(String, Option<String>)]| known.partition_point(|(t, _)| t.as_str() < text);
        let at = place(&self.known.borrow());
        if let Some((_, words)) = self.known.borrow().get(at).filter(|(t, _)| t == text) {
            return words.clone();
        }
        let found = self.once(text).or_else(|| self.in_parts(text));
        let mut known = self.known.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let at = at.min(known.len());
        known.insert(at, (text.into(), found.clone()));
        found
    }

    /// One text, its blanks at both ends kept.
    fn once(&self, text: &str) -> Option<String> {
        let inner = text.trim();
        let words = match self.whole(inner) {
            Some(words) if !inner.contains("{}") => words.to_string(),
            _ => self.open.iter().find_map(|(parts, words)| {
                let with = gaps(parts, inner)?;
                let with: Vec<String> = with.into_iter().map(|w| self.listed(w)).collect();
                Some(filled(words, &with))
            })?,
        };
        let start = text.len() - text.trim_start().len();
        let end = text.trim_end().len();
        Some(format!("{}{words}{}", &text[..start], &text[end.max(start)..]))
    }

    /// What stands in a gap: words of the table, one or a list of them, or what is the same in every language.
    fn listed(&self, text: &str) -> String {
        let one = |word: &str| self.whole(word).unwrap_or(word).to_string();
        text.split(", ").map(one).collect::<Vec<_>>().join(", ")
    }

    /// Sentence by sentence; of one that is not known, its halves, if all of them are.
    fn in_parts(&self, text: &str) -> Option<String> {
        let mut found = false;
        let mut out = String::new();
        for piece in pieces(text, &['.', '?']) {
            let halves = || {
                let halves = pieces(piece, &[':', ';', ',']);
                let known = halves.len() > 1;
                known.then(|| halves.into_iter().map(|h| self.once(h)).collect::<Option<String>>())?
            };
            match self.once(piece).or_else(halves) {
                Some(words) => {
                    found = true;
                    out.push_str(&words);
                }
                None => out.push_str(piece),
            }
        }
        found.then_some(out)
    }

    /// The same for a text with meaning: what is no word keeps its place in the sentence.
    pub fn rich(&self, text: &Rich) -> Option<Rich> {
        let words = self.sentence(&flat(text))?;
        Some(unflat(&words, text))
    }
}

/// A text with its gaps filled: `{}` in their order, `{2}` by number.
fn filled(words: &str, with: &[String]) -> String {
    let mut out = String::new();
    let mut next = 0;
    let mut rest = words;
    while let Some((before, inside, after)) = gap(rest) {
        out.push_str(before);
        let at = inside.parse::<usize>().map_or(next, |n| n.saturating_sub(1));
        next += usize::from(inside.is_empty());
        out.push_str(with.get(at).map_or("", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first gap: what stands before it, in it, after it.
fn gap(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    Some((before, inside, after))
}

/// What stands in the gaps between these parts, if the text is made of them.
fn gaps<'t>(parts: &[&str], text: &'t str) -> Option<Vec<&'t str>> {
    let (first, others) = parts.split_first()?;
    let (last, middle) = others.split_last()?;
    let rest = text.strip_prefix(first)?;
    let mut rest = rest.strip_suffix(last)?;
    let mut found = Vec::with_capacity(others.len());
    for part in middle {
        let at = rest.find(part)?;
        found.push(&rest[..at]);
        rest = &rest[at + part.len()..];
    }
    found.push(rest);
    // A gap is never more than a part of one sentence, and beside few letters never more than a word.
    let letters = parts.iter().flat_map(|p| p.bytes()).filter(u8::is_ascii_alphabetic).count();
    let last = found.len() - 1;
    let weak = letters < FEW && parts[0].is_empty();
    let fits = |(i, gap): (usize, &&str)| {
        let ends = i < last && gap.ends_with('.');
        !(gap.is_empty() || ends || gap.contains(". ") || gap.contains(" Then ") || weak && gap.contains(' '))
    };
    found.iter().enumerate().all(fits).then_some(found)
}

/// A text cut behind these marks, each piece with the blank that follows it.
fn pieces<'t>(text: &'t str, marks: &[char]) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(' ') {
        // What was quoted may end without a mark.
        if text[..at].ends_with(marks) || text[at..].starts_with(" Then ") {
            found.push(&text[from..=at]);
            from = at + 1;
        }
    }
    found.push(&text[from..]);
    found
}

/// A text with meaning as one line: a character for each span that is no word.
fn flat(text: &Rich) -> String {
    let mut out = String::new();
    for (i, span) in text.0.iter().enumerate() {
        match span {
            Span::Words(words) => out.push_str(words),
            Span::Strong(words) => {
                out.push(STRONG);
                out.push_str(words);
                out.push(STRONG);
            }
            _ => out.extend(char::from_u32(SPAN + i as u32)),
        }
    }
    out
}

/// The spans again, in the order that the other language gives them.
fn unflat(words: &str, from: &Rich) -> Rich {
    let mut spans: Vec<Span> = Vec::new();
    let mut plain = String::new();
    let mut strong = false;
    let marked = from.0.iter().any(|s| matches!(s, Span::Strong(_)));
    let flush = |plain: &mut String, strong: bool, spans: &mut Vec<Span>| {
        if !plain.is_empty() {
            let words = std::mem::take(plain);
            spans.push(if strong { Span::Strong(words) } else { Span::Words(words) });
        }
    };
    for c in words.chars() {
        let span = (c as u32).checked_sub(SPAN).and_then(|i| from.0.get(i as usize));
        if marked && c == STRONG {
            flush(&mut plain, strong, &mut spans);
            strong = !strong;
        } else if let Some(span) = span {
            flush(&mut plain, strong, &mut spans);
            spans.push(span.clone());
        } else {
            plain.push(c);
        }
    }
    flush(&mut plain, strong, &mut spans);
    Rich(spans)
}

#[cfg(test)]
mod tests;
