//! Cells that the lists of skills and recipes share.

use std::path::Path;

use anstyle::Style;
use tenter_base::one_line;
use tenter_terminal::text::Cell;
use tenter_terminal::{BAD, FAINT, NAME};

/// Maximum number of characters shown of a description or a path.
pub(crate) const LENGTH: usize = 100;

/// Returns the name, and the description or why the file is not used.
pub(crate) fn name_and_use(
    name: &str,
    description: &str,
    shadowed_by: Option<&Path>,
    is_broken: bool,
) -> [Cell; 2] {
    let (style, what) = match shadowed_by {
        _ if is_broken => (BAD, (BAD, "cannot be used".to_owned())),
        Some(other) => (FAINT, (FAINT, format!("shadowed by {}", path(other).1))),
        None => (NAME, (Style::new(), one_line(description, LENGTH))),
    };
    [(style, one_line(name, LENGTH)), what]
}

/// Returns a path.
pub(crate) fn path(path: &Path) -> Cell {
    (FAINT, one_line(&path.to_string_lossy(), LENGTH))
}
