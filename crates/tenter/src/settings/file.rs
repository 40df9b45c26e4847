//! The configuration files: their keys, and which of them a project may set.
//!
//! Parsing is strict, so that a misspelt key is never ignored. Whether a setting makes sense with the others (a provider
//! without an address, an input price without an output price) is checked where it is used, so commands that need no
//! model do not fail because of it.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenter_base::nearest;
use tenter_base::untrusted_file;
use tenter_engine::hook::FailMode;
use tenter_engine::journal::Redactor;
use tenter_protocol::{Diagnostic, Severity};

use super::model_name::ModelName;
use super::model_tables::{Effort, ModelTable, ProviderTable};
use crate::failure::Failure;

/// The contents of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Layer {
    pub(super) model: Option<String>,
    pub(super) weak_model: Option<String>,
    pub(super) max_tokens: Option<NonZeroU64>,
    pub(super) reasoning_effort: Option<Effort>,
    pub(super) idle_timeout_s: Option<NonZeroU64>,
    pub(super) response_max_mib: Option<NonZeroU64>,
    pub(super) response_timeout_s: Option<NonZeroU64>,
    pub(super) system_prompt_file: Option<PathBuf>,
    pub(super) max_turns: Option<u64>,
    pub(super) trust: Option<Trust>,
    pub(super) retry: Option<RetryTable>,
    pub(super) providers: BTreeMap<String, ProviderTable>,
    pub(super) models: BTreeMap<String, ModelTable>,
    pub(super) compact: CompactTable,
    pub(super) tools: ToolsTable,
    pub(super) hooks: HooksTable,
}

/// How often and how long transient failures are retried.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RetryTable {
    pub(super) attempts: Option<u32>,
    pub(super) first_delay_ms: Option<u64>,
    pub(super) max_delay_ms: Option<u64>,
}

/// Automatic compaction.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CompactTable {
    pub(super) auto: Option<bool>,
    pub(super) ratio: Option<f64>,
}

/// Restrictions of file tools.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ToolsTable {
    pub(super) protect: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct HooksTable {
    pub(super) enabled: Option<bool>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) fail: Option<FailMode>,
    pub(super) ask: Option<Ask>,
    pub(super) max_continuations: Option<u32>,
    pub(super) pass_env: Vec<String>,
    pub(super) allow_shared: Option<bool>,
    #[serde(rename = "override")]
    pub(super) overrides: Vec<HookTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookTable {
    pub(super) name: String,
    pub(super) timeout_ms: Option<u64>,
    pub(super) fail: Option<FailMode>,
    #[serde(default)]
    pub(super) env: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Trust {
    Ask,
    All,
}

/// The answer to `ask` when there is no user (R30).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ask {
    Deny,
    Allow,
}

/// Reads a file; a missing one sets nothing.
pub(super) fn read(path: &Path) -> Result<Layer, Failure> {
    parse(path, std::fs::read_to_string(path))
}

fn parse(path: &Path, text: io::Result<String>) -> Result<Layer, Failure> {
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Layer::default()),
        Err(error) => {
            return Err(Failure::new(format!("cannot read {}: {error}", path.display())));
        }
    };
    toml::from_str(&text).map_err(|error| {
        let error = with_suggestion(without_secrets(&error.to_string()));
        Failure::new(format!("{} is not a valid configuration:\n{error}", path.display()))
            .help("`tenter help configuration` lists its keys")
    })
}

/// Adds a suggestion for an unknown key before the list of all keys.
fn with_suggestion(error: String) -> String {
    const UNKNOWN: &str = "unknown field `";
    let Some((_, rest)) = error.split_once(UNKNOWN) else { return error };
    let Some((key, known)) = rest.split_once("`, expected ") else { return error };
    let Some(meant) = nearest(key, known.split('`').skip(1).step_by(2)) else { return error };
    let from = format!("{UNKNOWN}{key}`, expected ");
    error.replacen(&from, &format!("{UNKNOWN}{key}`; did you mean `{meant}`? Expected "), 1)
}

/// Removes the source line from errors about keys: if the user pasted an API key there, it must not end up in a log.
fn without_secrets(error: &str) -> String {
    let lines = error.lines().map(|line| match line.split_once('=') {
        Some((name, _)) if name.contains(" | ") && is_about_a_secret(name) => format!("{name}= …"),
        _ => line.to_owned(),
    });
    Redactor::default().text(&lines.collect::<Vec<_>>().join("\n"))
}

fn is_about_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "proxy"].iter().any(|word| name.contains(word))
}

