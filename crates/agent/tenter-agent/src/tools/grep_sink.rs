//! Collects what `grep` finds in one file, as the searcher reports it.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use tenter_protocol::tool_metadata::GrepLine;

use super::lines::LinePrefix;

/// The matches in one file.
#[derive(Debug, Default)]
pub(crate) struct FileMatches {
    path_length: usize,
    /// The lines, in order.
    pub(crate) lines: Vec<GrepLine>,
    /// The remaining size of the result, in bytes.
    pub(crate) bytes_left: usize,
    /// The file is binary: matches before its first NUL byte do not count.
    pub(crate) binary: bool,
    /// There were more matches than the result has room for.
    pub(crate) full: bool,
}

impl FileMatches {
    /// Creates an empty sink. `path_length` is the cost of every line besides its text, `bytes_left` the limit for all lines, in
    /// bytes.
    pub(crate) fn new(path_length: usize, bytes_left: usize) -> Self {
        Self { path_length, bytes_left, ..Self::default() }
    }

    /// Adds a line unless the result is full; returns whether to continue.
    fn take(&mut self, line_number: Option<u64>, bytes: &[u8], is_context: bool) -> bool {
        let content = LinePrefix::new(bytes).display();
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

impl Sink for FileMatches {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.take(line.line_number(), line.bytes(), false))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.take(context.line_number(), context.bytes(), true))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
