//! What words of the command line can be: names of hooks, conversations, models. A source that cannot be read has none.

use clap::builder::StyledStr;
use clap_complete::engine::CompletionCandidate;
use tenter_agent::recipe::Recipes;
use tenter_agent::skill::Skills;
use tenter_agent::store::ListQuery;
use tenter_base::excerpt;
use tenter_base::sanitize::one_line;
use tenter_bridge::hosts;
use tenter_commands::project::{self, Project};
use tenter_commands::{guard, help, plugin};
use tenter_engine::layout::HOOKS;
use tenter_engine::source::{self, CandidateKind};
use tenter_engine::trust::{TrustedKind, trust_name};
use tenter_protocol::front_matter::Rules;
use tenter_protocol::lifecycle::TABLE;
use tenter_settings::ConfiguredServer;
use tenter_settings::keys::SETTINGS;
use tenter_terminal::env::Env;

use crate::agent::mcp;
use crate::agent::models::Provider;
use crate::commands::conversation::open_store;

/// Maximum number of characters of a description.
const LENGTH: usize = 60;
/// Maximum number of conversations.
const CONVERSATIONS: usize = 50;

fn candidate(value: &str, about: &str) -> CompletionCandidate {
    let about = Some(one_line(about, LENGTH)).filter(|about| !about.is_empty());
    CompletionCandidate::new(value).help(about.map(StyledStr::from))
}

fn root(env: &Env) -> std::path::PathBuf {
    project::root(env, None).unwrap_or_else(|_| env.cwd.clone())
}

/// The hooks in the directories; none is asked for its events.
pub(super) fn hooks(env: &Env) -> Vec<CompletionCandidate> {
    let (roots, _) = env.layout(root(env)).roots(&HOOKS);
    let found = roots.iter().flat_map(|root| source::scan(root, 0).0);
    let mut names: Vec<(String, &str)> = found
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

/// The conversations of the project, the newest first, with their first words.
pub(super) fn conversations(env: &Env) -> Vec<CompletionCandidate> {
    let root = root(env);
    let query = ListQuery { project: Some(&root), limit: CONVERSATIONS, include_subagents: false };
    let Ok(Some(store)) = open_store(env) else { return Vec::new() };
    let found = store.list(&query).unwrap_or_default();
    let all = found.iter().enumerate();
    all.map(|(age, one)| candidate(&one.id, &one.preview).display_order(Some(age))).collect()
}

/// The known models.
pub(super) fn models(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let providers = Provider::all(&project).unwrap_or_default();
    let models = providers.iter().flat_map(|provider| {
        let models = provider.models(&project).into_iter();
        models.map(|model| candidate(&format!("{}/{model}", provider.name), ""))
    });
    models.collect()
}

/// The providers of models.
pub(super) fn providers(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let providers = Provider::all(&project).unwrap_or_default();
    providers.iter().map(|provider| candidate(provider.name, &provider.address)).collect()
}

/// The recipes; their files are only read.
pub(super) fn recipes(env: &Env) -> Vec<CompletionCandidate> {
    let (recipes, _) = Recipes::new(&env.layout(root(env)), &[]).list();
    let usable = recipes.iter().filter(|recipe| recipe.shadowed_by.is_none() && !recipe.is_broken);
    usable.map(|recipe| candidate(&recipe.name, &recipe.description)).collect()
}

/// The skills.
pub(super) fn skills(env: &Env) -> Vec<CompletionCandidate> {
    let (skills, _) = Skills::new(&env.layout(root(env))).list(Rules::Tolerant);
    let usable = skills.iter().filter(|skill| skill.shadowed_by.is_none());
    usable.map(|skill| candidate(&skill.origin.name, &skill.description)).collect()
}

/// The MCP servers; none is started.
pub(super) fn servers(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    mcp::all(&project).map(|server| candidate(&server.name, &server.target())).collect()
}

/// What can be trusted: hooks, and MCP servers of the project.
pub(super) fn trusted(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let servers = mcp::all(&project).filter(|server| server.of_project);
    let name = |server: &ConfiguredServer| trust_name(TrustedKind::McpServer, &server.name);
    let servers = servers.map(|server| candidate(&name(server), &server.target()));
    hooks(env).into_iter().chain(servers).collect()
}

/// The installed plugins.
pub(super) fn plugins(env: &Env) -> Vec<CompletionCandidate> {
    plugin::installed_names(env, &root(env)).iter().map(|name| candidate(name, "")).collect()
}

/// The ready-made guards.
pub(super) fn guards(_env: &Env) -> Vec<CompletionCandidate> {
    guard::names().map(|(name, about)| candidate(name, about)).collect()
}

/// The agents that can have hooks.
pub(super) fn hosts(_env: &Env) -> Vec<CompletionCandidate> {
    hosts::ALL.iter().map(|host| candidate(host.id, host.name)).collect()
}

/// The events.
pub(super) fn events(_env: &Env) -> Vec<CompletionCandidate> {
    TABLE.iter().map(|row| candidate(row.name, "")).collect()
}

/// The settings.
pub(super) fn settings(_env: &Env) -> Vec<CompletionCandidate> {
    SETTINGS.iter().map(|setting| candidate(setting.key, setting.about)).collect()
}

/// The tables of settings.
pub(super) fn tables(_env: &Env) -> Vec<CompletionCandidate> {
    let mut tables: Vec<&str> = SETTINGS
        .iter()
        .filter_map(|setting| Some(excerpt::prefix(setting.key, setting.key.find('.')?)))
        .collect();
    tables.dedup();
    tables.into_iter().map(|table| candidate(table, "")).collect()
}

/// The pages of the manual.
pub(super) fn topics(_env: &Env) -> Vec<CompletionCandidate> {
    help::topics().map(|(name, about)| candidate(name, about)).collect()
}
