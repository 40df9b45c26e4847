//! Names of tools that sessions of a host used and Tenter does not know: a matcher for a tool that Tenter knows may miss them (B51).
//! They are only for listings: no decision depends on them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{excerpt, one_line, replace_file, untrusted_file};
use tenter_protocol::tool_names::{ToolNames, canonical};

use crate::occurrence::{Detail, NativeCall, Occurrence};
use crate::{Host, tool_call};

/// Maximum number of names that are kept for each host.
const MAX_TOOLS: usize = 64;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 128;
/// Maximum size of a record, in bytes.
const MAX_SIZE: u64 = 64 << 10;

/// A tool with an unknown name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTool {
    /// The host's name of the tool.
    pub name: String,
    /// The tool of Tenter that the fields of its input match, whose names it has, too; `None` if they match none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub treated_as: Option<String>,
}

impl UnknownTool {
    /// Returns the tool of a call; `None` if it is known, or a tool of an MCP server.
    fn from_call(host: &Host, native: &NativeCall) -> Option<Self> {
        if host.tool(native).is_some() || canonical(&native.tool).is_some() {
            return None;
        }
        let call = tool_call::canonical(host, native);
        if native.server.is_some() || call.name.starts_with("mcp__") {
            return None;
        }
        let name = one_line(excerpt::prefix(&native.tool, MAX_NAME), MAX_NAME);
        let treated_as = ToolNames::default().similar_tool(&call).map(str::to_owned);
        Some(Self { name, treated_as })
    }

    /// Describes the tool in a few words: `exec2 (treated as bash)`.
    pub fn describe(&self) -> String {
        match &self.treated_as {
            Some(tool) => format!("{} (treated as {tool})", self.name),
            None => self.name.clone(),
        }
    }
}

/// Records the tool of an occurrence if it is unknown. `state` is the user's directory of Tenter's state. Without a registration on
/// this machine, nothing is recorded.
pub(crate) fn note(state: &Path, host: &Host, occurrence: &Occurrence) {
    let Detail::BeforeTool(call) = &occurrence.detail else { return };
    let Some(tool) = UnknownTool::from_call(host, call) else { return };
    let mut tools = list(state, host);
    if tools.len() >= MAX_TOOLS || tools.contains(&tool) {
        return;
    }
    tools.push(tool);
    let file = file(state, host);
    if file.parent().is_some_and(Path::is_dir) {
        let text = serde_json::to_string(&tools).unwrap_or_default();
        // What is not recorded now is recorded at the next call.
        let _ = replace_file::replace(&file, text.as_bytes());
    }
}

/// Returns the unknown tools that sessions of a host used, at most 64.
pub fn list(state: &Path, host: &Host) -> Vec<UnknownTool> {
    let bytes = untrusted_file::read_prefix(&file(state, host), MAX_SIZE);
    bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Returns the file of a host, in the directory of the record of registrations, which an installation creates.
fn file(state: &Path, host: &Host) -> PathBuf {
    state.join("bridge").join(format!("unknown-tools-{}.json", host.id))
}
