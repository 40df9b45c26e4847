//! The styles of the program's output. All of them are defined here.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// For something that worked.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// For something that was blocked or failed.
pub const BAD: Style = AnsiColor::Red.on_default();
/// For something that needs attention.
pub const NOTICE: Style = AnsiColor::Yellow.on_default();
/// For a keyword of a language.
pub(crate) const KEYWORD: Style = AnsiColor::Magenta.on_default();
/// For a text or a number in code.
pub(crate) const LITERAL: Style = AnsiColor::Cyan.on_default();
/// For a name.
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// For a heading.
pub const HEADING: Style = Style::new().bold();
/// For something less important.
pub const FAINT: Style = Style::new().dimmed();

/// Returns `text` in a style.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
