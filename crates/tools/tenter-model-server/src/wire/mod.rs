//! Encodes replies: one module per API, and the common parts.

mod anthropic;
mod chat;
pub mod failure;
mod gemini;
mod responses;

use serde_json::Value;

use crate::Format;
use crate::call_id::call_tag;
use crate::reply::{Call, CallForm, ModelReply, Part, StopReason, Usage};
use crate::signature::signature;
use crate::stream::Frame;

/// The `created` time of every event.
const CREATED: u64 = 1_795_297_018;

/// Returns the signature that a reply to `request` contains as reply number `serial`.
pub fn reply_signature(
    reply: &ModelReply,
    format: Format,
    request: &Value,
    serial: usize,
) -> Option<String> {
    let has_signature = match format {
        Format::Anthropic | Format::Gemini => true,
        Format::Responses => responses::asks_for_encrypted(request),
        Format::Chat => false,
    };
    let reasoning = reply.reasoning.as_ref().filter(|_| has_signature)?;
    Some(signature(format, serial, reasoning))
}

/// The reply to one request.
pub(super) struct WireReply<'a> {
    pub(super) reply: &'a ModelReply,
    /// The requested model.
    pub(super) model: &'a str,
    /// The body of the request.
    pub(super) request: &'a Value,
    /// The number of the reply, from which its ids are derived.
    pub(super) serial: usize,
    pub(super) llama: bool,
}

/// A part of a reply, with its ids.
pub(super) enum WireItem<'a> {
    Reasoning { text: &'a str, signature: String },
    Text(&'a str),
    Call { id: String, tag: String, name: &'a str, arguments: &'a str, form: &'a CallForm },
}

impl<'a> WireReply<'a> {
    /// Returns the reply as an event stream.
    pub(super) fn stream(&self, format: Format) -> Vec<Frame> {
        match format {
            Format::Anthropic => anthropic::stream(self),
            Format::Responses => responses::stream(self),
            Format::Chat => chat::stream(self),
            Format::Gemini => gemini::stream(self),
        }
    }

    /// Returns the reply as one JSON value.
    pub(super) fn whole(&self, format: Format) -> Value {
        match format {
            Format::Anthropic => anthropic::whole(self),
            Format::Responses => responses::whole(self),
            Format::Chat => chat::whole(self),
            Format::Gemini => gemini::whole(self),
        }
    }

    /// Returns the parts of the reply, in order.
    pub(super) fn items(&self, format: Format) -> Vec<WireItem<'a>> {
        let thought = self.reply.reasoning.as_deref();
        let thought =
            thought.map(|text| WireItem::Reasoning { text, signature: self.signature(format) });
        let mut calls = 0;
        let rest = self.reply.parts.iter().map(|part| match part {
            Part::Text(text) => WireItem::Text(text),
            Part::Call(Call { name, arguments, form }, _) => {
                let tag = call_tag(self.serial, calls);
                calls += 1;
                WireItem::Call { id: self.call_id(format, &tag), tag, name, arguments, form }
            }
        });
        thought.into_iter().chain(rest).collect()
    }

    /// Returns the signature of the reasoning.
    pub(super) fn signature(&self, format: Format) -> String {
        signature(format, self.serial, self.reply.reasoning.as_deref().unwrap_or_default())
    }

    /// Returns the id of the reply.
    fn id(&self, prefix: &str) -> String {
        if self.llama {
            format!("{prefix}{:0>32}", self.serial)
        } else {
            format!("{prefix}{:04}", self.serial)
        }
    }

    /// Returns a call's id. llama.cpp's have 32 characters, and a prefix only in Responses.
    fn call_id(&self, format: Format, tag: &str) -> String {
        match format {
            Format::Anthropic | Format::Chat if self.llama => format!("{tag:z<32}"),
            Format::Anthropic => format!("toolu_{tag}"),
            Format::Chat | Format::Responses => format!("call_{tag}"),
            Format::Gemini => format!("fc-{tag}"),
        }
    }

    fn calls_tools(&self) -> bool {
        self.reply.parts.iter().any(|part| matches!(part, Part::Call(..)))
    }

    fn usage(&self) -> Usage {
        self.reply.usage
    }

    /// Returns the number of output tokens that are reasoning.
    fn reasoning_tokens(&self) -> u64 {
        if self.reply.reasoning.is_some() { self.usage().output / 2 } else { 0 }
    }

    /// Returns the API's word for the stop reason.
    fn stop_word<'w>(&self, [done, calls, length, filtered]: [&'w str; 4]) -> &'w str {
        match self.reply.stop {
            StopReason::Length => length,
            StopReason::Filtered => filtered,
            StopReason::Done if self.calls_tools() => calls,
            StopReason::Done => done,
        }
    }
}
