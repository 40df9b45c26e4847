//! Text for a terminal: wrapped, rendered from Markdown, compared.

mod code;
pub mod diff;
mod list;
mod markdown;
mod wrap;

pub use code::CodeLanguage;
pub use list::{Cell, align};
pub use markdown::Markdown;
pub use wrap::{columns, hanging, prose};

use tenter_base::{excerpt, sanitize};

/// Maximum number of characters shown of a line.
pub const LINE_LENGTH: usize = 200;

/// Returns a sanitised line with its indentation, cut to [`LINE_LENGTH`] characters.
pub fn cut(line: &str) -> String {
    excerpt::chars(&sanitize(line), LINE_LENGTH).into_owned()
}
