//! What a tool is: to the registry, an object that takes JSON; to its author, a type with a typed input.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::tool_metadata::Metadata;
use tenter_protocol::{Object, ToolResult};

use super::{Subagents, Workspace, WriteConsent, input, schema};

/// A tool as the registry holds it.
pub trait Tool: Send + Sync {
    /// What the model calls it by.
    fn name(&self) -> &'static str;

    /// What the model is told of it.
    fn description(&self) -> &'static str;

    /// The JSON Schema of its input.
    fn input_schema(&self) -> Value;

    /// What the system prompt says of it beside its description; `None` where that says all.
    fn guidance(&self) -> Option<String>;

    /// Whether an input fits.
    ///
    /// # Errors
    /// What does not fit; the message names the field.
    fn check(&self, input: &Object) -> Result<(), String>;

    /// Does its work. An input that does not fit, like everything else that goes wrong, is a failed result.
    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult;
}

/// What a tool gets to know of the call that it serves.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The call's id.
    pub call_id: &'a str,
    /// What the tools of one agent share.
    pub workspace: &'a Workspace,
    /// Thrown when the work is to end early.
    pub cancel: &'a Cancel,
    /// Asked before something protected is changed.
    pub consent: &'a dyn WriteConsent,
    /// Runs subagents; absent where the caller is one itself.
    pub subagents: Option<&'a dyn Subagents>,
}

/// A tool as its author writes it: a typed input, and metadata of one kind. Every such tool is a [`Tool`].
pub trait TypedTool: Send + Sync {
    /// What the model calls it by.
    const NAME: &'static str;
    /// What the model is told of it.
    const DESCRIPTION: &'static str;
    /// Its input; the schema is made from it, with the doc comments of its fields as descriptions.
    type Input: DeserializeOwned + JsonSchema;
    /// What it hands back: as a rule metadata.
    type Output: Report;

    /// What the system prompt says of it beside its description: for a tool whose choices are the project's.
    fn guidance(&self) -> Option<String> {
        None
    }

    /// Does the work.
    ///
    /// # Errors
    /// When there is nothing to show but a message. A failure that has metadata to show is a [`Report`].
    fn perform(
        &self,
        input: Self::Input,
        context: &ToolContext<'_>,
    ) -> Result<Self::Output, ToolError>;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        schema::of::<T::Input>()
    }

    fn guidance(&self) -> Option<String> {
        TypedTool::guidance(self)
    }

    fn check(&self, input: &Object) -> Result<(), String> {
        input::decode::<T::Input>(input).map(|_| ())
    }

    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        let outcome = input::decode::<T::Input>(input)
            .map_err(|error| ToolError::new(format!("the input does not fit: {error}")))
            .and_then(|input| self.perform(input, context));
        let timestamp = context.workspace.timestamp();
        match outcome {
            Ok(report) => report.into_result(T::NAME, timestamp),
            Err(error) => ToolResult::failure(T::NAME, error.to_string(), timestamp),
        }
    }
}

/// Something that becomes a tool's result.
pub trait Report {
    /// The result of the tool called `name` at `timestamp`.
    fn into_result(self, name: &str, timestamp: String) -> ToolResult;
}

impl<M: Metadata> Report for M {
    fn into_result(self, name: &str, timestamp: String) -> ToolResult {
        ToolResult::success(name, &self, timestamp)
    }
}

/// Why a tool has nothing to show, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    /// What happened, where, and what to do next.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What the system says of a file or folder.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }

    /// The work was cancelled.
    pub(crate) fn interrupted() -> Self {
        Self::new("interrupted")
    }
}

/// Ends the work when it was cancelled.
pub(crate) fn go_on(cancel: &Cancel) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::interrupted()) } else { Ok(()) }
}
