//! Hooks and permission rules of Claude Code's settings as manifest hooks (B37, B38).
//!
//! `validate` refuses a file that Claude Code rejects. `handlers` reads the hooks of a settings file (`http` those behind HTTP, `prompt` those that ask a model),
//! `variables` its `env`, `permissions` its permission rules, of which `commands` makes rules about commands and the crate's
//! module `rule_matcher` makes matchers. `needs` finds scripts that need Claude Code itself. `files` writes the manifest hook of each,
//! `plan` compares them with what an earlier import created. `origin` finds out which imported hooks Claude Code runs itself.

mod commands;
mod files;
mod handlers;
mod http;
mod needs;
mod origin;
mod permissions;
mod plan;
mod prompt;
mod validate;
mod variables;

use std::path::PathBuf;

use serde_json::Value;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::{Diagnostic, EventName};

use crate::registration;
use variables::Variables;

pub use files::{HookFiles, ImportMark, MANIFEST, SCRIPT, import_mark, is_unedited};
pub use origin::registered_keys;
pub use plan::{Change, Plan, PlannedHook, plan};

/// The settings that are imported.
#[derive(Debug, Clone)]
pub struct Source {
    /// The text of the file.
    pub text: String,
    /// What manifests call the file: relative to the project, or with `~` for the home directory.
    pub origin: String,
    /// The plugin that the file belongs to.
    pub plugin_root: Option<PathBuf>,
    /// The project in which its commands run, to look at their scripts.
    pub project: PathBuf,
    /// The home directory.
    pub home: PathBuf,
}

/// What a settings file has for Tenter.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The hooks, in the order of the file.
    pub hooks: Vec<ImportedHook>,
    /// What the user should know of all of them, as sentences without a full stop.
    pub notes: Vec<String>,
    /// What is not carried over, and why, as sentences without a full stop.
    pub left_out: Vec<String>,
}

/// A hook to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedHook {
    /// What it is known by when the file is imported again: the same as long as what it does is the same.
    pub key: String,
    /// Names for it, the best first. Each is valid; the last is tried with numbers.
    pub names: Vec<String>,
    /// What it was in the settings, for the user.
    pub about: String,
    /// How it differs from what it is in Claude Code, as clauses.
    pub remarks: Vec<String>,
    /// When it runs.
    pub trigger: EventName,
    /// Which calls it runs on, besides Claude Code's matcher.
    pub matcher: MatcherText,
    /// What it does.
    pub action: ImportedAction,
}

/// What an imported hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedAction {
    /// It runs a script that is written for Claude Code.
    Command {
        /// Claude Code's event.
        event: &'static str,
        /// Claude Code's matcher.
        matcher: Option<String>,
        /// The lines of a shell script, after those that set the variables of the settings.
        script: String,
        /// Whether values of the settings are in it, which others must not read.
        is_private: bool,
        /// The time limit, in milliseconds.
        timeout_ms: u64,
        /// Whether the agent does not wait for it.
        asynchronous: bool,
        /// Whether a failure denies.
        fail_closed: bool,
    },
    /// It asks a model, as a runtime hook.
    Judge {
        /// The line of a shell script.
        script: String,
        /// The time limit, in milliseconds.
        timeout_ms: u64,
    },
    /// It decides by rules about commands.
    Rules(Vec<Rule>),
    /// It decides without a script: `deny` or `ask`, with this reason.
    Decide {
        /// The word of the action.
        action: &'static str,
        /// The reason.
        reason: String,
    },
}

/// Reads what a settings file, or a plugin's `hooks.json`, has for Tenter.
///
/// # Errors
/// It is not JSON, or Claude Code rejects it; the diagnostic has the position.
pub fn read(source: &Source) -> Result<Import, Diagnostic> {
    let settings = registration::read_json(&source.text)?;
    let mut import = Import::default();
    validate::check(&settings, &source.text)?;
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        let why = "`disableAllHooks` is set, so Claude Code does not run these hooks; Tenter will";
        import.left_out.push(why.to_owned());
    }
    let variables = Variables::read(&settings, &mut import);
    handlers::read(&settings, source, &variables, &mut import);
    permissions::read(&settings, &mut import);
    Ok(import)
}

/// Text as a part of a hook's name: lower-case letters, digits and single hyphens, at most `length` characters.
fn slug(text: &str, length: usize) -> String {
    let mut slug = String::new();
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(length);
    slug.trim_matches('-').to_owned()
}
