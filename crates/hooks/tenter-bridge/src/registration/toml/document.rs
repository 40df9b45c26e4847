//! A TOML text and the positions of its tables.

use std::ops::Range;

use ::toml::de::{DeTable, DeValue};
use ::toml::{Spanned, Table, Value};
use tenter_protocol::{Diagnostic, Severity, SourceText};
use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, parse_document};

use super::super::edit::{Insertion, cut, insert};
use super::super::entry::{Created, Installed};

/// A parsed text.
pub(super) struct Document<'t> {
    text: &'t str,
    /// The values.
    pub(super) root: Table,
    /// The tables with a header of their own, in order.
    pub(super) tables: Vec<TablePosition>,
}

/// A table with a header of its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TablePosition {
    /// The keys in the header.
    pub(super) keys: Vec<String>,
    /// Whether it is an element of an array: `[[KEYS]]`.
    pub(super) is_element: bool,
    /// The header and the members.
    range: Range<usize>,
    comments: Vec<Range<usize>>,
}

impl<'t> Document<'t> {
    /// Parses `text`.
    ///
    /// # Errors
    /// It is not TOML; the diagnostic has the position.
    pub(super) fn parse(text: &'t str) -> Result<Self, Diagnostic> {
        let root = text.parse().map_err(|error: ::toml::de::Error| {
            let message = format!("it is not valid TOML: {}", error.message());
            invalid(text, &error.span().unwrap_or_default(), message)
                .help("fix the file at this position, and run the command again")
        })?;
        Ok(Self { text, root, tables: tables(text) })
    }

    /// Appends `tables`, each a header and members.
    ///
    /// # Errors
    /// The text has something else under the same key.
    pub(super) fn append(&self, tables: &[String]) -> Result<Installed, Diagnostic> {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut added = String::new();
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            added += newline;
        }
        for (index, table) in tables.iter().enumerate() {
            if index > 0 || !self.text.trim().is_empty() {
                added += newline;
            }
            added += &table.replace('\n', newline);
        }
        let (text, ranges) =
            insert(self.text, vec![Insertion { at: self.text.len(), text: added }]);
        text.parse::<Table>().map_err(|error| {
            let range = self.position_of_hooks().unwrap_or_default();
            let message = format!("no tables can be added to \"hooks\" here: {}", error.message());
            invalid(self.text, &range, message)
                .help("write \"hooks\" as tables with headers, and run the command again")
        })?;
        let inserted = ranges.into_iter().map(|range| (range.start, range.end)).collect();
        Ok(Installed { text, inserted, created: Created::default() })
    }

    /// The text without the tables that `is_gone` accepts. Comments stay.
    pub(super) fn without(&self, is_gone: impl Fn(usize, &TablePosition) -> bool) -> String {
        let tables = self.tables.iter().enumerate();
        let gone = tables.filter(|(index, table)| is_gone(*index, table));
        cut(self.text, gone.flat_map(|(_, table)| self.cuts(table)).collect())
    }

    /// The ranges of a table without its comments, with the empty line before it.
    fn cuts(&self, table: &TablePosition) -> Vec<Range<usize>> {
        let before = &self.text[..table.range.start];
        let line = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
        let is_blank = |line: &str| line.is_empty() || line.ends_with('\n');
        let mut start = line.filter(|line| is_blank(line)).map_or(before, |line| line).len();
        let mut cuts = Vec::new();
        for comment in &table.comments {
            // The line of a comment that stays must not become part of the one before.
            cuts.push(start..comment.start);
            start = comment.end;
        }
        cuts.push(start..table.range.end);
        cuts
    }

    fn position_of_hooks(&self) -> Option<Range<usize>> {
        let root = DeTable::parse(self.text).ok()?.into_inner();
        let hooks = root.into_iter().find(|(key, _)| key.get_ref() == "hooks");
        hooks.map(|(key, _)| key.span())
    }
}

/// The value of a setting that is true or false, and its line, from 1.
pub(in super::super) fn switch(
    text: &str,
    keys: &[&str],
) -> Result<Option<(bool, usize)>, Diagnostic> {
    Document::parse(text)?;
    let Ok(root) = DeTable::parse(text) else { return Ok(None) };
    let root = Spanned::new(0..0, DeValue::Table(root.into_inner()));
    let found = keys.iter().try_fold(&root, |value, key| value.get_ref().get(*key));
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    Ok(found.and_then(|value| Some((value.get_ref().as_bool()?, line(value.span().start)))))
}

/// The positions of the tables in a valid text.
fn tables(text: &str) -> Vec<TablePosition> {
    let tokens = Source::new(text).lex().into_vec();
    let mut tables = Vec::new();
    let mut table = TablePosition::default();
    let (mut header, mut is_header) = (0, false);
    let mut receiver = |event: Event| {
        let (start, end) = (event.span().start(), event.span().end());
        match event.kind() {
            kind @ (EventKind::StdTableOpen | EventKind::ArrayTableOpen) => {
                tables.push(std::mem::take(&mut table));
                table.is_element = kind == EventKind::ArrayTableOpen;
                table.range = start..end;
                (header, is_header) = (end, true);
            }
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                table.keys = keys(&text[header..start]);
                table.range.end = end;
                is_header = false;
            }
            EventKind::Comment if !is_header => table.comments.push(start..end),
            EventKind::Whitespace | EventKind::Newline | EventKind::Comment => {}
            _ => table.range.end = end,
        }
    };
    parse_document(&tokens, &mut receiver, &mut ());
    tables.push(table);
    // Members before the first header are in none of them.
    tables.remove(0);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    for table in &mut tables {
        table.range.end = line_end(table.range.end);
        // Those on later lines are not about the table.
        table.comments.retain(|comment| comment.start < table.range.end);
        for comment in &mut table.comments {
            comment.end = line_end(comment.end);
        }
    }
    tables
}

/// The keys in a header.
fn keys(header: &str) -> Vec<String> {
    let parsed = format!("{header} = 0").parse().ok();
    let mut value = parsed.map(Value::Table);
    let mut keys = Vec::new();
    while let Some(Value::Table(table)) = value {
        let member = table.into_iter().next();
        value = member.map(|(key, value)| {
            keys.push(key);
            value
        });
    }
    keys
}

/// The error that the text cannot be used, with its position.
fn invalid(text: &str, range: &Range<usize>, message: String) -> Diagnostic {
    let span = SourceText::new(text.as_bytes()).span(range);
    Diagnostic::new("registration-invalid-file", Severity::Error, message).with_span(span)
}
