//! Finds problems in the files and the matcher of one hook.

use tenter_agent::tools::{Registry, Tool};
use tenter_engine::catalog::Status;
use tenter_engine::hook::Hook;
use tenter_engine::matcher::Search;
use tenter_protocol::{Diagnostic, Object, Severity, ToolCall};

use super::super::entry::HookEntry;
use super::super::manifest_file::ManifestFile;
use super::super::scripts;
use crate::project::Project;

/// The id of the diagnostic of [`never_matches`].
pub(super) const NEVER_MATCHES: &str = "hook-never-matches";

/// Returns the problems of a listed hook that loading does not report.
pub(super) fn of_entry(project: &Project, entry: &HookEntry) -> Vec<Diagnostic> {
    let Some(listed) = entry.listed else { return Vec::from_iter(of_built_in(entry)) };
    let path = &listed.path;
    let finding = |id, severity, why: &str| {
        Diagnostic::new(id, severity, format!("the hook {} {why}", entry.name)).at(path)
    };
    let reason = entry.reason.as_deref().unwrap_or("does not run");
    match &listed.status {
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
    if matches!(listed.status, Status::NotTrusted { .. } | Status::WouldDisplace { .. }) {
        findings.push(finding("hook-not-trusted", Severity::Warning, reason));
    }
    if path.is_dir() && entry.active && entry.action.is_none() && entry.url.is_none() {
        let manifest = ManifestFile::at(path).ok().flatten();
        findings.extend(manifest.into_iter().flat_map(|manifest| manifest.check_script()));
    }
    let entry_point = scripts::entry_of(path);
    let environment = project.hook_environment();
    findings.extend(
        entry_point.and_then(|script| scripts::interpreter_missing(&script, environment.base())),
    );
    findings
}

/// Returns a note if a built-in hook is disabled.
fn of_built_in(entry: &HookEntry) -> Option<Diagnostic> {
    let reason = entry.reason.as_ref()?;
    let message = format!("the hook {} {reason}", entry.name);
    Some(Diagnostic::new("hook-off", Severity::Info, message))
}

/// Returns a warning if the hook's matcher matches no tool of Tenter.
pub(super) fn never_matches(hook: &Hook) -> Option<Diagnostic> {
    let matcher = hook.matcher()?;
    let tools = Registry::standard();
    let is_about = |name: &str| {
        let call = ToolCall { id: String::new(), name: name.to_owned(), input: Object::new() };
        let finding = matcher.explain(&call).tool;
        finding.is_none_or(|tool| !matches!(tool.search, Search::NotFound { .. }))
    };
    if tools.iter().any(|tool| is_about(tool.name())) {
        return None;
    }
    let names: Vec<&str> = tools.iter().map(Tool::name).collect();
    let message = format!("the hook {} can never run: its matcher.tool matches no tool", hook.name);
    Some(Diagnostic::new(NEVER_MATCHES, Severity::Warning, message).at(&hook.path).help(format!(
        "the tools are {}; their names in other agents, such as Shell and WriteFile, match too",
        names.join(", ")
    )))
}
