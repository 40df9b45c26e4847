//! The MCP server of the scratch project: one tool, which makes a file.

use std::path::Path;

use crate::client::{MCP_SERVER, MCP_TOOL};
use crate::hook_file::quote;

/// Returns the script of a server whose tool makes a file in the directory `project`.
pub(crate) fn script(project: &Path) -> String {
    let project = quote(project);
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
