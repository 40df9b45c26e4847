//! Registrations in TOML files that users edit: everything else in the file stays as it is (B39).
//!
//! Tables are added at the end of the text and cut out of it. `toml_edit` would write the whole text anew, and change its line ends.

use std::ops::Range;

use ::toml::de::{DeTable, DeValue};
use ::toml::{Spanned, Table, Value as TomlValue};
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::entry::{EventHandler, Handler, invalid};

/// The array of the tables of handlers.
const HOOKS: &str = "hooks";
/// The table in `hooks` with the trust in handlers.
const STATE: &str = "state";
const HASH: &str = "trusted_hash";

/// A parsed text.
struct TomlDocument<'t> {
    text: &'t str,
    root: Spanned<DeValue<'t>>,
}

impl<'t> TomlDocument<'t> {
    fn parse(text: &'t str) -> Result<Self, Diagnostic> {
        let root = DeTable::parse(text).map_err(|error| {
            let message = format!("it is not valid TOML: {}", error.message());
            invalid(text, &error.span().unwrap_or_default(), message)
                .help("fix the file at this position, and run the command again")
        })?;
        Ok(Self { text, root: Spanned::new(0..0, DeValue::Table(root.into_inner())) })
    }

    fn get(&self, keys: &[&str]) -> Option<&Spanned<DeValue<'t>>> {
        keys.iter().try_fold(&self.root, |value, key| value.get_ref().get(*key))
    }

    /// Returns the elements of `hooks` with their positions.
    fn handlers(&self) -> Vec<(Value, &Spanned<DeValue<'t>>)> {
        let elements = self.get(&[HOOKS]).and_then(|hooks| hooks.get_ref().as_array());
        let elements = elements.into_iter().flat_map(|elements| elements.iter());
        let table: Table = self.text.parse().unwrap_or_default();
        let values = table.get(HOOKS).and_then(TomlValue::as_array).into_iter().flatten();
        let values = values.map(|value| serde_json::to_value(value).unwrap_or_default());
        values.zip(elements).collect()
    }

    /// Appends `tables`, each a header and members.
    ///
    /// # Errors
    /// The text has something else under the same key.
    fn append(&self, tables: impl Iterator<Item = String>) -> Result<String, Diagnostic> {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = self.text.to_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text += newline;
        }
        for table in tables {
            if !text.trim().is_empty() {
                text += newline;
            }
            text += &table.replace('\n', newline);
        }
        text.parse::<Table>().map_err(|error| {
            let message = format!("no tables can be added to \"hooks\" here: {}", error.message());
            invalid(self.text, &self.key_of_hooks().unwrap_or_default(), message)
                .help("write \"hooks\" as tables with headers, and run the command again")
        })?;
        Ok(text)
    }

    fn key_of_hooks(&self) -> Option<Range<usize>> {
        let DeValue::Table(root) = self.root.get_ref() else { return None };
        let (key, _) = root.iter().find(|(key, _)| key.get_ref() == HOOKS)?;
        Some(key.span())
    }

    /// Returns the text without these tables. Comments stay.
    fn without<'d>(&self, tables: impl Iterator<Item = &'d Spanned<DeValue<'t>>>) -> String
    where
        't: 'd,
    {
        let mut ranges = Vec::new();
        for table in tables {
            let first = ranges.len();
            self.add_lines(table, &mut ranges);
            // With the empty line before the header.
            let range = &mut ranges[first];
            let before = &self.text[..range.start];
            let line = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
            let is_empty = |line: &&str| line.is_empty() || line.ends_with('\n');
            range.start = line.filter(is_empty).map_or(range.start, str::len);
        }
        ranges.sort_by_key(|range| range.start);
        let (mut text, mut end) = (String::new(), 0);
        for range in ranges {
            text += &self.text[end..range.start.max(end)];
            end = end.max(range.end);
        }
        text + &self.text[end..]
    }

    /// Adds the ranges of the lines of a value, and of everything in it, without the comments at their ends.
    fn add_lines(&self, value: &Spanned<DeValue>, ranges: &mut Vec<Range<usize>>) {
        let Range { start, end } = value.span();
        let start = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        let rest = self.text[end..].trim_start_matches([' ', '\t']);
        let line_end = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'));
        ranges.push(start..self.text.len() - line_end.unwrap_or(rest).len());
        match value.get_ref() {
            DeValue::Table(table) => {
                table.values().for_each(|value| self.add_lines(value, ranges));
            }
            DeValue::Array(array) => array.iter().for_each(|value| self.add_lines(value, ranges)),
            _ => {}
        }
    }
}

