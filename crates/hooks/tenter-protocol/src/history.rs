//! The history in payloads, and the messages with which hooks replace it: in either form (R57), validated before anything is
//! replaced (R32).

mod action_fields;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Block, Message, Role};

pub(crate) use action_fields::{HistoryFields, follow_ups};

/// A message in a payload: as plain text, as in the documents, and as typed blocks (R57).
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct MessagePayload<'m> {
    /// `user` or `assistant`. Tool results are in `user` messages.
    role: Role,
    /// The message as plain text, including tool calls and results.
    content: String,
    /// The message as typed blocks.
    blocks: &'m [Block],
}

pub(crate) fn payload(messages: &[Message]) -> Vec<MessagePayload<'_>> {
    messages
        .iter()
        .map(|message| MessagePayload {
            role: message.role,
            content: message.content(),
            blocks: &message.blocks,
        })
        .collect()
}

/// A message in a reply: plain text or typed blocks. If both are given, the blocks count.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageWire {
    role: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    blocks: Option<Vec<Block>>,
}

impl MessageWire {
    fn read(self, index: usize) -> Result<Message, String> {
        let role = match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            other => {
                return Err(format!(
                    "messages[{index}] has the role \"{other}\"; use \"user\" or \"assistant\""
                ));
            }
        };
        let blocks = match (self.blocks, self.content) {
            (Some(blocks), _) if !blocks.is_empty() => blocks,
            (_, Some(content)) => vec![Block::text(content)],
            _ => return Err(format!("messages[{index}] has neither content nor blocks")),
        };
        Ok(Message::new(role, blocks))
    }
}

fn read(messages: Vec<MessageWire>) -> Result<Vec<Message>, String> {
    let messages = messages
        .into_iter()
        .enumerate()
        .map(|(index, wire)| wire.read(index))
        .collect::<Result<Vec<_>, _>>()?;
    validate(&messages)?;
    Ok(messages)
}

/// Checks that a model can continue from `messages`: there is at least one, none is empty, the last is a user message, every
/// tool call has its result in the next message, and every result has its call.
///
/// # Errors
/// A message is invalid; the error says which one, and why.
pub fn validate(messages: &[Message]) -> Result<(), String> {
    let Some(last) = messages.last() else { return Err("messages is empty".to_owned()) };
    if last.role != Role::User {
        return Err(
            "the last message must be a user message, so that the model can answer".to_owned()
        );
    }
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        if message.is_empty() {
            return Err(format!("messages[{index}] is empty"));
        }
        open = check_calls(index, message, open)?;
    }
    Ok(())
}

/// Checks one message against the open calls of the message before it; returns its own open calls.
fn check_calls<'m>(
    index: usize,
    message: &'m Message,
    mut open: BTreeSet<&str>,
) -> Result<BTreeSet<&'m str>, String> {
    let mut numbers = BTreeSet::new();
    for block in &message.blocks {
        match (block, message.role) {
            (Block::ToolResult { call_id, .. }, Role::User) => {
                answer(index, call_id, &mut open)?;
            }
            (Block::ToolUse(call), Role::Assistant) => {
                numbers.insert(call.id.as_str());
            }
            (Block::ToolResult { .. } | Block::ToolUse(_), _) => {
                return Err(format!(
                    "messages[{index}]: tool calls belong in assistant messages, results in user messages"
                ));
            }
            _ => {}
        }
    }
    match open.first() {
        Some(unanswered) => {
            Err(format!("messages[{index}] has no result for the call {unanswered}"))
        }
        None => Ok(numbers),
    }
}

/// Removes the answered call from the open ones.
fn answer(index: usize, call_id: &str, open: &mut BTreeSet<&str>) -> Result<(), String> {
    if open.remove(call_id) {
        return Ok(());
    }
    Err(format!(
        "messages[{index}] has a result for the call {call_id}, which the message before does not make"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read_json(value: Value) -> Result<Vec<Message>, String> {
        read(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn reads_text_and_blocks() {
        let messages = read_json(json!([
            {"role": "assistant", "blocks": [{"type": "tool_use", "id": "1", "name": "bash", "input": {}}]},
            {"role": "user", "content": "ignored where blocks stand", "blocks": [{"type": "tool_result", "call_id": "1",
              "result": {"toolName": "bash", "success": true, "timestamp": "T"}}]},
            {"role": "user", "content": "continue"},
        ]))
        .unwrap();
        assert_eq!(messages[2], Message::user("continue"));
        assert_eq!(messages[0].tool_calls().count(), 1);
    }

    #[test]
    fn names_each_flaw() {
        for (value, flaw) in [
            (json!([]), "is empty"),
            (json!([{"role": "system", "content": "x"}]), "the role \"system\""),
            (json!([{"role": "user", "content": "  "}]), "messages[0] is empty"),
            (json!([{"role": "user"}]), "neither content nor blocks"),
            (
                json!([{"role": "assistant", "content": "bye"}]),
                "last message must be a user message",
            ),
            (
                json!([{"role": "assistant", "blocks": [{"type": "tool_use", "id": "1", "name": "b", "input": {}}]},
                       {"role": "user", "content": "x"}]),
                "has no result for the call 1",
            ),
            (
                json!([{"role": "user", "blocks": [{"type": "tool_result", "call_id": "9",
                         "result": {"toolName": "b", "success": true, "timestamp": "T"}}]}]),
                "has a result for the call 9",
            ),
        ] {
            let error = read_json(value).unwrap_err();
            assert!(error.contains(flaw), "{error}");
        }
    }
}
