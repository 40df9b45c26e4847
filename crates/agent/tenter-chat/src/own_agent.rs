//! The agent's part of the commands of hooks: recipes, models and MCP servers need trust, conversations are in the log.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tenter_agent::model::completion;
use tenter_agent::recipe::Recipes;
use tenter_agent::skill::Skills;
use tenter_agent::store::{ListQuery, StoreError};
use tenter_backtest::RecordedCall;
use tenter_base::visible;
use tenter_commands::project::Project;
use tenter_commands::trust::{ProjectRecipe, TrustChoice};
use tenter_commands::{CompletionError, ConversationEntry, OwnAgent};
use tenter_proc::Cancel;
use tenter_protocol::front_matter::Strictness;
use tenter_protocol::runtime::{Completion, CompletionRequest, ModelChoice};
use tenter_protocol::{Block, Diagnostic, json};
use tenter_terminal::{Env, Failure, ui};

use crate::agent::models::consent::{self, ProjectModel};
use crate::agent::{AgentArgs, mcp, models, recipes};
use crate::conversation::open_store;

/// Tenter's own agent.
pub struct TenterAgent;

impl OwnAgent for TenterAgent {
    fn untrusted_recipes(&self, project: &Project, directories: &[PathBuf]) -> Vec<ProjectRecipe> {
        recipes::untrusted(&recipes::book(project, directories))
    }

    fn settle_trust(&self, project: &mut Project, yes: bool) -> Result<bool, Failure> {
        let models = consent::pending(project);
        consent_to(project, &models, yes)?;
        let servers = mcp::pending(project);
        decide_about(project, &servers, yes)?;
        Ok(!models.is_empty() || !servers.is_empty())
    }

    fn conversations(
        &self,
        env: &Env,
        root: Option<&Path>,
        limit: usize,
    ) -> Result<Vec<ConversationEntry>, Failure> {
        let query = ListQuery { project: root, limit, include_subagents: false };
        let Some(store) = open_store(env)? else { return Ok(Vec::new()) };
        let summaries = store.list(&query).map_err(Failure::caused_by)?.into_iter();
        let entry = |summary: tenter_agent::store::Summary| ConversationEntry {
            id: summary.id,
            updated_at: summary.updated_at,
            title: summary.preview,
        };
        Ok(summaries.map(entry).collect())
    }

    fn find_conversation(&self, env: &Env, prefix: &str) -> Result<Option<String>, Failure> {
        let Some(store) = open_store(env)? else { return Ok(None) };
        match store.find(prefix) {
            Ok(id) => Ok(Some(id)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(Failure::caused_by(error)),
        }
    }

    fn past_calls(&self, env: &Env, sink: &mut dyn FnMut(RecordedCall)) -> Result<(), Failure> {
        let Some(store) = open_store(env)? else { return Ok(()) };
        let query = ListQuery { project: None, limit: usize::MAX, include_subagents: true };
        // A fork has the calls of its original.
        let mut calls = HashSet::new();
        for summary in store.list(&query).map_err(Failure::caused_by)? {
            let epochs = store.history(&summary.id).map_err(Failure::caused_by)?;
            for entry in epochs.iter().flat_map(|epoch| &epoch.entries) {
                for block in &entry.entry.message.blocks {
                    let Block::ToolUse(call) = block else { continue };
                    if calls.insert((call.id.clone(), json::to_string(&call.input))) {
                        let (time, file) = (entry.at.parse().ok(), env.store_file());
                        sink(RecordedCall::own(&summary.id, &summary.project, time, call, &file));
                    }
                }
            }
        }
        Ok(())
    }

    fn check_plugin(&self, directory: &Path) -> Vec<Diagnostic> {
        let recipes = Recipes::from_directory(&directory.join("recipes")).list().1;
        let skills = Skills::from_directory(&directory.join("skills")).list(Strictness::Strict).1;
        recipes.into_iter().chain(skills).collect()
    }

    fn complete(
        &self,
        project: &Project,
        request: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<Completion, CompletionError> {
        let has_weak = project.settings.models.weak_model.is_some();
        let args = AgentArgs {
            use_weak_model: request.model == ModelChoice::Weak && has_weak,
            ..AgentArgs::default()
        };
        let connected = models::choose(project, &args, None, cancel)
            .map_err(|failure| CompletionError::Unsupported(failure.to_string()))?;
        let result = completion::complete(&*connected.model, request, cancel);
        result
            .map(|result| result.completion)
            .map_err(|error| CompletionError::Failed(error.to_string()))
    }
}

/// Asks whether the project may use these models, and records the answer.
fn consent_to(project: &Project, models: &[ProjectModel], yes: bool) -> Result<(), Failure> {
    for model in models {
        if !yes && !model.ask(project) {
            return Err(model.refusal());
        }
        model.trust(project)?;
        ui::note(format!("Trusted: {}.", visible(model.record(project).name())));
    }
    Ok(())
}

/// Asks whether the project's MCP servers may run, and records the answer.
fn decide_about(
    project: &mut Project,
    servers: &[mcp::PendingServer],
    yes: bool,
) -> Result<(), Failure> {
    let choice = match servers {
        [] => TrustChoice::Skip,
        _ if yes => TrustChoice::Trust,
        servers => mcp::ask(project, servers),
    };
    match choice {
        TrustChoice::Trust => mcp::trust(project, servers),
        TrustChoice::Only(_) | TrustChoice::Skip => Ok(()),
        TrustChoice::Refuse => Err(mcp::refusal(servers)),
    }
}

#[cfg(test)]
mod tests {
    use tenter_agent::tools::{Registry, Tool};
    use tenter_commands::hooks::OWN_TOOLS;

    #[test]
    fn doctor_knows_the_tools_of_the_agent() {
        let tools = Registry::standard();
        let names: Vec<&str> = tools.iter().map(Tool::name).collect();
        assert_eq!(names, OWN_TOOLS);
    }
}
