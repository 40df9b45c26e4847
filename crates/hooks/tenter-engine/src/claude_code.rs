//! Manifest hooks whose scripts are written for Claude Code (B36): when they run, and their environment.

use std::ffi::OsString;
use std::path::Path;

use tenter_protocol::manifest::claude_code::ClaudeCodeEvent;
use tenter_protocol::manifest::{self, ClaudeCodeScript, MatcherText};
use tenter_protocol::{EventRef, Object, claude_code};

use crate::matcher::Matcher;

/// Variables by which Claude Code marks its own processes: programs behave differently below it.
pub(crate) const REMOVED: [&str; 1] = ["CLAUDECODE"];

/// A hook that is written for Claude Code.
#[derive(Debug, Clone)]
pub struct ClaudeCodeHook {
    /// The settings of its manifest.
    pub script: ClaudeCodeScript,
    /// Its matcher, for single names: of tools, and of what other events are matched by.
    matcher: Option<Matcher>,
}

impl ClaudeCodeHook {
    /// Creates the hook that a manifest describes.
    pub fn new(script: ClaudeCodeScript) -> Self {
        let matcher = expression(&script)
            .map(|tool| Matcher::new(&MatcherText { tool: Some(tool), pattern: None }));
        Self { script, matcher }
    }

    /// Returns whether Claude Code would fire the event, and the hook is for it. Tools are matched elsewhere. What an agent does not tell
    /// is matched, so that no guard is lost.
    pub(crate) fn applies(&self, event: EventRef<'_>) -> bool {
        let Some(event) = ClaudeCodeEvent::new(event) else { return false };
        let is_meant = self.script.event.as_deref().is_none_or(|name| name == event.name);
        let matches = |value: &str| {
            let matcher = self.matcher.as_ref().filter(|_| !event.is_tool_event());
            matcher.is_none_or(|matcher| matcher.matches_name(value))
        };
        is_meant && event.matched.is_none_or(matches)
    }

    /// Returns the payloads that the script reads of the event: one for each call that matches.
    pub(crate) fn payloads(&self, event: EventRef<'_>) -> Vec<Object> {
        let is_meant =
            |name: &str| self.matcher.as_ref().is_none_or(|matcher| matcher.matches_name(name));
        manifest::claude_code::payloads(event, is_meant)
    }

    /// Returns the variables that such a hook expects.
    pub(crate) fn variables(&self, project: &Path) -> Vec<(&'static str, OsString)> {
        let root = self.script.plugin_root.as_deref();
        let root = root.map(|root| ("CLAUDE_PLUGIN_ROOT", OsString::from(root)));
        [("CLAUDE_PROJECT_DIR", project.as_os_str().to_owned())].into_iter().chain(root).collect()
    }
}

/// Returns the matcher of a script as a regular expression.
pub(crate) fn expression(script: &ClaudeCodeScript) -> Option<String> {
    script.matcher.as_deref().and_then(claude_code::matcher_expression)
}
