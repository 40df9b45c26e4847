//! The part of the agent in the commands of hooks. A build without the agent passes [`NoAgent`].

use std::path::{Path, PathBuf};

use tenter_backtest::RecordedCall;
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_protocol::runtime::{Completion, CompletionRequest};
use tenter_terminal::{Env, Failure};

use crate::project::Project;
use crate::trust::ProjectRecipe;

/// The agent, as far as the commands of hooks need it. The defaults belong to a build without it.
pub trait OwnAgent: Sync {
    /// Returns the project's recipes that need trust; those in `directories` are searched, too.
    fn untrusted_recipes(
        &self,
        _project: &Project,
        _directories: &[PathBuf],
    ) -> Vec<ProjectRecipe> {
        Vec::new()
    }

    /// Asks whether the models and the MCP servers of the project may be used, unless `yes` says so, and records the answer.
    /// Returns whether any needed trust.
    ///
    /// # Errors
    /// The user refuses, or cannot be asked.
    fn settle_trust(&self, _project: &mut Project, _yes: bool) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Returns at most `limit` stored conversations of the project with this root, or of all projects, the newest first.
    fn conversations(
        &self,
        _env: &Env,
        _root: Option<&Path>,
        _limit: usize,
    ) -> Result<Vec<ConversationEntry>, Failure> {
        Ok(Vec::new())
    }

    /// Returns the id of the stored conversation that begins with `prefix`; `None` if there is none.
    ///
    /// # Errors
    /// Several begin with it, or the store cannot be read.
    fn find_conversation(&self, _env: &Env, _prefix: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Passes the tool calls of the stored conversations to `sink`, each once.
    ///
    /// # Errors
    /// The store cannot be read.
    fn past_calls(&self, _env: &Env, _sink: &mut dyn FnMut(RecordedCall)) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the diagnostics of the recipes and skills of the plugin in `directory`.
    fn check_plugin(&self, _directory: &Path) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Asks the configured model on behalf of a runtime hook.
    ///
    /// # Errors
    /// There is no model, or it failed.
    fn complete(
        &self,
        _project: &Project,
        _request: &CompletionRequest,
        _cancel: &Cancel,
    ) -> Result<Completion, CompletionError> {
        Err(CompletionError::Unsupported("this build of tenter has no agent".to_owned()))
    }
}

/// A build without the agent.
pub struct NoAgent;

impl OwnAgent for NoAgent {}

/// A conversation in the agent's store.
pub struct ConversationEntry {
    /// Its id.
    pub id: String,
    /// The time of its newest message, as in RFC 3339.
    pub updated_at: String,
    /// The first words of its first message.
    pub title: String,
}

/// The reason why a hook's request to the model was not completed.
pub enum CompletionError {
    /// There is no model.
    Unsupported(String),
    /// The model failed.
    Failed(String),
}
