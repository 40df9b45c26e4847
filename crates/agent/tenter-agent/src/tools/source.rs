//! Tools that come and go while the agent works, such as the tools of MCP servers.

use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use super::tool::Tool;

/// Provides tools that may not be known when the agent is built. They come from servers, whose tools all begin with the same
/// prefix.
pub trait ToolSource: Send + Sync {
    /// Begins to obtain the tools of the servers whose prefix `is_used` accepts, without waiting for them.
    fn start(&self, is_used: &dyn Fn(&str) -> bool);

    /// Returns the tools of these servers as they are now. Waits for servers that are starting, within limits.
    fn tools(&self, is_used: &dyn Fn(&str) -> bool, cancel: &Cancel) -> SourcedTools;

    /// Returns whether the source may provide tools with this name or pattern.
    fn may_provide(&self, pattern: &str) -> bool;
}

/// The tools of a source at one moment.
#[derive(Default)]
pub struct SourcedTools {
    /// The tools, in the order in which the model sees them.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Text about the tools for the system prompt.
    pub instructions: Vec<Instructions>,
    /// Problems. A session reports the same diagnostic only once.
    pub diagnostics: Vec<Diagnostic>,
    /// Changes whenever the tools or the instructions do.
    pub revision: u64,
}

/// Text of a server about its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// The server's name.
    pub server: String,
    /// The name that every tool of the server begins with.
    pub prefix: String,
    /// The server's text.
    pub text: String,
}

/// A source and the restrictions on its tools, all of which apply.
#[derive(Clone)]
pub(crate) struct FilteredSource {
    source: Arc<dyn ToolSource>,
    restrictions: Vec<Vec<String>>,
}

impl FilteredSource {
    pub(super) fn new(source: Arc<dyn ToolSource>) -> Self {
        Self { source, restrictions: Vec::new() }
    }

    /// Returns whether a name or pattern may apply to tools of the source.
    pub(super) fn may_provide(&self, pattern: &str) -> bool {
        self.source.may_provide(pattern)
    }

    /// Returns the source with only the tools that match one of `patterns`; `None` if there are no patterns.
    pub(super) fn restrict(mut self, patterns: Vec<String>) -> Option<Self> {
        if patterns.is_empty() {
            return None;
        }
        self.restrictions.push(patterns);
        Some(self)
    }

    /// Begins to obtain the tools.
    pub(crate) fn start(&self) {
        self.source.start(&|prefix| self.uses(prefix));
    }

    /// Returns the allowed tools as they are now.
    pub(crate) fn tools(&self, cancel: &Cancel) -> SourcedTools {
        let mut sourced = self.source.tools(&|prefix| self.uses(prefix), cancel);
        sourced.tools.retain(|tool| self.allows(tool.name()));
        let tools = &sourced.tools;
        sourced
            .instructions
            .retain(|text| tools.iter().any(|tool| tool.name().starts_with(&text.prefix)));
        sourced
    }

    /// Returns whether tools with this prefix may be allowed.
    fn uses(&self, prefix: &str) -> bool {
        let overlaps = |patterns: &Vec<String>| patterns.iter().any(|one| overlaps(one, prefix));
        self.restrictions.iter().all(overlaps)
    }

    fn allows(&self, name: &str) -> bool {
        let matches = |patterns: &Vec<String>| patterns.iter().any(|one| is_match(one, name));
        self.restrictions.iter().all(matches)
    }
}

/// Returns whether a restriction names a tool: by its name, by a beginning that ends in `*`, or by the name of its server.
fn is_match(pattern: &str, name: &str) -> bool {
    if let Some(beginning) = pattern.strip_suffix('*') {
        return name.starts_with(beginning);
    }
    name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

/// Returns whether a restriction may name a tool with this prefix.
fn overlaps(pattern: &str, prefix: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => beginning.starts_with(prefix) || prefix.starts_with(beginning),
        None => format!("{pattern}__").starts_with(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_with_allowed_tools_are_used() {
        for (pattern, expected) in [
            ("mcp__git__status", true),
            ("mcp__git__*", true),
            ("mcp__git", true),
            ("mcp__g*", true),
            ("mcp__*", true),
            ("mcp__github__*", false),
            ("mcp__github", false),
            ("mcp__gi", false),
        ] {
            assert_eq!(overlaps(pattern, "mcp__git__"), expected, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_names_a_tool_a_server_or_a_beginning() {
        for (pattern, name, expected) in [
            ("mcp__git__status", "mcp__git__status", true),
            ("mcp__git__status", "mcp__git__status_all", false),
            ("mcp__git__*", "mcp__git__status", true),
            ("mcp__git__s*", "mcp__git__status", true),
            ("mcp__git__s*", "mcp__git__log", false),
            ("mcp__git", "mcp__git__status", true),
            ("mcp__git", "mcp__github__status", false),
            ("mcp__*", "mcp__github__status", true),
            ("", "mcp__github__status", false),
        ] {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }
}
