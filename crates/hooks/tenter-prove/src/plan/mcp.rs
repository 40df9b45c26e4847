//! The tool of an MCP server, one call of which is denied by the name of the tool.

use serde_json::json;
use tenter_model_server::ModelReply;
use tenter_protocol::EventName;

use super::Plan;
use crate::client::{Client, MCP_SERVER, MCP_TOOL};
use crate::hook_file::HookFile;

/// The file of the call that hooks let pass.
pub(crate) const FILE: &str = "by-server.txt";
/// The file of the call that a hook denies, the hook, and its reason.
pub(crate) const DENIED: &str = "denied-to-server.txt";
pub(crate) const HOOK: &str = "guard-server";
pub(crate) const REASON: &str = "REASON-FOR-SERVER";

pub(super) fn plan(client: &Client) -> Plan {
    let call = |file: &str| {
        let names: Vec<&str> = client.mcp_tool.into_iter().collect();
        ModelReply::new().call_any(&names, json!({"file": file}))
    };
    // Vibe keeps its own name for the tool.
    let tool = format!("(mcp__{MCP_SERVER}__{MCP_TOOL}|{MCP_SERVER}_{MCP_TOOL})");
    let hook = HookFile::deny(HOOK, EventName::BeforeTool, REASON).only(&tool, DENIED);
    Plan::new(vec![hook], vec![call(FILE), call(DENIED), ModelReply::text("All finished.")])
}
