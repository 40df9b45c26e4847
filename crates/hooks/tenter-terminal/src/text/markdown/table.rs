//! Tables: columns that fit the width, or one line per cell if the columns would be too narrow.

use anstyle::Style;
use pulldown_cmark::Alignment;

use crate::style::{FAINT, HEADING};
use crate::text::wrap::StyledLine;

/// Number of columns of a word that a cell does not break.
const UNBROKEN: usize = 12;
/// The separator of two cells.
const BAR: &str = " │ ";
/// Maximum length of the line between records.
const RULE: usize = 12;

/// A table. The first row is its head.
#[derive(Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Alignment>,
    pub(super) rows: Vec<Vec<StyledLine>>,
}

impl Table {
    /// Returns the table in lines of at most `width` columns.
    pub(super) fn lines(&self, width: usize) -> Vec<StyledLine> {
        self.widths(width).map_or_else(|| self.records(width), |widths| self.grid(&widths))
    }

    /// Returns the widths of the columns; `None` if they do not fit.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let bars = 3 * self.columns.len().saturating_sub(1);
        let available = width.checked_sub(bars)?;
        let natural = self.widest(StyledLine::width);
        if natural.iter().sum::<usize>() <= available {
            return Some(natural);
        }
        let widths: Vec<usize> = self
            .widest(StyledLine::longest_word)
            .into_iter()
            .map(|word| word.clamp(1, UNBROKEN))
            .collect();
        let room = available.checked_sub(widths.iter().sum())?;
        Some(widen(widths, &natural, room))
    }

    /// Returns the largest of the sizes in each column.
    fn widest(&self, size: impl Fn(&StyledLine) -> usize) -> Vec<usize> {
        let mut widest = vec![0; self.columns.len()];
        for row in &self.rows {
            for (most, cell) in widest.iter_mut().zip(row) {
                *most = size(cell).max(*most);
            }
        }
        widest
    }

    fn grid(&self, widths: &[usize]) -> Vec<StyledLine> {
        let wrap = |(cell, width): (&StyledLine, &usize)| cell.wrap((*width).max(1));
        let rows: Vec<Vec<Vec<StyledLine>>> =
            self.rows.iter().map(|row| row.iter().zip(widths).map(wrap).collect()).collect();
        let widths = used_widths(&rows, widths.len());
        let rows: Vec<Vec<StyledLine>> =
            rows.iter().map(|cells| self.row(cells, &widths)).collect();
        let has_tall_rows = rows.iter().skip(1).any(|row| row.len() > 1);
        let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let rule = StyledLine::new(FAINT, &rules.join("─┼─"));
        let mut lines = Vec::new();
        for (index, row) in rows.into_iter().enumerate() {
            if index == 1 || index > 1 && has_tall_rows {
                lines.push(rule.clone());
            }
            lines.extend(row);
        }
        if self.rows.len() == 1 {
            lines.push(rule);
        }
        lines
    }

    /// Returns the lines of a row of wrapped cells, without trailing spaces.
    fn row(&self, cells: &[Vec<StyledLine>], widths: &[usize]) -> Vec<StyledLine> {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        (0..height).map(|at| self.row_line(cells, widths, at)).collect()
    }

    /// Returns the line `at` of a row of wrapped cells.
    fn row_line(&self, cells: &[Vec<StyledLine>], widths: &[usize], at: usize) -> StyledLine {
        let mut line = StyledLine::default();
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let empty = StyledLine::default();
            let text = cell.get(at).unwrap_or(&empty);
            let free = width.saturating_sub(text.width());
            let before = match self.columns.get(index) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            let after = if index + 1 == cells.len() { 0 } else { free - before };
            line.push(FAINT, if index == 0 { "" } else { BAR });
            line.push(Style::new(), &" ".repeat(before));
            line.append(text);
            line.push(Style::new(), &" ".repeat(after));
        }
        line.trim_end();
        line
    }

    /// Returns each cell on lines of its own, after the head of its column.
    fn records(&self, width: usize) -> Vec<StyledLine> {
        let [head, rows @ ..] = &self.rows[..] else { return Vec::new() };
        if rows.is_empty() {
            return head.iter().flat_map(|cell| cell.wrap(width)).collect();
        }
        let mut lines = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push(StyledLine::new(FAINT, &"─".repeat(RULE.min(width))));
            }
            for (name, cell) in head.iter().zip(row) {
                // The first record shows all names.
                if index == 0 || !cell.is_empty() {
                    lines.extend(record_lines(name, cell, width));
                }
            }
        }
        lines
    }
}

/// Returns a cell after the head of its column, indented after the first line.
fn record_lines(name: &StyledLine, cell: &StyledLine, width: usize) -> Vec<StyledLine> {
    let mut text = name.clone();
    text.push(HEADING, if name.is_empty() { "" } else { ": " });
    text.append(cell);
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines = text.wrap(width.saturating_sub(2).max(1));
    for line in lines.iter_mut().skip(1) {
        let mut indented_line = StyledLine::new(Style::new(), "  ");
        indented_line.append(line);
        *line = indented_line;
    }
    lines
}

/// Returns the widths that wrapped cells need.
fn used_widths(rows: &[Vec<Vec<StyledLine>>], columns: usize) -> Vec<usize> {
    let mut widths = vec![0; columns];
    for row in rows {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = cell.iter().map(StyledLine::width).max().unwrap_or(0).max(*most);
        }
    }
    widths
}

/// Distributes the columns that are left among the cells that have more text, evenly.
fn widen(mut widths: Vec<usize>, natural: &[usize], mut spare: usize) -> Vec<usize> {
    loop {
        let needy = widths.iter().zip(natural).filter(|(width, natural)| width < natural).count();
        let Some(share) = spare.checked_div(needy).map(|share| share.max(1)) else { return widths };
        for (width, natural) in widths.iter_mut().zip(natural) {
            let more = natural.saturating_sub(*width).min(share).min(spare);
            *width += more;
            spare -= more;
        }
        if spare == 0 {
            return widths;
        }
    }
}
