//! The only writer to standard output and standard error.

use std::io::{self, IsTerminal, Write};

/// Bytes that are gathered before they are written; longer pieces go out as they are.
const PIECES: usize = 64 << 10;

/// Prints results to standard output and everything else to standard error.
#[derive(Debug)]
pub struct Printer {
    colour: bool,
}

impl Printer {
    /// Colours are used on a terminal, unless `NO_COLOR` says no.
    pub fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { colour: wanted && io::stdout().is_terminal() }
    }

    /// May colours be used?
    pub const fn colour(&self) -> bool {
        self.colour
    }

    /// Write a result.
    ///
    /// # Errors
    /// Nobody reads any more, or the disk is full.
    pub fn out(&self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.write(|out| out.write_all(text.as_ref()))
    }

    /// Write output piece by piece.
    ///
    /// # Errors
    /// As [`Printer::out`].
    pub fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(PIECES, io::stdout().lock());
        write(&mut out)?;
        out.flush()
    }

    /// Write a remark.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Write a warning as Helm's logger does.
    pub fn warn(&self, text: &str) {
        self.note(&format!("level=WARN msg={}", go_value::quote::quote(text.as_bytes())));
    }

    /// Write an error with its causes.
    pub fn error(&self, error: &anyhow::Error) {
        let mut text = error.to_string();
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            if !text.contains(&cause) {
                text = format!("{text}: {cause}");
            }
        }
        let _ = writeln!(io::stderr(), "Error: {text}");
    }
}

impl Default for Printer {
    fn default() -> Self {
        Self::new()
    }
}

/// Did writing fail because the reader went away?
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
