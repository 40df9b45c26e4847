//! Lists with aligned columns.

use anstyle::Style;

use crate::styled;

/// A text in a style.
pub type Cell = (Style, String);

/// Returns the rows as lines. The first `columns` cells are as wide as their column; an empty cell after them is left out.
pub fn align(rows: &[Vec<Cell>], columns: usize) -> Vec<String> {
    let width = |column: usize| {
        let lengths = rows.iter().filter_map(|row| row.get(column));
        lengths.map(|(_, text)| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<Cell>| {
        let cells = row.iter().enumerate().filter_map(|(column, (style, text))| {
            let width = widths.get(column).copied();
            let is_shown = width.is_some() || !text.is_empty();
            is_shown.then(|| styled(*style, format!("{text:0$}", width.unwrap_or(0))))
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}
