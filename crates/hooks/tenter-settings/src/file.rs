//! The configuration files: their keys, and which of them a project may set. The settings of hooks, and how strictly a file is
//! parsed, are the engine's.
//!
//! Settings that depend on each other (an input price needs an output price) are checked where they are used, so commands
//! that need no model do not fail because of them.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::{io, mem};

use serde::Deserialize;
use tenter_base::untrusted_file;
use tenter_engine::configuration::{
    self, BridgeSettings, ConfigurationError, ConfineTable, GuardsTable, HookTables, HooksTable,
    JournalTable, ManagedSettings, ToolsTable, TrustSetting, refused,
};
use tenter_protocol::Diagnostic;
use tenter_terminal::Failure;

use super::mcp::McpTable;
use super::model_name::ModelName;
use super::model_tables::{Effort, ModelTable, ProviderTable};
use super::notify::NotifyTable;
use super::permissions::PermissionsTable;
use super::table::settings;

/// The contents of a configuration file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileSettings {
    pub(super) model: Option<String>,
    pub(super) weak_model: Option<String>,
    pub(super) max_tokens: Option<NonZeroU64>,
    pub(super) reasoning_effort: Option<Effort>,
    pub(super) idle_timeout_s: Option<NonZeroU64>,
    pub(super) response_max_mib: Option<NonZeroU64>,
    pub(super) response_timeout_s: Option<NonZeroU64>,
    pub(super) system_prompt_file: Option<PathBuf>,
    pub(super) max_turns: Option<u64>,
    pub(super) trust: Option<TrustSetting>,
    pub(super) root: Option<bool>,
    pub(super) retry: Option<RetryTable>,
    pub(super) providers: BTreeMap<String, ProviderTable>,
    pub(super) models: BTreeMap<String, ModelTable>,
    pub(super) compact: CompactTable,
    pub(super) chat: ChatTable,
    pub(super) notify: Option<NotifyTable>,
    pub(super) tools: ToolsTable,
    pub(super) permissions: PermissionsTable,
    pub(super) hooks: HooksTable,
    pub(super) bridge: BridgeSettings,
    pub(super) guards: GuardsTable,
    pub(super) confine: ConfineTable,
    pub(super) journal: JournalTable,
    pub(super) mcp: McpTable,
}

impl FileSettings {
    /// Adds what the file of a project around this one sets, as far as it makes Tenter stricter (R89).
    pub(super) fn tighten(&mut self, outer: &Self) {
        self.max_turns = match (self.max_turns, outer.max_turns) {
            (Some(own), Some(outer)) => Some(own.min(outer)),
            (own, outer) => own.or(outer),
        };
        self.permissions.tighten(&outer.permissions);
    }

    /// Removes what a project may set, and an administrator set.
    pub(super) fn yield_to(&mut self, is_managed: impl Fn(&str) -> bool) {
        self.model = self.model.take().filter(|_| !is_managed("model"));
        self.weak_model = self.weak_model.take().filter(|_| !is_managed("weak_model"));
        self.max_tokens = self.max_tokens.filter(|_| !is_managed("max_tokens"));
        self.reasoning_effort = self.reasoning_effort.filter(|_| !is_managed("reasoning_effort"));
    }

    /// Takes the settings of hooks out.
    pub(super) fn take_hook_tables(&mut self) -> HookTables {
        let (hooks, bridge) = (mem::take(&mut self.hooks), mem::take(&mut self.bridge));
        let (tools, guards) = (mem::take(&mut self.tools), mem::take(&mut self.guards));
        HookTables {
            trust: self.trust.take(),
            root: self.root.take(),
            hooks,
            bridge,
            tools,
            guards,
            confine: mem::take(&mut self.confine),
            journal: mem::take(&mut self.journal),
        }
    }
}

