//! Hooks and permission rules of Claude Code's settings as manifest hooks (B37, B38).
//!
//! `validate` refuses a file that Claude Code rejects. `handlers` reads the hooks of a settings file (`http` those behind HTTP, `prompt`
//! those that ask a model), `variables` its `env`, `permissions` its permission rules, which `commands` turns into rules for commands and
//! the crate's module `rule_matcher` into matchers. `needs` finds scripts that need Claude Code itself. `files` writes the manifest hook of
//! each, `plan` compares them with the hooks of an earlier import.

mod commands;
mod files;
mod handlers;
mod http;
mod needs;
mod permissions;
mod plan;
mod prompt;
mod validate;
mod variables;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::{Diagnostic, EventName};

use crate::registration;
use variables::Variables;

pub use files::{HookFiles, ImportMark, MANIFEST, SCRIPT, import_mark, is_unedited};
pub use plan::{HookChange, ImportPlan, PlannedHook, plan};

/// The settings that are imported.
#[derive(Debug, Clone)]
pub struct Source {
    /// The text of the file.
    pub text: String,
    /// The name of the file in manifests: relative to the project, or with `~` for the home directory.
    pub origin: String,
    /// The plugin that the file belongs to.
    pub plugin_root: Option<PathBuf>,
    /// The project in which its commands run, to look at their scripts.
    pub project: PathBuf,
    /// The home directory.
    pub home: PathBuf,
}

/// The hooks of a settings file.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The hooks, in the order of the file.
    pub hooks: Vec<ImportedHook>,
    /// Remarks that apply to all of them, as sentences without a full stop.
    pub notes: Vec<String>,
    /// The parts that are not carried over, with the reason, as sentences without a full stop.
    pub left_out: Vec<String>,
}

/// A hook to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedHook {
    /// The key by which it is recognised when the file is imported again. It depends only on what the hook does.
    pub key: String,
    /// Names for it, the best first. Each is valid; the last is tried with numbers.
    pub names: Vec<String>,
    /// Its description in the terms of the settings.
    pub about: String,
    /// The differences from Claude Code, as clauses.
    pub remarks: Vec<String>,
    /// Its event.
    pub trigger: EventName,
    /// The calls that it runs on, besides Claude Code's matcher.
    pub matcher: MatcherText,
    /// Its action.
    pub action: ImportedAction,
}

/// The action of an imported hook.
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
        /// True if it contains values of the settings, which others must not read.
        is_private: bool,
        /// The time limit, in milliseconds.
        timeout_ms: u64,
        /// True if the agent does not wait for it.
        asynchronous: bool,
        /// True if a failure denies.
        fail_closed: bool,
    },
    /// It asks a model, as a runtime hook.
    Judge {
        /// The line of a shell script.
        script: String,
        /// The time limit, in milliseconds.
        timeout_ms: u64,
    },
    /// It decides by rules for commands.
    Rules(Vec<Rule>),
    /// It decides without a script: `deny` or `ask`, with this reason.
    Decide {
        /// The word of the action.
        action: &'static str,
        /// The reason.
        reason: String,
    },
}

/// Reads the hooks of a settings file, or of a plugin's `hooks.json`.
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

/// Turns a text into a part of a hook's name: lower-case letters, digits and single hyphens, at most `length` characters.
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

/// Returns the keys of the commands that a settings file registers, in the form of manifests. A file that Claude Code ignores, because it
/// is not JSON without comments or because hooks are switched off, registers none.
pub fn registered_keys(settings: &str) -> BTreeSet<String> {
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    let mut keys = BTreeSet::new();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        return keys;
    }
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str);
            let handlers = group.get("hooks").and_then(Value::as_array);
            keys.extend(handlers.into_iter().flatten().filter_map(|handler| {
                handlers::key(event, matcher, handler).map(|key| files::short(&key).to_owned())
            }));
        }
    }
    keys
}
