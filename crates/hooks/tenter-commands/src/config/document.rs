//! Changes one setting in the text of a configuration file. Everything else keeps its place, order and comments.

use std::ops::Range;

use tenter_settings::keys::{KeyPath, SettingKey};
use toml_edit::{
    Array, ArrayOfTables, Document, DocumentMut, InlineTable, Item, RawString, Table, TableLike,
    TomlError, Value,
};

/// The part of a table of hooks that names the hook.
const NAME: &str = "name";

/// A byte order mark.
const MARK: &str = "\u{feff}";

/// The reason why a text cannot be changed.
#[derive(Debug)]
pub(super) enum EditError {
    /// It is not TOML.
    Invalid(TomlError),
    /// A part of the key is something else than a table; contains that part.
    NotATable(String),
}

impl From<TomlError> for EditError {
    fn from(error: TomlError) -> Self {
        Self::Invalid(error)
    }
}

/// Returns `text` with the setting `key` set to `value`.
pub(super) fn set(text: &str, key: &SettingKey, value: Value) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let (table, leaf) = place(document.as_table_mut(), key)?;
    put(table, leaf, value);
    Ok(in_form_of(text, &document))
}

/// Returns a document with the line ends and the byte order mark of the text that it was read from.
fn in_form_of(text: &str, document: &DocumentMut) -> String {
    let mark = if text.starts_with(MARK) { MARK } else { "" };
    let new = document.to_string();
    let new = new.strip_prefix(MARK).unwrap_or(&new).replace("\r\n", "\n");
    let new = if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new };
    format!("{mark}{new}")
}

/// Returns the table that contains a setting, which is created if it is missing, and the last part of its key.
fn place<'t, 'k>(
    root: &'t mut dyn TableLike,
    key: &'k SettingKey,
) -> Result<(&'t mut dyn TableLike, &'k str), EditError> {
    let KeyPath { tables, name, leaf } = key.path();
    let Some((last, above)) = tables.split_last() else { return Ok((root, leaf)) };
    let mut table = root;
    for part in above {
        table = child(table, part)?;
    }
    let table = match name {
        None => child(table, last)?,
        Some(name) if is_list(last) => element(table, last, name)?,
        Some(name) => child(child(table, last)?, name)?,
    };
    Ok((table, leaf))
}

/// Checks whether the named tables below this key are the elements of an array.
fn is_list(table: &str) -> bool {
    table == "override"
}

fn put(table: &mut dyn TableLike, leaf: &str, mut value: Value) {
    match table.get_mut(leaf).and_then(Item::as_value_mut) {
        Some(old) => {
            // What surrounds a value: its indentation, and a comment behind it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(leaf, Item::Value(value));
        }
    }
}

/// Returns the table `part` of `table`, which is created if it is missing.
fn child<'t>(table: &'t mut dyn TableLike, part: &str) -> Result<&'t mut dyn TableLike, EditError> {
    if !table.contains_key(part) {
        let mut new = Table::new();
        // It has no header of its own if it contains only tables.
        new.set_implicit(true);
        table.insert(part, Item::Table(new));
    }
    let item = table.get_mut(part);
    item.and_then(Item::as_table_like_mut).ok_or_else(|| EditError::NotATable(part.to_owned()))
}

/// Returns the element of the array `part` of `table` that has this name. It is created if it is missing.
fn element<'t>(
    table: &'t mut dyn TableLike,
    part: &str,
    name: &str,
) -> Result<&'t mut dyn TableLike, EditError> {
    if !table.contains_key(part) {
        table.insert(part, Item::ArrayOfTables(ArrayOfTables::new()));
    }
    let not_a_list = || EditError::NotATable(part.to_owned());
    match table.get_mut(part).ok_or_else(not_a_list)? {
        Item::ArrayOfTables(tables) => {
            let index = tables.iter().position(|table| is_called(table, name));
            let index = index.unwrap_or_else(|| {
                let mut new = Table::new();
                new.insert(NAME, Item::Value(name.into()));
                tables.push(new);
                tables.len() - 1
            });
            tables.get_mut(index).map(|table| table as _).ok_or_else(not_a_list)
        }
        Item::Value(Value::Array(array)) => inline_element(array, name).ok_or_else(not_a_list),
        Item::None | Item::Value(_) | Item::Table(_) => Err(not_a_list()),
    }
}

