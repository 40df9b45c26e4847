//! The hooks of other hosts than Claude Code: of those that imitate its payloads and answers, as hooks that are written for it.

use serde_json::{Value, json};
use tenter_protocol::Diagnostic;
use tenter_protocol::claude_code::tools;

use super::handlers::{self, HandlerContext};
use super::variables::Variables;
use super::{Import, ImportedAction, Source};
use crate::hook_lint::{HookEntry, entries};
use crate::host::{Host, Moment, TimeoutUnit};
use crate::registration::RegisteredCommand;

/// The hosts whose hooks read Claude Code's payloads and answer in its way.
const IMITATORS: [&str; 4] = ["codex", "qwen", "droid", "kimi-code"];

/// Reads the hooks of a host's settings file.
///
/// # Errors
/// It is not JSON or TOML.
pub(super) fn read(source: &Source, import: &mut Import) -> Result<(), Diagnostic> {
    let host = source.host;
    let variables = Variables::default();
    for entry in entries(host, &source.file, &source.text)? {
        if RegisteredCommand::read(host.id, &entry.handler).is_some() {
            continue;
        }
        let hook = convert(host, &entry).and_then(|conversion| {
            let matcher = conversion.matcher.as_deref();
            let event = conversion.event;
            let context = HandlerContext { event, matcher, source, variables: &variables };
            let mut hook = context.hook(&conversion.handler)?;
            hook.key = key(&entry).ok_or("it has no command")?;
            hook.remarks.extend(conversion.remark);
            set_project_variable(host, &mut hook.action);
            Ok(hook)
        });
        match hook {
            Ok(hook) => import.hooks.push(hook),
            Err(why) => import.left_out.push(format!("{}: {why}", entry.place())),
        }
    }
    Ok(())
}

/// Returns the key of an entry, by which a later import recognises it.
pub(super) fn key(entry: &HookEntry) -> Option<String> {
    handlers::key(&entry.event, entry.matcher.as_deref(), &entry.handler)
}

/// An entry in the form of Claude Code.
struct Converted {
    event: &'static str,
    matcher: Option<String>,
    handler: Value,
    /// The difference for its script.
    remark: Option<String>,
}

/// Converts an entry to the form of Claude Code.
///
/// # Errors
/// The entry cannot be carried over; the error is the reason, as a clause.
fn convert(host: &Host, entry: &HookEntry) -> Result<Converted, String> {
    let Some(native) = host.event(&entry.event) else {
        return Err("Tenter has no such event".to_owned());
    };
    if !IMITATORS.contains(&host.id) {
        return Err(format!(
            "its script reads the payloads of {}, and answers in its way; write it for Claude Code's payloads, or as a hook of Tenter's: `tenter hooks new`",
            host.name
        ));
    }
    let event = claude_event(native.moment).ok_or("Tenter has no such event")?;
    let mut handler = entry.handler.clone();
    if let Some(format) = host.registration.entries()
        && let Some(timeout) = handler.get(format.timeout).and_then(Value::as_f64)
    {
        let seconds = match format.unit {
            TimeoutUnit::Seconds => timeout,
            TimeoutUnit::Milliseconds => timeout / 1000.0,
        };
        handler["timeout"] = json!(seconds);
    }
    let matcher = entry.matcher.as_deref().map(|matcher| claude_names(host, matcher));
    let differs = host.tools.iter().any(|tool| claude_name(tool.canonical) != Some(tool.name));
    let remark = differs.then(|| {
        format!(
            "its script reads Claude Code's names of tools and fields, such as `Bash`, also in {}",
            host.name
        )
    });
    Ok(Converted { event, matcher, handler, remark })
}

fn claude_event(moment: Moment) -> Option<&'static str> {
    Some(match moment {
        Moment::SessionStart => "SessionStart",
        Moment::Prompt => "UserPromptSubmit",
        Moment::BeforeTool => "PreToolUse",
        Moment::AfterTool => "PostToolUse",
        Moment::AfterToolFailure => "PostToolUseFailure",
        Moment::AfterBatch => "PostToolBatch",
        Moment::Stop => "Stop",
        Moment::SubagentStart => "SubagentStart",
        Moment::SubagentStop => "SubagentStop",
        Moment::PreCompact => "PreCompact",
        Moment::PostCompact => "PostCompact",
        Moment::SessionEnd => "SessionEnd",
        Moment::PromptSent | Moment::StopFailure => return None,
    })
}

/// Returns Claude Code's name of the tool with this name of Tenter's.
pub(super) fn claude_name(canonical: &str) -> Option<&'static str> {
    tools::counterpart(canonical).map(|tool| tool.name)
}

/// Replaces the names of a host's tools in a matcher by the names in Claude Code. A patch also creates files: `apply_patch` →
/// `Edit|Write`.
fn claude_names(host: &Host, matcher: &str) -> String {
    let mut text = String::new();
    let mut word = String::new();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_list = matcher.chars().all(|c| is_letter(c) || c == '|');
    let patch = if is_list { "Edit|Write" } else { "(?:Edit|Write)" };
    for c in matcher.chars().chain(['\0']) {
        if is_letter(c) {
            word.push(c);
            continue;
        }
        let tool = host.tools.iter().find(|tool| tool.name == word);
        let name = match word.as_str() {
            "apply_patch" if tool.is_some() => Some(patch),
            _ => tool.and_then(|tool| claude_name(tool.canonical)),
        };
        text.push_str(name.unwrap_or(&word));
        word.clear();
        text.extend((c != '\0').then_some(c));
    }
    text
}

/// Sets the host's variable with the project for a script that uses it.
fn set_project_variable(host: &Host, action: &mut ImportedAction) {
    let ImportedAction::Command { script, .. } = action else { return };
    if let Some(variable) = project_variable(host).filter(|name| script.contains(*name)) {
        *script = format!("export {variable}=\"$CLAUDE_PROJECT_DIR\"\n{script}");
    }
}

/// Returns the variable with which a host names the project.
fn project_variable(host: &Host) -> Option<&'static str> {
    match host.id {
        "qwen" => Some("QWEN_PROJECT_DIR"),
        "droid" => Some("FACTORY_PROJECT_DIR"),
        _ => None,
    }
}
