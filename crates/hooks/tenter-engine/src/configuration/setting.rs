//! A setting of the configuration files: its key, its description, and the rule of who may set it.
//!
//! The documentation, `tenter config` and the settings that are refused in a project's file all come from tables of these.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use tenter_protocol::{Diagnostic, Severity};
use toml::{Table, Value};

use super::file::{ConfigurationError, parse};

/// A setting, or the same setting of every provider, model or hook. Texts are Markdown, with links within `docs/`.
#[derive(Debug)]
pub struct Setting {
    /// The key, with `NAME` where a name belongs.
    pub key: &'static str,
    /// The default: a TOML value, or words in parentheses; empty if there is none.
    pub default: &'static str,
    /// A value, for the documentation.
    pub example: &'static str,
    /// Its description, for lists.
    pub about: &'static str,
    /// The rest of its description, for the documentation.
    pub more: &'static str,
    /// The environment variable that takes precedence.
    pub variable: Option<&'static str>,
    /// The flag that takes precedence over both.
    pub flag: Option<&'static str>,
    /// The rule that selects a value if the user and the project set one.
    pub precedence: Precedence,
    /// True if its values may contain secrets, which are never printed.
    pub is_secret: bool,
}

/// The rule that selects a value if the user and the project set one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The user's: a project may not set it.
    User,
    /// The project's.
    Project,
    /// The smaller number. A project may not set 0, which means no limit.
    Smaller,
    /// `"closed"`. A project may not set `"open"`.
    Closed,
    /// The stricter permission mode, also than the default. A project may not set `"all"`.
    Stricter,
    /// Both lists.
    Both,
    /// Only the managed file has it.
    Managed,
}

/// Creates a setting that only users set.
pub const fn setting(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        key,
        default,
        example: "",
        about,
        more: "",
        variable: None,
        flag: None,
        precedence: Precedence::User,
        is_secret: false,
    }
}

impl Setting {
    /// Sets a value for the documentation.
    #[must_use]
    pub const fn example(mut self, value: &'static str) -> Self {
        self.example = value;
        self
    }

    /// Sets the rest of the description.
    #[must_use]
    pub const fn more(mut self, text: &'static str) -> Self {
        self.more = text;
        self
    }

    /// Sets the environment variable that takes precedence.
    #[must_use]
    pub const fn variable(mut self, name: &'static str) -> Self {
        self.variable = Some(name);
        self
    }

    /// Sets the flag that takes precedence.
    #[must_use]
    pub const fn flag(mut self, name: &'static str) -> Self {
        self.flag = Some(name);
        self
    }

    /// Sets the rule that selects a value.
    #[must_use]
    pub const fn precedence(mut self, precedence: Precedence) -> Self {
        self.precedence = precedence;
        self
    }

    /// Marks its values as secret.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    /// Returns the description without Markdown.
    pub fn plain_about(&self) -> String {
        plain(self.about)
    }

    /// Returns the default without Markdown.
    pub fn plain_default(&self) -> String {
        plain(self.default)
    }

    /// Returns whether a project may not set this value.
    fn is_refused(&self, value: &Value) -> bool {
        match self.precedence {
            Precedence::User | Precedence::Managed => true,
            Precedence::Smaller => value.as_integer() == Some(0),
            Precedence::Closed => value.as_str() == Some("open"),
            Precedence::Stricter => value.as_str() == Some("all"),
            Precedence::Project | Precedence::Both => false,
        }
    }

    /// Returns what a message about the refused `value` names: the key, or the table with the names of providers and the like.
    fn refused_name(&self, value: &Value) -> String {
        let key = match self.key.split_once(".NAME.") {
            Some((table @ "hooks.override", leaf)) => format!("{table}.{leaf}"),
            Some((table, _)) => table.to_owned(),
            None => self.key.to_owned(),
        };
        match self.precedence {
            Precedence::User | Precedence::Managed => key,
            _ => format!("{key} = {value}"),
        }
    }
}

