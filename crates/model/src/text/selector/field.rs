//! Field selectors, as `kubectl --field-selector` takes them.

use crate::arrange::Arrange;
use std::collections::BTreeMap;
use std::fmt;

/// Demands on an object's fields, all to be met.
///
/// Upstream: k8s.io/apimachinery/pkg/fields, ParseSelector (v1.37).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

/// One demand: a field equals a value, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Reads a selector; terms are sorted as texts.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut parts = split_terms(text);
        parts.arrange();
        let mut terms = Vec::new();
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let Some((field, equal, value)) = split_term(part) else {
                return Err(format!("invalid selector: '{text}'; can't understand '{part}'"));
            };
            terms.push(Term { field: field.to_owned(), equal, value: unescape(value)? });
        }
        // A term without field and value asks for nothing, and upstream drops it when it reads the selector.
        terms.retain(|term| !(term.field.is_empty() && term.value.is_empty()));
        Ok(FieldSelector { terms })
    }

    /// The selector for one field with one value.
    pub fn one(field: &str, value: &str) -> FieldSelector {
        FieldSelector { terms: vec![Term { field: field.to_owned(), equal: true, value: value.to_owned() }] }
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether the fields are as asked; a field that is not there counts as empty.
    pub fn matches(&self, fields: &BTreeMap<String, String>) -> bool {
        self.terms.iter().all(|term| {
            let value = fields.get(&term.field).map_or("", String::as_str);
            (value == term.value) == term.equal
        })
    }

    /// The demands: field, whether it must equal (or must not), value.
    pub fn terms(&self) -> impl Iterator<Item = (&str, bool, &str)> {
        self.terms.iter().map(|term| (term.field.as_str(), term.equal, term.value.as_str()))
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let operator = if term.equal { "=" } else { "!=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for c in term.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// The terms between commas that no backslash hides.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut in_slash) = (0, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if in_slash => in_slash = false,
            '\\' => in_slash = true,
            ',' => {
                terms.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// Field, equal or not, and value still escaped; split at the first operator.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    for (i, _) in term.char_indices() {
        for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = term[i..].strip_prefix(operator) {
                return Some((&term[..i], equal, value));
            }
        }
    }
    None
}

fn unescape(text: &str) -> Result<String, String> {
    let wrong = |sequence: String| format!("invalid field selector: invalid escape sequence: {sequence}");
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => out.push(next),
                Some(next) => return Err(wrong(format!("\\{next}"))),
                None => return Err(wrong("\\".to_owned())),
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", c as u32));
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_as_upstream() {
        for (text, want) in [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ] {
            assert_eq!(FieldSelector::parse(text).unwrap_err(), want);
        }
        let escaped = FieldSelector::parse(r"a=b\,c\=d").expect("reads");
        assert_eq!(escaped.to_string(), r"a=b\,c\=d");
        assert!(escaped.matches(&BTreeMap::from([("a".to_owned(), "b,c=d".to_owned())])));
    }
}
