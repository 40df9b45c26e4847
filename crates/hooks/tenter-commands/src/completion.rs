//! Candidates for words of the command line: names of hooks, plugins, settings. A source that cannot be read has none.

use clap::builder::StyledStr;
use clap_complete::engine::CompletionCandidate;
use tenter_base::{excerpt, one_line};
use tenter_bridge::hosts;
use tenter_engine::layout::HOOKS;
use tenter_engine::source::{self, CandidateKind};
use tenter_protocol::lifecycle::TABLE;
use tenter_settings::table;
use tenter_terminal::Env;

use crate::{guard, help, plugin, project};

/// Maximum number of characters of a description.
const MAX_LENGTH: usize = 60;

/// Returns a candidate with its description.
pub fn candidate(value: &str, about: &str) -> CompletionCandidate {
    let about = Some(one_line(about, MAX_LENGTH)).filter(|about| !about.is_empty());
    CompletionCandidate::new(value).help(about.map(StyledStr::from))
}

/// Returns the root of the project of the working directory, or the directory itself.
pub fn root(env: &Env) -> std::path::PathBuf {
    project::root(env, None).unwrap_or_else(|_| env.cwd.clone())
}

/// Returns the hooks in the directories; none is asked for its events.
pub fn hooks(env: &Env) -> Vec<CompletionCandidate> {
    let (roots, _) = env.layout(root(env)).roots(&HOOKS);
    let candidates = roots.iter().flat_map(|root| source::scan(root, 0).0);
    let mut names: Vec<(String, &str)> = candidates
        .filter_map(|hook| match hook.kind {
            CandidateKind::Executable(_) | CandidateKind::Manifest(_) => {
                Some((hook.name, hook.layer.as_str()))
            }
            CandidateKind::Disabled => Some((hook.name, "disabled")),
            CandidateKind::NotExecutable | CandidateKind::Invalid(_) => None,
        })
        .collect();
    names.sort();
    names.dedup_by(|one, other| one.0 == other.0);
    names.iter().map(|(name, about)| candidate(name, about)).collect()
}

/// Returns the installed plugins.
pub fn plugins(env: &Env) -> Vec<CompletionCandidate> {
    plugin::installed_names(env, &root(env)).iter().map(|name| candidate(name, "")).collect()
}

/// Returns the ready-made guards.
pub fn guards(_env: &Env) -> Vec<CompletionCandidate> {
    guard::names().map(|(name, about)| candidate(name, about)).collect()
}

/// Returns the guards and other ready-made hooks.
pub fn ready_made(_env: &Env) -> Vec<CompletionCandidate> {
    guard::catalog_names().map(|(name, about)| candidate(name, about)).collect()
}

/// Returns the agents that can have hooks.
pub fn hosts(_env: &Env) -> Vec<CompletionCandidate> {
    hosts::ALL.iter().map(|host| candidate(host.id, host.name)).collect()
}

/// Returns the events.
pub fn events(_env: &Env) -> Vec<CompletionCandidate> {
    TABLE.iter().map(|row| candidate(row.name, "")).collect()
}

/// Returns the settings.
pub fn settings(_env: &Env) -> Vec<CompletionCandidate> {
    table::settings().map(|setting| candidate(setting.key, &setting.plain_about())).collect()
}

/// Returns the tables of settings.
pub fn tables(_env: &Env) -> Vec<CompletionCandidate> {
    let mut tables: Vec<&str> = table::settings()
        .filter_map(|setting| Some(excerpt::prefix(setting.key, setting.key.find('.')?)))
        .collect();
    tables.dedup();
    tables.into_iter().map(|table| candidate(table, "")).collect()
}

/// Returns the pages of the manual.
pub fn topics(_env: &Env) -> Vec<CompletionCandidate> {
    help::topics().map(|(name, about)| candidate(name, about)).collect()
}
