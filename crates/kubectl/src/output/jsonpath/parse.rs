//! Reading templates.

use super::{Node, Path, Piece, Test};
use serde_json::Value;

/// Ranges and filters nest no deeper.
const MAX_DEPTH: usize = 32;

/// Reads a whole template and puts what stands between `range` and `end` under its range.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut open: Vec<(Path, Vec<Piece>)> = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (before, after) = rest.split_once('{').map_or((rest, None), |(b, a)| (b, Some(a)));
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        let Some(after) = after else { break };
        let mut reader = Reader { text: after, at: 0, depth: 0 };
        let path = reader.action()?;
        rest = &after[reader.at..];
        match path.first() {
            Some(Node::Name(name)) if name == "range" => {
                open.push((path[1..].to_vec(), std::mem::take(&mut pieces)));
                if open.len() > MAX_DEPTH {
                    return Err("too many ranges in each other".to_owned());
                }
            }
            Some(Node::Name(name)) if name == "end" => match open.pop() {
                Some((path, outer)) => {
                    let body = std::mem::replace(&mut pieces, outer);
                    pieces.push(Piece::Range(path, body));
                }
                None => pieces.push(Piece::Path(path)),
            },
            _ => pieces.push(Piece::Path(path)),
        }
    }
    while let Some((path, outer)) = open.pop() {
        let body = std::mem::replace(&mut pieces, outer);
        pieces.push(Piece::Range(path, body));
    }
    Ok(pieces)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// A path up to the closing brace.
    fn action(&mut self) -> Result<Path, String> {
        let mut path = Path::new();
        loop {
            if self.rest().starts_with("[?(") {
                self.at += 3;
                path.push(self.filter()?);
                continue;
            }
            if self.rest().starts_with("..") {
                if path.last() == Some(&Node::Recursive) {
                    return Err("invalid multiple recursive descent".to_owned());
                }
                self.at += 2;
                path.push(Node::Recursive);
                if self.peek().is_some_and(|c| c == '_' || c.is_alphanumeric()) {
                    path.push(self.field());
                }
                continue;
            }
            match self.next() {
                Some('}') => return Ok(path),
                None | Some('\r' | '\n') => return Err("unclosed action".to_owned()),
                Some(' ' | '@' | '$') => {}
                Some('[') => self.brackets(&mut path)?,
                Some(quote @ ('"' | '\'')) => path.push(Node::Text(self.quoted(quote)?)),
                Some('.') => path.push(self.field()),
                Some(c @ ('+' | '-' | '0'..='9')) => path.push(self.number(c)?),
                Some(c) if c == '_' || c.is_alphanumeric() => path.push(self.name(c)),
                Some(c) => {
                    return Err(format!("unrecognized character in action: U+{:04X} '{c}'", u32::from(c)));
                }
            }
        }
    }

    fn field(&mut self) -> Node {
        let mut name = String::new();
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.next();
                name.extend(self.next().filter(|c| *c != '\\'));
            } else if ends_word(c) {
                break;
            } else {
                name.push(c);
                self.next();
            }
        }
        if name == "*" { Node::Wildcard } else { Node::Field(name) }
    }

    fn name(&mut self, first: char) -> Node {
        let mut name = String::from(first);
        while let Some(c) = self.peek().filter(|c| !ends_word(*c)) {
            name.push(c);
            self.next();
        }
        match name.as_str() {
            "true" => Node::Value(Value::Bool(true)),
            "false" => Node::Value(Value::Bool(false)),
            _ => Node::Name(name),
        }
    }

    fn number(&mut self, first: char) -> Result<Node, String> {
        let mut text = String::from(first);
        while let Some(c) = self.peek().filter(|c| *c == '.' || c.is_ascii_digit()) {
            text.push(c);
            self.next();
        }
        let wrong = || format!("cannot parse number {text}");
        if let Ok(whole) = text.parse::<i64>() {
            return Ok(Node::Value(whole.into()));
        }
        let broken: f64 = text.parse().map_err(|_| wrong())?;
        serde_json::Number::from_f64(broken).map(|n| Node::Value(Value::Number(n))).ok_or_else(wrong)
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated quoted string".to_owned()),
                Some(c) if c == quote => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('a') => text.push('\u{7}'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('v') => text.push('\u{b}'),
                    Some(c) if c == quote || c == '\\' => text.push(c),
                    Some(_) => return Err(format!("unquote string {text} error invalid syntax")),
                    None => return Err("unterminated quoted string".to_owned()),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn nested(&self, text: &str) -> Result<Path, String> {
        if self.depth >= MAX_DEPTH {
            return Err("nested too deep".to_owned());
        }
        let closed = format!("{text}}}");
        Reader { text: &closed, at: 0, depth: self.depth + 1 }.action()
    }

    fn brackets(&mut self, path: &mut Path) -> Result<(), String> {
        let end = self.rest().find([']', '\n']).filter(|end| self.rest()[*end..].starts_with(']'));
        let Some(end) = end else { return Err("unterminated array".to_owned()) };
        let text = &self.rest()[..end];
        self.at += end + 1;
        if text.contains(',') {
            let parts = text.split(',').map(|part| self.nested(&format!("[{}]", part.trim_matches(' '))));
            path.push(Node::Union(parts.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).filter(|t| !t.contains('\''));
        match key {
            Some(key) => path.extend(self.nested(&format!(".{key}"))?),
            None => path.push(slice(text)?),
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<Node, String> {
        let start = self.at;
        let mut quote: Option<char> = None;
        let mut closed = false;
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated filter".to_owned()),
                Some(c @ ('"' | '\'')) => match quote {
                    None => quote = Some(c),
                    Some(q) if q == c && !self.text[..self.at - 1].ends_with('\\') => closed = true,
                    Some(_) => {}
                },
                Some(')') if quote.is_some() == closed => break,
                Some(_) => {}
            }
        }
        let text = &self.text[start..self.at - 1];
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".to_owned());
        }
        let operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
        let left_end = text.find(operator).filter(|end| *end > 0);
        let Some(left_end) = left_end else {
            return Ok(Node::Filter { left: self.nested(text)?, test: Test::Exists, right: Path::new() });
        };
        let tail = &text[left_end..];
        let right_start = tail.find(|c: char| !operator(c)).unwrap_or(tail.len());
        let test = match &tail[..right_start] {
            "<" => Test::Less,
            ">" => Test::Greater,
            "==" => Test::Equal,
            "!=" => Test::NotEqual,
            "<=" => Test::LessEqual,
            ">=" => Test::GreaterEqual,
            other => return Err(format!("unrecognized filter operator {other}")),
        };
        Ok(Node::Filter {
            left: self.nested(&text[..left_end])?,
            test,
            right: self.nested(&tail[right_start..])?,
        })
    }
}

fn slice(text: &str) -> Result<Node, String> {
    if text == "*" {
        return Ok(Node::Slice { from: None, to: None, step: None, one: false });
    }
    let wrong = || format!("invalid array index {text}");
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &&str| match *part {
        "" => Ok(None),
        part => part.parse::<i64>().map(Some).map_err(|_| wrong()),
    };
    let numbers: Vec<Option<i64>> = parts.iter().map(number).collect::<Result<_, _>>()?;
    match numbers.as_slice() {
        [Some(at)] => Ok(Node::Slice { from: Some(*at), to: None, step: None, one: true }),
        [from, to] => Ok(Node::Slice { from: *from, to: *to, step: None, one: false }),
        [from, to, step] => Ok(Node::Slice { from: *from, to: *to, step: *step, one: false }),
        _ => Err(wrong()),
    }
}
