//! Writes to stdout and stderr.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use anstream::adapter::strip_str;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;

/// The first error that lost data of stdout.
static LOST: OnceLock<String> = OnceLock::new();

/// A stream of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Data.
    Stdout,
    /// Everything else.
    Stderr,
}

impl Stream {
    /// Writes a text with one call, without styles if the stream has no colours. A call per line would be slow, and lines of
    /// several threads would mix.
    pub(super) fn write(self, text: &str) -> io::Result<()> {
        match self {
            Self::Stdout => noted(write_at_once(io::stdout(), text)),
            Self::Stderr => write_at_once(io::stderr(), text),
        }
    }
}

fn write_at_once<S: RawStream>(mut stream: S, text: &str) -> io::Result<()> {
    let is_plain = AutoStream::choice(&stream) == ColorChoice::Never;
    let text = if is_plain { strip_str(text).to_string().into() } else { Cow::Borrowed(text) };
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Writes data for a program to stdout as it is.
pub(crate) fn write_data(data: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    noted(stdout.write_all(data).and_then(|()| stdout.flush()))
}

/// Returns the error that lost data of stdout: not if its reader or the terminal has gone.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

fn noted(result: io::Result<()>) -> io::Result<()> {
    if let Err(error) = &result
        && error.kind() != ErrorKind::BrokenPipe
        && error.raw_os_error() != Some(Errno::IO.raw_os_error())
    {
        LOST.get_or_init(|| error.to_string());
    }
    result
}

/// Writes bytes to the terminal as they are. Errors are ignored: the terminal may be gone.
pub(super) fn write_raw(bytes: &str) {
    let _ = io::stderr().write_all(bytes.as_bytes());
}

/// Returns the text, without styles if the terminal has no colours.
pub(super) fn for_terminal(text: &str) -> Cow<'_, str> {
    match AutoStream::choice(&io::stderr()) {
        ColorChoice::Never => strip_str(text).to_string().into(),
        _ => Cow::Borrowed(text),
    }
}

/// Returns the columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    let size = tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or((80, 24), |size| (usize::from(size.ws_col), usize::from(size.ws_row)))
}
