//! Reading a label selector from text, with upstream's words for what is wrong.

use std::collections::BTreeSet;

use super::requirement::{Operator, Requirement, key_error};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Error,
    End,
    Closed,
    Comma,
    Not,
    DoubleEquals,
    Equals,
    Greater,
    Identifier,
    In,
    Less,
    NotEquals,
    NotIn,
    Open,
}

fn keyword(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Closed,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" => Token::DoubleEquals,
        "=" => Token::Equals,
        ">" => Token::Greater,
        "in" => Token::In,
        "<" => Token::Less,
        "!=" => Token::NotEquals,
        "notin" => Token::NotIn,
        "(" => Token::Open,
        _ => return None,
    })
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

/// Cuts the text into tokens; a NUL ends it, as upstream.
fn scan(text: &str) -> Vec<(Token, String)> {
    let mut rest = text.split('\0').next().unwrap_or_default();
    let mut items = Vec::new();
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else {
            items.push((Token::End, String::new()));
            return items;
        };
        let (item, length) = if is_symbol(first) { scan_symbol(rest) } else { scan_word(rest) };
        items.push(item);
        rest = &rest[length..];
    }
}

fn scan_word(rest: &str) -> ((Token, String), usize) {
    let length = rest.find(|c| is_symbol(c) || is_space(c)).unwrap_or(rest.len());
    let word = &rest[..length];
    ((keyword(word).unwrap_or(Token::Identifier), word.to_owned()), length)
}

/// The longest run of symbols that is an operator, growing one at a time.
fn scan_symbol(rest: &str) -> ((Token, String), usize) {
    let run = rest.find(|c| !is_symbol(c)).unwrap_or(rest.len());
    let mut found = None;
    for length in 1..=run {
        match keyword(&rest[..length]) {
            Some(token) => found = Some((token, length)),
            None if found.is_some() => break,
            None => {}
        }
    }
    match found {
        Some((token, length)) => ((token, rest[..length].to_owned()), length),
        None => ((Token::Error, format!("error expected: keyword found '{}'", &rest[..run])), run),
    }
}

struct Parser {
    items: Vec<(Token, String)>,
    position: usize,
}

/// `in` and `notin` are words where a value may stand and operators after a key.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Operator,
    Values,
}

impl Parser {
    fn peek(&self, context: Context) -> (Token, &str) {
        let Some((token, literal)) = self.items.get(self.position) else {
            return (Token::End, "");
        };
        match token {
            Token::In | Token::NotIn if context == Context::Values => (Token::Identifier, literal),
            token => (*token, literal),
        }
    }

    fn next(&mut self, context: Context) -> (Token, String) {
        let (token, literal) = self.peek(context);
        let item = (token, literal.to_owned());
        self.position += 1;
        item
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut literal) = self.next(Context::Values);
        let negated = token == Token::Not;
        if negated {
            (token, literal) = self.next(Context::Values);
        }
        if token != Token::Identifier {
            return Err(format!("found '{literal}', expected: identifier"));
        }
        if let Some(error) = key_error(&literal, "<nil>") {
            return Err(error);
        }
        let key = literal;
        if negated {
            return Requirement::new(&key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek(Context::Values).0, Token::End | Token::Comma) {
            return Requirement::new(&key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => self.exact_value()?,
        };
        Requirement::new(&key, operator, values.into_iter().collect())
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let (token, literal) = self.next(Context::Operator);
        Ok(match token {
            Token::In => Operator::In,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            Token::NotIn => Operator::NotIn,
            Token::NotEquals => Operator::NotEquals,
            _ => return Err(format!("found '{literal}', expected: in, notin, =, ==, !=, gt, lt")),
        })
    }

    /// The list in brackets after `in` and `notin`.
    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        let (token, literal) = self.next(Context::Values);
        if token != Token::Open {
            return Err(format!("found '{literal}' expected: '('"));
        }
        match self.peek(Context::Values) {
            (Token::Identifier | Token::Comma, first) => {
                let first = first.to_owned();
                let values = self.identifiers()?;
                if self.next(Context::Values).0 != Token::Closed {
                    return Err(format!("found '{first}', expected: ')'"));
                }
                Ok(values)
            }
            (Token::Closed, _) => {
                self.position += 1;
                Ok(BTreeSet::from([String::new()]))
            }
            (_, literal) => Err(format!("found '{literal}', expected: ',', ')' or identifier")),
        }
    }

    /// Values between commas; nothing between two commas is the empty value.
    fn identifiers(&mut self) -> Result<BTreeSet<String>, String> {
        let mut values = BTreeSet::new();
        loop {
            let (token, literal) = self.next(Context::Values);
            match token {
                Token::Identifier => {
                    values.insert(literal);
                    match self.peek(Context::Values) {
                        (Token::Comma, _) => {}
                        (Token::Closed, _) => return Ok(values),
                        (_, literal) => return Err(format!("found '{literal}', expected: ',' or ')'")),
                    }
                }
                Token::Comma => {
                    if values.is_empty() {
                        values.insert(String::new());
                    }
                    match self.peek(Context::Values).0 {
                        Token::Closed => {
                            values.insert(String::new());
                            return Ok(values);
                        }
                        Token::Comma => {
                            values.insert(String::new());
                        }
                        _ => {}
                    }
                }
                _ => return Err(format!("found '{literal}', expected: ',', or identifier")),
            }
        }
    }

    fn exact_value(&mut self) -> Result<BTreeSet<String>, String> {
        if matches!(self.peek(Context::Values).0, Token::End | Token::Comma) {
            return Ok(BTreeSet::from([String::new()]));
        }
        match self.next(Context::Values) {
            (Token::Identifier, literal) => Ok(BTreeSet::from([literal])),
            (_, literal) => Err(format!("found '{literal}', expected: identifier")),
        }
    }
}

/// Reads all requirements of a selector, in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let mut parser = Parser { items: scan(text), position: 0 };
    let mut requirements = Vec::new();
    loop {
        match parser.peek(Context::Values) {
            (Token::Identifier | Token::Not, _) => {}
            (Token::End, _) => return Ok(requirements),
            (_, literal) => {
                return Err(format!("found '{literal}', expected: !, identifier, or 'end of string'"));
            }
        }
        let requirement =
            parser.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
        requirements.push(requirement);
        match parser.next(Context::Values) {
            (Token::End, _) => return Ok(requirements),
            (Token::Comma, _) => match parser.peek(Context::Values) {
                (Token::Identifier | Token::Not, _) => {}
                (_, literal) => return Err(format!("found '{literal}', expected: identifier after ','")),
            },
            (_, literal) => return Err(format!("found '{literal}', expected: ',' or 'end of string'")),
        }
    }
}
