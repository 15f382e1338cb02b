//! Kubernetes' descriptions in output. They are looked up when the output is shown, not when the command runs: so a run
//! is the same whether their file is at hand or not.
//!
//! A command prints a mark that names what is to be described. Pipes behind it are kept beside the text and run when it is
//! shown, too.

use crate::shell;
use kubestep_model::schema::Descriptions;

/// Around a mark, and around text with the filters that it has to go through.
const MARK: char = '\u{e000}';
const PIPE: char = '\u{e001}';
const END: char = '\u{e002}';
/// Around the name and the text of a file that is to be opened in the editor.
const OPEN: char = '\u{e003}';

/// A mark for the description of a type, or of a field of it, in lines of this width behind so many blanks. `inner` is the
/// type that the field is made of, whose own description follows.
pub(crate) fn mark(owner: &str, field: &str, inner: &str, width: usize, indent: usize) -> String {
    format!("{MARK}{owner} {field} {inner} {width} {indent}{END}")
}

/// Whether a mark can be in a text, told by the byte that they all begin with: texts are long, and are looked at often.
fn may_have(text: &str) -> bool {
    text.as_bytes().contains(&0xee)
}

/// Whether a text has marks of descriptions.
#[must_use]
pub fn waits(text: &str) -> bool {
    may_have(text) && text.contains([MARK, PIPE])
}

/// Whether a text is shown otherwise than it stands.
#[must_use]
pub fn differs(text: &str) -> bool {
    may_have(text) && text.contains([MARK, PIPE, OPEN])
}

/// Asks the page to open a text as a file of the editor.
pub(crate) fn opens(name: &str, text: &str) -> String {
    format!("{OPEN}{name}{OPEN}{text}{OPEN}")
}

/// The files that a piece of output asks to open: names and texts.
#[must_use]
pub fn opened(text: &str) -> Vec<(String, String)> {
    if !may_have(text) {
        return vec![];
    }
    let parts: Vec<&str> = text.split(OPEN).collect();
    let file = |three: &[&str]| Some((three.get(1)?.to_string(), three.get(2)?.to_string()));
    parts.chunks(3).filter(|three| three.len() == 3).filter_map(file).collect()
}

/// A text without the files that it asks to open.
fn without_files(text: &str) -> String {
    text.split(OPEN).enumerate().filter(|(at, _)| at % 3 == 0).map(|(_, part)| part).collect()
}

/// Keeps filters beside a text that has marks.
pub(crate) fn piped(stages: &[Vec<String>], text: &str) -> String {
    let stages: Vec<String> = stages.iter().map(|words| words.join("\u{1f}")).collect();
    format!("{PIPE}{}{PIPE}{text}{PIPE}", stages.join("\u{1e}"))
}

/// A text as it is shown: with the descriptions in the place of their marks, or with `absent` where they are not at hand.
#[must_use]
pub fn shown(text: &str, descriptions: Option<&Descriptions>, absent: &str) -> String {
    let text = without_files(text);
    let mut out = String::new();
    let mut parts = text.split(PIPE);
    out.push_str(&described(parts.next().unwrap_or_default(), descriptions, absent));
    while let (Some(stages), Some(text)) = (parts.next(), parts.next()) {
        let mut text = described(text, descriptions, absent);
        for stage in stages.split('\u{1e}') {
            let words: Vec<String> = stage.split('\u{1f}').map(str::to_owned).collect();
            text = match shell::filter(&words, &text) {
                Some(Ok((text, _)) | Err((text, _))) => text,
                None => text,
            };
        }
        out.push_str(&text);
        out.push_str(&described(parts.next().unwrap_or_default(), descriptions, absent));
    }
    out
}

fn described(text: &str, descriptions: Option<&Descriptions>, absent: &str) -> String {
    let mut parts = text.split(MARK);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once(END).unwrap_or(("", part));
        let words: Vec<&str> = mark.split(' ').collect();
        if let [owner, field, inner, width, indent] = words.as_slice() {
            let (width, indent) = (width.parse().unwrap_or(76), indent.parse().unwrap_or(0));
            let pad = " ".repeat(indent);
            let found = match descriptions {
                Some(descriptions) => find(descriptions, owner, field, inner),
                None => absent.to_owned(),
            };
            out.push_str(&format!("{pad}{}\n", wrap(&found, width).replace('\n', &format!("\n{pad}"))));
        }
        out.push_str(rest);
    }
    out
}

