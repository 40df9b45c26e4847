//! The interface through which a tool starts subagents; the session implements it.

use tenter_protocol::event::Subagent;
use thiserror::Error;

/// Starts subagents.
pub trait Subagents: Sync {
    /// Runs a subagent to completion.
    ///
    /// # Errors
    /// When it did not start, or did not finish.
    fn run(&self, subagent: &Subagent) -> Result<SubagentAnswer, SubagentError>;
}

/// The result of a subagent.
#[derive(Debug)]
pub struct SubagentAnswer {
    /// Its last text.
    pub response: String,
    /// The id of its conversation.
    pub conversation_id: String,
}

/// The reason why a subagent has no result.
#[derive(Debug, Error)]
pub enum SubagentError {
    /// A hook denied it, for this reason.
    #[error("{0}")]
    Blocked(String),
    /// It did not finish.
    #[error("the subagent did not finish: {0}")]
    Failed(String),
}
