//! Output to the user: data goes to stdout, everything else to stderr. While an agent works, the screen has the terminal, and
//! prints everything above its live region.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write as _};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use serde::Serialize;
use tenter_base::{one_line, sanitize, visible};
use tenter_protocol::{Diagnostic, Severity, Span};

use crate::failure::Failure;
use crate::screen::{self, Stream, screen};

use crate::style::{BAD, FAINT, NOTICE, styled};

/// Maximum number of characters of a line of a file that are shown with a diagnostic.
const MAX_SOURCE: usize = 160;
/// The number of characters of a longer line that are shown before the place.
const SOURCE_BEFORE: usize = 40;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// Applies it to this process.
    pub fn apply(self) {
        match self {
            Self::Auto => {}
            Self::Always => ColorChoice::Always.write_global(),
            Self::Never => ColorChoice::Never.write_global(),
        }
    }
}

/// Checks whether stdout has colours.
pub fn has_colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns the number of rows of the terminal; 24 if it does not say.
pub fn rows() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(24)
}

/// Returns the number of columns of the terminal; 80 if it does not say.
pub fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
}

/// Writes a line of data to stdout. Errors are ignored, because the reader may have gone; [`lost_output`] returns others.
pub fn out(line: impl Display) {
    let _ = try_out(line);
}

/// Writes a value as indented JSON to stdout.
pub fn json(value: &impl Serialize) {
    out(serde_json::to_string_pretty(value).unwrap_or_default());
}

/// Writes a line of data to stdout.
///
/// # Errors
/// It cannot be written, for instance because the reader has gone.
pub fn try_out(line: impl Display) -> io::Result<()> {
    screen().print(Stream::Stdout, &format!("{line}\n"))
}

/// Returns the failure that not all output could be written, for instance on a full disk.
pub fn lost_output() -> Option<Failure> {
    screen::lost().map(|error| Failure::new(format!("cannot write to stdout: {error}")))
}

/// Returns the text without its styles if stdout has no colours.
pub fn for_stdout(text: &str) -> Cow<'_, str> {
    if has_colours() { Cow::Borrowed(text) } else { strip_str(text).to_string().into() }
}

/// Returns an RFC 3339 time as listings show it, in UTC to the second: `2024-01-15 10:30:00`.
pub fn short_time(rfc3339: &str) -> String {
    let seconds = rfc3339.get(..19).unwrap_or(rfc3339);
    one_line(seconds, 19).replacen('T', " ", 1)
}

/// Writes data to stdout without a line end, and flushes.
pub fn out_piece(piece: impl Display) {
    let _ = screen().print(Stream::Stdout, &piece.to_string());
}

/// Writes data for a program to stdout as it is.
pub fn out_raw(data: &str) {
    let _ = screen::write_data(data.as_bytes());
}

/// Writes a line to stderr.
pub fn note(line: impl Display) {
    let _ = screen().print(Stream::Stderr, &format!("{line}\n"));
}

/// Writes text to stderr without a line end: a prompt, or part of a line.
pub fn note_piece(text: impl Display) {
    let _ = screen().print(Stream::Stderr, &text.to_string());
}

/// Writes a control sequence to stderr as it is.
pub fn note_raw(sequence: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(sequence.as_bytes()).and_then(|()| stderr.flush());
}

/// Writes a diagnostic to stderr.
pub fn diagnostic(diagnostic: &Diagnostic) {
    let style = match diagnostic.severity {
        Severity::Info => FAINT,
        Severity::Warning => NOTICE,
        Severity::Error => BAD,
    };
    let place = match (&diagnostic.path, &diagnostic.span) {
        (Some(path), Some(place)) => {
            format!("{}:{}:{}: ", path.display(), place.line, place.column)
        }
        (Some(path), None) => format!("{}: ", path.display()),
        (None, _) => String::new(),
    };
    let severity = styled(style, diagnostic.severity);
    note(format!("{severity}: {}{}", visible(&place), indent(&diagnostic.message)));
    if let Some(place) = &diagnostic.span {
        let margin = format!("{} | ", place.line);
        let (source, before, length) = excerpt(place);
        note(format!("  {}{}", styled(FAINT, &margin), sanitize(&source)));
        let indent = " ".repeat(margin.len() + before);
        note(format!("  {indent}{}", styled(style, "^".repeat(length))));
    }
    if let Some(help) = &diagnostic.help {
        note(format!("  {} {}", styled(FAINT, "help:"), indent(help)));
    }
}

/// Returns the line of a place, the number of characters before the place, and the length of the place. Of a long line, as files without line
/// breaks have it, only the neighbourhood of the place is left.
fn excerpt(place: &Span) -> (String, usize, usize) {
    let line: Vec<char> = place.source.chars().collect();
    let at = place.column.saturating_sub(1).min(line.len());
    let start = if line.len() > MAX_SOURCE { at.saturating_sub(SOURCE_BEFORE) } else { 0 };
    let end = line.len().min(start + MAX_SOURCE);
    // A tab has the width of one marker.
    let part = line[start..end].iter().map(|&one| if one == '\t' { ' ' } else { one });
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    let length = place.length.min(end - at).max(1);
    let text = format!("{before}{}{after}", part.collect::<String>());
    (text, at - start + usize::from(start > 0), length)
}

/// Returns `text`, sanitised and indented after its first line, so that a name in it cannot forge a line of output.
fn indent(text: &str) -> String {
    sanitize(text.trim_end()).replace('\n', "\n  ")
}

/// Writes the warnings and errors among these diagnostics to stderr.
pub fn diagnostics<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) {
    findings.into_iter().filter(|finding| finding.severity > Severity::Info).for_each(diagnostic);
}

/// Writes a command's failure to stderr.
pub fn failure(failure: &Failure) {
    note(format!("{}: {}", styled(BAD, "error"), indent(&failure.message)));
    if let Some(help) = &failure.help {
        note(format!("  {} {}", styled(FAINT, "help:"), indent(help)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_neighbourhood_of_a_place_in_a_long_line_is_shown() {
        let place = |source: String, column, length| Span { line: 1, column, length, source };
        let short = place("\tfail: opne".to_owned(), 8, 4);
        assert_eq!(excerpt(&short), (" fail: opne".to_owned(), 7, 4));
        let (text, before, length) =
            excerpt(&place(format!("{}wrong{}", "a".repeat(500), "b".repeat(500)), 501, 5));
        assert_eq!(text.chars().count(), MAX_SOURCE + 2);
        assert_eq!(text.chars().skip(before).take(length).collect::<String>(), "wrong");
        let (text, before, length) = excerpt(&place("a".repeat(500), 490, 99));
        assert!(text.starts_with('…') && before + length <= text.chars().count(), "{text}");
        assert_eq!(excerpt(&place(String::new(), 3, 2)), (String::new(), 0, 1));
    }
}
