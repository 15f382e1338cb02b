//! Reads a recording's texts in the golden recording's words: drawn words replaced, moments taken out.

use std::collections::BTreeSet;

use super::clock::{Clock, Time, age, moment, pull_time};
use super::dictionary::Dictionary;
use super::equals::Equals;
use super::table::{Allow, May};

/// A text whose drawn words are replaced, and the moments that stood in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Text {
    pub(super) skeleton: String,
    pub(super) times: Vec<Time>,
    pub(super) drawn: bool,
}

impl Text {
    pub(super) fn plain(skeleton: &str) -> Self {
        Text { skeleton: skeleton.to_owned(), ..Text::default() }
    }

    pub(super) fn same(&self, other: &Text) -> bool {
        self.skeleton == other.skeleton && near(&self.times, &other.times)
    }

    /// Each moment in it may lie this much further apart.
    pub(super) fn loosen(&mut self, seconds: f64) {
        self.times.iter_mut().for_each(|time| time.coarse = time.coarse.max(seconds));
    }

    pub(super) fn append(&mut self, other: Text) {
        self.skeleton.push_str(&other.skeleton);
        self.times.extend(other.times);
        self.drawn |= other.drawn;
    }
}

/// Whether moments lie within the tolerance, one by one.
pub(super) fn near(ours: &[Time], golden: &[Time]) -> bool {
    ours.len() == golden.len() && ours.iter().zip(golden).all(|(a, b)| a.near(*b))
}

impl std::fmt::Display for Text {
    /// With each moment in its place again.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut times = self.times.iter();
        for part in self.skeleton.split_inclusive(MOMENT) {
            match part.strip_suffix(MOMENT) {
                Some(text) => match times.next() {
                    Some(time) => write!(f, "{text}<{:.1}s>", time.seconds)?,
                    None => write!(f, "{text}<time>")?,
                },
                None => f.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// Stands where a moment was taken out.
pub(super) const MOMENT: char = '◷';

#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) dictionary: Dictionary,
    pub(super) equals: Equals,
    pub(super) clock: Clock,
    pub(super) allow: Allow,
}

/// What a text is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    /// When it was printed, if it was: ages count back from there.
    pub(super) at: Option<f64>,
    /// By which step; none: by none, or it does not matter.
    pub(super) step: Option<i64>,
    /// The nodes of the pods that it is about.
    pub(super) nodes: &'a BTreeSet<String>,
}

/// Splits a text into words (runs of letters, digits, `-` and `.`) and what is between.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c))
        .map(|word| word.trim_end_matches(['-', '.']))
        .filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '.'
}

impl Reader {
    pub(super) fn read(&self, text: &str, about: About<'_>) -> Text {
        let mut out = Text::default();
        let mut rest = text;
        let mut inside = false;
        while let Some(c) = rest.chars().next() {
            if !inside && let Some(length) = self.special(rest, about, &mut out) {
                rest = &rest[length..];
                continue;
            }
            if !c.is_ascii_alphanumeric() {
                out.skeleton.push(c);
                rest = &rest[c.len_utf8()..];
                inside = false;
                continue;
            }
            let word = words(rest).next().unwrap_or(rest);
            match self.dictionary.look_up(word, about, &self.equals, self.allow) {
                Some(found) => {
                    out.skeleton.push_str(&found.text);
                    out.drawn |= found.drawn;
                }
                None => out.skeleton.push_str(word),
            }
            rest = &rest[word.len()..];
            inside = true;
        }
        out
    }

    /// Moments, ages in brackets and pull times: reads one at the start of the text, and says how long it was.
    fn special(&self, rest: &str, about: About<'_>, out: &mut Text) -> Option<usize> {
        if rest.starts_with('T')
            && self.allow.has(May::Moment)
            && let Some((seconds, length)) = moment(rest)
        {
            out.skeleton.push(MOMENT);
            out.times.push(Time { seconds: self.clock.golden(seconds), own: seconds, coarse: 0.0 });
            return Some(length);
        }
        if self.allow.has(May::Moment)
            && let Some(length) = date(rest)
        {
            out.skeleton.push_str("<date>");
            return Some(length);
        }
        if rest.starts_with("in ") && self.allow.has(May::PullTime) {
            return pulled(rest, out);
        }
        if rest.starts_with('(') && about.at.is_some() {
            return self.ago(rest, about, out);
        }
        None
    }

    /// `(5s ago)` and `(lasts 5s)`.
    fn ago(&self, rest: &str, about: About<'_>, out: &mut Text) -> Option<usize> {
        let end = rest.find(')')?;
        let inner = &rest[1..end];
        let (before, word, after) = match (inner.strip_suffix(" ago"), inner.strip_prefix("lasts ")) {
            (Some(word), _) => ("", word, " ago"),
            (_, Some(word)) => ("lasts ", word, ""),
            _ => return None,
        };
        let found = if before.is_empty() { self.age(word, about)? } else { duration(word)? };
        out.skeleton.push('(');
        out.skeleton.push_str(before);
        out.append(found);
        out.skeleton.push_str(after);
        out.skeleton.push(')');
        Some(end + 1)
    }

    /// An age: the moment that many seconds before the text was printed.
    pub(super) fn age(&self, word: &str, about: About<'_>) -> Option<Text> {
        let (seconds, unit) = age(word).filter(|_| self.allow.has(May::Age))?;
        let own = about.at? - seconds;
        let time = Time { seconds: self.clock.golden(own), own, coarse: unit - 1.0 };
        Some(Text { skeleton: MOMENT.to_string(), times: vec![time], drawn: false })
    }
}

/// The length of a date as Go prints it (`2026-01-02 03:04:05 +0000 UTC`): recordings keep these as they were, on
/// clocks that have nothing to do with each other.
fn date(rest: &str) -> Option<usize> {
    const SHAPE: &str = "dddd-dd-dd dd:dd:dd +0000 UTC";
    let fits = |(c, shape): (u8, u8)| if shape == b'd' { c.is_ascii_digit() } else { c == shape };
    (rest.len() >= SHAPE.len() && rest.bytes().zip(SHAPE.bytes()).all(fits)).then_some(SHAPE.len())
}

/// A length of time: the same on both clocks.
pub(super) fn duration(word: &str) -> Option<Text> {
    let (seconds, unit) = age(word)?;
    Some(Text {
        skeleton: MOMENT.to_string(),
        times: vec![Time { seconds, own: seconds, coarse: unit - 1.0 }],
        drawn: false,
    })
}

/// `in 1.002s (1.969s including waiting)`: both lengths vary, the words do not.
fn pulled(rest: &str, out: &mut Text) -> Option<usize> {
    let (_, first) = pull_time(&rest[3..])?;
    let open = 3 + first;
    let inner = rest[open..].strip_prefix(" (")?;
    let (_, second) = pull_time(inner)?;
    let tail = " including waiting)";
    inner[second..].starts_with(tail).then(|| {
        out.skeleton.push_str("in <pull> (<pull> including waiting)");
        open + 2 + second + tail.len()
    })
}
