//! The adapter to the model library, and the only file that uses it. It converts conversations to the library's messages and
//! responses to ours. What a provider expects back unchanged is stored as the native form of a message.
//!
//! The library is asynchronous, but Tenter is not: a request is driven to completion on the calling thread, over a blocking
//! transport. There is no runtime, and Ctrl-C cancels a request through its connection.

#![expect(
    clippy::result_large_err,
    reason = "the size of the library's errors is given, and errors are rare"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use futures::executor::block_on;
use futures::{StreamExt as _, stream};
use http::{HeaderName, HeaderValue, Request as HttpRequest, Response as HttpResponse, Uri};
use rig_core::DynModel;
use rig_core::catalog::{Catalog, ModelSpec};
use rig_core::completion::{
    CompletionRequest, CompletionResponse, FinishReason, Reasoning, ToolDefinition, message as rig,
};
use rig_core::error::ProviderError;
use rig_core::http_client::{
    self, BoxedStream, HttpClientExt, LazyBody, MultipartForm, StreamingResponse,
};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::wire::AnthropicConfig;
use rig_core::providers::gemini::GeminiConfig;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::wire::{LLAMACPP, OPENAI};
use rig_core::providers::registry::ProviderId;
use rig_core::streaming::{CompletionStream, Item, StreamEvent};
use serde_json::Value;
use tenter_agent::Model;
use tenter_agent::model::{
    Delta, ModelError, Request, Response, ResponseBlock, StopCause, ToolSpec, TransientCause,
    check_depth, read_arguments,
};
use tenter_proc::Cancel;
use tenter_protocol::event::TurnUsage;
use tenter_protocol::{Block, Image, ImageSource, Message, Role, ToolCall};

use crate::arguments::Excess;
use crate::error_response::{ErrorContext, ErrorResponse};
use crate::events::Events;
use crate::{Api, Effort, Endpoint, ModelChoice, ModelFacts, Prices};
use tenter_http::{Chunks, Http, StreamTail, TransportError};

/// Maximum number of tokens of a response, if the API requires a limit and the model's is unknown.
const MAX_TOKENS: u64 = 8192;

/// Returns the model at `endpoint`. Nothing is sent yet.
///
/// # Errors
/// The address of the proxy is invalid.
pub fn connect(endpoint: Endpoint, choice: ModelChoice) -> Result<Box<dyn Model>, ModelError> {
    let http = endpoint
        .transport()
        .map_err(|failure| ModelError::Setup(format!("the proxy cannot be used: {failure}")))?;
    let errors = ErrorContext::new(&endpoint, &choice.name, http.proxy());
    Ok(Box::new(RemoteModel { endpoint, choice, http, errors }))
}

/// Returns the properties of a model from the catalog; `None` if it is not there.
pub fn facts(provider: &str, model: &str) -> Option<ModelFacts> {
    let spec = Catalog::builtin().find(vendor(provider)?, model)?;
    Some(ModelFacts {
        context_window: spec.context_window?.into(),
        images: Some(spec.input.image),
        prices: spec.pricing.map(|pricing| Prices {
            input: pricing.input,
            output: pricing.output,
            cache_read: pricing.cache_read,
            cache_write: pricing.cache_write,
        }),
    })
}

/// Returns the known models of a provider that support tools and are not deprecated.
pub fn known_models(provider: &str) -> Vec<&'static str> {
    let Some(vendor) = vendor(provider) else { return Vec::new() };
    let fits = |spec: &&ModelSpec| {
        spec.provider.vendor() == vendor.vendor() && spec.tools && !spec.deprecated
    };
    Catalog::builtin().iter().filter(fits).map(|spec| spec.id.as_str()).collect()
}

fn vendor(provider: &str) -> Option<ProviderId> {
    ProviderId::catalog(if provider == "google" { "gcp.gemini" } else { provider })
}

/// A model on a server.
struct RemoteModel {
    endpoint: Endpoint,
    choice: ModelChoice,
    http: Http,
    errors: ErrorContext,
}

impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.choice.name
    }

    fn context_window(&self) -> u64 {
        self.choice.facts.context_window
    }

    fn respond(
        &self,
        request: &Request,
        deltas: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Response, ModelError> {
        let client = Client {
            http: self.http.clone(),
            cancel: cancel.clone(),
            tail: StreamTail::default(),
            api: self.endpoint.api,
            excess: Excess::default(),
        };
        let result = self
            .request(request)
            .and_then(|request| self.model(client.clone()).stream(request))
            .and_then(|stream| read(stream, deltas));
        let result = match result {
            _ if cancel.is_cancelled() => Err(ModelError::Cancelled),
            Ok(response) => self.response(&response, client.excess.problem()),
            Err(error) => Err(self.explain(&error, &client.tail)),
        };
        result.map_err(|error| self.errors.redact(error))
    }
}

