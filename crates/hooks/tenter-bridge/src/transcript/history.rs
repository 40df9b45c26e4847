//! The history of a conversation while its transcript is read.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tenter_protocol::event::{TurnUsage, Usage};
use tenter_protocol::{Block, Message, Role, ToolCall};

use super::Transcript;
use crate::occurrence::{NativeCall, ToolEnd, ToolOutcome};
use crate::{Host, tool_call, tool_result};

/// The messages and token counts so far.
pub(super) struct History<'h> {
    host: &'h Host,
    messages: Vec<Message>,
    /// The calls so far, by id.
    calls: HashMap<String, ToolCall>,
    /// The id of the response to which the last message belongs.
    response: Option<String>,
    /// Tokens before the present response.
    sent: u64,
    received: u64,
    /// The present response and its tokens.
    last_count: Option<(String, TurnUsage)>,
    usage: Option<Usage>,
    replaced: bool,
}

impl<'h> History<'h> {
    /// Creates an empty history, before which this many tokens were sent and received.
    pub(super) fn new(host: &'h Host, tokens_sent: u64, tokens_received: u64) -> Self {
        Self {
            host,
            messages: Vec::new(),
            calls: HashMap::new(),
            response: None,
            sent: tokens_sent,
            received: tokens_received,
            last_count: None,
            usage: None,
            replaced: false,
        }
    }

    /// Adds a message of the user, or results of tools.
    pub(super) fn add_user(&mut self, blocks: Vec<Block>) {
        self.response = None;
        self.add(Role::User, blocks);
    }

    /// Adds a part of a response of the model. Parts of one response that follow each other are one message.
    pub(super) fn add_response(&mut self, id: Option<&str>, blocks: Vec<Block>) {
        let is_part = id.is_some() && self.response.as_deref() == id;
        match self.messages.last_mut().filter(|_| is_part) {
            Some(message) => message.blocks.extend(blocks),
            None => self.add(Role::Assistant, blocks),
        }
        self.response = id.map(str::to_owned);
    }

    fn add(&mut self, role: Role, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.messages.push(Message::new(role, blocks));
        }
    }

    /// Adds a tool call. Returns its block.
    pub(super) fn call(&mut self, call: &NativeCall) -> Block {
        let call = tool_call::canonical(self.host, call);
        self.calls.insert(call.id.clone(), call.clone());
        Block::ToolUse(call)
    }

    /// Returns the block of a tool's result.
    pub(super) fn result(&self, call_id: &str, end: &ToolEnd, time: &str) -> Block {
        let unknown = ToolCall::new(call_id, "", []);
        let call = self.calls.get(call_id).unwrap_or(&unknown);
        let result = tool_result::canonical(call, end, Path::new(""), time.to_owned());
        Block::ToolResult { call_id: call_id.to_owned(), result }
    }

    /// Drops the history: the lines that follow replace it.
    pub(super) fn replace(&mut self) {
        self.count_response();
        self.messages.clear();
        self.calls.clear();
        self.response = None;
        self.replaced = true;
    }

    /// Returns whether the history was replaced since the last call.
    pub(super) fn take_replaced(&mut self) -> bool {
        std::mem::take(&mut self.replaced)
    }

    /// Sets the tokens of the response `id` so far.
    pub(super) fn add_tokens(&mut self, id: &str, turn: TurnUsage) {
        if self.last_count.as_ref().is_none_or(|(last, _)| last != id) {
            self.count_response();
        }
        self.last_count = Some((id.to_owned(), turn));
        self.usage = Some(Usage {
            input_tokens: self.sent.saturating_add(turn.input_tokens),
            output_tokens: self.received.saturating_add(turn.output_tokens),
            ..turn_usage(turn)
        });
    }

    /// Adds the tokens of the present response to the totals.
    fn count_response(&mut self) {
        if let Some((_, turn)) = self.last_count.take() {
            self.sent = self.sent.saturating_add(turn.input_tokens);
            self.received = self.received.saturating_add(turn.output_tokens);
        }
    }

    /// Sets the token counts.
    pub(super) fn set_usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// Returns the tokens sent and received before the present response.
    pub(super) fn tokens(&self) -> (u64, u64) {
        (self.sent, self.received)
    }

    pub(super) fn into_transcript(self) -> Transcript {
        Transcript { messages: Arc::new(self.messages), usage: self.usage }
    }
}

/// Returns the token counts of one response, where the totals are unknown.
pub(super) fn turn_usage(turn: TurnUsage) -> Usage {
    Usage {
        current_context_window: turn.input_tokens.saturating_add(turn.output_tokens),
        estimated: true,
        turn,
        ..Usage::default()
    }
}

/// Returns the end of a tool from its text alone.
pub(super) fn end(outcome: ToolOutcome, text: String) -> ToolEnd {
    let result = Value::String(text.clone());
    ToolEnd { output: Some(text), ..ToolEnd::new(outcome, result) }
}
