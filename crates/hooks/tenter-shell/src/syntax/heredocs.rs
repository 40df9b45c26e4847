//! Here-documents.

use crate::limits::MAX_HEREDOCS;

use super::parser::Parser;
use super::tree::{HereDoc, Part};

impl<'a> Parser<'a> {
    /// Parses the delimiter after `<<`. Returns the index of the here-document, if it is within the limit.
    pub(super) fn heredoc(&mut self, strips_tabs: bool) -> Option<usize> {
        self.skip_blanks();
        let start = self.at;
        let Some(word) = self.word() else {
            self.is_broken = true;
            return None;
        };
        if self.heredocs.len() >= MAX_HEREDOCS {
            self.reach_limit();
            return None;
        }
        // A delimiter is not expanded: `<<$x` ends at a line `$x`.
        let delimiter = word.literal().unwrap_or_else(|| self.text[start..self.at].to_owned());
        let is_literal = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
        self.heredocs.push(HereDoc { delimiter, is_literal, strips_tabs, ..HereDoc::default() });
        self.pending.push(self.heredocs.len() - 1);
        Some(self.heredocs.len() - 1)
    }

    /// Reads the bodies of the here-documents that start at this line.
    pub(super) fn read_heredocs(&mut self) {
        for index in std::mem::take(&mut self.pending) {
            self.read_heredoc(index);
        }
    }

    fn read_heredoc(&mut self, index: usize) {
        let HereDoc { delimiter, is_literal, strips_tabs, .. } =
            std::mem::take(&mut self.heredocs[index]);
        let mut body = String::new();
        let mut is_read = false;
        let start = self.at;
        while self.at < self.all.len() {
            let line = self.line();
            let line = if strips_tabs { line.trim_start_matches('\t') } else { line };
            let content = line.strip_suffix('\n').unwrap_or(line);
            // Agents on Windows send lines that end with `\r\n`.
            if content == delimiter || content.strip_suffix('\r') == Some(&delimiter) {
                is_read = true;
                break;
            }
            body.push_str(line);
        }
        self.is_broken |= !is_read;
        self.grow(self.at - start);
        self.heredocs[index] = HereDoc { delimiter, is_literal, strips_tabs, body };
    }

    /// Moves over a line.
    fn line(&mut self) -> &'a str {
        let rest = &self.all[self.at..];
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        self.at += end;
        self.work += end;
        &rest[..end]
    }
}
