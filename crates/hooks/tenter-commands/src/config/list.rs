//! `tenter config list`.

use std::path::Path;

use serde_json::json;
use tenter_base::{one_line, visible};
use tenter_settings::keys::{SettingKey, is_below};
use tenter_settings::table::settings;
use tenter_terminal::{CommandResult, Env, Exit, FAINT, Failure, NAME, styled, ui};
use toml::Value;

use super::values::{SettingLayers, SettingValue, ValueSource};
use crate::project::Project;

/// Maximum number of characters shown of a value.
const LENGTH: usize = 200;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only this table, such as hooks.
    #[arg(value_name = "TABLE")]
    table: Option<String>,
    /// Leave out settings with their default value.
    #[arg(long = "changed")]
    only_changes: bool,
    /// Print a JSON array: key, value, source, default, about, variable.
    #[arg(long)]
    json: bool,
}

/// Returns a setting as JSON. `value` is null if nothing sets it and the default is no value.
pub(super) fn json(SettingValue { key, value, source }: &SettingValue) -> serde_json::Value {
    let setting = key.setting;
    json!({
        "key": key.to_string(),
        "value": value,
        "source": source,
        "default": setting.plain_default(),
        "about": setting.plain_about(),
        "variable": setting.variable,
    })
}

pub(super) fn run(env: &Env, root: &Path, args: &Args) -> CommandResult {
    let project = Project::open(env, Some(root))?;
    let mut values = SettingLayers::read(&project)?.all();
    if let Some(table) = args.table.as_deref().map(|table| table.trim_end_matches('.')) {
        values.retain(|value| is_below(&value.key.to_string(), table));
        if values.is_empty() {
            // A table in which nothing is set is as good as any.
            check_table(table)?;
        }
    }
    values.retain(|value| !args.only_changes || value.source != ValueSource::Default);
    if args.json {
        let objects: Vec<_> = values.iter().map(json).collect();
        ui::json(&objects);
    } else {
        print(&values);
    }
    ui::diagnostics(project.findings());
    Ok(Exit::Done)
}

fn check_table(table: &str) -> Result<(), Failure> {
    let is_known = settings().any(|setting| {
        is_below(setting.key, table)
            || setting.key.split_once("NAME").is_some_and(|(before, _)| table.starts_with(before))
    });
    if is_known { Ok(()) } else { SettingKey::parse(table).map(drop) }
}

fn print(values: &[SettingValue]) {
    let rows: Vec<[String; 2]> = values
        .iter()
        .map(|value| [one_line(&value.key.to_string(), LENGTH), text(value)])
        .collect();
    let width = rows.iter().map(|[key, _]| key.chars().count()).max().unwrap_or(0);
    for (value, [key, text]) in values.iter().zip(rows) {
        let padded = format!("{key:width$}");
        let is_default = value.source == ValueSource::Default;
        ui::out(if is_default {
            let line = format!("{padded}  {text}");
            styled(FAINT, line.trim_end())
        } else {
            format!("{}  {text}  {}", styled(NAME, padded), styled(FAINT, value.origin()))
        });
    }
}

fn text(value: &SettingValue) -> String {
    match &value.value {
        Some(value) => one_line(&value.to_string(), LENGTH),
        None if value.key.setting.default.is_empty() => "(none)".to_owned(),
        None => value.key.setting.plain_default(),
    }
}

/// Returns a value for a script: a string without quotes, everything else as in TOML.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => visible(text).into_owned(),
        other => visible(&other.to_string()).into_owned(),
    }
}
