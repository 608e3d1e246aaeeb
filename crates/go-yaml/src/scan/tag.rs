//! Anchors, aliases, tags and directives.
//!
//! Upstream: `yaml_parser_scan_anchor`, `_tag`, `_directive` and their helpers in `scannerc.go`.
//! The surprising thing: `%XX` in a tag stands for a byte, and the bytes must be UTF-8 together.

use super::{Kind, Mark, Result, Scanner};

fn is_alpha(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

impl Scanner<'_> {
    fn read_alpha(&mut self) -> Result<String> {
        let mut out = String::new();
        while is_alpha(self.cursor.at(0)) {
            self.cursor.read(&mut out);
            self.cursor.ensure()?;
        }
        Ok(out)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        while self.cursor.is_blank(0) {
            self.cursor.skip();
            self.cursor.ensure()?;
        }
        Ok(())
    }

    pub(super) fn scan_anchor(&mut self, alias: bool) -> Result<()> {
        let start = self.cursor.mark;
        self.cursor.skip();
        self.cursor.ensure()?;
        let name = self.read_alpha()?;
        let ends = self.cursor.is_blank_or_end(0)
            || matches!(self.cursor.at(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(self.cursor.error("did not find expected alphabetic or numeric character"));
        }
        self.push(if alias { Kind::Alias(name) } else { Kind::Anchor(name) }, start);
        Ok(())
    }

    pub(super) fn scan_tag(&mut self) -> Result<()> {
        let start = self.cursor.mark;
        let (handle, suffix) = if self.cursor.at(1) == b'<' {
            self.cursor.skip();
            self.cursor.skip();
            let suffix = self.tag_uri("")?;
            if self.cursor.at(0) != b'>' {
                return Err(self.cursor.error("did not find the expected '>'"));
            }
            self.cursor.skip();
            (String::new(), suffix)
        } else {
            let handle = self.tag_handle(false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                let suffix = self.tag_uri("")?;
                (handle, suffix)
            } else {
                // Only the bare `!` has no suffix; then it is the tag itself.
                match self.tag_uri(&handle)? {
                    suffix if suffix.is_empty() => (String::new(), "!".to_owned()),
                    suffix => ("!".to_owned(), suffix),
                }
            }
        };
        self.cursor.ensure()?;
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.cursor.error("did not find expected whitespace or line break"));
        }
        self.push(Kind::Tag { handle, suffix }, start);
        Ok(())
    }

    fn tag_handle(&mut self, directive: bool) -> Result<String> {
        self.cursor.ensure()?;
        if self.cursor.at(0) != b'!' {
            return Err(self.cursor.error("did not find expected '!'"));
        }
        let mut handle = String::new();
        self.cursor.read(&mut handle);
        self.cursor.ensure()?;
        handle.push_str(&self.read_alpha()?);
        if self.cursor.at(0) == b'!' {
            self.cursor.read(&mut handle);
        } else if directive && handle != "!" {
            return Err(self.cursor.error("did not find expected '!'"));
        }
        Ok(handle)
    }

    fn tag_uri(&mut self, head: &str) -> Result<String> {
        let mut found = !head.is_empty();
        let mut uri = head.get(1..).unwrap_or_default().to_owned();
        self.cursor.ensure()?;
        loop {
            match self.cursor.at(0) {
                b'%' => self.uri_escapes(&mut uri)?,
                b if is_alpha(b) || b";/?:@&=+$,.!~*'()[]".contains(&b) => self.cursor.read(&mut uri),
                _ => break,
            }
            self.cursor.ensure()?;
            found = true;
        }
        if found { Ok(uri) } else { Err(self.cursor.error("did not find expected tag URI")) }
    }

    /// The bytes of one character.
    fn uri_escapes(&mut self, uri: &mut String) -> Result<()> {
        let mut bytes = Vec::new();
        let mut width = 1;
        while bytes.len() < width {
            self.cursor.ensure()?;
            let hex = |ahead: usize| char::from(self.cursor.at(ahead)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.cursor.at(0), hex(1), hex(2)) else {
                return Err(self.cursor.error("did not find URI escaped octet"));
            };
            let byte = (high << 4 | low) as u8;
            if bytes.is_empty() {
                width = match byte {
                    0..0x80 => 1,
                    0xc0..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    0xf0..0xf8 => 4,
                    _ => return Err(self.cursor.error("found an incorrect leading UTF-8 octet")),
                };
            } else if byte & 0xc0 != 0x80 {
                return Err(self.cursor.error("found an incorrect trailing UTF-8 octet"));
            }
            bytes.push(byte);
            (0..3).for_each(|_| self.cursor.skip());
        }
        uri.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    pub(super) fn scan_directive(&mut self) -> Result<()> {
        let start = self.cursor.mark;
        self.cursor.skip();
        self.cursor.ensure()?;
        let name = self.read_alpha()?;
        if name.is_empty() {
            return Err(self.cursor.error("could not find expected directive name"));
        }
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.cursor.error("found unexpected non-alphabetical character"));
        }
        match name.as_str() {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return Err(self.cursor.error("found unknown directive name")),
        }
        self.cursor.ensure()?;
        self.skip_blanks()?;
        if self.cursor.at(0) == b'#' {
            self.cursor.skip_comment()?;
        }
        if !self.cursor.is_break_or_end() {
            return Err(self.cursor.error("did not find expected comment or line break"));
        }
        self.cursor.skip_line();
        Ok(())
    }

    fn version(&mut self, start: Mark) -> Result<()> {
        self.skip_blanks()?;
        let major = self.version_number()?;
        if self.cursor.at(0) != b'.' {
            return Err(self.cursor.error("did not find expected digit or '.' character"));
        }
        self.cursor.skip();
        let minor = self.version_number()?;
        self.push(Kind::Version(major, minor), start);
        Ok(())
    }

    fn version_number(&mut self) -> Result<u8> {
        self.cursor.ensure()?;
        let (mut value, mut length) = (0, 0);
        while self.cursor.at(0).is_ascii_digit() {
            length += 1;
            if length > 2 {
                return Err(self.cursor.error("found extremely long version number"));
            }
            value = value * 10 + (self.cursor.at(0) - b'0');
            self.cursor.skip();
            self.cursor.ensure()?;
        }
        if length == 0 { Err(self.cursor.error("did not find expected version number")) } else { Ok(value) }
    }

    fn tag_directive(&mut self, start: Mark) -> Result<()> {
        self.skip_blanks()?;
        let handle = self.tag_handle(true)?;
        self.cursor.ensure()?;
        if !self.cursor.is_blank(0) {
            return Err(self.cursor.error("did not find expected whitespace"));
        }
        self.skip_blanks()?;
        let prefix = self.tag_uri("")?;
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.cursor.error("did not find expected whitespace or line break"));
        }
        self.push(Kind::TagDirective { handle, prefix }, start);
        Ok(())
    }
}
