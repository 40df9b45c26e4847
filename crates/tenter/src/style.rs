//! The styles of the program's output. All of them are defined here.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// For something that worked.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For something that was blocked or failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For something that needs attention.
pub(crate) const NOTICE: Style = AnsiColor::Yellow.on_default();
/// For a name.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// For a heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// For something less important.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
