//! Payloads for a hook of either protocol: samples, and such that somebody gives.

use std::fs;
use std::io::{self, Read as _};

use serde_json::Value;
use tenter_engine::hook::{Hook, Protocol};
use tenter_engine::matcher::MatcherError;
use tenter_engine::{Request, facts};
use tenter_protocol::executable::{self, Subscription};
use tenter_protocol::{EventName, Object, ToolCall, json, manifest, tool_names};

use super::super::sample;
use crate::failure::Failure;
use crate::hooks::Project;

/// Whether a hook's matcher is about the call in a payload.
pub(super) enum Aim {
    /// It is, or there is nothing to match; with the name of the tool that it matched (R20).
    Hit(Option<String>),
    /// It is not.
    Other,
    /// Nobody knows: the search was given up.
    Unknown(MatcherError),
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
        Failure::usage(format!("the payload in {name} is not a JSON object: {why}"))
            .help("`tenter hooks test NAME --sample --json` shows a sample under \"payload\"")
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(payload)) => Ok(payload),
        Ok(_) => Err(wrong("it is other JSON")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// What `hook` calls the event that a payload says it is of.
pub(super) fn subscription_of(hook: &Hook, payload: &Object) -> Result<Subscription, Failure> {
    let key = match hook.protocol {
        Protocol::Executable => "event",
        Protocol::Manifest(_) => "event_type",
    };
    let word = payload.get(key).and_then(Value::as_str).ok_or_else(|| {
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

/// A sample of the event that `word` means, else of the first that `hook` is told of.
pub(super) fn sample_for(
    project: &Project,
    hook: &Hook,
    word: Option<&str>,
) -> Result<(Subscription, Object), Failure> {
    let subscription = match word {
        Some(word) => subscription(hook, word, &super::super::events_named(word)?)?,
        None => *hook
            .subscriptions
            .first()
            .ok_or_else(|| Failure::new(format!("the hook {} is told of nothing", hook.name)))?,
    };
    let payload = sample_of(project, hook, subscription)
        .ok_or_else(|| Failure::new(format!("there is no sample of {}", subscription.event)))?;
    Ok((subscription, payload))
}

fn sample_of(project: &Project, hook: &Hook, subscription: Subscription) -> Option<Object> {
    let event = sample::event(subscription.event, project);
    let facts = facts(&event.body, &event.scope.cwd);
    let line = match &hook.protocol {
        Protocol::Executable => executable::payload(&event, subscription.spelling, &facts)?,
        Protocol::Manifest(held) => {
            let matched = event.body.tool_call().zip(held.matcher.as_ref());
            let matched = matched.and_then(|(call, matcher)| matcher.matches(call).ok()?);
            let tool_name = matched.map(|found| found.tool_name);
            let light = held.light_payload;
            manifest::payload(&event, subscription.spelling, tool_name, &facts, light)
        }
    };
    serde_json::from_str(&line).ok()
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

/// Whether the hook's matcher is about the call in `payload`, whose tool may have any of its names.
pub(super) fn aim(hook: &Hook, event: EventName, payload: &Object) -> Aim {
    let Some(matcher) = hook.matcher().filter(|_| event.lifecycle().matcher) else {
        return Aim::Hit(None);
    };
    let name = payload.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let name = tool_names::canonical(name).unwrap_or(name).to_owned();
    let input = payload.get("tool_input").and_then(Value::as_object).cloned();
    let call = ToolCall { id: String::new(), name, input: input.unwrap_or_default() };
    match matcher.matches(&call) {
        Ok(Some(found)) => Aim::Hit(Some(found.tool_name.to_owned())),
        Ok(None) => Aim::Other,
        Err(error) => Aim::Unknown(error),
    }
}

/// What the hook is to be told.
pub(super) fn request(subscription: Subscription, payload: &Object) -> Request {
    let id = payload.get("session_id").or_else(|| payload.get("conv_id"));
    let session_id = id.and_then(Value::as_str).unwrap_or(sample::CONVERSATION).to_owned();
    Request { subscription, session_id, payload: json::to_line(payload) }
}
