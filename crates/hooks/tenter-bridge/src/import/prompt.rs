//! Hooks of the type `prompt`, which ask a model: they become runtime hooks that ask the model of Tenter's configuration.

use serde_json::Value;
use tenter_protocol::EventName;
use tenter_protocol::claude_code::{NativeEvent, matcher_expression};

use super::ImportedAction;

/// The number of words of a prompt that a hook is named after.
const NAME_WORDS: usize = 6;
/// The prompts of Claude Code have another timeout than its commands, in seconds.
pub(super) const TIMEOUT: f64 = 30.0;

/// Returns whether a handler asks a model.
pub(super) fn is_prompt(handler: &Value) -> bool {
    handler.get("type").and_then(Value::as_str) == Some("prompt")
}

/// Returns the text of a prompt.
///
/// # Errors
/// It is missing.
pub(super) fn text(handler: &Value) -> Result<&str, String> {
    let text = handler.get("prompt").and_then(Value::as_str);
    text.filter(|text| !text.trim().is_empty()).ok_or_else(|| "it has no prompt".to_owned())
}

/// Returns the words that the hook is named after, as a command of which they are the program: `judge-is-this-safe`.
pub(super) fn name(prompt: &str) -> String {
    let words = prompt
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && *word != "ARGUMENTS");
    let words: Vec<&str> = words.take(NAME_WORDS).collect();
    format!("judge-{}", super::slug(&words.join(" "), 35)).trim_end_matches('-').to_owned()
}

/// Returns the event at which the hook runs, and the tools for which it runs.
///
/// # Errors
/// Runtime hooks are not matched by anything but tools.
pub(super) fn subscription(
    native: &NativeEvent,
    matcher: Option<&str>,
) -> Result<(EventName, Option<String>), String> {
    let expression = matcher.and_then(matcher_expression);
    let event = if native.name == "SubagentStop" { EventName::SubagentStop } else { native.event };
    if expression.is_some() && !event.lifecycle().matcher {
        return Err(format!("a hook of the type \"prompt\" has no matcher at {}", native.name));
    }
    Ok((event, expression))
}

/// Returns the differences from the hook in Claude Code, as clauses.
pub(super) fn remarks(handler: &Value, native: &NativeEvent) -> Vec<String> {
    let mut remarks = vec![
        "it asks the weak model that is configured for `tenter`, which may cost money; the model reads the event as Tenter's hooks do"
            .to_owned(),
    ];
    if let Some(model) = handler.get("model").and_then(Value::as_str) {
        remarks.push(format!("`model: {model}` has no effect"));
    }
    let continues = handler.get("continueOnBlock") == Some(&Value::Bool(true));
    match native.name {
        "Stop" => remarks.push("it also judges the stops of subagents that an agent does not mark".to_owned()),
        _ if !continues => remarks.push(
            "where the model says no, Claude Code ends the turn; with Tenter, the agent reads the reason and continues".to_owned(),
        ),
        _ => {}
    }
    remarks
}

/// Returns the action for a prompt.
///
/// # Errors
/// The prompt has a NUL byte.
pub(super) fn action(prompt: &str, timeout_ms: u64) -> Result<ImportedAction, String> {
    let prompt_in_quotes =
        shlex::try_quote(prompt).map_err(|_| "its prompt is no text for a program")?;
    let script = format!("exec tenter hooks judge --prompt {prompt_in_quotes} \"$@\"");
    Ok(ImportedAction::Judge { script, timeout_ms })
}
