//! The configuration of Tenter: reads all layers and resolves them to one set of settings.
//!
//! Four layers, later ones take precedence: the user's `config.toml`, the project's `tenter.toml`, `TENTER_*` variables,
//! flags. A project's file is untrusted: it may choose a model and make hooks stricter, and nothing else. It can never
//! widen trust, remove or weaken a hook, say where keys are sent, or name the program that prints them.
//!
//! ```
//! use tenter_settings::keys::SettingKey;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = SettingKey::parse("hooks.override.audit-log.timeout_ms").map_err(|error| error.message)?;
//! assert_eq!(key.setting.plain_default(), "(hooks.timeout_ms)");
//!
//! let error = SettingKey::parse("max_turn").map(drop).unwrap_err();
//! assert_eq!(error.help.as_deref(), Some("did you mean `max_turns`?"));
//! # Ok(())
//! # }
//! ```

mod file;
pub mod keys;
mod mcp;
mod mcp_json;
mod model_name;
pub mod model_tables;
mod models;
mod notify;
mod permissions;
pub mod table;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use tenter_engine::TrustMode;
use tenter_engine::configuration::{HookConfiguration, HookTables, ManagedSettings};
use tenter_protocol::Diagnostic;
use tenter_terminal::notify::NotifySettings;
use tenter_terminal::{Env, Failure};

use self::file::FileSettings;

pub use file::RetryTable;
pub use mcp::{ConfiguredServer, ServerTable};
pub use model_name::ModelName;
pub use models::{ModelSettings, NamedModel};
pub use permissions::{PermissionSettings, RestrictionRules};

/// Default limit of model responses to one user message.
const MAX_TURNS: u64 = 50;
/// Default context usage at which a conversation is compacted (R50).
const COMPACT_RATIO: f64 = 0.80;

/// The resolved settings: nothing is unset.
pub struct Settings {
    /// The project root.
    pub project: PathBuf,
    /// The settings of models.
    pub models: ModelSettings,
    /// A file that replaces Tenter's system prompt.
    pub system_prompt_file: Option<PathBuf>,
    /// The retries of a model's transient failures.
    pub retry: RetryTable,
    /// The context usage at which the conversation is compacted, as a fraction of the window; `None` compacts only on
    /// request (R50).
    pub auto_compact: Option<f64>,
    /// True if chats keep snapshots of files.
    pub snapshots: bool,
    /// Maximum number of model responses to one user message; `None` means no limit.
    pub max_turns: Option<u64>,
    /// The permissions of tool calls.
    pub permissions: PermissionSettings,
    /// The settings of notifications.
    pub notify: NotifySettings,
    /// The settings of hooks.
    pub hooks: HookConfiguration,
    /// The MCP servers.
    pub mcp: Vec<ConfiguredServer>,
}

impl Settings {
    /// Reads the layers for the project at `project`, which is in the projects `outer`, the outermost first; a setting that a
    /// project may not make is a warning, and has no effect.
    pub fn load(
        env: &Env,
        project: PathBuf,
        outer: &[PathBuf],
    ) -> Result<(Self, Vec<Diagnostic>), Failure> {
        let mut findings = Vec::new();
        let config_file = env.config_file();
        let managed = managed(env)?;
        let mut user = file::read(&config_file, managed.as_ref())?;
        // A variable does not replace a managed setting either.
        let env = &env.without(&managed_variables(managed.as_ref()));
        let (mut project_settings, mut project_hooks) =
            file::read_project(&project_file(&project), &mut findings)?;
        for root in outer.iter().rev() {
            let (around, hooks) = file::read_project(&project_file(root), &mut findings)?;
            project_settings.tighten(&around);
            project_hooks.tighten(hooks);
        }
        project_settings.yield_to(|key| is_managed(managed.as_ref(), key));
        let user_hooks = user.take_hook_tables();
        let (mut hooks, clamped) =
            HookConfiguration::resolve(user_hooks, &project_hooks, &config_file);
        if let Some(managed) = &managed {
            hooks.manage(managed).map_err(file::failure)?;
        }
        hooks.trust = trust(env, hooks.trust)?;
        findings.extend(clamped);
        let permissions = PermissionSettings::new(&user.permissions, &project_settings.permissions);
        let mcp_json = project.join(".mcp.json");
        let servers = mcp::servers(
            (std::mem::take(&mut user.mcp), &config_file),
            [
                (std::mem::take(&mut project_settings.mcp), &project_file(&project)),
                (mcp_json::read(&mcp_json, &mut findings), &mcp_json),
            ],
            &mut findings,
        );
        let settings = Self {
            models: ModelSettings::new(env, &mut user, &mut project_settings)?,
            system_prompt_file: system_prompt_file(env, &user),
            notify: user.notify.unwrap_or_default().into(),
            retry: user.retry.unwrap_or_default(),
            auto_compact: auto_compact(env, &user)?,
            snapshots: user.chat.snapshots.unwrap_or(true),
            max_turns: max_turns(env, &user, &project_settings)?,
            permissions,
            hooks,
            mcp: servers,
            project,
        };
        Ok((settings, findings))
    }
}