fn inline_element<'t>(array: &'t mut Array, name: &str) -> Option<&'t mut dyn TableLike> {
    let is_entry =
        |value: &Value| value.as_inline_table().is_some_and(|table| is_called(table, name));
    let index = array.iter().position(is_entry);
    let index = index.unwrap_or_else(|| {
        let mut new = InlineTable::new();
        new.insert(NAME, name.into());
        array.push(new);
        array.len() - 1
    });
    array.get_mut(index)?.as_inline_table_mut().map(|table| table as _)
}

fn is_called(table: &dyn TableLike, name: &str) -> bool {
    table.get(NAME).and_then(Item::as_str) == Some(name)
}

/// Returns `text` without the setting `key`, which it sets. The comments above it stay.
pub(super) fn unset(text: &str, key: &SettingKey) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let (table, leaf) = place(document.as_table_mut(), key)?;
    table.remove(leaf);
    remove_empty_element(document.as_table_mut(), key);
    let document_text = document.to_string();
    let lines = spans(text, key)?.and_then(|span| without_lines(text, span));
    // Cutting lines keeps more, and is right if it has the same result.
    let cut = lines.filter(|cut| is_same(cut, &document_text));
    Ok(cut.unwrap_or(document_text))
}

/// Returns `text` without the table called `name` in these tables.
pub(super) fn remove_table(text: &str, tables: &[&str], name: &str) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        table = child(table, part)?;
    }
    table.remove(name);
    Ok(in_form_of(text, &document))
}

/// Returns the range from the key to the end of its value.
fn spans(text: &str, key: &SettingKey) -> Result<Option<Range<usize>>, EditError> {
    let mut document = Document::parse(text)?.into_table();
    let (table, leaf) = place(&mut document, key)?;
    let entry = table.get_key_value(leaf);
    Ok(entry.and_then(|(key, item)| Some(key.span()?.start..item.span()?.end)))
}

/// Returns the text without the lines of this range.
fn without_lines(text: &str, range: Range<usize>) -> Option<String> {
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(range.end..)?.find('\n').map_or(text.len(), |at| range.end + at + 1);
    Some([text.get(..start)?, text.get(end..)?].concat())
}

