//! Asks the user whether a call may run that the permission mode asks about.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tenter_agent::permission::{PermissionReply, PermissionRequest, Rule};
use tenter_base::sanitize::{sanitize, visible};
use tenter_base::untrusted_file;
use tenter_protocol::{ToolCall, json};
use tenter_terminal::question::ReadLine;
use tenter_terminal::text::diff;
use tenter_terminal::ui::{self, FAINT, HEADING, NOTICE, styled};

use super::call_input::whole;

/// Maximum size of a file, in bytes, whose changes are shown in a question.
const LARGEST_DIFFED: u64 = 1024 * 1024;

/// Shows the call and reads an answer. `read` returns `None` if the user closed or interrupted the input.
pub(crate) fn ask_permission(
    request: &PermissionRequest<'_>,
    read: &mut ReadLine,
) -> PermissionReply {
    put(request);
    let line = read("  Run it? ");
    let has_rules = !request.rules.is_empty();
    line.map_or(PermissionReply::No { reason: None }, |line| reply(&line, has_rules))
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
    ui::note("  [n] no; what you type after it is sent to the model");
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

/// The change as a diff; `None` if the file cannot be read as text or is large, or the call would not change it.
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
    Some(diff::of_files(&before, &after, ui::columns())).filter(|lines| !lines.is_empty())
}

/// The answer in a typed line. Everything but a clear yes means no, and is the reason.
fn reply(line: &str, has_rules: bool) -> PermissionReply {
    let line = line.trim();
    match line.to_lowercase().as_str() {
        "y" | "yes" | "once" => return PermissionReply::Yes,
        "a" | "always" => return PermissionReply::Always,
        "p" | "project" if has_rules => return PermissionReply::AddRules,
        _ => {}
    }
    let (first, rest) = line.split_once([' ', ',', ':', ';']).unwrap_or((line, ""));
    let is_no = ["n", "no"].iter().any(|no| first.eq_ignore_ascii_case(no));
    let reason = if is_no { rest } else { line };
    let reason = reason.trim_start_matches([' ', ',', ':', ';']).trim();
    PermissionReply::No { reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_allows_a_call() {
        let no = |reason: Option<&str>| PermissionReply::No { reason: reason.map(str::to_owned) };
        for (line, expected) in [
            ("y\n", PermissionReply::Yes),
            (" Yes ", PermissionReply::Yes),
            ("a", PermissionReply::Always),
            ("n", no(None)),
            ("", no(None)),
            ("no, use rg", no(Some("use rg"))),
            ("n use rg", no(Some("use rg"))),
            ("now what?", no(Some("now what?"))),
            ("yes please", no(Some("yes please"))),
            ("always ask", no(Some("always ask"))),
            ("p", no(Some("p"))),
        ] {
            assert_eq!(reply(line, false), expected, "{line:?}");
        }
        assert_eq!(reply("P", true), PermissionReply::AddRules);
    }
}
