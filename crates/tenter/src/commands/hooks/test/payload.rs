//! Payloads for a hook of either protocol: samples, and such that somebody gives.

use std::fs;
use std::io::{self, Read as _};

use serde_json::{Value, json};
use tenter_base::rfc3339;
use tenter_engine::hook::{Hook, Protocol, Selection};
use tenter_engine::{Request, facts};
use tenter_protocol::executable::{self, Subscription};
use tenter_protocol::{Body, EventName, Object, ToolCall, manifest, sample, tool_names};

use crate::env;
use crate::failure::Failure;
use crate::project::Project;

/// Why an agent would not run a hook on a payload.
pub(in crate::commands::hooks) enum SkipReason {
    /// Its matcher is about other calls.
    Unmatched,
    /// The search of its matcher was given up, which counts as a failure (R42).
    Failed(String),
}

/// Reads a payload from a file, or from stdin for "-".
pub(super) fn read(project: &Project, file: &str) -> Result<Object, Failure> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(project.env.cwd.join(file))
    };
    let name = if file == "-" { "stdin" } else { file };
    let bytes = read.map_err(|error| {
        Failure::usage(format!("the payload cannot be read from {name}: {error}"))
    })?;
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

/// A payload with what it leaves out taken from a sample, field by field: of the event that it names, else of the hook's
/// only event.
pub(super) fn completed(
    project: &Project,
    hook: &Hook,
    given: Object,
) -> Result<(Subscription, Object), Failure> {
    let subscription = subscription_of(hook, &given)?;
    Ok((subscription, filled(project, hook, subscription, given)?))
}

/// What `hook` calls the event that a payload is of.
fn subscription_of(hook: &Hook, payload: &Object) -> Result<Subscription, Failure> {
    let key = match hook.protocol {
        Protocol::Executable => "event",
        Protocol::Manifest(_) => "event_type",
    };
    let said = payload.get(key).and_then(Value::as_str);
    let word = said.or_else(|| only_spelling(hook)).ok_or_else(|| {
        Failure::usage("the payload does not say which event it is of")
            .help(format!("add {key:?}; the hook is told of {}", spellings(hook)))
    })?;
    let mut events = super::super::events_named(word)?;
    let succeeded = payload.get("tool_output").and_then(|output| output.get("success"));
    if succeeded == Some(&Value::Bool(false)) {
        events.sort_by_key(|event| *event != EventName::AfterToolFailure);
    }
    subscription(hook, word, &events)
}

/// The hook's word for its events, where it has one word for all of them.
fn only_spelling(hook: &Hook) -> Option<&'static str> {
    let first = hook.subscriptions.first()?.spelling;
    hook.subscriptions.iter().all(|other| other.spelling == first).then_some(first)
}

/// A sample of the event that `word` means, else of the first that `hook` is told of, with the fields that are `given`.
pub(super) fn sample_for(
    project: &Project,
    hook: &Hook,
    word: Option<&str>,
    given: Object,
) -> Result<(Subscription, Object), Failure> {
    let subscription = match word {
        Some(word) => subscription(hook, word, &super::super::events_named(word)?)?,
        None => *hook
            .subscriptions
            .first()
            .ok_or_else(|| Failure::new(format!("the hook {} is told of nothing", hook.name)))?,
    };
    Ok((subscription, filled(project, hook, subscription, given)?))
}

/// A sample with the fields that are `given` in the place of its own.
fn filled(
    project: &Project,
    hook: &Hook,
    subscription: Subscription,
    given: Object,
) -> Result<Object, Failure> {
    let mut payload = sample(project, hook, subscription, &given)
        .ok_or_else(|| Failure::new(format!("there is no sample of {}", subscription.event)))?;
    payload.extend(given);
    Ok(payload)
}

fn sample(
    project: &Project,
    hook: &Hook,
    subscription: Subscription,
    given: &Object,
) -> Option<Object> {
    let mut event = sample::event(subscription.event, &rfc3339(env::now()), project.root());
    // What a payload tells of a call's paths is told of the call that is given.
    if let Body::BeforeTool(call) | Body::AfterTool { call, .. } = &mut event.body {
        take_call(call, given);
    }
    let facts = facts(&event.body, &event.scope.cwd);
    let line = match &hook.protocol {
        Protocol::Executable => executable::payload(&event, subscription.spelling, &facts)?,
        Protocol::Manifest(held) => {
            let light = held.light_payload;
            manifest::payload(&event, subscription.spelling, None, &facts, light)
        }
    };
    serde_json::from_str(&line).ok()
}

/// Sets the tool and the input of a sample to those of a payload.
fn take_call(call: &mut ToolCall, given: &Object) {
    if let Some(name) = given.get("tool_name").and_then(Value::as_str) {
        tool_names::canonical(name).unwrap_or(name).clone_into(&mut call.name);
    }
    if let Some(Value::Object(input)) = given.get("tool_input") {
        call.input.clone_from(input);
    }
}

fn subscription(hook: &Hook, word: &str, events: &[EventName]) -> Result<Subscription, Failure> {
    events.iter().find_map(|event| hook.subscription(*event)).ok_or_else(|| {
        Failure::usage(format!("the hook {} is not told of {word}", hook.name))
            .help(format!("it is told of {}", spellings(hook)))
    })
}

fn spellings(hook: &Hook) -> String {
    let mut spellings: Vec<&str> =
        hook.subscriptions.iter().map(|subscription| subscription.spelling).collect();
    spellings.dedup();
    spellings.join(", ")
}

/// Decides as a run does whether the hook runs on `payload`, whose tool may have any of its names, and sets the name that the
/// hook reads (R20).
///
/// # Errors
/// Why it does not run.
pub(super) fn select(
    hook: &Hook,
    subscription: Subscription,
    payload: &mut Object,
) -> Result<(), SkipReason> {
    let call = call(payload);
    match hook.select(subscription.event, call.as_ref()) {
        Selection::Runs { tool_name: Some(name) } => {
            payload.insert("tool_name".to_owned(), json!(name));
            Ok(())
        }
        Selection::Runs { tool_name: None } => Ok(()),
        Selection::NotMatched | Selection::NotSubscribed => Err(SkipReason::Unmatched),
        Selection::Undecided(error) => Err(SkipReason::Failed(error.to_string())),
    }
}

/// The tool call that a payload is about.
fn call(payload: &Object) -> Option<ToolCall> {
    let name = payload.get("tool_name")?.as_str()?;
    let name = tool_names::canonical(name).unwrap_or(name).to_owned();
    let input = payload.get("tool_input").and_then(Value::as_object).cloned();
    Some(ToolCall { id: String::new(), name, input: input.unwrap_or_default() })
}

/// What the hook is to be told.
pub(super) fn request(subscription: Subscription, payload: &Object) -> Request {
    let id = payload.get("session_id").or_else(|| payload.get("conv_id"));
    let session_id = id.and_then(Value::as_str).unwrap_or(sample::CONVERSATION).to_owned();
    Request { subscription, session_id, payload: tenter_protocol::json::to_line(payload) }
}
