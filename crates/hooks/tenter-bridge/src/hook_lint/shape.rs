//! Fields that a host does not read where they stand, and hooks without a command.

use serde_json::Value;

use super::Problem;
use super::entries::HookEntry;
use crate::host::{EntryLayout, Host};
use crate::rule_matcher;

/// The hosts that drop a hook that is in no group. The others were not measured.
const DROP_WITHOUT_GROUP: [&str; 2] = ["gemini", "qwen"];
/// The fields with a command, for any system.
const COMMANDS: [&str; 6] =
    ["command", "bash", "exec", "powershell", "commandWindows", "command_windows"];

/// Returns the problem of an entry's fields, in the settings that it is read from.
pub(super) fn problem(host: &Host, entry: &HookEntry, settings: &Value) -> Option<Problem> {
    misplaced(host, entry, settings)
        .or_else(|| without_command(entry))
        .or_else(|| several_rules(host, entry))
}

fn misplaced(host: &Host, entry: &HookEntry, settings: &Value) -> Option<Problem> {
    let layout = host.registration.entries().map(|format| format.layout);
    if layout != Some(EntryLayout::JsonGroups) {
        return None;
    }
    let is_in_group = entry.path.len() > 3;
    if !is_in_group {
        return DROP_WITHOUT_GROUP.contains(&host.id).then(|| {
            Problem::new(
                format!("{} drops it, because it is in no group", host.name),
                "write `{\"hooks\": […]}` around it, with the matcher beside `hooks`",
            )
        });
    }
    let group = entry.path.iter().take(3).try_fold(settings, |value, key| {
        value.get(key).or_else(|| value.get(key.parse::<usize>().ok()?))
    })?;
    if host.id == "claude-code" && group.get("if").is_some() {
        return Some(Problem::new(
            "`if` has no effect beside `hooks`: the hook runs on every call of the matcher",
            "write `if` in the hook, beside `command`",
        ));
    }
    let own = entry.handler.get("matcher")?;
    (group.get("matcher") != Some(own)).then(|| {
        Problem::new(
            format!("the matcher {own} has no effect in the hook"),
            "write `matcher` beside `hooks`",
        )
    })
}

fn without_command(entry: &HookEntry) -> Option<Problem> {
    let kind = entry.handler.get("type").map_or(Some("command"), Value::as_str);
    let has_command = COMMANDS.iter().any(|field| entry.handler.get(field).is_some());
    if kind != Some("command") || has_command || !entry.handler.is_object() {
        return None;
    }
    let help = if entry.handler.get("prompt").is_some() {
        "write \"type\": \"prompt\", if the agent has such hooks"
    } else {
        "write the command in `command`, or remove the entry"
    };
    Some(Problem::new("it has no command, so nothing runs", help))
}

fn several_rules(host: &Host, entry: &HookEntry) -> Option<Problem> {
    let rule = entry.handler.get("if").and_then(Value::as_str)?;
    (host.id == "claude-code" && rule_matcher::has_several_rules(rule)).then(|| {
        Problem::new(
            format!("`if: {rule}` never applies: it is one rule, and this is several"),
            "register the hook once for each rule",
        )
    })
}
