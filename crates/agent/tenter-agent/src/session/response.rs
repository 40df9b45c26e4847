//! Interprets a model's response: its text, its tool calls, the message that the conversation keeps, and a diagnostic if it ended
//! unexpectedly.

use tenter_protocol::{Block, Diagnostic, Message, Object, Role, Severity, ToolCall};

use super::tool_calls::RequestedCall;
use crate::model::{Response, ResponseBlock, StopCause, check_depth};

/// Marks every call that is nested too deeply as malformed (R79): a conversation with it could be stored, but not read back.
pub(super) fn bound(mut response: Response) -> Response {
    for block in &mut response.blocks {
        if let ResponseBlock::Content(Block::ToolUse(call)) = block
            && let Err(error) = check_depth(&call.input)
        {
            let (id, name) = (std::mem::take(&mut call.id), std::mem::take(&mut call.name));
            *block = ResponseBlock::Malformed { id, name, error };
            // The native form contains the arguments too.
            response.native = None;
        }
    }
    response
}

/// Returns the tool calls of a response.
pub(super) fn requested_calls(response: &Response) -> Vec<RequestedCall> {
    let cut = response.stop == StopCause::Length;
    response
        .blocks
        .iter()
        .filter_map(|block| match block {
            ResponseBlock::Content(Block::ToolUse(call)) => Some(RequestedCall::new(call)),
            ResponseBlock::Content(_) => None,
            ResponseBlock::Malformed { id, name, error } => Some(RequestedCall::Malformed {
                id: id.clone(),
                name: name.clone(),
                error: if cut { cut_call(error) } else { error.clone() },
            }),
        })
        .collect()
}

/// Tells the model why the call was cut off; otherwise it would repeat the same call.
fn cut_call(error: &str) -> String {
    format!(
        "the call was cut off because the response reached the output limit; split it into several smaller calls \
         ({error})"
    )
}

/// Returns a diagnostic if a response ended unexpectedly.
pub(super) fn finding(response: &Response) -> Option<Diagnostic> {
    let calls = response.blocks.iter().any(|block| {
        matches!(block, ResponseBlock::Malformed { .. } | ResponseBlock::Content(Block::ToolUse(_)))
    });
    match response.stop {
        StopCause::Length if !calls => Some(
            Diagnostic::new(
                "response-cut",
                Severity::Warning,
                "the response reached the output limit and was cut off",
            )
            .help("raise the limit with --max-tokens, or ask the model to continue"),
        ),
        StopCause::Filtered => Some(Diagnostic::new(
            "response-filtered",
            Severity::Warning,
            "the provider filtered the response; it may be incomplete",
        )),
        StopCause::Done if !calls && response.text().trim().is_empty() => Some(
            Diagnostic::new("empty-response", Severity::Warning, "the model's response is empty")
                .help("rephrase the request, or use another model"),
        ),
        StopCause::Done | StopCause::Length | StopCause::ScriptEnd => None,
    }
}

/// Converts the response into a message. A malformed call is kept without its arguments.
pub(super) fn assistant_message(response: Response) -> Message {
    let native = response.native;
    let blocks = response.blocks.into_iter().map(|block| match block {
        ResponseBlock::Content(block) => block,
        ResponseBlock::Malformed { id, name, .. } => {
            Block::ToolUse(ToolCall { id, name, input: Object::new() })
        }
    });
    Message { native, ..Message::new(Role::Assistant, blocks.collect()) }
}
