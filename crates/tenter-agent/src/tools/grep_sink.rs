//! What `grep` finds in one file, as the searcher pushes it.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use tenter_protocol::tool_metadata::GrepLine;

use super::lines::Line;

/// What is found in one file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    path_length: usize,
    /// The lines, in order.
    pub(crate) lines: Vec<GrepLine>,
    /// What of the answer's room is left.
    pub(crate) bytes_left: usize,
    /// The file is binary: what was found before that showed does not count.
    pub(crate) binary: bool,
    /// There was more than the answer has room for.
    pub(crate) full: bool,
}

impl Found {
    /// Nothing yet. `path_length` is what every line costs besides its text, `bytes_left` what all may cost.
    pub(crate) fn new(path_length: usize, bytes_left: usize) -> Self {
        Self { path_length, bytes_left, ..Self::default() }
    }

    /// Takes a line, unless the answer is full; says whether to go on.
    fn take(&mut self, line_number: Option<u64>, bytes: &[u8], is_context: bool) -> bool {
        let content = Line::new(bytes).shown();
        let cost = self.path_length + content.len();
        if cost > self.bytes_left {
            self.full = true;
            return false;
        }
        self.bytes_left -= cost;
        self.lines.push(GrepLine {
            line_number: line_number.unwrap_or_default(),
            content,
            is_context,
        });
        true
    }
}

impl Sink for Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.take(found.line_number(), found.bytes(), false))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.take(context.line_number(), context.bytes(), true))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
