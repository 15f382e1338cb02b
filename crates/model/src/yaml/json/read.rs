//! Reading JSON, with Go's words for what is wrong. Nothing recurses.

use serde_json::{Map, Value};

use super::super::MAX_DEPTH;

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Go's words, `invalid character '}' looking for beginning of value`.
    pub text: String,
    /// How many bytes Go had read, the wrong one among them; none if the text ended too early.
    pub offset: Option<usize>,
}

/// Reads a text that holds one value and nothing else, as `json.Unmarshal` does.
///
/// # Errors
/// If the text is not JSON, or nests deeper than a manifest can.
pub fn parse(text: &str) -> Result<Value, Broken> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let value = match reader.value() {
        Err(broken) if broken.offset.is_none() => {
            return Err(Broken { text: "unexpected end of JSON input".to_owned(), offset: None });
        }
        other => other?,
    };
    reader.skip_space();
    match reader.peek() {
        Some(_) => Err(reader.fail("after top-level value")),
        None => Ok(value),
    }
}

/// Reads the first value from `start` on and says where it ends; none if only space is left.
///
/// # Errors
/// As [`parse`]; a text that ends too early gives `unexpected EOF`.
pub fn parse_first(text: &str, start: usize) -> Result<Option<(Value, usize)>, Broken> {
    let mut reader = Reader { bytes: text.as_bytes(), at: start };
    reader.skip_space();
    if reader.peek().is_none() {
        return Ok(None);
    }
    let value = reader.value()?;
    Ok(Some((value, reader.at)))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A collection that is being read.
enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, String),
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The complaint about the present byte, or about the end.
    fn fail(&self, context: &str) -> Broken {
        match self.peek() {
            Some(byte) => {
                let text = format!("invalid character {} {context}", quote_byte(byte));
                Broken { text, offset: Some(self.at + 1) }
            }
            None => Broken { text: "unexpected EOF".to_owned(), offset: None },
        }
    }

    fn value(&mut self) -> Result<Value, Broken> {
        let mut stack: Vec<Open> = Vec::new();
        loop {
            let mut done = self.begin(&mut stack)?;
            while let Some(value) = done {
                match stack.pop() {
                    None => return Ok(value),
                    Some(open) => done = self.after(&mut stack, open, value)?,
                }
            }
        }
    }

    /// Reads the beginning of a value: a whole scalar or empty collection, or opens a collection.
    fn begin(&mut self, stack: &mut Vec<Open>) -> Result<Option<Value>, Broken> {
        self.skip_space();
        let value = match self.peek() {
            Some(b'{') => {
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    return Ok(Some(Value::Object(Map::new())));
                }
                let key = self.key()?;
                stack.push(Open::Object(Map::new(), key));
                None
            }
            Some(b'[') => {
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(b']') {
                    self.at += 1;
                    return Ok(Some(Value::Array(Vec::new())));
                }
                stack.push(Open::Array(Vec::new()));
                None
            }
            Some(b'"') => Some(Value::String(self.string()?)),
            Some(b't') => Some(self.literal("true", Value::Bool(true))?),
            Some(b'f') => Some(self.literal("false", Value::Bool(false))?),
            Some(b'n') => Some(self.literal("null", Value::Null)?),
            Some(b'-' | b'0'..=b'9') => Some(self.number()?),
            _ => return Err(self.fail("looking for beginning of value")),
        };
        if stack.len() > MAX_DEPTH {
            return Err(Broken { text: "exceeded max depth".to_owned(), offset: Some(self.at) });
        }
        Ok(value)
    }

    /// Puts a value into its collection and reads what follows it. Yields the collection if it ends there.
    fn after(&mut self, stack: &mut Vec<Open>, open: Open, value: Value) -> Result<Option<Value>, Broken> {
        self.skip_space();
        match open {
            Open::Array(mut items) => {
                items.push(value);
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        return Ok(Some(Value::Array(items)));
                    }
                    _ => return Err(self.fail("after array element")),
                }
                stack.push(Open::Array(items));
            }
            Open::Object(mut object, key) => {
                object.insert(key, value);
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        return Ok(Some(Value::Object(object)));
                    }
                    _ => return Err(self.fail("after object key:value pair")),
                }
                self.skip_space();
                let key = self.key()?;
                stack.push(Open::Object(object, key));
            }
        }
        Ok(None)
    }

    fn key(&mut self) -> Result<String, Broken> {
        if self.peek() != Some(b'"') {
            return Err(self.fail("looking for beginning of object key string"));
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fail("after object key"));
        }
        self.at += 1;
        Ok(key)
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value, Broken> {
        for (place, expected) in word.bytes().enumerate() {
            if self.peek() != Some(expected) {
                debug_assert!(place > 0);
                return Err(self.fail(&format!("in literal {word} (expecting '{}')", char::from(expected))));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Value, Broken> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.fail("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fail("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fail("in exponent of numeric literal"));
            }
            self.digits();
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        super::text::number(text).ok_or_else(|| Broken {
            text: format!("json: cannot unmarshal number {text} into Go value of type float64"),
            offset: Some(self.at),
        })
    }

    fn string(&mut self) -> Result<String, Broken> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\') {
                self.at += 1;
            }
            out.push_str(&String::from_utf8_lossy(&self.bytes[start..self.at]));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                _ => return Err(self.fail("in string literal")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Broken> {
        let c = match self.peek() {
            Some(b'u') => {
                self.at += 1;
                return self.unicode(out);
            }
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.fail("in string escape code")),
        };
        self.at += 1;
        out.push(c);
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Broken> {
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else {
                return Err(self.fail("in \\u hexadecimal character escape"));
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    /// `\uXXXX`, or two of them for one character; half a pair becomes the replacement character.
    fn unicode(&mut self, out: &mut String) -> Result<(), Broken> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let c = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                out.push(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(());
            }
            self.at = back;
        }
        out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }
}