/// Reads the project's file and removes what a project may not set.
pub(super) fn read_of_project(
    path: &Path,
    findings: &mut Vec<Diagnostic>,
) -> Result<Layer, Failure> {
    let mut file = parse(path, untrusted_file::read_to_string(path))?;
    let mut refuse = |said: bool, key: &str| {
        if said {
            findings.push(refused(path, key));
        }
    };
    refuse(file.model.take_if(|name| is_scripted(name)).is_some(), "model = \"scripted:…\"");
    let weak = file.weak_model.take_if(|name| is_scripted(name));
    refuse(weak.is_some(), "weak_model = \"scripted:…\"");
    refuse(file.max_turns.take_if(|limit| *limit == 0).is_some(), "max_turns = 0");
    refuse(file.trust.take().is_some(), "trust");
    refuse(file.idle_timeout_s.take().is_some(), "idle_timeout_s");
    refuse(file.response_max_mib.take().is_some(), "response_max_mib");
    refuse(file.response_timeout_s.take().is_some(), "response_timeout_s");
    refuse(file.system_prompt_file.take().is_some(), "system_prompt_file");
    refuse(file.retry.take().is_some(), "retry");
    refuse(file.compact.ratio.take().is_some(), "compact.ratio");
    refuse(file.compact.auto.take().is_some(), "compact.auto");
    refuse(!std::mem::take(&mut file.providers).is_empty(), "providers");
    refuse(!std::mem::take(&mut file.models).is_empty(), "models");
    refuse_hooks(&mut file.hooks, refuse);
    Ok(file)
}

/// Whether a model is a script. A script of a project would decide what the tools do, without the user's consent.
fn is_scripted(name: &str) -> bool {
    matches!(ModelName::parse(name), Some(ModelName::Scripted(_)))
}

fn refuse_hooks(hooks: &mut HooksTable, mut refuse: impl FnMut(bool, &str)) {
    refuse(hooks.enabled.take().is_some(), "hooks.enabled");
    refuse(hooks.timeout_ms.take().is_some(), "hooks.timeout_ms");
    refuse(hooks.ask.take().is_some(), "hooks.ask");
    refuse(hooks.max_continuations.take().is_some(), "hooks.max_continuations");
    refuse(!std::mem::take(&mut hooks.pass_env).is_empty(), "hooks.pass_env");
    refuse(hooks.allow_shared.take().is_some(), "hooks.allow_shared");
    refuse(hooks.fail == Some(FailMode::Open), "hooks.fail = \"open\"");
    for hook in &mut hooks.overrides {
        refuse(hook.timeout_ms.take().is_some(), "hooks.override.timeout_ms");
        refuse(hook.fail == Some(FailMode::Open), "hooks.override.fail = \"open\"");
        refuse(!std::mem::take(&mut hook.env).is_empty(), "hooks.override.env");
    }
    hooks.overrides.retain(|hook| hook.fail == Some(FailMode::Closed));
}

fn refused(path: &Path, key: &str) -> Diagnostic {
    Diagnostic::new("project-setting-refused", Severity::Warning, format!("a project may not set {key}; it has no effect"))
        .at(path)
        .help("a project may choose a model and make hooks stricter; put everything else into your own config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_suggested_before_the_list_of_keys() {
        let error = parse(Path::new("tenter.toml"), Ok("max_turn = 5\n".to_owned()));
        let error = error.map(drop).unwrap_err().message;
        let suggested =
            "unknown field `max_turn`; did you mean `max_turns`? Expected one of `model`";
        assert!(error.contains(suggested), "{error}");
        let error = parse(Path::new("tenter.toml"), Ok("zzzzzzzz = 5\n".to_owned()));
        let error = error.map(drop).unwrap_err().message;
        assert!(error.contains("unknown field `zzzzzzzz`, expected one of"), "{error}");
    }

    #[test]
    fn an_error_shows_its_line_without_secrets() {
        let shown = |text: &str| {
            without_secrets(&toml::from_str::<Layer>(text).map(drop).unwrap_err().to_string())
        };
        let error = shown("[providers.anthropic]\napi_key = \"hunter2-hunter2\"\n");
        assert!(error.contains("api_key =") && !error.contains("hunter2"), "{error}");
        let error = shown("[providers.x]\nproxyy = \"http://me:hunter2@proxy\"\n");
        assert!(!error.contains("hunter2"), "{error}");
        let error = shown("modle = \"sk-abcdefghijklmnopqrstuvwxyz\"\n");
        assert!(error.contains("modle") && !error.contains("klmnop"), "{error}");
        assert!(shown("max_turns = \"many\"\n").contains("\"many\""));
    }
}