/// Reads a response to its end, and passes text and reasoning to `deltas`.
fn read(
    mut stream: CompletionStream,
    deltas: &mut dyn FnMut(Delta),
) -> Result<CompletionResponse, ProviderError> {
    while let Some(item) = block_on(stream.next()) {
        match item? {
            Item::Event(StreamEvent::Text { text, .. }) => deltas(Delta::Text(&text)),
            Item::Event(StreamEvent::Reasoning { text, .. }) => deltas(Delta::Reasoning(&text)),
            _ => {}
        }
    }
    block_on(stream.finish())
}

impl RemoteModel {
    /// Returns the library's model that uses `client`.
    fn model(&self, client: Client) -> DynModel<Completion> {
        let key = self.endpoint.key.as_ref().map_or("", |key| key.reveal());
        let base = self.endpoint.base_url.as_deref();
        let name = &self.choice.model;
        match self.endpoint.api {
            Api::Messages => {
                let config = AnthropicConfig::new(key);
                let config = base.into_iter().fold(config, AnthropicConfig::with_base_url);
                let mut model = config.connect(client).completion(name);
                model.wire.default_max_tokens.get_or_insert(MAX_TOKENS);
                model.wire = model.wire.with_prompt_caching();
                model.erase()
            }
            Api::Gemini => {
                let config = GeminiConfig::new(key);
                let config = base.into_iter().fold(config, GeminiConfig::with_base_url);
                config.connect(client).completion(name).erase()
            }
            Api::Responses => openai(self.endpoint.key.is_some(), key, base)
                .connect(client)
                .responses(name)
                .erase(),
            Api::Chat => {
                openai(self.endpoint.key.is_some(), key, base).connect(client).chat(name).erase()
            }
        }
    }

    fn request(&self, request: &Request) -> Result<CompletionRequest, ProviderError> {
        let mut conversion = CompletionRequest::new("");
        conversion.chat_history =
            std::iter::once(rig::Message::System { content: request.system.to_owned() })
                .chain(messages(request.messages))
                .collect();
        conversion.tools = request.tools.iter().map(tool).collect::<Result<_, _>>()?;
        conversion.max_tokens = request.max_tokens.into_iter().chain(self.choice.max_tokens).min();
        conversion.options.reasoning = self.choice.effort.map(reasoning);
        Ok(conversion)
    }

    /// Converts a response. `excess` says which limit the arguments of its calls exceed, if any.
    fn response(
        &self,
        response: &CompletionResponse,
        excess: Option<&str>,
    ) -> Result<Response, ModelError> {
        let blocks = response.choice.iter().filter_map(block);
        let blocks: Vec<ResponseBlock> = blocks.map(|block| with_excess(block, excess)).collect();
        // The native form could contain arguments that exceed the limits, and could then not be read again.
        let is_malformed = |block: &ResponseBlock| matches!(block, ResponseBlock::Malformed { .. });
        let is_sound = !blocks.iter().any(is_malformed);
        if let Some(problem) = excess.filter(|_| is_sound) {
            // The library repaired the emptied arguments; no tool may run with them.
            return Err(refused(problem.to_owned()));
        }
        let usage = usage(response);
        // If the server reports no cost, the library fills in a cost with all parts from its own table.
        let cost = response.usage.cost.filter(|cost| cost.cache_write.is_none());
        Ok(Response {
            blocks,
            usage,
            cost_usd: usage.and_then(|usage| self.price(&usage)).or(cost.map(|cost| cost.total)),
            stop: self.stop(response)?,
            native: self.native(response).filter(|_| is_sound),
        })
    }

    fn price(&self, usage: &TurnUsage) -> Option<f64> {
        let prices = self.choice.facts.prices?;
        let cost = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens;
        Some(
            cost(fresh, prices.input)
                + cost(usage.cached_input_tokens, prices.cache_read.unwrap_or(prices.input))
                + cost(usage.cache_write_tokens, prices.cache_write.unwrap_or(prices.input))
                + cost(usage.output_tokens, prices.output),
        )
    }

