//! The tool of an MCP server, one call of which is denied by the name of the tool.

use std::path::Path;

use serde_json::json;
use tenter_model_server::Reply;
use tenter_protocol::EventName;

use super::Plan;
use crate::client::{Client, MCP_SERVER, MCP_TOOL};
use crate::hook_file::{HookFile, quoted};

/// The file of the call that hooks let pass.
pub(crate) const FILE: &str = "by-server.txt";
/// The file of the call that a hook denies, the hook, and its reason.
pub(crate) const DENIED: &str = "denied-to-server.txt";
pub(crate) const HOOK: &str = "guard-server";
pub(crate) const REASON: &str = "REASON-FOR-SERVER";

pub(super) fn plan(client: &Client) -> Plan {
    let call = |file: &str| {
        let names: Vec<&str> = client.mcp_tool.into_iter().collect();
        Reply::new().call_any(&names, json!({"file": file}))
    };
    // Vibe keeps its own name for the tool.
    let tool = format!("(mcp__{MCP_SERVER}__{MCP_TOOL}|{MCP_SERVER}_{MCP_TOOL})");
    let hook = HookFile::deny(HOOK, EventName::BeforeTool, REASON).only(&tool, DENIED);
    Plan::new(vec![hook], vec![call(FILE), call(DENIED), Reply::text("All finished.")])
}

/// Returns the script of a server whose tool makes a file in the directory `project`.
pub(crate) fn server(project: &Path) -> String {
    let project = quoted(project);
    format!(
        r#"cd {project} || exit 1
field() {{ printf '%s' "$line" | sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }}
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id" *: *\([0-9][0-9]*\).*/\1/p;s/.*"id" *: *\("[^"]*"\).*/\1/p')
    [ -n "$id" ] || continue
    kind=result
    case $line in
    *'"initialize"'*)
        answer="{{\"protocolVersion\":\"$(field protocolVersion)\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"{MCP_SERVER}\",\"version\":\"1\"}}}}" ;;
    *'"tools/list"'*)
        answer='{{"tools":[{{"name":"{MCP_TOOL}","description":"Makes a file.","inputSchema":{{"type":"object","properties":{{"file":{{"type":"string"}}}},"required":["file"]}}}}]}}' ;;
    *'"tools/call"'*)
        : > "$(field file)"
        answer='{{"content":[{{"type":"text","text":"Made."}}]}}' ;;
    *'"ping"'*) answer='{{}}' ;;
    *) kind=error answer='{{"code":-32601,"message":"unknown method"}}' ;;
    esac
    printf '{{"jsonrpc":"2.0","id":%s,"%s":%s}}\n' "$id" "$kind" "$answer"
done
"#
    )
}