/// Whose settings a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOwner {
    /// The user's: `config.toml`.
    User,
    /// The project's: `tenter.toml`.
    Project,
}

/// Reads the managed settings; `None` if there are none.
///
/// # Errors
/// They are not valid, or others than root can change them.
pub fn managed(env: &Env) -> Result<Option<ManagedSettings>, Failure> {
    ManagedSettings::read(&env.directories().managed).map_err(file::failure)
}

/// Returns the variables of settings that are managed.
fn managed_variables(managed: Option<&ManagedSettings>) -> Vec<&'static str> {
    let settings = table::settings().filter(|setting| is_managed(managed, setting.key));
    settings.filter_map(|setting| setting.variable).collect()
}

/// Returns whether a setting is managed.
fn is_managed(managed: Option<&ManagedSettings>, key: &str) -> bool {
    let value = || {
        let mut parts = key.split('.');
        let last = parts.next_back()?;
        let tables = parts.try_fold(&managed?.table, |table, part| table.get(part)?.as_table())?;
        tables.get(last)
    };
    value().is_some()
}

/// Returns the project's file, in its root.
pub fn project_file(root: &Path) -> PathBuf {
    root.join("tenter.toml")
}

/// Checks `text` as the content of the file at `path`. Returns the settings that have no effect or another one.
///
/// # Errors
/// It is not a valid configuration.
pub fn check(owner: SettingsOwner, path: &Path, text: String) -> Result<Vec<Diagnostic>, Failure> {
    let mut findings = Vec::new();
    match owner {
        SettingsOwner::Project => {
            file::parse_project(path, Ok(text), &mut findings)?;
        }
        SettingsOwner::User => {
            let mut layer = file::parse(path, Ok(text))?;
            layer.compact.ratio.map_or(Ok(()), |ratio| check_file_ratio(path, ratio))?;
            let hooks = layer.take_hook_tables();
            findings = HookConfiguration::resolve(hooks, &HookTables::default(), path).1;
        }
    }
    Ok(findings)
}

/// Returns a file named in `config.toml`, relative to its directory.
fn system_prompt_file(env: &Env, user: &FileSettings) -> Option<PathBuf> {
    let file = user.system_prompt_file.as_deref()?;
    Some(
        env.config_file()
            .parent()
            .map_or_else(|| file.to_owned(), |directory| directory.join(file)),
    )
}

fn auto_compact(env: &Env, user: &FileSettings) -> Result<Option<f64>, Failure> {
    let variable_ratio = variable(env, "TENTER_COMPACT_RATIO", "a number above 0 and at most 1")?;
    let ratio = variable_ratio.or(user.compact.ratio).unwrap_or(COMPACT_RATIO);
    match variable_ratio {
        Some(_) => check_ratio("TENTER_COMPACT_RATIO", ratio)?,
        None => check_file_ratio(&env.config_file(), ratio)?,
    }
    Ok(Some(ratio).filter(|_| user.compact.auto.unwrap_or(true)))
}

fn check_file_ratio(path: &Path, ratio: f64) -> Result<(), Failure> {
    check_ratio(&format!("{}: compact.ratio", path.display()), ratio)
}

fn check_ratio(place: &str, ratio: f64) -> Result<(), Failure> {
    if is_ratio(ratio) {
        return Ok(());
    }
    Err(Failure::usage(format!("{place} is {ratio}, but must be above 0 and at most 1")))
}

/// Checks whether the ratio is above 0 and at most 1.
pub fn is_ratio(ratio: f64) -> bool {
    ratio > 0.0 && ratio <= 1.0
}

fn max_turns(
    env: &Env,
    user: &FileSettings,
    project: &FileSettings,
) -> Result<Option<u64>, Failure> {
    let variable_limit = variable(env, "TENTER_MAX_TURNS", "a whole number")?;
    // A project cannot raise a limit that the user set.
    let file_limit = match (user.max_turns, project.max_turns) {
        (Some(user_limit), Some(project_limit)) if user_limit > 0 => {
            Some(user_limit.min(project_limit))
        }
        (user_limit, project_limit) => project_limit.or(user_limit),
    };
    let limit = variable_limit.or(file_limit).unwrap_or(MAX_TURNS);
    Ok(Some(limit).filter(|limit| *limit > 0))
}

fn trust(env: &Env, file_mode: TrustMode) -> Result<TrustMode, Failure> {
    match env.text("TENTER_TRUST") {
        None | Some("ask") => Ok(file_mode),
        Some("all") => Ok(TrustMode::All),
        Some(other) => {
            Err(Failure::usage(format!("TENTER_TRUST is {other:?}; use \"ask\" or \"all\"")))
        }
    }
}

/// Parses a variable's value; `values` describes the valid values.
fn variable<T: FromStr>(env: &Env, name: &str, values: &str) -> Result<Option<T>, Failure> {
    let Some(text) = env.text(name) else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| Failure::usage(format!("{name} is {text:?}; it must be {values}")))
}
