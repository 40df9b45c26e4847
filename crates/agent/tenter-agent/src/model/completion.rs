//! A completion for a runtime hook: one request without tools (S7).

use tenter_proc::Cancel;
use tenter_protocol::Message;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::runtime::{Completion, CompletionRequest, CompletionUsage};

use super::{Model, ModelError, Purpose, Request};

/// A model's answer to a hook, with its cost.
#[derive(Debug)]
pub struct Completed {
    /// The answer for the hook.
    pub completion: Completion,
    /// The tokens, estimated if the model did not report them.
    pub tokens: TurnUsage,
    /// The cost in USD, if known.
    pub cost_usd: Option<f64>,
}

/// Requests a completion for a hook.
///
/// # Errors
/// When there is no complete response.
pub fn complete(
    model: &dyn Model,
    request: &CompletionRequest,
    cancel: &Cancel,
) -> Result<Completed, ModelError> {
    let messages = [Message::user(request.prompt.as_str())];
    let model_request = Request {
        system: request.system.as_deref().unwrap_or_default(),
        messages: &messages,
        tools: &[],
        purpose: Purpose::Completion,
        max_tokens: request.max_tokens.map(|tokens| tokens.max(1)),
    };
    let response = model.respond(&model_request, &mut |_| {}, cancel)?;
    let (tokens, _) = response.usage_or_estimate(model_request.text().len() as u64);
    let cost_usd = response.cost_usd;
    let usage = CompletionUsage {
        input_tokens: tokens.input_tokens,
        output_tokens: tokens.output_tokens,
        cost_usd: cost_usd.unwrap_or_default(),
    };
    let completion = Completion { text: response.text(), usage };
    Ok(Completed { completion, tokens, cost_usd })
}
