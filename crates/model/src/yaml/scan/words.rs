//! Anchors, aliases, tags and directives.

use super::cursor::Mark;
use super::{Fault, Scanner, Token, TokenKind};

impl Scanner {
    fn fault(&self, problem: &str, start: Mark) -> Fault {
        Fault::scanning(problem, start, self.cursor.mark())
    }

    fn token(&self, kind: TokenKind, start: Mark) -> Token {
        Token { kind, start, end: self.cursor.mark() }
    }

    fn scan_word(&mut self) -> Result<String, Fault> {
        let mut word = String::new();
        self.cursor.need(1)?;
        while self.cursor.is_word(0) {
            self.cursor.take(&mut word);
            self.cursor.need(1)?;
        }
        Ok(word)
    }

    /// `&name` or `*name`.
    pub(super) fn scan_anchor(&mut self, alias: bool) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        self.cursor.skip();
        let name = self.scan_word()?;
        let ends = self.cursor.is_gap(0) || "?:,]}%@`".contains(self.cursor.here());
        if name.is_empty() || !ends {
            return Err(self.fault("did not find expected alphabetic or numeric character", start));
        }
        let kind = if alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) };
        Ok(self.token(kind, start))
    }

    /// `!`, `!name`, `!!name`, `!handle!name` or `!<uri>`.
    pub(super) fn scan_tag(&mut self) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        self.cursor.need(2)?;
        let (handle, suffix) = if self.cursor.at(1) == '<' {
            self.cursor.skip();
            self.cursor.skip();
            let uri = self.scan_uri(None, start)?;
            if self.cursor.here() != '>' {
                return Err(self.fault("did not find the expected '>'", start));
            }
            self.cursor.skip();
            (String::new(), uri)
        } else {
            self.scan_short_tag(start)?
        };
        self.cursor.need(1)?;
        if !self.cursor.is_gap(0) {
            return Err(self.fault("did not find expected whitespace or line break", start));
        }
        Ok(self.token(TokenKind::Tag { handle, suffix }, start))
    }

    fn scan_short_tag(&mut self, start: Mark) -> Result<(String, String), Fault> {
        let handle = self.scan_tag_handle(false, start)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.scan_uri(None, start)?;
            return Ok((handle, suffix));
        }
        let suffix = self.scan_uri(Some(&handle), start)?;
        // A lone `!` is a tag of its own, without a handle.
        Ok(if suffix.is_empty() { (suffix, "!".to_owned()) } else { ("!".to_owned(), suffix) })
    }

    fn scan_tag_handle(&mut self, directive: bool, start: Mark) -> Result<String, Fault> {
        self.cursor.need(1)?;
        if self.cursor.here() != '!' {
            return Err(self.fault("did not find expected '!'", start));
        }
        let mut handle = String::new();
        self.cursor.take(&mut handle);
        handle.push_str(&self.scan_word()?);
        if self.cursor.here() == '!' {
            self.cursor.take(&mut handle);
        } else if directive && handle != "!" {
            return Err(self.fault("did not find expected '!'", start));
        }
        Ok(handle)
    }

    /// The rest of a tag; `head` is what was read before it was known not to be a handle.
    fn scan_uri(&mut self, head: Option<&str>, start: Mark) -> Result<String, Fault> {
        let mut uri: Vec<u8> =
            head.map(|h| h.as_bytes().get(1..).unwrap_or_default().to_vec()).unwrap_or_default();
        let mut found = head.is_some();
        self.cursor.need(1)?;
        while self.cursor.is_word(0) || ";/?:@&=+$,.!~*'()[]%".contains(self.cursor.here()) {
            if self.cursor.here() == '%' {
                self.scan_uri_escape(&mut uri, start)?;
            } else {
                // Every character allowed here is one byte long.
                uri.push(u8::try_from(self.cursor.here()).unwrap_or(b'?'));
                self.cursor.skip();
            }
            self.cursor.need(1)?;
            found = true;
        }
        if !found {
            return Err(self.fault("did not find expected tag URI", start));
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// `%C3%BC`: one character, written as its bytes.
    fn scan_uri_escape(&mut self, uri: &mut Vec<u8>, start: Mark) -> Result<(), Fault> {
        let mut left = None;
        loop {
            self.cursor.need(3)?;
            let digit = |offset| self.cursor.at(offset).to_digit(16);
            let octet = match (self.cursor.here(), digit(1), digit(2)) {
                ('%', Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or(0),
                _ => return Err(self.fault("did not find URI escaped octet", start)),
            };
            let remaining = match left {
                None => match octet {
                    0x00..=0x7f => 0,
                    0xc0..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf7 => 3,
                    _ => return Err(self.fault("found an incorrect leading UTF-8 octet", start)),
                },
                Some(_) if octet & 0xc0 != 0x80 => {
                    return Err(self.fault("found an incorrect trailing UTF-8 octet", start));
                }
                Some(n) => n - 1,
            };
            uri.push(octet);
            (0..3).for_each(|_| self.cursor.skip());
            if remaining == 0 {
                return Ok(());
            }
            left = Some(remaining);
        }
    }

    /// `%YAML 1.1` or `%TAG ! prefix`.
    pub(super) fn scan_directive(&mut self) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        self.cursor.skip();
        let name = self.scan_word()?;
        if name.is_empty() {
            return Err(self.fault("could not find expected directive name", start));
        }
        if !self.cursor.is_gap(0) {
            return Err(self.fault("found unexpected non-alphabetical character", start));
        }
        let kind = match name.as_str() {
            "YAML" => self.scan_version(start)?,
            "TAG" => self.scan_tag_directive(start)?,
            _ => return Err(self.fault("found unknown directive name", start)),
        };
        let token = self.token(kind, start);
        self.cursor.skip_blanks()?;
        self.cursor.skip_comment()?;
        if !self.cursor.is_break_or_end(0) {
            return Err(self.fault("did not find expected comment or line break", start));
        }
        self.cursor.need(2)?;
        self.cursor.skip_line();
        Ok(token)
    }

    fn scan_version(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.cursor.skip_blanks()?;
        let major = self.scan_version_number(start)?;
        if self.cursor.here() != '.' {
            return Err(self.fault("did not find expected digit or '.' character", start));
        }
        self.cursor.skip();
        let minor = self.scan_version_number(start)?;
        Ok(TokenKind::Version { major, minor })
    }

    fn scan_version_number(&mut self, start: Mark) -> Result<u8, Fault> {
        self.cursor.need(1)?;
        let (mut value, mut length) = (0u8, 0);
        while let Some(digit) = self.cursor.here().to_digit(10) {
            length += 1;
            if length > 2 {
                return Err(self.fault("found extremely long version number", start));
            }
            value = value * 10 + u8::try_from(digit).unwrap_or(0);
            self.cursor.advance()?;
        }
        if length == 0 {
            return Err(self.fault("did not find expected version number", start));
        }
        Ok(value)
    }

    fn scan_tag_directive(&mut self, start: Mark) -> Result<TokenKind, Fault> {
        self.cursor.skip_blanks()?;
        let handle = self.scan_tag_handle(true, start)?;
        self.cursor.need(1)?;
        if !self.cursor.is_blank(0) {
            return Err(self.fault("did not find expected whitespace", start));
        }
        self.cursor.skip_blanks()?;
        let prefix = self.scan_uri(None, start)?;
        self.cursor.need(1)?;
        if !self.cursor.is_gap(0) {
            return Err(self.fault("did not find expected whitespace or line break", start));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}
