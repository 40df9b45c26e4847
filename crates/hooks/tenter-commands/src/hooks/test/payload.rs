//! Payloads for a hook of either protocol: samples, and the user's payloads.

use std::fs;
use std::io::{self, Read as _};

use serde_json::Value;
use tenter_base::rfc3339;
use tenter_engine::inspect::Hook;
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Body, Event, EventName, Object, ToolCall, ToolResult, sample, tool_names};
use tenter_terminal::{Failure, now};

use crate::project::Project;

/// Reads a payload from a file, or from stdin for "-".
pub(super) fn read(project: &Project, file: &str) -> Result<Object, Failure> {
    let mut bytes = Vec::new();
    let text = if file == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(project.env.cwd.join(file))
    };
    let name = if file == "-" { "stdin" } else { file };
    let bytes = text
        .map_err(|error| Failure::usage(format!("cannot read the payload from {name}: {error}")))?;
    let wrong = |why: &str| {
        Failure::usage(format!("the payload in {name} is not {why}"))
            .help("`tenter hooks test NAME --sample --json` shows a sample under \"payload\"")
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(payload)) => Ok(payload),
        Ok(_) => Err(wrong("a JSON object, but other JSON")),
        Err(error) => {
            let problem = if error.is_eof() { "it ends too early" } else { "syntax error" };
            let (line, column) = (error.line(), error.column());
            Err(wrong(&format!("JSON: {problem} at line {line}, column {column}")))
        }
    }
}

/// Returns a payload whose missing fields are taken from a sample of the event that it names, or of the hook's only event.
pub(super) fn complete(
    project: &Project,
    hook: &Hook,
    payload: Object,
) -> Result<(Subscription, Object), Failure> {
    let subscription = subscription_of(hook, &payload)?;
    Ok((subscription, fill(project, hook, subscription, payload)?))
}

/// Returns the hook's subscription to the payload's event.
fn subscription_of(hook: &Hook, payload: &Object) -> Result<Subscription, Failure> {
    let key = if hook.is_executable() { "event" } else { "event_type" };
    let name = payload.get(key).and_then(Value::as_str);
    let word = name.or_else(|| only_spelling(hook)).ok_or_else(|| {
        Failure::usage("the payload names no event")
            .help(format!("add {key:?}; the hook subscribes to {}", spellings(hook)))
    })?;
    let mut events = super::super::events_named(word)?;
    let succeeded = payload.get("tool_output").and_then(|output| output.get("success"));
    if succeeded == Some(&Value::Bool(false)) {
        events.sort_by_key(|event| *event != EventName::AfterToolFailure);
    }
    subscription(hook, word, &events)
}

/// Returns the hook's spelling of its events, if it has the same one for all of them.
fn only_spelling(hook: &Hook) -> Option<&'static str> {
    let first = hook.subscriptions.first()?.spelling;
    hook.subscriptions.iter().all(|other| other.spelling == first).then_some(first)
}

/// Returns a sample of the event that `word` names, otherwise of the first event that `hook` subscribes to, with these `fields`.
pub(super) fn sample_for(
    project: &Project,
    hook: &Hook,
    word: Option<&str>,
    fields: Object,
) -> Result<(Subscription, Object), Failure> {
    let subscription = match word {
        Some(word) => subscription(hook, word, &super::super::events_named(word)?)?,
        None => *hook.subscriptions.first().ok_or_else(|| {
            Failure::new(format!("the hook {} subscribes to no event", hook.name))
        })?,
    };
    Ok((subscription, fill(project, hook, subscription, fields)?))
}

/// Returns a sample with these `fields`.
fn fill(
    project: &Project,
    hook: &Hook,
    subscription: Subscription,
    fields: Object,
) -> Result<Object, Failure> {
    // The paths in the payload are computed from the given call.
    let mut event = sample_event(project, subscription);
    if let Body::BeforeTool(call) | Body::AfterTool { call, .. } = &mut event.body {
        take_call(call, &fields);
    }
    let mut payload = hook
        .payload(subscription, &event)
        .ok_or_else(|| Failure::new(format!("there is no sample of {}", subscription.event)))?;
    payload.extend(fields);
    Ok(payload)
}

fn sample_event(project: &Project, subscription: Subscription) -> Event {
    sample::event(subscription.event, &rfc3339(now()), project.root())
}

/// Returns the event that a payload describes: a sample with the payload's message, tool call and result.
pub(super) fn event(project: &Project, subscription: Subscription, payload: &Object) -> Event {
    let mut event = sample_event(project, subscription);
    let text = |key: &str| payload.get(key).and_then(Value::as_str).map(str::to_owned);
    let session_id = text("session_id").or_else(|| text("conv_id"));
    event.scope.conversation_id = session_id.unwrap_or(event.scope.conversation_id);
    match &mut event.body {
        // The protocols have different names for the message.
        Body::BeforeAgent { message } => {
            *message = text("prompt").or_else(|| text("message")).unwrap_or_default();
        }
        Body::BeforeTool(call) => take_call(call, payload),
        Body::AfterTool { call, result } => {
            take_call(call, payload);
            *result = tool_result(payload, result);
        }
        _ => {}
    }
    event
}

/// Copies the tool and the input of a payload into a sample. The tool may have any of its names.
fn take_call(call: &mut ToolCall, payload: &Object) {
    if let Some(name) = payload.get("tool_name").and_then(Value::as_str) {
        tool_names::canonical(name).unwrap_or(name).clone_into(&mut call.name);
    }
    if let Some(Value::Object(input)) = payload.get("tool_input") {
        call.input.clone_from(input);
    }
}

/// Returns the result in a payload. Missing fields are taken from the sample; an invalid result is replaced by the sample.
fn tool_result(payload: &Object, sample: &ToolResult) -> ToolResult {
    let Some(Value::Object(output)) = payload.get("tool_output") else { return sample.clone() };
    let mut result = serde_json::to_value(sample).unwrap_or_default();
    if let Value::Object(fields) = &mut result {
        fields.extend(output.clone());
    }
    serde_json::from_value(result).unwrap_or_else(|_| sample.clone())
}

fn subscription(hook: &Hook, word: &str, events: &[EventName]) -> Result<Subscription, Failure> {
    events.iter().find_map(|event| hook.subscription(*event)).ok_or_else(|| {
        Failure::usage(format!("the hook {} does not subscribe to {word}", hook.name))
            .help(format!("it subscribes to {}", spellings(hook)))
    })
}

fn spellings(hook: &Hook) -> String {
    let mut spellings: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    spellings.dedup();
    spellings.join(", ")
}
