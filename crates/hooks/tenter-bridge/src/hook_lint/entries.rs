//! The hooks in a settings file of a host, in one form.

use std::path::Path;

use serde_json::Value;
use tenter_protocol::{Diagnostic, Severity, front_matter};

use crate::host::{EntryLayout, Host};
use crate::registration::read_json;

/// The fields of handlers with a command, in the order in which hosts prefer them.
const COMMANDS: [&str; 3] = ["command", "bash", "exec"];

/// The field of groups and handlers with the calls of the shell that they are about, in Factory Droid.
pub(crate) const COMMAND_REGEX: &str = "commandRegex";

/// A hook in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEntry {
    /// The event, as written.
    pub event: String,
    /// The matcher.
    pub matcher: Option<String>,
    /// The handler, with its command, prompt or address.
    pub handler: Value,
    /// The keys and indices that lead to it.
    pub path: Vec<String>,
}

impl HookEntry {
    /// Returns the command that it runs.
    pub fn command(&self) -> Option<&str> {
        COMMANDS.iter().find_map(|key| self.handler.get(key)).and_then(Value::as_str)
    }

    /// Returns the command that it runs, with its arguments.
    pub(super) fn command_line(&self) -> Option<String> {
        let arguments = self.handler.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = arguments.filter_map(Value::as_str).filter_map(|it| shlex::try_quote(it).ok());
        Some(words.fold(self.command()?.to_owned(), |line, word| format!("{line} {word}")))
    }

    /// Returns its event, matcher and command, for messages.
    pub fn place(&self) -> String {
        let matcher = self.matcher.as_deref().filter(|matcher| !matcher.is_empty());
        let matcher = matcher.map(|matcher| format!(" {matcher}")).unwrap_or_default();
        format!("{}{matcher}", self.event)
    }

    /// Returns whether the entry sets an environment variable itself.
    pub(super) fn sets(&self, variable: &str) -> bool {
        self.handler.get("env").is_some_and(|env| env.get(variable).is_some())
    }
}

/// Reads a settings file of a host.
///
/// # Errors
/// It is not JSON or TOML.
pub(crate) fn settings(path: &Path, text: &str) -> Result<Value, Diagnostic> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => {}
        Some("md") => return front_matter_of(path, text),
        _ => return read_json(text),
    }
    let table: Result<toml::Table, _> = toml::from_str(text);
    let invalid =
        |why: String| Diagnostic::new("registration-invalid-file", Severity::Error, why).at(path);
    let table =
        table.map_err(|error| invalid(format!("it is not valid TOML: {}", error.message())))?;
    serde_json::to_value(table).map_err(|error| invalid(error.to_string()))
}

/// Reads the front matter of a skill, an agent or a command.
fn front_matter_of(path: &Path, text: &str) -> Result<Value, Diagnostic> {
    let (document, diagnostics) = front_matter::read(path, text.as_bytes());
    let Some(document) = document else {
        let error = diagnostics.into_iter().find(|one| one.severity == Severity::Error);
        return error.map_or(Ok(Value::Null), Err);
    };
    let fields = document.fields.into_iter().map(|field| (field.key, field.value.to_json()));
    Ok(Value::Object(fields.collect()))
}

/// Returns the hooks of a settings file, in its order. Codex has the same form in TOML as in JSON.
///
/// # Errors
/// It is not JSON or TOML.
pub fn entries(host: &Host, path: &Path, text: &str) -> Result<Vec<HookEntry>, Diagnostic> {
    let settings = settings(path, text)?;
    let layout = host.registration.entries().map(|format| format.layout);
    let Some(hooks) = settings.get("hooks") else { return Ok(Vec::new()) };
    Ok(match (layout, hooks) {
        (Some(EntryLayout::TomlTables { event }), Value::Array(tables)) => tables
            .iter()
            .enumerate()
            .filter_map(|(index, table)| {
                let event = table.get(event)?.as_str()?;
                Some(entry(event, table, table, &["hooks", &index.to_string()]))
            })
            .collect(),
        (_, Value::Object(events)) => {
            let groups = events.iter().flat_map(|(event, groups)| {
                let groups = groups.as_array().into_iter().flatten().enumerate();
                groups.map(move |(index, group)| (event.as_str(), index, group))
            });
            groups.flat_map(|(event, index, group)| read_group(event, index, group)).collect()
        }
        _ => Vec::new(),
    })
}

/// Returns the handlers of a group, or the handler that stands where a group may.
fn read_group(event: &str, index: usize, group: &Value) -> Vec<HookEntry> {
    let index = index.to_string();
    let path = ["hooks", event, index.as_str()];
    match group.get("hooks").and_then(Value::as_array) {
        None => vec![entry(event, group, group, &path)],
        Some(handlers) => handlers
            .iter()
            .enumerate()
            .map(|(at, handler)| {
                let at = at.to_string();
                entry(event, group, handler, &[&path[..], &["hooks", at.as_str()]].concat())
            })
            .collect(),
    }
}

fn entry(event: &str, group: &Value, handler: &Value, path: &[&str]) -> HookEntry {
    let matcher = group.get("matcher").or_else(|| group.get("match")).and_then(Value::as_str);
    let mut handler = handler.clone();
    if let Some((expression, fields)) = group.get(COMMAND_REGEX).zip(handler.as_object_mut()) {
        fields.insert(COMMAND_REGEX.to_owned(), expression.clone());
    }
    HookEntry {
        event: event.to_owned(),
        matcher: matcher.map(str::to_owned),
        handler,
        path: path.iter().map(|key| (*key).to_owned()).collect(),
    }
}
