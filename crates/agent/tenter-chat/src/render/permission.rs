//! Asks the user whether a call may run that the permission mode asks about.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tenter_agent::permission::{PermissionReply, PermissionRequest, Rule};
use tenter_base::{sanitize, untrusted_file, visible};
use tenter_protocol::{ToolCall, json};
use tenter_terminal::question::{ReadKey, ReadLine};
use tenter_terminal::text::{CodeLanguage, diff};
use tenter_terminal::{FAINT, HEADING, NOTICE, styled, ui};

use super::call_input::whole;

/// Maximum size of a file, in bytes, whose changes are shown in a question.
const LARGEST_DIFFED: u64 = 1024 * 1024;

/// The letters that answer the question; `p` only if there are rules to add.
const LETTERS: &str = "yanr";
const LETTERS_WITH_RULES: &str = "yapnr";

/// Shows the call and asks for an answer.
pub(crate) fn ask_permission(
    request: &PermissionRequest<'_>,
    read_key: &mut ReadKey,
    read: &mut ReadLine,
) -> PermissionReply {
    put(request);
    let letters = if request.rules.is_empty() { LETTERS } else { LETTERS_WITH_RULES };
    match read_key("  Run it? ", letters) {
        Some('y') => PermissionReply::Yes,
        Some('a') => PermissionReply::Always,
        Some('p') => PermissionReply::AddRules,
        Some('r') => PermissionReply::No { reason: reason(read("  Why not? ")) },
        _ => PermissionReply::No { reason: None },
    }
}

/// Returns the user's message to the model.
fn reason(line: Option<String>) -> Option<String> {
    line.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

fn put(request: &PermissionRequest<'_>) {
    let by = if request.is_from_subagent { styled(FAINT, " (a subagent)") } else { String::new() };
    let tool = styled(HEADING, visible(&request.call.name));
    let rule = request.asking_rule.map(|rule| format!(", by the rule {}", visible(rule)));
    let rule = rule.unwrap_or_default();
    ui::note(format!("{} {tool}{by} needs your permission{rule}", styled(NOTICE, "?")));
    for line in lines(request) {
        ui::note(line);
    }
    ui::note("  [y] yes  [a] always this call, in this session");
    if !request.rules.is_empty() {
        let rules: Vec<String> = request.rules.iter().map(Rule::to_string).collect();
        ui::note(format!("  [p] always in this project: {}", visible(&rules.join(", "))));
    }
    ui::note("  [n] no  [r] no, and tell the model why");
}

/// Returns the lines about the call: the command, or the change of the file, or the whole input.
fn lines(request: &PermissionRequest<'_>) -> Vec<String> {
    let call = request.call;
    let text = |field: &str| call.input.get(field).and_then(Value::as_str);
    if let Some(path) = text("file_path")
        && let Some(diff) = request.file.and_then(|file| change(call, file))
    {
        let path = sanitize(&path.escape_debug().to_string()).into_owned();
        return std::iter::once(format!("  {path}")).chain(diff).collect();
    }
    if let (true, Some(command)) = (call.name == "bash", text("command")) {
        let mut lines: Vec<String> =
            whole(command).lines().map(|line| format!("  {}", visible(line))).collect();
        if call.input.get("background").is_some_and(|background| background == &Value::Bool(true)) {
            lines.push(styled(FAINT, "  in the background"));
        }
        return lines;
    }
    vec![format!("  {}", whole(&json::to_string(&call.input)))]
}

/// Returns the change as a diff; `None` if the file cannot be read as text or is large, or the call would not change it.
fn change(call: &ToolCall, file: &Path) -> Option<Vec<String>> {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str);
    let before = match fs::symlink_metadata(file) {
        Ok(_) => String::from_utf8(untrusted_file::read(file, LARGEST_DIFFED).ok()?).ok()?,
        Err(_) => String::new(),
    };
    let after = match (text("text"), text("old_text"), text("new_text")) {
        (Some(text), ..) => text.to_owned(),
        (None, Some(old), Some(new)) if !old.is_empty() && before.contains(old) => {
            let all = call.input.get("replace_all") == Some(&Value::Bool(true));
            if all { before.replace(old, new) } else { before.replacen(old, new, 1) }
        }
        _ => return None,
    };
    let language = CodeLanguage::from_file(file);
    Some(diff::render_files(&before, &after, language, ui::columns()))
        .filter(|lines| !lines.is_empty())
}
