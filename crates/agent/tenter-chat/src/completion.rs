//! Candidates for words of the agent's commands: conversations, models, recipes. A source that cannot be read has none.

use clap_complete::engine::CompletionCandidate;
use tenter_agent::recipe::Recipes;
use tenter_agent::skill::Skills;
use tenter_agent::store::ListQuery;
use tenter_commands::completion::{self, candidate};
use tenter_commands::project::Project;
use tenter_engine::trust::{TrustedKind, trust_name};
use tenter_protocol::front_matter::Strictness;
use tenter_settings::ConfiguredServer;
use tenter_terminal::Env;

use crate::agent::mcp;
use crate::agent::models::Provider;
use crate::conversation::open_store;

/// Maximum number of conversations.
const MAX_CONVERSATIONS: usize = 50;

/// Returns the conversations of the project, the newest first, with their first words.
pub fn conversations(env: &Env) -> Vec<CompletionCandidate> {
    let root = completion::root(env);
    let query =
        ListQuery { project: Some(&root), limit: MAX_CONVERSATIONS, include_subagents: false };
    let Ok(Some(store)) = open_store(env) else { return Vec::new() };
    let summaries = store.list(&query).unwrap_or_default();
    let all = summaries.iter().enumerate();
    all.map(|(age, one)| candidate(&one.id, &one.preview).display_order(Some(age))).collect()
}

/// Returns the known models.
pub fn models(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let providers = Provider::all(&project).unwrap_or_default();
    let models = providers.iter().flat_map(|provider| {
        let models = provider.models(&project).into_iter();
        models.map(|model| candidate(&format!("{}/{model}", provider.name), ""))
    });
    models.collect()
}

/// Returns the providers of models.
pub fn providers(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let providers = Provider::all(&project).unwrap_or_default();
    providers.iter().map(|provider| candidate(provider.name, &provider.address)).collect()
}

/// Returns the recipes; their files are only read.
pub fn recipes(env: &Env) -> Vec<CompletionCandidate> {
    let (recipes, _) = Recipes::new(&env.layout(completion::root(env)), &[]).list();
    let usable = recipes.iter().filter(|recipe| recipe.shadowed_by.is_none() && !recipe.is_broken);
    usable.map(|recipe| candidate(&recipe.name, &recipe.description)).collect()
}

/// Returns the skills.
pub fn skills(env: &Env) -> Vec<CompletionCandidate> {
    let (skills, _) = Skills::new(&env.layout(completion::root(env))).list(Strictness::Tolerant);
    let usable = skills.iter().filter(|skill| skill.shadowed_by.is_none());
    usable.map(|skill| candidate(&skill.origin.name, &skill.description)).collect()
}

/// Returns the MCP servers; none is started.
pub fn servers(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    mcp::all(&project).map(|server| candidate(&server.name, &server.target())).collect()
}

/// Returns what can be trusted: hooks, and MCP servers of the project.
pub fn trusted(env: &Env) -> Vec<CompletionCandidate> {
    let Ok(project) = Project::open(env, None) else { return Vec::new() };
    let servers = mcp::all(&project).filter(|server| server.is_project);
    let name = |server: &ConfiguredServer| trust_name(TrustedKind::McpServer, &server.name);
    let servers = servers.map(|server| candidate(&name(server), &server.target()));
    completion::hooks(env).into_iter().chain(servers).collect()
}