/// Reads a setting that is true or false. Returns its value and its line, from 1.
pub(super) fn switch(text: &str, keys: &[&str]) -> Result<Option<(bool, usize)>, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let setting = document.get(keys);
    Ok(setting.and_then(|value| Some((value.get_ref().as_bool()?, line(value.span().start)))))
}

/// Returns the handlers in `text` that `is_ours` accepts, in order. `event` is the key of the event.
pub(super) fn find(
    text: &str,
    event: &str,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<Vec<Handler>, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    let mut handlers = Vec::new();
    for (index, (mut value, _)) in document.handlers().into_iter().enumerate() {
        if is_ours(&value) {
            let is_unconditional = value.get("matcher").is_none() && value.get("match").is_none();
            let event = value.as_object_mut().and_then(|members| members.shift_remove(event));
            let event = event.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            handlers.push(Handler { event, group: 0, index, value, is_unconditional });
        }
    }
    Ok(handlers)
}

/// Appends a table for each of these handlers.
pub(super) fn install(
    text: &str,
    event: &str,
    handlers: &[EventHandler],
) -> Result<String, Diagnostic> {
    let table = |(name, handler): &EventHandler| {
        let members = handler.as_object().into_iter().flatten();
        let members = members.map(|(key, value)| format!("{key} = {}\n", toml_text(value)));
        let event = format!("{event} = {}\n", toml_text(&Value::from(*name)));
        format!("[[{HOOKS}]]\n{event}{}", members.collect::<String>())
    };
    TomlDocument::parse(text)?.append(handlers.iter().map(table))
}

/// Removes the handlers that `is_ours` accepts.
pub(super) fn remove(text: &str, is_ours: impl Fn(&Value) -> bool) -> Result<String, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    let has_header = |table: &Spanned<DeValue>| text[table.span()].starts_with("[[");
    let handlers = document.handlers();
    let ours = handlers.iter().filter(|(value, table)| is_ours(value) && has_header(table));
    Ok(document.without(ours.map(|(_, table)| *table)))
}

/// Writes a text, number or truth value in TOML.
fn toml_text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => TomlValue::from(text).to_string(),
        None => value.to_string(),
    }
}

/// The trust in one handler: `[hooks.state."FILE:EVENT:GROUP:HANDLER"]` with `trusted_hash` (B41).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TrustEntry {
    /// The position of the handler.
    pub(super) key: String,
    /// Its hash.
    pub(super) hash: String,
}

impl TrustEntry {
    fn is_in(&self, document: &TomlDocument) -> bool {
        let hash = document.get(&[HOOKS, STATE, &self.key, HASH]);
        hash.and_then(|hash| hash.get_ref().as_str()) == Some(&self.hash)
    }
}

/// Adds the entries that are missing, and replaces those with another hash. Returns `None` if none is missing.
pub(super) fn with_trust(text: &str, entries: &[TrustEntry]) -> Result<Option<String>, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    let missing: Vec<TrustEntry> =
        entries.iter().filter(|entry| !entry.is_in(&document)).cloned().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let tables = missing.iter().map(|TrustEntry { key, hash }| {
        let key = toml_text(&key.as_str().into());
        format!("[{HOOKS}.{STATE}.{key}]\n{HASH} = \"{hash}\"\n")
    });
    TomlDocument::parse(&without_trust(text, &missing)?)?.append(tables).map(Some)
}

/// Counts the entries that are missing.
pub(super) fn missing_trust(text: &str, entries: &[TrustEntry]) -> Result<usize, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    Ok(entries.iter().filter(|entry| !entry.is_in(&document)).count())
}

/// Removes the entries, whatever their hashes are.
pub(super) fn without_trust(text: &str, entries: &[TrustEntry]) -> Result<String, Diagnostic> {
    let document = TomlDocument::parse(text)?;
    let tables = entries.iter().filter_map(|entry| document.get(&[HOOKS, STATE, &entry.key]));
    Ok(document.without(tables))
}
