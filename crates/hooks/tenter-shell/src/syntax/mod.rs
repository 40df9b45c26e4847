//! The syntax of bash: from a text to a tree.
//!
//! The parser never gives up: what bash would reject is skipped or closed where the text ends, and the tree says so. It reads every
//! byte a fixed number of times, whatever the text is.

mod commands;
mod compound;
mod heredocs;
mod parser;
mod quotes;
mod redirections;
pub(crate) mod tree;
mod words;

use crate::limits;
use parser::Parser;
use tree::Script;

/// Parses a text at the nesting depth of the script that contains it.
pub(crate) fn parse(text: &str, depth: usize) -> Script {
    let mut parser = Parser::with_heredocs(text, depth);
    let commands = parser.whole();
    let is_cut = parser.text.len() < text.len();
    let is_broken = parser.is_broken || is_cut;
    let is_limited = parser.is_limited || is_cut;
    Script { commands, heredocs: parser.heredocs, is_broken, is_limited, work: parser.work }
}

/// Parses a text as the inside of double quotes, as here-documents are read.
pub(crate) fn parse_quoted(text: &str, depth: usize) -> (Vec<tree::Part>, Script) {
    let (text, is_cut) = limits::cut(text);
    let mut parser = Parser::new(text, depth);
    let parts = parser.heredoc_parts();
    let script = Script {
        commands: Vec::new(),
        heredocs: parser.heredocs,
        is_broken: parser.is_broken || is_cut,
        is_limited: parser.is_limited || is_cut,
        work: parser.work,
    };
    (parts, script)
}

#[cfg(test)]
mod tests;
