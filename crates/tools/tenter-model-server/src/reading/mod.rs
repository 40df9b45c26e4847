//! The content of a request, independent of the API: messages, tools, and the format of the answer. Anything unknown is skipped.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::collections::HashSet;

use serde_json::Value;

use crate::Format;
use crate::call_id::serial_of;

/// The content of a request.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The system prompt and the messages, in order.
    pub(crate) messages: Vec<ReadMessage>,
    pub(crate) tools: Vec<OfferedTool>,
    /// The name of the tool that the model must call.
    pub(crate) forced_tool: Option<String>,
    pub(crate) answer: AnswerFormat,
}

/// Whose words a message has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Model,
    /// The result of a call.
    Tool,
}

/// A message.
#[derive(Debug)]
pub(crate) struct ReadMessage {
    pub(crate) role: Role,
    pub(crate) text: String,
    /// The ids of the calls in it.
    pub(crate) calls: Vec<String>,
}

/// A tool that the model may call.
#[derive(Debug, Default)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) schema: Value,
    /// True if it takes free text.
    pub(crate) custom: bool,
    pub(crate) namespace: Option<String>,
}

impl OfferedTool {
    /// Returns true if a script means this tool by `name`, which may include its namespace as other APIs write it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let in_namespace = |namespace: &String| {
            let rest = name.strip_prefix(namespace.as_str());
            rest.and_then(|rest| rest.strip_prefix("__")) == Some(&self.name)
        };
        self.name == name || self.namespace.as_ref().is_some_and(in_namespace)
    }
}

/// The format that a request demands of the answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum AnswerFormat {
    #[default]
    Text,
    /// JSON by a schema, which is null if the request has none.
    Json(Value),
}

impl Reading {
    /// Reads the body of a request.
    pub(crate) fn new(format: Format, body: &Value) -> Self {
        match format {
            Format::Anthropic => anthropic::read(body),
            Format::Responses => responses::read(body),
            Format::Chat => chat::read(body),
            Format::Gemini => gemini::read(body),
        }
    }

    /// Returns the number of replies of the model in the conversation.
    pub(crate) fn model_turns(&self) -> usize {
        let mut serials = HashSet::new();
        let (mut turns, mut inside) = (0, false);
        for message in &self.messages {
            if message.role == Role::Model {
                // Some clients send the calls of one reply apart, each with its result.
                let serial = message.calls.iter().find_map(|id| serial_of(id));
                let is_repeated = serial.is_some_and(|serial| !serials.insert(serial));
                turns += usize::from(!inside && !is_repeated);
            }
            inside = message.role == Role::Model;
        }
        turns
    }

    /// Returns the texts of one role, in order.
    pub(crate) fn texts(&self, role: Role) -> impl DoubleEndedIterator<Item = &str> {
        self.messages
            .iter()
            .filter(move |message| message.role == role)
            .map(|message| message.text.as_str())
    }

    fn say(&mut self, role: Role, text: String) {
        // Without an empty result, the model's turns before and after it would be one.
        if !text.is_empty() || matches!(role, Role::Model | Role::Tool) {
            self.messages.push(ReadMessage { role, text, calls: Vec::new() });
        }
    }
}

/// Returns the elements of an array; empty if it is not an array.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the text of a string; empty if it is not a string.
fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the text of a content: a string, or the `text` of its blocks, one line each.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(text_of).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(block) => block.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}