    fn stop(&self, response: &CompletionResponse) -> Result<StopCause, ModelError> {
        match response.finish_reason() {
            Some(FinishReason::Length) => Ok(StopCause::Length),
            Some(FinishReason::ContentFilter) => Ok(StopCause::Filtered),
            _ if response.error.is_some() => Ok(StopCause::Filtered),
            Some(FinishReason::Other(reason)) => Err(ModelError::Transient {
                cause: TransientCause::Server,
                message: format!("{} stopped for an unknown reason: {reason:?}", self.choice.name),
                retry_after: None,
            }),
            _ => Ok(StopCause::Done),
        }
    }

    /// Returns the native form of a response, if the provider expects more back than the blocks contain.
    fn native(&self, response: &CompletionResponse) -> Option<Value> {
        let is_hidden = |content: &rig::AssistantContent| {
            matches!(
                content,
                rig::AssistantContent::Reasoning(_) | rig::AssistantContent::Opaque(_)
            )
        };
        let needs_rest = self.endpoint.api == Api::Gemini || response.choice.iter().any(is_hidden);
        let Some(rig::Message::Assistant(message)) = response.message().filter(|_| needs_rest)
        else {
            return None;
        };
        serde_json::to_value(message).ok()
    }

    fn explain(&self, error: &ProviderError, tail: &StreamTail) -> ModelError {
        if let Some(reply) = error.provider_response() {
            let header = |headers: &http::HeaderMap| {
                Some(headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.to_owned())
            };
            let retry_after = reply.headers.as_ref().and_then(header);
            let response = ErrorResponse {
                status: reply.status.map(|status| status.as_u16()),
                retry_after: retry_after.as_deref(),
                body: &reply.body,
            };
            return response.explain(&self.errors);
        }
        let transient =
            |cause, message| ModelError::Transient { cause, message, retry_after: None };
        match error {
            ProviderError::Truncated => match tail.error() {
                Some(body) => {
                    ErrorResponse { body: &body, ..ErrorResponse::default() }.explain(&self.errors)
                }
                None => ModelError::transient(TransientCause::Cut),
            },
            ProviderError::Json(_) | ProviderError::Response(_) | ProviderError::Provider(_) => {
                transient(TransientCause::Server, format!("cannot read its response: {error}"))
            }
            ProviderError::Http(error) => match failure(error) {
                Some(failure) => self.errors.transport(failure),
                None => self.errors.not_a_model(&error.to_string()),
            },
            ProviderError::UnsupportedOption(option) => refused(format!(
                "{} does not support {}: {}",
                self.choice.name, option.option, option.reason
            )),
            other => refused(other.to_string()),
        }
    }
}

fn refused(message: String) -> ModelError {
    ModelError::Rejected { message, help: None }
}

/// Returns the transport error inside the library's error.
fn failure(error: &http_client::Error) -> Option<&TransportError> {
    match error {
        http_client::Error::Instance(error) => error.downcast_ref(),
        _ => None,
    }
}

/// Returns the configuration of a server with OpenAI's APIs. Without a key, no key header is sent.
fn openai(has_key: bool, key: &str, base: Option<&str>) -> OpenAIConfig {
    let config = OpenAIConfig::with_key(if has_key { &OPENAI } else { &LLAMACPP }, key);
    base.into_iter().fold(config, OpenAIConfig::with_base_url)
}

fn tool(spec: &ToolSpec) -> Result<ToolDefinition, ProviderError> {
    let name = rig::ToolName::new(&spec.name).map_err(ProviderError::request)?;
    Ok(ToolDefinition::new(name, &spec.description, spec.schema.clone()))
}

fn reasoning(effort: Effort) -> Reasoning {
    use rig_core::completion::Effort as Level;
    Reasoning::Effort(match effort {
        Effort::Off => return Reasoning::Off,
        Effort::Minimal => Level::Minimal,
        Effort::Low => Level::Low,
        Effort::Medium => Level::Medium,
        Effort::High => Level::High,
        Effort::ExtraHigh => Level::XHigh,
        Effort::Max => Level::Max,
    })
}

/// Converts the conversation. Consecutive messages of one role are merged, because not every API accepts them.
fn messages(ours: &[Message]) -> Vec<rig::Message> {
    let mut calls = Calls::default();
    let mut theirs: Vec<rig::Message> = Vec::with_capacity(ours.len());
    for message in ours {
        let next = match message.role {
            Role::User => rig::Message::User { content: calls.user_content(message) },
            Role::Assistant => rig::Message::Assistant(calls.assistant(message)),
        };
        match (theirs.last_mut(), next) {
            (Some(rig::Message::User { content }), rig::Message::User { content: more }) => {
                content.extend(more);
            }
            (_, next) => theirs.push(next),
        }
    }
    theirs
}

