//! Interprets a model's response: its text and tool calls, what the conversation keeps of it, and what the user should
//! know about how it ended.

use tenter_protocol::{Block, Diagnostic, Message, Object, Role, Severity, ToolCall};

use super::calls::Requested;
use crate::model::{Response, ResponseBlock, StopCause, check_depth};

/// The response with every call that is nested too deeply marked as malformed (R79), whatever model it comes from: it would
/// make a conversation that cannot be read again.
pub(super) fn bounded(mut response: Response) -> Response {
    for block in &mut response.blocks {
        if let ResponseBlock::Said(Block::ToolUse(call)) = block
            && let Err(error) = check_depth(&call.input)
        {
            let (id, name) = (std::mem::take(&mut call.id), std::mem::take(&mut call.name));
            *block = ResponseBlock::Malformed { id, name, error };
            // What a provider signed would hold the arguments as well.
            response.native = None;
        }
    }
    response
}

/// The text of a response.
pub(super) fn said_text(response: &Response) -> String {
    let texts: Vec<&str> = response
        .blocks
        .iter()
        .filter_map(|block| match block {
            ResponseBlock::Said(Block::Text { text }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// The calls of a response.
pub(super) fn requested(response: &Response) -> Vec<Requested> {
    let cut = response.stop == StopCause::Length;
    response
        .blocks
        .iter()
        .filter_map(|block| match block {
            ResponseBlock::Said(Block::ToolUse(call)) => Some(Requested::new(call)),
            ResponseBlock::Said(_) => None,
            ResponseBlock::Malformed { id, name, error } => Some(Requested::Malformed {
                id: id.clone(),
                name: name.clone(),
                error: if cut { cut_call(error) } else { error.clone() },
            }),
        })
        .collect()
}

/// The same call would be cut off again, so the model has to know why it was.
fn cut_call(error: &str) -> String {
    format!(
        "the call was cut off, because the response came to the limit of its length; call again with less at once, for \
         instance in several calls ({error})"
    )
}

/// What the user should know about how a response ended.
pub(super) fn finding(response: &Response) -> Option<Diagnostic> {
    let calls = response.blocks.iter().any(|block| {
        matches!(block, ResponseBlock::Malformed { .. } | ResponseBlock::Said(Block::ToolUse(_)))
    });
    match response.stop {
        StopCause::Length if !calls => Some(
            Diagnostic::new(
                "response-cut",
                Severity::Warning,
                "the model came to the limit of a response's length; its answer is cut off",
            )
            .help("raise it with --max-tokens, or ask the model to continue"),
        ),
        StopCause::Filtered => Some(Diagnostic::new(
            "response-filtered",
            Severity::Warning,
            "the provider filtered what the model said; its answer may not be whole",
        )),
        StopCause::Done if !calls && said_text(response).trim().is_empty() => Some(
            Diagnostic::new("empty-response", Severity::Warning, "the model said nothing")
                .help("ask again in other words, or with another model"),
        ),
        StopCause::Done | StopCause::Length | StopCause::Over => None,
    }
}

/// The response as the conversation keeps it: a malformed call stands there without its arguments.
pub(super) fn assistant_message(response: Response) -> Message {
    let native = response.native;
    let blocks = response.blocks.into_iter().map(|block| match block {
        ResponseBlock::Said(block) => block,
        ResponseBlock::Malformed { id, name, .. } => {
            Block::ToolUse(ToolCall { id, name, input: Object::new() })
        }
    });
    Message { native, ..Message::new(Role::Assistant, blocks.collect()) }
}
