//! A text that is made when somebody reads it: of the megabytes that a list prints, a terminal shows the end.

use super::Span;
use std::{
    fmt::{self, Debug},
    ops::Deref,
    sync::{Arc, OnceLock},
};

/// What can be printed, whole or only its end. Pure: it prints the same every time.
pub trait Print: Debug + Send + Sync {
    /// All of it.
    fn whole(&self) -> String;
    /// The end of it, so many bytes at least, where there are so many.
    fn end(&self, bytes: usize) -> String;
    /// All of it, or its end, with what parts of that stand for.
    fn marked(&self, bytes: Option<usize>) -> (String, Vec<Span>) {
        (bytes.map_or_else(|| self.whole(), |bytes| self.end(bytes)), vec![])
    }
    /// How many lines it has, if that is known before it is printed.
    fn lines(&self) -> Option<usize> {
        None
    }
}

/// A text, or what it is printed from.
#[derive(Clone)]
pub struct Text(Form);

#[derive(Clone)]
enum Form {
    Made(String),
    Later(Arc<Later>),
}

struct Later {
    print: Box<dyn Print>,
    whole: OnceLock<String>,
}

impl Text {
    /// A text that is printed when it is read.
    pub fn later(print: Box<dyn Print>) -> Text {
        Text(Form::Later(Arc::new(Later { print, whole: OnceLock::new() })))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Made(text) => text,
            Form::Later(later) => later.whole.get_or_init(|| later.print.whole()),
        }
    }

    /// The text, if it stands there already; what is printed from objects holds nothing but their own words.
    pub fn made(&self) -> Option<&str> {
        match &self.0 {
            Form::Made(text) => Some(text),
            Form::Later(_) => None,
        }
    }

    /// How many lines it has, if that is known before it is printed.
    pub fn lines(&self) -> Option<usize> {
        match &self.0 {
            Form::Made(text) => Some(text.bytes().filter(|b| *b == b'\n').count()),
            Form::Later(later) => later.print.lines(),
        }
    }

    /// What parts of it stand for, if it is printed when it is read.
    pub fn spans(&self) -> Vec<Span> {
        match &self.0 {
            Form::Made(_) => vec![],
            Form::Later(later) => later.print.marked(None).1,
        }
    }

    /// As [`Text::end`], with what parts of it stand for, if it is printed when it is read.
    pub fn marked_end(&self, bytes: usize) -> (String, Vec<Span>) {
        let Form::Later(later) = &self.0 else { return (self.end(bytes), vec![]) };
        let (text, mut spans) = later.print.marked(Some(bytes));
        let end = last(&text, bytes);
        let cut = text.len() - end.len();
        spans.retain_mut(|span| span.begin_after(cut));
        (end.into(), spans)
    }

    /// Its last bytes, at most so many, from the beginning of a character on.
    pub fn end(&self, bytes: usize) -> String {
        match &self.0 {
            Form::Later(later) if later.whole.get().is_none() => last(&later.print.end(bytes), bytes).into(),
            _ => last(self.as_str(), bytes).into(),
        }
    }
}

fn last(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Form::Made(text))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> String {
        match text.0 {
            Form::Made(text) => text,
            Form::Later(_) => text.as_str().into(),
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

/// As a text is shown: two worlds whose programs printed the same have the same fingerprint.
impl Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints its words, and panics where it is asked for more than it may be.
    #[derive(Debug)]
    struct Words(&'static str, bool);

    impl Print for Words {
        fn whole(&self) -> String {
            assert!(self.1, "nobody reads all of it");
            self.0.into()
        }
        fn end(&self, bytes: usize) -> String {
            self.0[self.0.len().saturating_sub(bytes + 2)..].into()
        }
    }

    #[test]
    fn a_text_is_the_same_whenever_it_is_made() {
        let (made, later) =
            (Text::from("one \u{e4} two".to_owned()), Text::later(Box::new(Words("one \u{e4} two", true))));
        assert_eq!(made.end(4), later.end(4));
        assert_eq!(made, later);
        assert_eq!(format!("{made:?}"), format!("{later:?}"));
        // A character is never cut.
        assert_eq!((later.end(5).as_str(), later.end(99).as_str()), (" two", "one \u{e4} two"));
        assert_eq!(String::from(later), "one \u{e4} two");
    }

    #[test]
    fn what_only_shows_its_end_is_not_made() {
        let later = Text::later(Box::new(Words("one two", false)));
        assert_eq!((later.end(3).as_str(), later.made()), ("two", None));
    }
}