/// The tool calls of a conversation by our ids. If a provider has no ids, the native messages contain ids of the library.
#[derive(Default)]
struct Calls<'m>(BTreeMap<Cow<'m, str>, rig::CallId>);

impl<'m> Calls<'m> {
    /// Converts an assistant message: the native form if it still matches the blocks, else the blocks.
    fn assistant(&mut self, message: &'m Message) -> rig::AssistantMessage {
        let theirs = native(message).unwrap_or_else(|| {
            rig::AssistantMessage::new(message.blocks.iter().filter_map(content).collect())
        });
        for call in theirs.tool_calls() {
            self.0.insert(Cow::Owned(call.id.to_string()), call.id.clone());
        }
        theirs
    }

    fn user_content(&self, message: &'m Message) -> Vec<rig::UserContent> {
        message.blocks.iter().filter_map(|block| self.user_block(block)).collect()
    }

    fn user_block(&self, block: &Block) -> Option<rig::UserContent> {
        match block {
            Block::Text { text } => Some(rig::UserContent::Text(rig::Text::new(text))),
            Block::Image(image) => Some(rig::UserContent::Image(convert_image(image))),
            Block::ToolResult { call_id, result } => {
                let call = self.0.get(call_id.as_str()).cloned();
                Some(rig::UserContent::ToolResult(rig::ToolResult {
                    call: call.unwrap_or_else(|| rig::CallId::from_wire(call_id)),
                    name: rig::ToolName::new(&result.tool_name).ok()?,
                    content: vec![rig::ToolResultContent::Text(rig::Text::new(result.text()))],
                    is_error: result.is_failure(),
                }))
            }
            Block::Reasoning { .. } | Block::ToolUse(_) => None,
        }
    }
}

/// Returns the native form of a message, if it still matches the blocks and has no malformed arguments, which the provider would
/// reject in every later request.
fn native(message: &Message) -> Option<rig::AssistantMessage> {
    let native: rig::AssistantMessage = serde_json::from_value(message.native.clone()?).ok()?;
    let sound = native.tool_calls().all(|call| call.function.invalid_arguments.is_none());
    let same = || native.content.iter().filter_map(block).eq(kept_blocks(message));
    (sound && same()).then_some(native)
}

fn kept_blocks(message: &Message) -> impl Iterator<Item = ResponseBlock> {
    message.blocks.iter().cloned().map(ResponseBlock::Content)
}

/// Converts a part of a response. Provider-specific parts are only in the native form.
fn block(content: &rig::AssistantContent) -> Option<ResponseBlock> {
    match content {
        rig::AssistantContent::Text(text) if !text.text.trim().is_empty() => {
            Some(ResponseBlock::Content(Block::text(&text.text)))
        }
        rig::AssistantContent::Reasoning(reasoning) if !reasoning.text.trim().is_empty() => {
            Some(ResponseBlock::Content(Block::Reasoning { text: reasoning.text.clone() }))
        }
        rig::AssistantContent::ToolCall(call) => Some(tool_call(call)),
        _ => None,
    }
}

/// Replaces the error of malformed arguments by the exceeded limit.
fn with_excess(block: ResponseBlock, excess: Option<&str>) -> ResponseBlock {
    match (block, excess) {
        (ResponseBlock::Malformed { id, name, .. }, Some(problem)) => {
            ResponseBlock::Malformed { id, name, error: problem.to_owned() }
        }
        (block, _) => block,
    }
}

fn tool_call(call: &rig::ToolCall) -> ResponseBlock {
    let (id, name) = (call.id.to_string(), call.function.name.to_string());
    let arguments = call.function.invalid_arguments.as_deref();
    match arguments.map(read_arguments) {
        None => match check_depth(&call.function.arguments) {
            Ok(()) => {
                let input = call.function.arguments.clone();
                ResponseBlock::Content(Block::ToolUse(ToolCall { id, name, input }))
            }
            Err(error) => ResponseBlock::Malformed { id, name, error },
        },
        Some(Ok(input)) => ResponseBlock::Content(Block::ToolUse(ToolCall { id, name, input })),
        Some(Err(error)) => ResponseBlock::Malformed { id, name, error },
    }
}

