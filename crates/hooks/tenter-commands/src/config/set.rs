//! `tenter config set` and `tenter config unset`.

use tenter_base::visible;
use tenter_engine::configuration::{ManagedSettings, Precedence};
use tenter_settings::SettingsOwner;
use tenter_settings::keys::SettingKey;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};
use toml_edit::{Array, Value};

use super::document::{self, EditError};
use super::file::{ConfigFile, FileChoice};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The key, such as hooks.fail.
    key: String,
    /// The value. Several are a list; TOML works too.
    #[arg(required = true, allow_hyphen_values = true)]
    value: Vec<String>,
    #[command(flatten)]
    pub(super) file: FileChoice,
}

#[derive(Debug, clap::Args)]
pub struct UnsetArgs {
    /// The key, such as hooks.fail.
    key: String,
    #[command(flatten)]
    pub(super) file: FileChoice,
}

pub(super) fn run(env: &Env, file: &ConfigFile, args: &Args) -> CommandResult {
    let key = SettingKey::parse(&args.key)?;
    let managed = env.directories().managed.config_file();
    if key.setting.precedence == Precedence::Managed {
        let failure = Failure::usage(format!("{key} is not a setting of yours"));
        return Err(
            failure.help(format!("only an administrator sets it, in {}", managed.display()))
        );
    }
    let value = valid_value(file, &key, &args.value)?;
    let _lock = ConfigFile::lock(env)?;
    let text = file.read()?;
    let new = document::set(&text, &key, value).map_err(|error| not_edited(file, error))?;
    write(file, &text, &new)?;
    ui::note(format!("Set {} in {}.", visible(&key.to_string()), shown(file)));
    if let Some(variable) = key.setting.variable.filter(|variable| env.text(variable).is_some()) {
        ui::note(format!("{variable} is set and takes precedence."));
    }
    let table = tenter_settings::managed(env)?.map(ManagedSettings::into_table);
    if table.is_some_and(|table| super::values::find(&table, &key).is_some()) {
        ui::note(format!("{} sets it, too, and takes precedence.", managed.display()));
    }
    Ok(Exit::Done)
}

pub(super) fn unset(env: &Env, file: &ConfigFile, args: &UnsetArgs) -> CommandResult {
    let key = SettingKey::parse(&args.key)?;
    let _lock = ConfigFile::lock(env)?;
    let text = file.read()?;
    let is_set = text.parse().is_ok_and(|table| super::values::find(&table, &key).is_some());
    if !is_set {
        // Also if the file is not TOML, which editing reports.
        text.parse::<toml_edit::DocumentMut>().map_err(|error| not_edited(file, error.into()))?;
        ui::note(format!("{} is not set in {}.", visible(&key.to_string()), shown(file)));
        return Ok(Exit::Done);
    }
    let new = document::unset(&text, &key).map_err(|error| not_edited(file, error))?;
    write(file, &text, &new)?;
    ui::note(format!("Removed {} from {}.", visible(&key.to_string()), shown(file)));
    Ok(Exit::Done)
}

/// Returns the first value that the setting accepts: the word as TOML, the word as text, or a list of the words.
fn valid_value(file: &ConfigFile, key: &SettingKey, words: &[String]) -> Result<Value, Failure> {
    let list = || Value::Array(words.iter().map(String::as_str).collect::<Array>());
    let candidates = match words {
        [word] => {
            let toml = word.parse().ok().filter(|_| !word.trim().is_empty());
            let text = Value::from(word.as_str());
            toml.into_iter().chain([text, list()]).collect()
        }
        _ => vec![list()],
    };
    let mut first = None;
    for value in candidates {
        match check_alone(file, key, value.clone()) {
            Ok(()) => return Ok(value),
            Err(failure) => {
                first.get_or_insert(failure);
            }
        }
    }
    Err(first.unwrap_or_else(|| Failure::usage("a value is missing")))
}

/// Checks a file with nothing but this setting.
fn check_alone(file: &ConfigFile, key: &SettingKey, value: Value) -> Result<(), Failure> {
    let text = document::set("", key, value).map_err(|error| not_edited(file, error))?;
    let findings = file.check(&text).map_err(|failure| {
        // Behind the line of a file that exists only here.
        let why = failure.message.lines().last().unwrap_or_default();
        Failure::usage(format!("cannot set {key}: {}", without_path(file, why)))
    })?;
    match findings.into_iter().find(|_| file.owner == SettingsOwner::Project) {
        Some(error) => Err(Failure {
            help: error.help,
            ..Failure::new(error.message.replace("; it has no effect", ""))
        }),
        None => Ok(()),
    }
}

fn without_path<'w>(file: &ConfigFile, why: &'w str) -> &'w str {
    let path = format!("{}: ", file.path.display());
    why.strip_prefix(path.as_str()).unwrap_or(why)
}

/// Writes `new` if it is valid, and reports what of it has no effect.
pub(super) fn write(file: &ConfigFile, old: &str, new: &str) -> Result<(), Failure> {
    let findings = file.check(new).map_err(|failure| {
        failure.help("nothing was written; repair the file with `tenter config edit`")
    })?;
    if new != old {
        file.replace(new)?;
    }
    ui::diagnostics(&findings);
    Ok(())
}

pub(super) fn not_edited(file: &ConfigFile, error: EditError) -> Failure {
    let path = file.path.display();
    let failure = match error {
        EditError::Invalid(error) => {
            Failure::new(format!("{path} is not valid TOML: {}", error.message()))
        }
        EditError::NotATable(part) => Failure::new(format!("{path}: {part} is not a table")),
    };
    failure.help("repair the file with `tenter config edit`")
}

fn shown(file: &ConfigFile) -> String {
    visible(&file.path.to_string_lossy()).into_owned()
}
