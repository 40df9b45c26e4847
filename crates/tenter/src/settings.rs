//! Configuration: what was written, by whom, and what it comes to.
//!
//! Four layers, later ones win: the person's `config.toml`, the project's `tenter.toml`, `TENTER_*` variables, flags. A
//! project's file comes from whoever wrote the project: it may choose a model and make hooks stricter, and nothing else.
//! It can never widen trust, remove a hook, or weaken one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tenter_agent::permission::Answer;
use tenter_engine::catalog::PolicyTable;
use tenter_engine::hook::FailMode;
use tenter_engine::trust::TrustMode;
use tenter_protocol::{Diagnostic, Severity};

use crate::env::Env;
use crate::failure::Failure;

/// Model responses to one user message, where nobody says otherwise.
const MAX_TURNS: u64 = 50;
/// Forced continuations in a row, where nobody says otherwise (R34).
const MAX_CONTINUATIONS: u32 = 8;

/// A configuration file as it was written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    model: Option<String>,
    max_turns: Option<u64>,
    trust: Option<Trust>,
    hooks: HooksTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct HooksTable {
    enabled: Option<bool>,
    timeout_ms: Option<u64>,
    fail: Option<FailMode>,
    ask: Option<Ask>,
    max_continuations: Option<u32>,
    pass_env: Vec<String>,
    #[serde(rename = "override")]
    overrides: Vec<HookTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookTable {
    name: String,
    timeout_ms: Option<u64>,
    fail: Option<FailMode>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Trust {
    Ask,
    All,
}

/// The answer to `ask` where nobody can be asked (R30).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ask {
    Deny,
    Allow,
}

/// What the configuration comes to: nothing is unset.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The project root.
    pub(crate) project: PathBuf,
    /// The model that files and variables name.
    pub(crate) model: Option<String>,
    /// Model responses to one user message; `None` is without limit.
    pub(crate) max_turns: Option<u64>,
    /// Whether project hooks need trust.
    pub(crate) trust: TrustMode,
    /// Whether external hooks run at all.
    pub(crate) hooks_enabled: bool,
    /// What hooks are held to.
    pub(crate) policies: PolicyTable,
    /// The answer to `ask` where nobody can be asked.
    pub(crate) ask: Answer,
    /// Forced continuations in a row.
    pub(crate) max_continuations: u32,
    /// Variables that hooks get although they look like model keys.
    pub(crate) pass_env: Vec<String>,
}

impl Settings {
    /// Reads the layers for the project at `project`; what a project's file may not say is a warning, and has no effect.
    pub(crate) fn load(env: &Env, project: PathBuf) -> Result<(Self, Vec<Diagnostic>), Failure> {
        let mut findings = Vec::new();
        let user = read(&env.config_file())?;
        let project_file = project.join("tenter.toml");
        let of_project = project_layer(&project_file, &mut findings)?;
        let max_turns = number(env, "TENTER_MAX_TURNS")?
            .or(of_project.max_turns)
            .or(user.max_turns)
            .unwrap_or(MAX_TURNS);
        let trust_all = matches!(user.trust, Some(Trust::All)) || trust_variable(env)?;
        let settings = Self {
            model: env.text("TENTER_MODEL").map(str::to_owned).or(of_project.model).or(user.model),
            max_turns: Some(max_turns).filter(|limit| *limit > 0),
            trust: if trust_all { TrustMode::All } else { TrustMode::Gate },
            hooks_enabled: user.hooks.enabled.unwrap_or(true),
            ask: match user.hooks.ask {
                Some(Ask::Allow) => Answer::Once,
                Some(Ask::Deny) | None => Answer::No,
            },
            max_continuations: user.hooks.max_continuations.unwrap_or(MAX_CONTINUATIONS),
            policies: policies(&user.hooks, &of_project.hooks),
            pass_env: user.hooks.pass_env,
            project,
        };
        Ok((settings, findings))
    }
}

fn policies(user: &HooksTable, project: &HooksTable) -> PolicyTable {
    let mut table = PolicyTable::default();
    if let Some(timeout) = user.timeout_ms {
        table.default.timeout = Duration::from_millis(timeout);
    }
    if user.fail == Some(FailMode::Closed) || project.fail == Some(FailMode::Closed) {
        table.default.fail = FailMode::Closed;
    }
    for hook in project.overrides.iter().chain(&user.overrides) {
        let held = table.overrides.entry(hook.name.clone()).or_default();
        held.timeout = hook.timeout_ms.map(Duration::from_millis).or(held.timeout);
        held.fail = stricter(hook.fail, held.fail);
    }
    table
}

/// Whoever asks for `closed` gets it: the person may be strict with a project's hook, and the project with a person's.
fn stricter(one: Option<FailMode>, other: Option<FailMode>) -> Option<FailMode> {
    if one == Some(FailMode::Closed) { one } else { other.or(one) }
}

/// Reads the project's file and takes out what a project may not say.
fn project_layer(path: &Path, findings: &mut Vec<Diagnostic>) -> Result<File, Failure> {
    let mut file = read(path)?;
    let mut refuse = |said: bool, key: &str| {
        if said {
            findings.push(refused(path, key));
        }
    };
    refuse(file.trust.take().is_some(), "trust");
    refuse(file.hooks.enabled.take().is_some(), "hooks.enabled");
    refuse(file.hooks.timeout_ms.take().is_some(), "hooks.timeout_ms");
    refuse(file.hooks.ask.take().is_some(), "hooks.ask");
    refuse(file.hooks.max_continuations.take().is_some(), "hooks.max_continuations");
    refuse(!std::mem::take(&mut file.hooks.pass_env).is_empty(), "hooks.pass_env");
    refuse(file.hooks.fail == Some(FailMode::Open), "hooks.fail = \"open\"");
    for hook in &mut file.hooks.overrides {
        refuse(hook.timeout_ms.take().is_some(), "hooks.override.timeout_ms");
        refuse(hook.fail == Some(FailMode::Open), "hooks.override.fail = \"open\"");
    }
    file.hooks.overrides.retain(|hook| hook.fail == Some(FailMode::Closed));
    Ok(file)
}

fn refused(path: &Path, key: &str) -> Diagnostic {
    Diagnostic::new("project-setting-refused", Severity::Warning, format!("a project may not set {key}; it has no effect"))
        .at(path)
        .help("a project may choose a model and make hooks stricter; everything else belongs into your own config.toml")
}

/// Reads a file; one that is not there says nothing.
fn read(path: &Path) -> Result<File, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(File::default()),
        Err(error) => {
            return Err(Failure::new(format!("{} cannot be read: {error}", path.display())));
        }
    };
    toml::from_str(&text).map_err(|error| {
        Failure::new(format!("{} is not a configuration:\n{error}", path.display()))
            .help("see docs/configuration.md for its keys")
    })
}

fn trust_variable(env: &Env) -> Result<bool, Failure> {
    match env.text("TENTER_TRUST") {
        None | Some("ask") => Ok(false),
        Some("all") => Ok(true),
        Some(other) => {
            Err(Failure::usage(format!("TENTER_TRUST is {other:?}; known are \"ask\" and \"all\"")))
        }
    }
}

fn number(env: &Env, name: &str) -> Result<Option<u64>, Failure> {
    let Some(text) = env.text(name) else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| Failure::usage(format!("{name} is {text:?}; it must be a whole number")))
}
