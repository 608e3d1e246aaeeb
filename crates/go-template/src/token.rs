//! The tokens of a template.
//!
//! Owns: their kinds and how error texts show them. Does not own: finding them (`lex`). Upstream: `item` of
//! `text/template/parse`. The surprising thing: a lexical error is a token.

use go_value::quote;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    Bool,
    /// A printable ASCII character with no meaning of its own, such as the comma.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    /// `.name`
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    /// `$` or `$name`
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// The keyword of this spelling.
    pub(crate) fn keyword(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"block" => Self::Block,
            b"break" => Self::Break,
            b"continue" => Self::Continue,
            b"define" => Self::Define,
            b"else" => Self::Else,
            b"end" => Self::End,
            b"if" => Self::If,
            b"range" => Self::Range,
            b"nil" => Self::Nil,
            b"template" => Self::Template,
            b"with" => Self::With,
            _ => return None,
        })
    }

    const fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Dot
                | Self::Define
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// A token: a piece of the text, or an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    /// Where it begins, in bytes.
    pub(crate) pos: usize,
    /// The line where it begins; 0 before the first token.
    pub(crate) line: usize,
    /// Of an error nothing: the lexer knows what is wrong.
    pub(crate) text: &'a [u8],
}

impl Token<'_> {
    pub(crate) const NONE: Self = Self { kind: Kind::Error, pos: 0, line: 0, text: b"" };

    /// As error texts show it; `error` is what the lexer found.
    pub(crate) fn show(&self, error: &str) -> String {
        match self.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => error.to_owned(),
            kind if kind.is_keyword() => format!("<{}>", String::from_utf8_lossy(self.text)),
            _ if self.text.len() > 10 => {
                let mut end = 0;
                for _ in 0..10 {
                    end += quote::decode_char(&self.text[end..]).1;
                }
                format!("{}...", quote::quote(&self.text[..end]))
            }
            _ => quote::quote(self.text),
        }
    }
}
