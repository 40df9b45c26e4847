//! A tool of a server as a tool of the agent.

use std::sync::Arc;

use serde_json::Value;
use tenter_agent::tools::{Tool, ToolContext, ToolEffect};
use tenter_protocol::{Object, ToolResult};

use crate::listing::ListedTool;
use crate::server::Server;
use crate::{calls, result};

/// A tool of a server.
pub(crate) struct McpTool {
    pub(crate) server: Arc<Server>,
    pub(crate) listed: ListedTool,
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.listed.name
    }

    fn description(&self) -> &str {
        &self.listed.description
    }

    fn input_schema(&self) -> Value {
        self.listed.schema.clone()
    }

    fn guidance(&self) -> Option<String> {
        None
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::Runs
    }

    /// Returns the server checks its input.
    fn check(&self, _: &Object) -> Result<(), String> {
        Ok(())
    }

    fn run(&self, input: &Object, context: &ToolContext<'_>) -> ToolResult {
        let timestamp = context.workspace.timestamp();
        let own_name = &self.listed.own_name;
        match calls::call(&self.server, own_name, input, context.cancel) {
            Ok(answer) => {
                let server = self.server.definition.name.as_str();
                let (metadata, is_error) = result::convert(server, own_name, &answer);
                let result = ToolResult::success(self.name(), &metadata, timestamp);
                if is_error { result.failed("the tool reports an error") } else { result }
            }
            Err(why) => ToolResult::failure(self.name(), why, timestamp),
        }
    }
}
