//! The values of settings, and where they come from.

use std::path::Path;

use serde::Serialize;
use tenter_engine::configuration::{ManagedSettings, Precedence, Setting, put_over};
use tenter_engine::journal::Redactor;
use tenter_protocol::permission_mode::PermissionMode;
use tenter_settings::SettingsOwner;
use tenter_settings::keys::{KeyPath, SettingKey};
use tenter_settings::table::settings;
use tenter_terminal::{Env, Failure};
use toml::{Table, Value};

use super::document;
use super::file::ConfigFile;
use crate::project::Project;

/// The replacement of a secret.
const HIDDEN: &str = "…";

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ValueSource {
    /// Nothing sets it.
    Default,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// Both files.
    UserAndProject,
    /// The managed file, which takes precedence over everything else.
    Managed,
    /// An environment variable.
    Environment,
}

/// A setting with its value.
pub(super) struct SettingValue {
    pub(super) key: SettingKey,
    /// The value, without secrets; `None` if nothing sets it and the default is no value.
    pub(super) value: Option<Value>,
    pub(super) source: ValueSource,
}

impl SettingValue {
    /// Returns the origin of the value, for users.
    pub(super) fn origin(&self) -> String {
        match (self.source, self.key.setting.variable) {
            (ValueSource::Default, _) => "default".to_owned(),
            (ValueSource::User, _) => "user".to_owned(),
            (ValueSource::Project, _) => "project".to_owned(),
            (ValueSource::UserAndProject, _) => "user and project".to_owned(),
            (ValueSource::Managed, _) => "managed".to_owned(),
            (ValueSource::Environment, variable) => variable.unwrap_or("environment").to_owned(),
        }
    }
}

/// The files and variables that set something.
pub(super) struct SettingLayers<'p> {
    env: &'p Env,
    managed: Table,
    user: Table,
    project: Table,
    project_file: ConfigFile,
    redactor: Redactor,
}

impl<'p> SettingLayers<'p> {
    /// Reads the files of a project whose configuration is valid.
    pub(super) fn read(project: &'p Project) -> Result<Self, Failure> {
        let read = |owner| -> Result<(ConfigFile, Table), Failure> {
            let file = ConfigFile::new(project.env, project.root(), owner);
            // It was valid a moment ago.
            let table = file.read()?.parse().map_err(|_| changed(&file.path))?;
            Ok((file, table))
        };
        let (_, mut user) = read(SettingsOwner::User)?;
        let (project_file, project_table) = read(SettingsOwner::Project)?;
        let redactor = Redactor::new(project.secrets());
        let managed = tenter_settings::managed(project.env)?;
        let managed = managed.map(ManagedSettings::into_table).unwrap_or_default();
        put_over(&mut user, &managed);
        Ok(Self { env: project.env, managed, user, project: project_table, project_file, redactor })
    }

    /// Returns every setting; a setting of a provider, model or hook only if something sets it.
    pub(super) fn all(&self) -> Vec<SettingValue> {
        let keys = settings().flat_map(|setting| {
            let mut names: Vec<Option<String>> = if setting.key.contains(".NAME.") {
                let tables = [&self.managed, &self.user, &self.project];
                let names = tables.into_iter().flat_map(|table| names(table, setting));
                names.map(Some).collect()
            } else {
                vec![None]
            };
            names.sort();
            names.dedup();
            names.into_iter().map(move |name| SettingKey::new(setting, name))
        });
        let is_listed = |value: &SettingValue| {
            !value.key.setting.key.contains(".NAME.") || value.source != ValueSource::Default
        };
        keys.map(|key| self.value(key)).filter(is_listed).collect()
    }

    /// Returns the value of one setting.
    pub(super) fn value(&self, key: SettingKey) -> SettingValue {
        let (value, source) = self.effective(&key);
        let value = value.map(|value| self.without_secrets(&key, value));
        SettingValue { key, value, source }
    }

    fn effective(&self, key: &SettingKey) -> (Option<Value>, ValueSource) {
        let is_managed = find(&self.managed, key).is_some();
        let (value, source) = self.unmanaged(key, is_managed);
        let is_own = matches!(source, ValueSource::User | ValueSource::UserAndProject);
        (value, if is_managed && is_own { ValueSource::Managed } else { source })
    }

    /// Returns the value, with managed settings as the user's.
    fn unmanaged(&self, key: &SettingKey, is_managed: bool) -> (Option<Value>, ValueSource) {
        let variable = key.setting.variable.filter(|_| !is_managed);
        if let Some(text) = variable.and_then(|variable| self.env.text(variable)) {
            return (Some(parse_variable(text)), ValueSource::Environment);
        }
        let user = find(&self.user, key).cloned();
        let is_final = is_managed && key.setting.precedence == Precedence::Project;
        let project = find(&self.project, key).filter(|_| !is_final);
        let project = project.filter(|value| self.may_set(key, value)).cloned();
        match (user, project) {
            (None, None) => (default(key.setting), ValueSource::Default),
            (Some(user), None) => (Some(user), ValueSource::User),
            (None, Some(project)) if key.setting.precedence == Precedence::Stricter => {
                match default(key.setting) {
                    Some(usual) if mode(&usual) <= mode(&project) => {
                        (Some(usual), ValueSource::Default)
                    }
                    _ => (Some(project), ValueSource::Project),
                }
            }
            (None, Some(project)) => (Some(project), ValueSource::Project),
            (Some(user), Some(project)) => merge(key.setting.precedence, user, project),
        }
    }

    /// Checks whether the project may set this value: what counts is what the configuration accepts.
    fn may_set(&self, key: &SettingKey, value: &Value) -> bool {
        let value = value.to_string().parse();
        let text = value.ok().and_then(|value| document::set("", key, value).ok());
        let findings = text.and_then(|text| {
            tenter_settings::check(SettingsOwner::Project, &self.project_file.path, text).ok()
        });
        findings.is_some_and(|errors| errors.is_empty())
    }

