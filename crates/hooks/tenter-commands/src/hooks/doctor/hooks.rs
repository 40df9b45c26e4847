//! Finds problems in the files and the matcher of one hook.

use tenter_bridge::hosts;
use tenter_engine::inspect::{Hook, Search, Status};
use tenter_protocol::{Diagnostic, Object, Severity, ToolCall, claude_code};

use super::super::entry::HookEntry;
use super::super::manifest_file::ManifestFile;
use super::super::{script_check, scripts};
use super::at_hook;
use crate::project::Project;

/// The id of the diagnostic of [`never_matches`].
pub(super) const NEVER_MATCHES: &str = "hook-never-matches";

/// The tools of Tenter's own agent.
pub const OWN_TOOLS: [&str; 8] =
    ["bash", "file_read", "file_write", "file_edit", "grep", "glob", "todo", "subagent"];

/// Tools of agents that have no counterpart in Tenter, and Tenter's tools that only some sessions have.
const OTHER_TOOLS: [&str; 24] = *tenter_base::words!(
    "skill Skill WebFetch WebSearch web_fetch web_search webfetch websearch fetch fetch_url
     google_web_search AskUserQuestion EnterPlanMode ExitPlanMode EnterWorktree ExitWorktree
     BashOutput KillShell KillBash LS LSP ListMcpResourcesTool ReadMcpResourceTool SlashCommand"
);

/// Returns the problems of a listed hook that loading does not report.
pub(super) fn diagnose_entry(project: &Project, entry: &HookEntry) -> Vec<Diagnostic> {
    let Some(hook) = entry.hook else { return Vec::from_iter(diagnose_built_in(entry)) };
    let path = &hook.path;
    let finding = |id, severity, why: &str| {
        Diagnostic::new(id, severity, format!("the hook {} {why}", entry.name)).at(path)
    };
    let reason = entry.reason.as_deref().unwrap_or("does not run");
    match &hook.status {
        Status::Disabled => return vec![finding("hook-disabled", Severity::Info, reason)],
        Status::SwitchedOff { .. } => {
            return vec![finding("hook-switched-off", Severity::Info, reason)];
        }
        Status::NotExecutable if path.is_dir() => return scripts::script_of(path),
        Status::NotExecutable => {
            return vec![finding("hook-not-executable", Severity::Warning, reason)];
        }
        // Loading reports it.
        Status::NoScript => return Vec::new(),
        Status::Active
        | Status::Shadowed { .. }
        | Status::NotTrusted { .. }
        | Status::WouldDisplace { .. }
        | Status::Invalid { .. } => {}
    }
    let mut findings = Vec::new();
    if matches!(hook.status, Status::NotTrusted { .. } | Status::WouldDisplace { .. }) {
        findings.push(finding("hook-not-trusted", Severity::Warning, reason));
    }
    if path.is_dir() && entry.active && entry.action.is_none() && entry.url.is_none() {
        let manifest = ManifestFile::at(path).ok().flatten();
        findings.extend(manifest.into_iter().flat_map(|manifest| manifest.check_script()));
    }
    let environment = project.hook_environment();
    if let Some(script) = scripts::entry_of(path) {
        let environment = environment.base();
        findings.extend(scripts::interpreter_missing(&script, environment));
        findings.extend(script_check::check(&script, environment));
    }
    findings
}

/// Returns a note if a built-in hook is disabled.
fn diagnose_built_in(entry: &HookEntry) -> Option<Diagnostic> {
    let reason = entry.reason.as_ref()?;
    let message = format!("the hook {} {reason}", entry.name);
    Some(Diagnostic::new("hook-off", Severity::Info, message))
}

/// Returns a warning if the hook's matcher matches no known tool: neither one of Tenter nor one of another agent with the bridge.
pub(super) fn never_matches(hook: &Hook) -> Option<Diagnostic> {
    let matcher = hook.options.matcher.as_ref()?;
    let expression = matcher.text().tool.unwrap_or_default();
    let applies_to = |name: &str| {
        let call = ToolCall { id: String::new(), name: name.to_owned(), input: Object::new() };
        let finding = matcher.explain(&call).tool;
        finding.is_none_or(|tool| !matches!(tool.search, Search::NotFound { .. }))
    };
    let is_known = OWN_TOOLS.into_iter().chain(tools_of_others()).any(applies_to);
    if is_known || names_server_tool(&expression) {
        return None;
    }
    let message = format!(
        "the hook {} does not run on any known tool: its matcher.tool matches none",
        hook.name
    );
    let finding = Diagnostic::new(NEVER_MATCHES, Severity::Warning, message);
    Some(at_hook(hook, finding).help(format!(
        "the tools are {}; their names in other agents, such as Shell and WriteFile, match too",
        OWN_TOOLS.join(", ")
    )))
}

/// Checks whether an expression is for tools of MCP servers, whose names are known only when the servers run.
fn names_server_tool(expression: &str) -> bool {
    expression.contains("__") || expression.to_ascii_lowercase().contains("mcp")
}

/// Returns the names of tools of other agents, and of Tenter's tools that not every session has.
fn tools_of_others() -> impl Iterator<Item = &'static str> {
    let native = claude_code::tools::TOOLS.iter().map(|tool| tool.name);
    let hosts = hosts::ALL.iter().flat_map(|host| host.tools.iter().map(|tool| tool.name));
    native.chain(hosts).chain(OTHER_TOOLS)
}
