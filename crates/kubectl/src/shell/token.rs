//! The characters of a line as words and signs, and what a shell puts into words: variables and what commands print.

use super::parse::{Fills, MOST_DEEP, parse_within};

/// What the characters of a line come to.
pub(super) enum Token {
    Word(Word),
    Sign(&'static str),
}

/// A word, and where something is still to be put in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Where in the text, whether between quotes, and what.
    pub(super) holes: Vec<(usize, bool, Fills)>,
    /// Something of it was quoted.
    pub(super) quoted: bool,
}

impl Word {
    /// The text of a word that stands as it was typed.
    pub(super) fn plain(&self) -> Option<&str> {
        (!self.quoted && self.holes.is_empty()).then_some(&*self.text)
    }
}

/// Signs of a shell, the longer ones first.
const SIGNS: &[&str] = &["<<-", "<<", "&&", "||", "2>&1", ">>", "|", ";", "&", "<", ">", "\n"];

/// Reads a line. Errors: in a shell's words, or what this one does not do.
pub(super) fn tokens(text: &str, depth: u32) -> Result<Vec<Token>, String> {
    if depth > MOST_DEEP {
        return Err("too many commands within commands".to_owned());
    }
    let mut tokens = Vec::new();
    let mut word: Option<Word> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // A number before `>` belongs to it only at a word's beginning.
        let sign = SIGNS.iter().find(|s| rest.starts_with(**s) && (!s.starts_with('2') || word.is_none()));
        if let Some(sign) = sign {
            tokens.extend(word.take().map(Token::Word));
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
            continue;
        }
        if matches!(c, '$' | '`') {
            hole(&mut rest, word.get_or_insert_default(), false, depth)?;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            ' ' | '\t' | '\r' => tokens.extend(word.take().map(Token::Word)),
            '\'' => {
                let word = word.get_or_insert_default();
                word.quoted = true;
                let mut chars = rest.chars();
                super::quoted(&mut chars, &mut word.text, c)?;
                rest = chars.as_str();
            }
            '"' => {
                let word = word.get_or_insert_default();
                word.quoted = true;
                double(&mut rest, word, depth)?;
            }
            '\\' => {
                if let Some(next) = rest.chars().next() {
                    rest = &rest[next.len_utf8()..];
                    if next != '\n' {
                        let word = word.get_or_insert_default();
                        word.quoted = true;
                        word.text.push(next);
                    }
                }
            }
            '#' if word.is_none() => rest = &rest[rest.find('\n').unwrap_or(rest.len())..],
            _ => word.get_or_insert_default().text.push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    Ok(tokens)
}

/// The rest of a text between double quotes.
fn double(rest: &mut &str, word: &mut Word, depth: u32) -> Result<(), String> {
    while let Some(c) = rest.chars().next() {
        if matches!(c, '$' | '`') {
            hole(rest, word, true, depth)?;
            continue;
        }
        *rest = &rest[c.len_utf8()..];
        match c {
            '"' => return Ok(()),
            '\\' => {
                let next = rest.chars().next();
                *rest = &rest[next.map_or(0, char::len_utf8)..];
                match next {
                    Some(next @ ('"' | '\\' | '$' | '`')) => word.text.push(next),
                    Some('\n') | None => {}
                    Some(next) => word.text.extend(['\\', next]),
                }
            }
            _ => word.text.push(c),
        }
    }
    Err("unexpected EOF while looking for matching `\"'".to_owned())
}

/// What begins with a dollar or a backtick; a dollar before anything else is one.
fn hole(rest: &mut &str, word: &mut Word, quoted: bool, depth: u32) -> Result<(), String> {
    let text = *rest;
    let fills = if let Some(inner) = text.strip_prefix('`') {
        let end = inner.find('`').ok_or("unexpected EOF while looking for matching ``'")?;
        *rest = &inner[end + 1..];
        Fills::Output(parse_within(&inner[..end], depth)?)
    } else if text.starts_with("$((") {
        return Err("$((…)): Kubestep does not do this".to_owned());
    } else if let Some(inner) = text.strip_prefix("$(") {
        let end = closing(inner).ok_or("unexpected EOF while looking for matching `)'")?;
        *rest = &inner[end + 1..];
        Fills::Output(parse_within(&inner[..end], depth)?)
    } else if let Some(inner) = text.strip_prefix("${") {
        let end = inner.find('}').ok_or("unexpected EOF while looking for matching `}'")?;
        if !is_name(&inner[..end]) {
            return Err(format!("${{{}}}: Kubestep does not do this", &inner[..end]));
        }
        *rest = &inner[end + 1..];
        Fills::Variable(inner[..end].to_owned())
    } else if let Some(inner) = text.strip_prefix("$?") {
        *rest = inner;
        Fills::Variable("?".to_owned())
    } else {
        let name =
            text[1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        if !is_name(name) {
            word.text.push('$');
            *rest = &text[1..];
            return Ok(());
        }
        *rest = &text[1 + name.len()..];
        Fills::Variable(name.to_owned())
    };
    word.holes.push((word.text.len(), quoted, fills));
    Ok(())
}

/// Whether a variable may be called so.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Where the parenthesis ends that was opened before this text.
fn closing(text: &str) -> Option<usize> {
    let (mut open, mut quote) = (1, None);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            ('(', None) => open += 1,
            (')', None) => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}
