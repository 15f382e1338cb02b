//! Says what is wrong with a JSON text in the words of Go's reader.

/// Objects and lists deeper than this are refused, as Go refuses them.
const MAX_DEPTH: usize = 10_000;

/// Checks that a text is one JSON value.
///
/// Upstream: Go's encoding/json, scanner.
pub fn check(text: &str) -> Result<(), String> {
    let mut scanner = Scanner { rest: text, open: Vec::new() };
    scanner.value()?;
    while let Some(bracket) = scanner.open.last().copied() {
        scanner.after_element(bracket)?;
    }
    match scanner.peek() {
        None => Ok(()),
        Some(c) => Err(wrong(c, "after top-level value")),
    }
}

struct Scanner<'a> {
    rest: &'a str,
    /// The brackets that stand open.
    open: Vec<char>,
}

fn wrong(c: char, context: &str) -> String {
    let shown = match c {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        c => {
            let quoted = super::go::quote(&c.to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    };
    format!("invalid character {shown} {context}")
}

fn ended() -> String {
    "unexpected end of JSON input".to_owned()
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        self.rest.chars().next()
    }

    fn skip(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
    }

    /// The next character inside a literal; Go puts a space behind the end of the text.
    fn next(&mut self) -> char {
        let Some(c) = self.rest.chars().next() else {
            return ' ';
        };
        self.skip(c);
        c
    }

    /// Reads values until one is whole or a bracket waits for its next element.
    fn value(&mut self) -> Result<(), String> {
        loop {
            let c = self.peek().ok_or_else(ended)?;
            self.skip(c);
            match c {
                '{' | '[' => {
                    if self.open.len() >= MAX_DEPTH {
                        return Err("exceeded max depth".to_owned());
                    }
                    let close = if c == '{' { '}' } else { ']' };
                    if self.peek().ok_or_else(ended)? == close {
                        self.skip(close);
                        return Ok(());
                    }
                    self.open.push(close);
                    if c == '{' {
                        self.key()?;
                    }
                }
                '"' => return self.string(),
                't' => return self.literal("true"),
                'f' => return self.literal("false"),
                'n' => return self.literal("null"),
                '-' | '0'..='9' => return self.number(c),
                c => return Err(wrong(c, "looking for beginning of value")),
            }
        }
    }

    /// The key of an entry and its colon.
    fn key(&mut self) -> Result<(), String> {
        match self.peek().ok_or_else(ended)? {
            '"' => self.skip('"'),
            c => return Err(wrong(c, "looking for beginning of object key string")),
        }
        self.string()?;
        match self.peek().ok_or_else(ended)? {
            ':' => self.skip(':'),
            c => return Err(wrong(c, "after object key")),
        }
        Ok(())
    }

    fn after_element(&mut self, close: char) -> Result<(), String> {
        let c = self.peek().ok_or_else(ended)?;
        match c {
            ',' => {
                self.skip(c);
                if close == '}' {
                    self.key()?;
                }
                self.value()
            }
            c if c == close => {
                self.skip(c);
                self.open.pop();
                Ok(())
            }
            c if close == '}' => Err(wrong(c, "after object key:value pair")),
            c => Err(wrong(c, "after array element")),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for want in word.chars().skip(1) {
            let c = self.next();
            if c != want {
                return Err(wrong(c, &format!("in literal {word} (expecting '{want}')")));
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        loop {
            if self.rest.is_empty() {
                return Err(ended());
            }
            match self.next() {
                '"' => return Ok(()),
                '\\' => match self.next() {
                    'b' | 'f' | 'n' | 'r' | 't' | '\\' | '/' | '"' => {}
                    'u' => {
                        for _ in 0..4 {
                            let c = self.next();
                            if !c.is_ascii_hexdigit() {
                                return Err(wrong(c, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    c => return Err(wrong(c, "in string escape code")),
                },
                c if c < ' ' => return Err(wrong(c, "in string literal")),
                _ => {}
            }
        }
    }

    fn number(&mut self, first: char) -> Result<(), String> {
        let lead = if first == '-' { self.next() } else { first };
        match lead {
            '0' => {}
            '1'..='9' => self.digits(),
            c => return Err(wrong(c, "in numeric literal")),
        }
        if self.rest.starts_with('.') {
            self.skip('.');
            self.digit("after decimal point in numeric literal")?;
        }
        if self.rest.starts_with(['e', 'E']) {
            self.skip('e');
            if self.rest.starts_with(['+', '-']) {
                self.skip('+');
            }
            self.digit("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Result<(), String> {
        let c = self.next();
        if !c.is_ascii_digit() {
            return Err(wrong(c, context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn says_what_go_says() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("[1,", "unexpected end of JSON input"),
            (".5", "invalid character '.' looking for beginning of value"),
            ("01", "invalid character '1' after top-level value"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("\"a", "unexpected end of JSON input"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("-a", "invalid character 'a' in numeric literal"),
            ("tru ", "invalid character ' ' in literal true (expecting 'e')"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
            ("[1 2]", "invalid character '2' after array element"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\n\"", r"invalid character '\n' in string literal"),
        ] {
            assert_eq!(check(text).unwrap_err(), want, "{text}");
        }
        for good in ["{}", "[]", " [{\"a\":[1,2.5e-3,null,{\"b\":\"\\u00e4\"}]}, -0] ", "\"x\"", "1E+3"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        assert!(check(&"[".repeat(100_000)).is_err());
    }
}
