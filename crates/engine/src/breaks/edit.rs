//! Edits of a text by line and column, which leave everything else as it is.

use kubestep_model::yaml::Span;

/// What stands in a stretch of one line; none if it goes over several.
pub(super) fn slice(text: &str, span: Span) -> Option<&str> {
    if span.line != span.end_line {
        return None;
    }
    let line = text.split('\n').nth(span.line.checked_sub(1)?)?;
    let at =
        |column: usize| line.char_indices().map(|(i, _)| i).chain([line.len()]).nth(column.checked_sub(1)?);
    line.get(at(span.column)?..at(span.end_column)?)
}

/// The text with a stretch of one line replaced.
pub(super) fn replace(text: &str, span: Span, with: &str) -> Option<String> {
    let old = slice(text, span)?;
    let line = text.split('\n').nth(span.line - 1)?;
    let from = line.char_indices().map(|(i, _)| i).chain([line.len()]).nth(span.column - 1)?;
    let start: usize = text.split('\n').take(span.line - 1).map(|l| l.len() + 1).sum::<usize>() + from;
    Some(format!("{}{with}{}", text.get(..start)?, text.get(start + old.len()..)?))
}

/// The text with the lines `from..=to` (counted from 1) replaced by others; `to` = `from - 1` inserts before `from`.
pub(super) fn lines(text: &str, from: usize, to: usize, with: &[String]) -> String {
    let mut out: Vec<&str> = vec![];
    let old: Vec<&str> = text.split('\n').collect();
    out.extend(old.iter().take(from.saturating_sub(1)));
    out.extend(with.iter().map(String::as_str));
    out.extend(old.iter().skip(to));
    out.join("\n")
}

/// The last line of the block whose first line is this one: what stands further in, and what is empty between.
pub(super) fn block_end(text: &str, first: usize, indent: usize) -> usize {
    let mut end = first;
    for (i, line) in text.split('\n').enumerate().skip(first) {
        let bare = line.trim_start();
        let inside = line.len() - bare.len() > indent;
        if !bare.trim_end().is_empty() && !inside {
            break;
        }
        if inside && !bare.trim_end().is_empty() {
            end = i + 1;
        }
    }
    end
}

/// A name with a letter missing; long enough to be looked over.
pub(super) fn typo(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    if chars.len() < 4 {
        return format!("{word}x");
    }
    let skip = (chars.len() - 1) / 2;
    chars.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a:\n  é: one\n  b:\n    c: 1\n\n    d: 2\n  e: 3\n";

    #[test]
    fn edits_touch_one_place() {
        let span = Span { line: 2, column: 6, end_line: 2, end_column: 9 };
        assert_eq!(slice(TEXT, span), Some("one"));
        assert_eq!(
            replace(TEXT, span, "two").as_deref(),
            Some("a:\n  é: two\n  b:\n    c: 1\n\n    d: 2\n  e: 3\n")
        );
        assert_eq!(slice(TEXT, Span { line: 9, ..span }), None);
        assert_eq!(replace(TEXT, Span { end_line: 3, ..span }, ""), None);
    }

    #[test]
    fn blocks_end_where_the_indent_does() {
        assert_eq!(block_end(TEXT, 3, 2), 6);
        assert_eq!(block_end(TEXT, 7, 2), 7);
        assert_eq!(lines(TEXT, 3, 6, &["  b: {}".into()]), "a:\n  é: one\n  b: {}\n  e: 3\n");
        assert_eq!(lines("x\ny", 2, 1, &["new".into()]), "x\nnew\ny");
    }

    #[test]
    fn typos_differ_and_stay_names() {
        for (word, want) in [("checkout", "chekout"), ("web", "webx"), ("a", "ax"), ("front", "frnt")] {
            assert_eq!(typo(word), want);
        }
    }
}
