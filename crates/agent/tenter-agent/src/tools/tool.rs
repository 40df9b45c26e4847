//! The traits of a tool: [`Tool`] takes JSON, [`TypedTool`] a typed input.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::confinement::Confinement;
use tenter_protocol::permission_mode::PermissionMode;
use tenter_protocol::tool_metadata::Metadata;
use tenter_protocol::{Object, ToolResult};

use super::{OutputTail, Subagents, ToolError, Workspace, WriteConsent, input, schema};

/// A tool in the registry.
pub trait Tool: Send + Sync {
    /// Returns the name by which the model calls it.
    fn name(&self) -> &str;

    /// Returns the description that the model reads.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of its input.
    fn input_schema(&self) -> Value;

    /// Returns text for the system prompt in addition to the description, if there is any.
    fn guidance(&self) -> Option<String>;

    /// Returns the effect of a call, which decides whether it needs the user's permission.
    fn effect(&self) -> ToolEffect;

    /// Checks an input.
    ///
    /// # Errors
    /// It is invalid; the message names the field.
    fn check(&self, input: &Object) -> Result<(), String>;

    /// Runs the tool. An invalid input, like any other error, is a failed result.
    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult;
}

/// The effect of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// It reads accessible files, or changes only the agent's own state, or makes calls that need permission themselves.
    Reads,
    /// It changes accessible files.
    Edits,
    /// Anything else: it runs programs, or its effect is not known.
    Runs,
}

impl ToolEffect {
    /// Returns whether the user is asked about a call that does this.
    pub fn needs_permission(self, mode: PermissionMode) -> bool {
        match self {
            Self::Reads => false,
            Self::Edits => mode == PermissionMode::Ask,
            Self::Runs => mode != PermissionMode::All,
        }
    }
}

/// The context of one tool call.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The call's id.
    pub call_id: &'a str,
    /// The state that the tools of one agent share.
    pub workspace: &'a Workspace,
    /// Receives the output of the tool as it comes, for displays.
    pub output: &'a OutputTail,
    /// The confinements under which the call must run.
    pub confinements: &'a [Confinement],
    /// Cancels the call.
    pub cancel: &'a Cancel,
    /// Asked before something protected is changed.
    pub consent: &'a dyn WriteConsent,
    /// Starts subagents; `None` in a subagent.
    pub subagents: Option<&'a dyn Subagents>,
}

/// A tool with a typed input and a typed result. Every such tool is a [`Tool`].
pub trait TypedTool: Send + Sync {
    /// The name by which the model calls it.
    const NAME: &'static str;
    /// The description that the model reads.
    const DESCRIPTION: &'static str;
    /// The effect of a call.
    const EFFECT: ToolEffect;
    /// The input; its schema is derived from it, with the doc comments of the fields as descriptions.
    type Input: DeserializeOwned + JsonSchema;
    /// The result: usually metadata.
    type Output: ToolReport;

    /// Returns text for the system prompt in addition to the description, for a tool whose choices depend on the project.
    fn guidance(&self) -> Option<String> {
        None
    }

    /// Runs the tool.
    ///
    /// # Errors
    /// When there is only a message to report. A failure with metadata to show is a [`ToolReport`].
    fn perform(
        &self,
        input: Self::Input,
        context: &ToolContext<'_>,
    ) -> Result<Self::Output, ToolError>;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self) -> &str {
        T::DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        schema::plain_schema::<T::Input>()
    }

    fn guidance(&self) -> Option<String> {
        TypedTool::guidance(self)
    }

    fn effect(&self) -> ToolEffect {
        T::EFFECT
    }

    fn check(&self, input: &Object) -> Result<(), String> {
        input::decode::<T::Input>(input).map(|_| ())
    }

    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        let result = input::decode::<T::Input>(input)
            .map_err(|error| ToolError::new(format!("the input does not fit: {error}")))
            .and_then(|input| self.perform(input, context));
        let timestamp = context.workspace.timestamp();
        match result {
            Ok(report) => report.into_result(T::NAME, timestamp),
            Err(error) => ToolResult::failure(T::NAME, error.to_string(), timestamp),
        }
    }
}

/// Something that becomes a tool's result.
pub trait ToolReport {
    /// Converts it into the result of the tool called `name` at `timestamp`.
    fn into_result(self, name: &str, timestamp: String) -> ToolResult;
}

impl<M: Metadata> ToolReport for M {
    fn into_result(self, name: &str, timestamp: String) -> ToolResult {
        ToolResult::success(name, &self, timestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stricter_mode_asks_about_everything_that_a_looser_one_asks_about() {
        let asks = |mode: PermissionMode| {
            [ToolEffect::Reads, ToolEffect::Edits, ToolEffect::Runs]
                .map(|effect| effect.needs_permission(mode))
        };
        assert_eq!(asks(PermissionMode::Ask), [false, true, true]);
        assert_eq!(asks(PermissionMode::Edits), [false, false, true]);
        assert_eq!(asks(PermissionMode::All), [false, false, false]);
    }
}