/// Removes from a project's file what a project may not set, and everything that is not in its table of settings.
struct ProjectFilter<'s> {
    settings: &'s [&'static Setting],
    /// The names of removed settings for messages, by their places in the table.
    rejections: BTreeMap<usize, String>,
}

impl ProjectFilter<'_> {
    /// Filters a table, whose keys have this prefix.
    fn filter(&mut self, table: &mut Table, prefix: &str) {
        let name_prefix = format!("{prefix}NAME.");
        let has_names = self.settings.iter().any(|setting| setting.key.starts_with(&name_prefix));
        table.retain(|part, value| {
            let key = format!("{prefix}{}", if has_names { "NAME" } else { part });
            self.accepts(&key, value)
        });
    }

    /// Filters a value. Returns false if nothing of it may stay.
    fn accepts(&mut self, key: &str, value: &mut Value) -> bool {
        if let Some(place) = self.settings.iter().position(|setting| setting.key == key) {
            let setting = self.settings[place];
            let is_refused = setting.is_refused(value);
            if is_refused {
                self.rejections.insert(place, setting.refused_name(value));
            }
            return !is_refused;
        }
        match value {
            Value::Table(table) => self.filter(table, &format!("{key}.")),
            Value::Array(list) => {
                for entry in list.iter_mut().filter_map(Value::as_table_mut) {
                    entry.retain(|part, value| {
                        part == "name" || self.accepts(&format!("{key}.NAME.{part}"), value)
                    });
                }
            }
            _ => return false,
        }
        true
    }
}

/// Removes links and the marks of code: ``[a `b`](c.md)`` becomes `a b`.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    for part in markdown.split_inclusive(')') {
        match part.rsplit_once("](").and_then(|(before, _)| before.split_once('[')) {
            Some((before, label)) => text.extend([before, label]),
            None => text.push_str(part),
        }
    }
    text.replace('`', "")
}

/// Parses the text that was read from a project's file, without everything that is not in `settings` or that a project may not set.
/// Each refused setting is a warning.
///
/// # Errors
/// The file cannot be read, or `T` does not accept its content.
pub fn parse_project<T: DeserializeOwned + Default>(
    path: &Path,
    text: io::Result<String>,
    settings: impl IntoIterator<Item = &'static Setting>,
) -> Result<(T, Vec<Diagnostic>), ConfigurationError> {
    let copy = text.as_ref().cloned().unwrap_or_default();
    // First as a whole: these errors have lines.
    parse::<T>(path, text)?;
    let mut table: Table = copy.parse().unwrap_or_default();
    let settings: Vec<&Setting> = settings.into_iter().collect();
    let mut filter = ProjectFilter { settings: &settings, rejections: BTreeMap::new() };
    filter.filter(&mut table, "");
    let mut names: Vec<String> = filter.rejections.into_values().collect();
    names.dedup();
    let allowed_values = table.try_into().map_err(|error: toml::de::Error| {
        ConfigurationError::Invalid { path: path.to_owned(), error: error.to_string() }
    })?;
    Ok((allowed_values, names.iter().map(|name| refused(path, name)).collect()))
}

/// Returns the warning that a project's `file` sets a `key` that only the user may set.
pub fn refused(file: &Path, key: &str) -> Diagnostic {
    Diagnostic::new("project-setting-refused", Severity::Warning, format!("a project may not set {key}; it has no effect"))
        .at(file)
        .help("a project may choose a model and make hooks stricter; put everything else into your own config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lose_links_and_marks_of_code() {
        assert_eq!(
            plain("files that [you `allow`](a.md#b), or `/x` (all)"),
            "files that you allow, or /x (all)"
        );
        assert_eq!(plain("[a](b), [{allow = [HOST, …]}](c)"), "a, {allow = [HOST, …]}");
    }
}