fn is_same(one: &str, other: &str) -> bool {
    match (one.parse::<toml::Table>(), other.parse::<toml::Table>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Removes the element of a list that the key names, if it sets nothing else and has no comment.
fn remove_empty_element(root: &mut dyn TableLike, key: &SettingKey) {
    let KeyPath { tables, name: Some(name), .. } = key.path() else { return };
    let Some((last, above)) = tables.split_last() else { return };
    let mut table = root;
    for part in above {
        let Ok(below) = child(table, part) else { return };
        table = below;
    }
    let Some(Item::ArrayOfTables(list)) = table.get_mut(last) else { return };
    let is_empty = |table: &Table| {
        let before = table.decor().prefix().and_then(RawString::as_str).unwrap_or_default();
        table.len() == 1 && !before.contains('#') && !table.to_string().contains('#')
    };
    list.retain(|table| !(is_called(table, name) && is_empty(table)));
    if list.is_empty() {
        table.remove(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> SettingKey {
        SettingKey::parse(text).unwrap()
    }

    fn set_in(text: &str, name: &str, value: &str) -> String {
        set(text, &key(name), value.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_value_is_replaced_at_its_place() {
        let text =
            "# mine\nmax_turns = 3 # few\n\nmodel = \"a/b\"\n[hooks]\n# strict\nfail = 'open'\n";
        assert_eq!(set_in(text, "max_turns", "100"), text.replace("3 #", "100 #"));
        assert_eq!(set_in(text, "hooks.fail", "\"closed\""), text.replace("'open'", "\"closed\""));
        let dotted = "hooks.fail = \"open\"\nhooks.override = [{name = \"a\", fail = \"open\"}]\n";
        assert_eq!(set_in(dotted, "hooks.fail", "\"x\""), dotted.replacen("open", "x", 1));
        let inline = set_in(dotted, "hooks.override.a.fail", "\"x\"");
        assert_eq!(inline, dotted.replace("\"a\", fail = \"open\"", "\"a\", fail = \"x\""));
    }

    #[test]
    fn line_ends_and_the_byte_order_mark_stay() {
        let text = "\u{feff}# mine\r\nmax_turns = 3\r\nmodel = \"a/b\"\r\n";
        let new = set_in(text, "max_turns", "4");
        assert_eq!(new, text.replace('3', "4"));
        assert_eq!(unset(&new, &key("max_turns")).unwrap(), text.replace("max_turns = 3\r\n", ""));
        assert_eq!(
            set_in(text, "hooks.fail", "\"open\""),
            format!("{text}\r\n[hooks]\r\nfail = \"open\"\r\n")
        );
    }

    #[test]
    fn new_keys_and_tables_are_added_below() {
        assert_eq!(set_in("", "max_turns", "1"), "max_turns = 1\n");
        assert_eq!(
            set_in("[hooks]\nfail = \"open\"\n", "max_turns", "1"),
            "max_turns = 1\n[hooks]\nfail = \"open\"\n"
        );
        assert_eq!(
            set_in("max_turns = 1\n", "bridge.gemini.ask", "\"native\""),
            "max_turns = 1\n\n[bridge.gemini]\nask = \"native\"\n"
        );
        let text = set_in("", "models.openai/gpt-5.2.images", "true");
        assert_eq!(text, "[models.\"openai/gpt-5.2\"]\nimages = true\n");
        let text = set_in("", "hooks.override.a/b.fail", "\"closed\"");
        assert_eq!(text, "[[hooks.override]]\nname = \"a/b\"\nfail = \"closed\"\n");
        let text = set_in(&text, "hooks.override.a/b.timeout_ms", "500");
        assert_eq!(
            text,
            "[[hooks.override]]\nname = \"a/b\"\nfail = \"closed\"\ntimeout_ms = 500\n"
        );
        let more = set_in(&text, "hooks.override.c.fail", "\"open\"");
        assert_eq!(more, format!("{text}\n[[hooks.override]]\nname = \"c\"\nfail = \"open\"\n"));
    }

    #[test]
    fn a_key_that_is_no_table_is_an_error() {
        let error = set("hooks = 1\n", &key("hooks.fail"), "1".parse().unwrap());
        assert!(matches!(error, Err(EditError::NotATable(part)) if part == "hooks"));
        assert!(matches!(
            set("=", &key("hooks.fail"), "1".parse().unwrap()),
            Err(EditError::Invalid(_))
        ));
    }

    #[test]
    fn unset_keeps_everything_else() {
        let unset_in = |text: &str, name: &str| unset(text, &key(name)).unwrap();
        let text = "# about turns\nmax_turns = 3 # few\n# about hooks\n[hooks]\nfail = \"open\"\npass_env = [\n  \"A\", # why\n]\n";
        assert_eq!(unset_in(text, "max_turns"), text.replace("max_turns = 3 # few\n", ""));
        assert_eq!(unset_in(text, "hooks.fail"), text.replace("fail = \"open\"\n", ""));
        assert_eq!(
            unset_in(text, "hooks.pass_env"),
            text.replace("pass_env = [\n  \"A\", # why\n]\n", "")
        );
        assert_eq!(unset_in("hooks.fail = \"open\"\nmax_turns = 1", "hooks.fail"), "max_turns = 1");
        assert_eq!(
            unset_in("retry = {attempts = 3, max_delay_ms = 5}\n", "retry.attempts"),
            "retry = { max_delay_ms = 5}\n"
        );
        let override_text =
            "max_turns = 1\n\n[[hooks.override]]\nname = \"a\"\nfail = \"closed\"\n";
        assert_eq!(unset_in(override_text, "hooks.override.a.fail"), "max_turns = 1\n");
    }
}
