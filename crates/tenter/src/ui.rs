//! Words for the person. stdout is data, everything else goes to stderr; styles are named here and nowhere else.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write as _};

use anstream::adapter::strip_str;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use tenter_protocol::{Diagnostic, Severity};

use crate::failure::Failure;
use crate::sanitize::{one_line, sanitize, visible};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// Makes it so for this process.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => {}
            Self::Always => ColorChoice::Always.write_global(),
            Self::Never => ColorChoice::Never.write_global(),
        }
    }
}

/// Whether what goes to stdout is shown in colours.
pub(crate) fn has_colours() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Something that worked.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Something that was forbidden or failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Something to look at.
pub(crate) const NOTICE: Style = AnsiColor::Yellow.on_default();
/// A name.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// Something of less weight.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A line of data, to stdout. A reader that went away is not our trouble.
pub(crate) fn out(line: impl Display) {
    let _ = try_out(line);
}

/// A line of data, to stdout, for those who write until nobody reads any more.
pub(crate) fn try_out(line: impl Display) -> io::Result<()> {
    write_at_once(io::stdout(), &format!("{line}\n"))
}

/// Writes all of a text in one go, without its styles where nobody would see them: a write for each line, or each piece of
/// one, would take longer than most commands do, and mix with what others write.
fn write_at_once<S: RawStream>(mut stream: S, text: &str) -> io::Result<()> {
    let is_plain = AutoStream::choice(&stream) == ColorChoice::Never;
    let text = if is_plain { strip_str(text).to_string().into() } else { Cow::Borrowed(text) };
    stream.write_all(text.as_bytes())
}

/// A text for stdout: without its styles where stdout has no colours.
pub(crate) fn for_stdout(text: &str) -> Cow<'_, str> {
    if has_colours() { Cow::Borrowed(text) } else { strip_str(text).to_string().into() }
}

/// A recorded time as listings show it, in UTC to the second: `2024-01-15 10:30:00`.
pub(crate) fn short_time(rfc3339: &str) -> String {
    let seconds = rfc3339.get(..19).unwrap_or(rfc3339);
    one_line(seconds, 19).replacen('T', " ", 1)
}

/// Data without a line's end, to stdout at once.
pub(crate) fn out_piece(piece: impl Display) {
    let _ = write_at_once(io::stdout(), &piece.to_string());
    let _ = io::stdout().flush();
}

/// A line for the person, to stderr.
pub(crate) fn note(line: impl Display) {
    let _ = write_at_once(io::stderr(), &format!("{line}\n"));
}

/// Words for the person without a line's end, to stderr at once: a question, or what comes in pieces.
pub(crate) fn note_piece(text: impl Display) {
    let _ = write_at_once(io::stderr(), &text.to_string());
}

/// A finding.
pub(crate) fn diagnostic(diagnostic: &Diagnostic) {
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
    note(format!("{severity}: {}{}", visible(&place), indented(&diagnostic.message)));
    if let Some(place) = &diagnostic.span {
        let margin = format!("{} | ", place.line);
        note(format!("  {}{}", styled(FAINT, &margin), sanitize(&place.source)));
        let indent = " ".repeat(margin.len() + place.column.saturating_sub(1));
        note(format!("  {indent}{}", styled(style, "^".repeat(place.length.max(1)))));
    }
    if let Some(help) = &diagnostic.help {
        note(format!("  {} {}", styled(FAINT, "help:"), indented(help)));
    }
}

/// `text` with its further lines indented, so that a name in it cannot forge a line of ours.
fn indented(text: &str) -> String {
    sanitize(text.trim_end()).replace('\n', "\n  ")
}

/// Findings that are worth a person's time without asking: all but those that are only worth knowing.
pub(crate) fn diagnostics<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) {
    findings.into_iter().filter(|finding| finding.severity > Severity::Info).for_each(diagnostic);
}

/// A command's failure.
pub(crate) fn failure(failure: &Failure) {
    note(format!("{}: {}", styled(BAD, "error"), indented(&failure.message)));
    if let Some(help) = &failure.help {
        note(format!("  {} {}", styled(FAINT, "help:"), indented(help)));
    }
}