/// What stands below DESCRIPTION: a field's words and those of its type, each with a line's end; or, where the inner type
/// is `-`, a field's words as they stand in a list.
fn find(descriptions: &Descriptions, owner: &str, field: &str, inner: &str) -> String {
    let own = descriptions.of(owner, Some(field));
    if inner == IN_LIST {
        return own.unwrap_or_else(|| "<no description>".to_owned());
    }
    let all = [own, descriptions.of(inner, None)];
    let text: String = all.into_iter().flatten().map(|text| text + "\n").collect();
    if text.is_empty() { "<empty>".to_owned() } else { text }
}

/// In the place of a type: the description stands in a list of fields.
pub(crate) const IN_LIST: &str = "-";

/// Breaks a text into lines at blanks. Upstream: go-wordwrap, WrapString; a word that is longer than a line is not cut.
fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let (mut column, mut blanks, mut word) = (0, String::new(), String::new());
    let long = |text: &str| text.chars().count();
    for c in text.chars() {
        if c == '\n' {
            if !word.is_empty() || column + long(&blanks) <= width {
                out.push_str(&blanks);
                out.push_str(&word);
            }
            out.push('\n');
            (column, blanks, word) = (0, String::new(), String::new());
        } else if c.is_whitespace() && c != '\u{a0}' {
            if blanks.is_empty() || !word.is_empty() {
                column += long(&blanks) + long(&word);
                out.push_str(&blanks);
                out.push_str(&word);
                (blanks, word) = (String::new(), String::new());
            }
            blanks.push(c);
        } else {
            word.push(c);
            let wide = long(&word);
            if column + wide + long(&blanks) > width && wide < width {
                out.push('\n');
                column = 0;
                blanks.clear();
            }
        }
    }
    if !word.is_empty() || column + long(&blanks) <= width {
        out.push_str(&blanks);
        out.push_str(&word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_stand_where_their_marks_were() {
        let file = Descriptions::new("a/v1.A\tThe A.\n one\tFirst and second.\n".into());
        let text =
            format!("D:\n{}F:\n{}", mark("", "", "a/v1.A", 76, 4), mark("a/v1.A", "one", IN_LIST, 10, 2));
        assert!(waits(&text));
        assert_eq!(shown(&text, Some(&file), ""), "D:\n    The A.\n    \nF:\n  First and\n  second.\n");
        assert_eq!(shown(&text, None, "(absent)"), "D:\n    (absent)\nF:\n  (absent)\n");
        let grep = [vec!["grep".to_owned(), "sec".to_owned()]];
        let through = format!("before\n{}after\n", piped(&grep, &text));
        assert_eq!(shown(&through, Some(&file), ""), "before\n  second.\nafter\n");
        assert_eq!(shown("plain", None, ""), "plain");
        // A field of a described type says both.
        assert_eq!(find(&file, "a/v1.A", "one", "a/v1.A"), "First and second.\nThe A.\n");
    }

    #[test]
    fn files_to_open_are_not_shown() {
        let text = opens("a.yaml", "x: 1\n") + "open\n" + &opens("b.yaml", "y");
        let files = [("a.yaml".to_owned(), "x: 1\n".to_owned()), ("b.yaml".to_owned(), "y".to_owned())];
        assert_eq!(opened(&text), files);
        assert_eq!(shown(&text, None, ""), "open\n");
        assert!(opened("plain").is_empty() && differs(&text) && !differs("plain"));
    }

    #[test]
    fn lines_break_at_blanks() {
        for (text, width, want) in [
            ("aaa bbb ccc", 7, "aaa bbb\nccc"),
            ("a\nb c\n\n d", 3, "a\nb c\n\n d"),
            ("aaaaaaaaaaaa bb", 5, "aaaaaaaaaaaa\nbb"),
            ("", 5, ""),
        ] {
            assert_eq!(wrap(text, width), want, "{text}");
        }
    }
}
