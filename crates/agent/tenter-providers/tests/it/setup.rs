//! Builders of models on a test server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tenter_agent::Model;
use tenter_agent::model::{Delta, ModelError, Purpose, Request, Response, ToolSpec};
use tenter_http::{Key, ResponseLimits};
use tenter_proc::Cancel;
use tenter_protocol::Message;
use tenter_providers::{Api, Endpoint, ModelChoice, ModelFacts, Prices, connect};
use tenter_testkit::model_server::{Format, ModelServer};

/// The key that every request must carry in its header.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

pub(crate) fn api(format: Format) -> Api {
    match format {
        Format::Anthropic => Api::Messages,
        Format::Responses => Api::Responses,
        Format::Chat => Api::Chat,
        Format::Gemini => Api::Gemini,
    }
}

pub(crate) fn endpoint(format: Format, base_url: String) -> Endpoint {
    Endpoint {
        provider: "test".into(),
        api: api(format),
        base_url: Some(base_url),
        key: Some(Key::new(KEY)),
        key_help: "set TEST_KEY".into(),
        proxy: None,
        authorities: None,
        trust_help: "say whom to trust".into(),
        idle_timeout: Duration::from_mins(1),
        limits: ResponseLimits::default(),
    }
}

pub(crate) fn choice() -> ModelChoice {
    let prices = Prices { input: 2.0, output: 10.0, cache_read: Some(0.5), cache_write: None };
    ModelChoice {
        name: "test/model".into(),
        model: "model".into(),
        max_tokens: Some(1000),
        effort: None,
        facts: ModelFacts { context_window: 100_000, prices: Some(prices), images: None },
    }
}

pub(crate) fn model(server: &ModelServer, format: Format) -> Box<dyn Model> {
    connect(endpoint(format, server.base_url(format)), choice()).unwrap()
}

pub(crate) fn bash() -> ToolSpec {
    ToolSpec {
        name: "bash".into(),
        description: "Runs a command".into(),
        schema: json!({"type": "object", "properties": {"command": {"type": "string"}},
            "required": ["command"], "additionalProperties": false}),
    }
}

/// The streamed text and reasoning of a response.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Streamed {
    pub(crate) text: String,
    pub(crate) reasoning: String,
}

/// Returns one response to `messages`.
pub(crate) fn ask(
    model: &dyn Model,
    messages: &[Message],
) -> (Result<Response, ModelError>, Streamed) {
    let tools = [bash()];
    let request = Request {
        system: "You are a test.",
        messages,
        tools: &tools,
        purpose: Purpose::Conversation,
        max_tokens: None,
    };
    let mut stream = Streamed::default();
    let response = model.respond(
        &request,
        &mut |delta| match delta {
            Delta::Text(text) => stream.text.push_str(text),
            Delta::Reasoning(text) => stream.reasoning.push_str(text),
        },
        &Cancel::new(),
    );
    (response, stream)
}

/// Sends a request that must fail, and returns the error.
pub(crate) fn failed(model: &dyn Model) -> ModelError {
    ask(model, &[Message::user("hello")]).0.unwrap_err()
}

/// Sends a request in a separate thread, cancels it when `ready` returns, and returns the result.
pub(crate) fn ask_and_interrupt(
    model: &dyn Model,
    ready: impl FnOnce(&AtomicBool),
) -> Result<Response, ModelError> {
    let (cancel, began) = (Cancel::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let response_thread = scope.spawn(|| {
            let messages = [Message::user("hello")];
            let request = Request { messages: &messages, ..Request::default() };
            let mut note = |_: Delta<'_>| began.store(true, Ordering::SeqCst);
            model.respond(&request, &mut note, &cancel)
        });
        ready(&began);
        cancel.cancel();
        response_thread.join().unwrap()
    })
}