/// The retries of transient failures.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryTable {
    /// Maximum number of attempts.
    pub attempts: Option<u32>,
    /// The pause before the first retry, in milliseconds.
    pub first_delay_ms: Option<u64>,
    /// Maximum pause, in milliseconds.
    pub max_delay_ms: Option<u64>,
}

/// Automatic compaction.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CompactTable {
    pub(super) auto: Option<bool>,
    pub(super) ratio: Option<f64>,
}

/// The terminal chat.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ChatTable {
    pub(super) snapshots: Option<bool>,
}

/// Reads the user's file below the managed settings; a missing one sets nothing.
pub(super) fn read(
    path: &Path,
    managed: Option<&ManagedSettings>,
) -> Result<FileSettings, Failure> {
    configuration::parse_below(managed, path, std::fs::read_to_string(path)).map_err(failure)
}

/// Parses the text of a file; a missing one sets nothing.
pub(super) fn parse(path: &Path, text: io::Result<String>) -> Result<FileSettings, Failure> {
    configuration::parse(path, text).map_err(failure)
}

/// Returns the failure of a command that needs the file.
#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
pub(super) fn failure(error: ConfigurationError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        ConfigurationError::Unreadable { .. } => failure,
        ConfigurationError::Invalid { .. } => {
            failure.help("`tenter help configuration` lists its keys")
        }
    }
}

/// Reads the project's file and removes what a project may not set.
pub(super) fn read_project(
    path: &Path,
    findings: &mut Vec<Diagnostic>,
) -> Result<(FileSettings, HookTables), Failure> {
    parse_project(path, untrusted_file::read_to_string(path), findings)
}

/// Parses the text of a project's file and removes what a project may not set.
pub(super) fn parse_project(
    path: &Path,
    text: io::Result<String>,
    findings: &mut Vec<Diagnostic>,
) -> Result<(FileSettings, HookTables), Failure> {
    let (mut file, refusals) =
        configuration::parse_project::<FileSettings>(path, text, settings()).map_err(failure)?;
    for (model, key) in [(&mut file.model, "model"), (&mut file.weak_model, "weak_model")] {
        if model.take_if(|name| is_scripted(name)).is_some() {
            findings.push(refused(path, &format!("{key} = \"scripted:…\"")));
        }
    }
    findings.extend(refusals);
    let tables = file.take_hook_tables();
    Ok((file, tables))
}

/// Checks whether a model is a script. A script of a project would decide what the tools do, without the user's consent.
fn is_scripted(name: &str) -> bool {
    matches!(ModelName::parse(name), Some(ModelName::Scripted(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_suggested_before_the_list_of_keys() {
        let error = parse(Path::new("tenter.toml"), Ok("max_turn = 5\n".to_owned()));
        let error = error.map(drop).unwrap_err().message;
        let suggestion =
            "unknown field `max_turn`; did you mean `max_turns`? Expected one of `model`";
        assert!(error.contains(suggestion), "{error}");
        let error = parse(Path::new("tenter.toml"), Ok("zzzzzzzz = 5\n".to_owned()));
        let error = error.map(drop).unwrap_err().message;
        assert!(error.contains("unknown field `zzzzzzzz`, expected one of"), "{error}");
    }

    #[test]
    fn an_error_shows_its_line_without_secrets() {
        let message = |text: &str| {
            let error = parse(Path::new("config.toml"), Ok(text.to_owned()));
            error.map(drop).unwrap_err().message
        };
        let error = message("[providers.anthropic]\napi_key = \"hunter2-hunter2\"\n");
        assert!(error.contains("api_key =") && !error.contains("hunter2"), "{error}");
        let error = message("[providers.x]\nproxyy = \"http://me:hunter2@proxy\"\n");
        assert!(!error.contains("hunter2"), "{error}");
        let error = message("modle = \"sk-abcdefghijklmnopqrstuvwxyz\"\n");
        assert!(error.contains("modle") && !error.contains("klmnop"), "{error}");
        assert!(message("max_turns = \"many\"\n").contains("\"many\""));
    }
}
