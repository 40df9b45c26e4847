//! Renders streamed Markdown for a terminal. Text arrives in pieces of any size, and each block is returned once, when it is
//! complete. Code is returned line by line, because code blocks are long. The incomplete rest can be shown at any time as it
//! would look if the text ended there.
//!
//! Only complete lines decide where a block ends, so the result does not depend on how the text was split. What Markdown would
//! hide (HTML, the targets of links) is shown, and no control character reaches the terminal.

mod block;
mod line_start;
mod pending;
mod table;
#[cfg(test)]
mod tests;

use super::code::highlight;
use super::wrap::StyledLine;
use block::{BlockLayout, render};
use line_start::{Fence, begins_item, is_heading, is_indented, is_rule};
use tenter_base::sanitize;

/// A renderer for one text.
#[derive(Debug, Default, Clone)]
pub struct Markdown {
    /// The incomplete last line.
    line: String,
    /// The lines of the incomplete last block.
    block: String,
    open: Open,
    /// True if anything was returned.
    has_begun: bool,
    /// True if an empty line precedes the next block.
    gap: bool,
}

/// The kind of the incomplete last block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// No block is open.
    #[default]
    Nothing,
    /// A block that an empty line ends.
    Text,
    /// An item of a list, which continues after an empty line if the next line is indented.
    Item {
        /// True if the last line was empty.
        blank: bool,
    },
    /// Code, returned line by line.
    Code(Fence),
}

impl Markdown {
    /// Appends a piece of text and returns the blocks that it completed, styled, in lines of at most `width` columns. Long lines
    /// of code are not broken, so that they are copied as one line.
    pub fn push(&mut self, piece: &str, width: usize) -> String {
        let mut page = RenderedPage { layout: BlockLayout::new(width), text: String::new() };
        let mut lines = piece.split('\n');
        self.line.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.end_line(&mut page);
            self.line.push_str(line);
        }
        page.text
    }

    /// Returns the rest and resets the renderer.
    pub fn finish(&mut self, width: usize) -> String {
        self.end(BlockLayout::new(width))
    }

    /// Returns what was not returned yet as it would look if the text ended here, in lines of at most `width` columns. Of a very
    /// long rest it is only the end. Marks whose meaning depends on what follows are left out.
    pub fn pending(&self, width: usize) -> String {
        let (block, line) = match self.open {
            Open::Code(fence) if fence.may_be_closed_by(&self.line) => Default::default(),
            Open::Code(_) => (String::new(), self.line.clone()),
            _ => pending::closed(&self.block, &self.line),
        };
        Self { line, block, ..*self }.end(BlockLayout::new(width))
    }

    fn end(&mut self, layout: BlockLayout) -> String {
        let mut page = RenderedPage { layout, text: String::new() };
        if !self.line.is_empty() {
            self.end_line(&mut page);
        }
        if matches!(self.open, Open::Code(_)) {
            page.line(&layout.code_end());
        }
        self.flush(&mut page);
        self.discard();
        page.text
    }

    /// Drops everything that was not returned yet.
    pub fn discard(&mut self) {
        *self = Self::default();
    }

    fn end_line(&mut self, page: &mut RenderedPage) {
        let line = std::mem::take(&mut self.line);
        let line = sanitize(line.strip_suffix('\r').unwrap_or(&line));
        match self.open {
            Open::Code(fence) if fence.is_closed_by(&line) => {
                page.line(&page.layout.code_end());
                self.open = Open::Nothing;
            }
            Open::Code(fence) => {
                page.line(&highlight(fence.without_indent(&line), fence.language));
            }
            _ if line.trim().is_empty() => self.empty_line(page),
            Open::Item { blank } if is_indented(&line) => {
                self.block.push_str(if blank { "\n" } else { "" });
                self.add(&line, Open::Item { blank: false });
            }
            Open::Item { blank: true } => {
                self.flush(page);
                self.gap = true;
                self.begin_or_continue(&line, page);
            }
            _ => self.begin_or_continue(&line, page),
        }
    }

    fn empty_line(&mut self, page: &mut RenderedPage) {
        if let Open::Item { blank } = &mut self.open {
            *blank = true;
            return;
        }
        self.flush(page);
        self.gap = true;
    }

    /// Handles a line that begins a block or continues the open one.
    fn begin_or_continue(&mut self, line: &str, page: &mut RenderedPage) {
        if let Some((fence, language)) = Fence::read(line) {
            self.flush(page);
            self.begin_block(page);
            page.line(&page.layout.code_head(language));
            self.open = Open::Code(fence);
        } else if is_heading(line) {
            self.flush(page);
            self.add(line, Open::Text);
            self.flush(page);
        } else if begins_item(line) {
            self.flush(page);
            self.add(line, Open::Item { blank: false });
        } else if self.open == Open::Nothing || is_rule(line) && self.open != Open::Text {
            self.flush(page);
            self.add(line, Open::Text);
        } else {
            self.add(line, self.open);
        }
    }

    fn add(&mut self, line: &str, open: Open) {
        self.block.push_str(line);
        self.block.push('\n');
        self.open = open;
    }

    /// Renders the open block, which is complete.
    fn flush(&mut self, page: &mut RenderedPage) {
        let block = std::mem::take(&mut self.block);
        if !block.is_empty() {
            self.begin_block(page);
            page.text.push_str(&render(&block, page.layout));
        }
        self.open = Open::Nothing;
    }

    /// Begins a block, after an empty line if the text had any.
    fn begin_block(&mut self, page: &mut RenderedPage) {
        if std::mem::take(&mut self.gap) && self.has_begun {
            page.text.push('\n');
        }
        self.has_begun = true;
    }
}

/// A collector of rendered lines.
struct RenderedPage {
    layout: BlockLayout,
    text: String,
}

impl RenderedPage {
    fn line(&mut self, line: &StyledLine) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }
}