/// Converts a block of an assistant message without a native form. Unsigned reasoning is left out: providers reject it, or take
/// it for the answer.
fn content(block: &Block) -> Option<rig::AssistantContent> {
    match block {
        Block::Text { text } => Some(rig::AssistantContent::Text(rig::Text::new(text))),
        Block::ToolUse(call) => {
            let name = rig::ToolName::new(&call.name).ok()?;
            let function = rig::ToolFunction::new(name, Value::Object(call.input.clone()));
            Some(rig::AssistantContent::ToolCall(rig::ToolCall::from_wire(&call.id, function)))
        }
        Block::Image(image) => Some(rig::AssistantContent::Image(convert_image(image))),
        Block::Reasoning { .. } | Block::ToolResult { .. } => None,
    }
}

fn convert_image(image: &Image) -> rig::Image {
    use rig::{DocumentSourceKind, ImageMediaType, MimeType as _};
    let data = match &image.source {
        ImageSource::Data(data) => DocumentSourceKind::base64(data),
        ImageSource::Url(url) => DocumentSourceKind::url(url),
    };
    let media_type = ImageMediaType::from_mime_type(&image.media_type);
    rig::Image { data, media_type, ..rig::Image::default() }
}

fn usage(response: &CompletionResponse) -> Option<TurnUsage> {
    let usage = &response.usage;
    let input_tokens = usage.input_tokens?;
    let cache_reads = usage.cached_input_tokens.unwrap_or(0).min(input_tokens);
    Some(TurnUsage {
        input_tokens,
        output_tokens: usage.output_tokens?,
        cached_input_tokens: cache_reads,
        cache_write_tokens: usage
            .cache_creation_input_tokens
            .unwrap_or(0)
            .min(input_tokens - cache_reads),
    })
}

/// Implements the library's HTTP client on top of our transport.
#[derive(Debug, Clone)]
struct Client {
    http: Http,
    cancel: Cancel,
    tail: StreamTail,
    api: Api,
    excess: Excess,
}

impl Client {
    fn run<T: Into<Bytes>>(
        &self,
        request: HttpRequest<T>,
    ) -> http_client::Result<HttpResponse<Chunks>> {
        let mut request = request.map(|body| Vec::from(body.into()));
        key_to_header(&mut request)?;
        self.http.send(request, &self.cancel, &self.tail).map_err(http_client::Error::instance)
    }
}

impl HttpClientExt for Client {
    fn send<T, U>(
        &self,
        request: HttpRequest<T>,
    ) -> impl Future<Output = http_client::Result<HttpResponse<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        let response = self.run(request).map(|response| {
            response.map(|chunks| -> LazyBody<U> {
                let body = chunks.collect::<Result<Vec<_>, _>>();
                let body = body.map(|chunks| U::from(Bytes::from(chunks.concat())));
                Box::pin(std::future::ready(body.map_err(http_client::Error::instance)))
            })
        });
        std::future::ready(response)
    }

    fn send_multipart<U>(
        &self,
        _request: HttpRequest<MultipartForm>,
    ) -> impl Future<Output = http_client::Result<HttpResponse<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        // Requests are never sent as forms.
        std::future::ready(Err(http_client::Error::StreamEnded))
    }

    fn send_streaming<T>(
        &self,
        request: HttpRequest<T>,
    ) -> impl Future<Output = http_client::Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let response = self.run(request).map(|response| {
            // The body of an error is not an event stream.
            let is_stream = response.status() == http::StatusCode::OK;
            response.map(|chunks| -> BoxedStream {
                let bytes = |piece: Result<Vec<u8>, TransportError>| {
                    piece.map(Bytes::from).map_err(http_client::Error::instance)
                };
                if is_stream {
                    let events = Events::new(chunks, self.api, self.excess.clone());
                    Box::pin(stream::iter(events.map(bytes)))
                } else {
                    Box::pin(stream::iter(chunks.map(bytes)))
                }
            })
        });
        std::future::ready(response)
    }
}

/// Moves the key from the address, where proxies and logs see it, to a header. Only Google's API puts it into the address.
fn key_to_header(request: &mut HttpRequest<Vec<u8>>) -> http_client::Result<()> {
    let address = request.uri().to_string();
    let Some((rest, key)) =
        address.rsplit_once("key=").filter(|(rest, _)| rest.ends_with(['?', '&']))
    else {
        return Ok(());
    };
    let key = HeaderValue::from_str(key)?;
    request.headers_mut().insert(HeaderName::from_static("x-goog-api-key"), key);
    let rest = rest.trim_end_matches(['?', '&']);
    *request.uri_mut() = Uri::try_from(rest).map_err(http::Error::from)?;
    Ok(())
}
