//! Hooks and permission rules of agents' settings as manifest hooks (B37, B38).
//!
//! `other_hosts` converts the hooks of hosts that imitate Claude Code, `host_rules` the permission rules in every host's settings,
//! `codex_rules` and `gemini_policies` those in files of their own.
//! `handlers` reads the hooks of a settings file (`http` those behind HTTP, `prompt`
//! those that ask a model, `names` their names), `variables` its `env`, `permissions` its permission rules, which `commands` turns into rules for commands and
//! the crate's module `rule_matcher` into matchers. `needs` finds scripts that need Claude Code itself. `files` writes the manifest hook of
//! each, `plan` compares them with the hooks of an earlier import.

mod codex_rules;
mod commands;
mod files;
mod gemini_policies;
mod handlers;
mod host_rules;
mod http;
mod names;
mod needs;
mod other_hosts;
mod permissions;
mod plan;
mod prompt;
mod variables;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::manifest::rule::Rule;
use tenter_protocol::{Diagnostic, EventName};

use crate::hook_lint::{entries, settings};
use crate::{Host, hosts, registration};
use variables::Variables;

pub use files::{ImportMark, ImportedFiles, MANIFEST, SCRIPT, import_mark, is_unedited};
pub use plan::{HookChange, ImportPlan, PlannedHook, plan};

/// The remark about a hook of a skill, an agent or a command.
const ONLY_WHILE_ACTIVE: &str = "in Claude Code it runs only while its skill, agent or command is active; imported, it always runs";
/// Maximum number of files that are read in one directory of a host.
const MAX_FILES: usize = 500;

/// The id of Claude Code.
const CLAUDE_CODE: &str = "claude-code";

/// The settings that are imported.
#[derive(Debug, Clone)]
pub struct Source {
    /// The host whose settings they are.
    pub host: &'static Host,
    /// The path of the file.
    pub file: PathBuf,
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

/// Reads the hooks of a host's settings file, or of a plugin's `hooks.json`.
///
/// # Errors
/// It is not JSON or TOML, or Claude Code rejects it; the diagnostic has the position.
pub fn read(source: &Source) -> Result<Import, Diagnostic> {
    let mut import = Import::default();
    let ending = source.file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match (source.host.id, ending) {
        ("codex", "rules") => {
            codex_rules::read(&source.text, &mut import);
            return Ok(import);
        }
        ("gemini", "toml") => {
            let policy = settings(&source.file, &source.text)?;
            gemini_policies::read(source.host, &policy, &mut import);
            return Ok(import);
        }
        (CLAUDE_CODE, "md") => {
            let front = settings(&source.file, &source.text)?;
            handlers::read(&front, source, &Variables::default(), &mut import);
            for hook in &mut import.hooks {
                hook.remarks.push(ONLY_WHILE_ACTIVE.to_owned());
            }
            return Ok(import);
        }
        _ => {}
    }
    if source.host.id != CLAUDE_CODE {
        other_hosts::read(source, &mut import)?;
        host_rules::read(source.host, &settings(&source.file, &source.text)?, &mut import);
        return Ok(import);
    }
    let settings = registration::read_json(&source.text)?;
    if let Some(mut problem) = registration::rejected(&source.text) {
        problem.message = format!("Claude Code rejects this file as a whole: {}", problem.message);
        return Err(problem);
    }
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

/// Returns the keys of the commands that a settings file of a host registers, in the form of manifests. A file that the host ignores,
/// because it cannot be read or because hooks are switched off, registers none.
pub fn registered_keys(host: &Host, file: &Path, text: &str) -> BTreeSet<String> {
    let Ok(settings) = settings(file, text) else { return BTreeSet::new() };
    let is_off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
    if is_off || registration::ignored(host, file, text).is_some() {
        return BTreeSet::new();
    }
    let all = entries(host, file, text).unwrap_or_default();
    let keys = all.iter().filter_map(other_hosts::key);
    keys.map(|key| files::short(&key).to_owned()).collect()
}

/// The files from which the hooks and rules of a host are imported, besides the one in which the bridge registers: of the user from the
/// home directory, of a project from its root.
const FURTHER_FILES: [(&str, &str, &str); 6] = [
    ("codex", ".codex/config.toml", ".codex/config.toml"),
    ("droid", ".factory/hooks.json", ".factory/hooks.json"),
    ("cursor", ".cursor/cli-config.json", ".cursor/cli.json"),
    ("opencode", ".config/opencode/opencode.json", "opencode.json"),
    ("kilo", ".config/kilo/opencode.json", "opencode.json"),
    ("copilot", ".copilot/settings.json", ".github/copilot/settings.json"),
];

/// Returns the files from which the hooks and rules of a host are imported, from the home directory or a project's root.
pub fn files_of(host: &Host, is_for_user: bool) -> Vec<&'static str> {
    let registration = &host.registration;
    let own = if is_for_user { Some(registration.user_file) } else { registration.shared_file };
    let own = own.filter(|_| registration.entries().is_some());
    let further = FURTHER_FILES.iter().find(|(id, ..)| *id == host.id);
    let further = further.map(|(_, user, project)| if is_for_user { *user } else { *project });
    own.into_iter().chain(further).collect()
}

/// The directories with further files of a host, and the end of the paths in them.
const DIRECTORIES: [(&str, &str, &str); 7] = [
    ("codex", ".codex/rules", ".rules"),
    ("gemini", ".gemini/policies", ".toml"),
    ("copilot", ".github/hooks", ".json"),
    ("copilot", ".copilot/hooks", ".json"),
    (CLAUDE_CODE, ".claude/skills", "/SKILL.md"),
    (CLAUDE_CODE, ".claude/agents", ".md"),
    (CLAUDE_CODE, ".claude/commands", ".md"),
];

/// Returns the files with hooks or rules in the directories of a host, below the home directory or a project's root.
pub fn files_in_directories(host: &Host, base: &Path) -> Vec<PathBuf> {
    let directories = DIRECTORIES.iter().filter(|(id, ..)| *id == host.id);
    let mut files: Vec<PathBuf> = directories
        .flat_map(|(_, directory, end)| {
            let entries = fs::read_dir(base.join(directory)).into_iter().flatten().flatten();
            entries.take(MAX_FILES).filter_map(move |entry| match end.strip_prefix('/') {
                Some(name) => Some(entry.path().join(name)),
                None => Some(entry.path()).filter(|path| path.to_string_lossy().ends_with(end)),
            })
        })
        .filter(|file| file.is_file() && (host.id != CLAUDE_CODE || has_hooks(file)))
        .collect();
    files.sort();
    files
}

/// Returns whether the front matter of a skill, an agent or a command may have hooks.
fn has_hooks(file: &Path) -> bool {
    untrusted_file::read_to_string(file).is_ok_and(|text| text.contains("\nhooks:"))
}

/// Returns the hosts whose hooks or rules can be imported.
pub fn sources() -> impl Iterator<Item = &'static Host> {
    hosts::ALL.iter().copied().filter(|host| !files_of(host, true).is_empty())
}