    fn without_secrets(&self, key: &SettingKey, value: Value) -> Value {
        match value {
            Value::String(text) if key.setting.is_secret => Value::String(first_word(&text)),
            Value::Array(items) if key.setting.is_secret => {
                let mut items = items.into_iter().take(1).collect::<Vec<Value>>();
                items.push(Value::String(HIDDEN.to_owned()));
                Value::Array(items)
            }
            _ if key.setting.is_secret => Value::String(HIDDEN.to_owned()),
            Value::String(text) => Value::String(self.redactor.text(&without_password(&text))),
            Value::Array(items) => Value::Array(
                items.into_iter().map(|item| self.without_secrets(key, item)).collect(),
            ),
            other => other,
        }
    }
}

/// Returns the program of a command.
fn first_word(command: &str) -> String {
    let command = command.trim();
    match command.split_once(char::is_whitespace) {
        Some((program, _)) if !program.contains('=') => format!("{program} {HIDDEN}"),
        _ => HIDDEN.to_owned(),
    }
}

/// Returns an address without the user and the password in it.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://{HIDDEN}{}", &rest[at..]),
        None => text.to_owned(),
    }
}

fn changed(path: &Path) -> Failure {
    Failure::new(format!("{} changed in the meantime", path.display())).help("try again")
}

/// Returns a variable's value, as a file would have it.
fn parse_variable(text: &str) -> Value {
    let number = text.parse().map(Value::Integer);
    number
        .or_else(|_| text.parse().map(Value::Float))
        .unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn default(setting: &Setting) -> Option<Value> {
    let table: Table = format!("value = {}", setting.default).parse().ok()?;
    table.get("value").cloned()
}

/// Returns the names below the table of a setting.
fn names(root: &Table, setting: &Setting) -> Vec<String> {
    let tables = setting.key.split(".NAME.").next().unwrap_or_default();
    match tables.split('.').try_fold(KeyTarget::Table(root), KeyTarget::get) {
        Some(KeyTarget::Table(table)) => table.keys().cloned().collect(),
        Some(KeyTarget::List(list)) => {
            let names = list.iter().filter_map(|item| item.get("name")?.as_str());
            names.map(str::to_owned).collect()
        }
        None => Vec::new(),
    }
}

/// Returns the value of a setting in a file.
pub(super) fn find<'t>(root: &'t Table, key: &SettingKey) -> Option<&'t Value> {
    let KeyPath { tables, name, leaf } = key.path();
    let mut below = tables.into_iter().try_fold(KeyTarget::Table(root), KeyTarget::get)?;
    if let Some(name) = name {
        below = below.get(name)?;
    }
    match below {
        KeyTarget::Table(table) => table.get(leaf),
        KeyTarget::List(_) => None,
    }
}

/// The target of a part of a key: a table, or a list of tables with names.
enum KeyTarget<'t> {
    Table(&'t Table),
    List(&'t [Value]),
}

impl KeyTarget<'_> {
    fn get(self, part: &str) -> Option<Self> {
        let value = match self {
            Self::Table(table) => table.get(part)?,
            // The last one counts, as in the configuration.
            Self::List(list) => {
                list.iter().rfind(|item| item.get("name").and_then(Value::as_str) == Some(part))?
            }
        };
        match value {
            Value::Table(table) => Some(Self::Table(table)),
            Value::Array(list) => Some(Self::List(list)),
            _ => None,
        }
    }
}

fn merge(precedence: Precedence, user: Value, project: Value) -> (Option<Value>, ValueSource) {
    let is_users = match precedence {
        Precedence::Project | Precedence::User | Precedence::Managed => false,
        Precedence::Smaller => {
            let (user_number, project_number) = (user.as_integer(), project.as_integer());
            user_number.is_some_and(|limit| limit > 0) && user_number <= project_number
        }
        Precedence::Stricter => mode(&user) <= mode(&project),
        Precedence::Closed => user.as_str() == Some("closed"),
        Precedence::Both => {
            let lists = [user, project].map(|list| list.as_array().cloned().unwrap_or_default());
            return (Some(Value::Array(lists.concat())), ValueSource::UserAndProject);
        }
    };
    if is_users { (Some(user), ValueSource::User) } else { (Some(project), ValueSource::Project) }
}

/// Returns the permission mode that a value names, the strictest first.
fn mode(value: &Value) -> Option<PermissionMode> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_permission_mode_counts() {
        let value = |mode: &str| Value::String(mode.to_owned());
        for (user, project, source) in [
            ("ask", "edits", ValueSource::User),
            ("edits", "ask", ValueSource::Project),
            ("all", "edits", ValueSource::Project),
        ] {
            let (_, origin) = merge(Precedence::Stricter, value(user), value(project));
            assert_eq!(origin, source, "{user} {project}");
        }
    }

    #[test]
    fn passwords_in_addresses_and_the_arguments_of_commands_are_hidden() {
        assert_eq!(without_password("http://me:pw@proxy:80/x"), "http://…@proxy:80/x");
        assert_eq!(without_password("http://me@p@proxy"), "http://…@proxy");
        assert_eq!(without_password("http://proxy/a@b"), "http://proxy/a@b");
        assert_eq!(first_word("pass llm/work"), "pass …");
        assert_eq!(first_word("KEY=1 echo $KEY"), "…");
    }

    #[test]
    fn the_default_of_every_setting_is_a_value_or_words() {
        for setting in settings() {
            let is_words = setting.default.is_empty() || setting.default.starts_with('(');
            assert_eq!(default(setting).is_none(), is_words, "{}", setting.key);
        }
    }
}