/// A byte in single quotes as Go's complaints print it.
fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        other => {
            let quoted = super::go_quote(&char::from(other).to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

/// The members of a JSON text, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Children<'a> {
    Map(Vec<(String, &'a str)>),
    List(Vec<&'a str>),
    Scalar,
}

/// Takes a JSON text apart, one level deep. A text that is no JSON counts as a scalar.
#[must_use]
pub fn children(text: &str) -> Children<'_> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    reader.skip_space();
    let found = match reader.peek() {
        Some(b'{') => members(&mut reader, text).map(Children::Map),
        Some(b'[') => items(&mut reader, text).map(Children::List),
        _ => Ok(Children::Scalar),
    };
    found.unwrap_or(Children::Scalar)
}

/// The text of the next value.
fn slice<'a>(reader: &mut Reader<'_>, text: &'a str) -> Result<&'a str, Broken> {
    reader.skip_space();
    let start = reader.at;
    reader.value()?;
    Ok(text.get(start..reader.at).unwrap_or_default())
}

fn members<'a>(reader: &mut Reader<'_>, text: &'a str) -> Result<Vec<(String, &'a str)>, Broken> {
    let mut members = Vec::new();
    loop {
        reader.at += 1;
        reader.skip_space();
        if reader.peek() == Some(b'}') {
            return Ok(members);
        }
        let key = reader.key()?;
        members.push((key, slice(reader, text)?));
        reader.skip_space();
        if reader.peek() != Some(b',') {
            return Ok(members);
        }
    }
}

fn items<'a>(reader: &mut Reader<'_>, text: &'a str) -> Result<Vec<&'a str>, Broken> {
    let mut items = Vec::new();
    loop {
        reader.at += 1;
        reader.skip_space();
        if reader.peek() == Some(b']') {
            return Ok(items);
        }
        items.push(slice(reader, text)?);
        reader.skip_space();
        if reader.peek() != Some(b',') {
            return Ok(items);
        }
    }
}
