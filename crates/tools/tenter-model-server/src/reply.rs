//! One reply of the model, independent of the API, and its faults.

use serde_json::Value;

use crate::Format;
use crate::reading::OfferedTool;

/// One reply.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct ModelReply {
    pub(super) reasoning: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
    pub(super) stop: StopReason,
    pub(super) faults: Vec<Fault>,
    pub(super) fails_always: bool,
    pub(super) raw: Option<(Format, String)>,
}

/// A part of a reply.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    /// A call, and what to call instead if the request does not offer its tool.
    Call(Call, Vec<Call>),
}

/// A tool call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    /// JSON, or the free text of a custom tool.
    pub(super) arguments: String,
    pub(super) form: CallForm,
}

/// The form of a call in the Responses API; the other APIs have one form.
#[derive(Debug, Clone, Default)]
pub(super) struct CallForm {
    /// True if the tool takes free text.
    pub(super) custom: bool,
    pub(super) namespace: Option<String>,
}

impl Call {
    fn new(name: &str, arguments: String) -> Self {
        Self { name: name.to_owned(), arguments, form: CallForm::default() }
    }

    /// Replaces the call with the first of it and `others` whose tool is offered, in the form of that tool.
    fn choose(&mut self, others: Vec<Self>, tools: &[OfferedTool]) {
        let mut choices = [self.clone()].into_iter().chain(others);
        let choice = choices.find_map(|call| {
            let tool = tools.iter().find(|tool| tool.is_called(&call.name))?;
            Some(call.for_tool(tool))
        });
        if let Some(call) = choice {
            *self = call;
        }
    }

    fn for_tool(mut self, tool: &OfferedTool) -> Self {
        if tool.custom {
            self.arguments = free_text(self.arguments);
        }
        self.name.clone_from(&tool.name);
        self.form = CallForm { custom: tool.custom, namespace: tool.namespace.clone() };
        self
    }
}

/// Returns the text for a tool that takes free text: a string, or the first one in an object.
fn free_text(arguments: String) -> String {
    let text = match serde_json::from_str(&arguments) {
        Ok(Value::String(text)) => Some(text),
        Ok(Value::Object(fields)) => {
            fields.into_iter().find_map(|(_, field)| field.as_str().map(str::to_owned))
        }
        _ => None,
    };
    text.unwrap_or(arguments)
}

/// Token counts of a reply. `input` includes the cached part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) written: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cached: 0, written: 0 }
    }
}

/// The reason for which the model stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StopReason {
    /// The model is done, or calls tools.
    #[default]
    Done,
    /// The output limit is reached.
    Length,
    /// The content was filtered.
    Filtered,
}

impl ModelReply {
    /// Creates an empty reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a reply with a text.
    pub fn text(text: &str) -> Self {
        Self::new().say(text)
    }

    /// Returns the documented example stream of `format`; see [`Format::fixture`].
    pub fn recorded(format: Format) -> Self {
        Self::raw(format, format.fixture())
    }

    /// Returns an event stream of `format`, sent unchanged. Only a streamed request of that API can use it.
    pub fn raw(format: Format, stream: &str) -> Self {
        Self { raw: Some((format, stream.to_owned())), ..Self::default() }
    }

    /// Adds a text.
    pub fn say(mut self, text: &str) -> Self {
        self.parts.push(Part::Text(text.to_owned()));
        self
    }

    /// Adds reasoning at the start, with an opaque signature if the API has one. The signature must be sent back unchanged with the
    /// first call of this reply, or with its text.
    pub fn reasoning(mut self, text: &str) -> Self {
        self.reasoning = Some(text.to_owned());
        self
    }

    /// Adds a tool call. Several calls of one reply are parallel.
    ///
    /// `Value` and not a reference to one: a call is written `call("bash", json!({"command": "ls"}))`.
    #[expect(clippy::needless_pass_by_value, reason = "a call is written with json! in place")]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.raw_call(name, &arguments.to_string())
    }

    /// Adds a tool call whose arguments need not be JSON. Gemini, whose arguments are not text, sends `MALFORMED_FUNCTION_CALL`
    /// instead.
    pub fn raw_call(mut self, name: &str, arguments: &str) -> Self {
        self.parts.push(Part::Call(Call::new(name, arguments.to_owned()), Vec::new()));
        self
    }

    /// Adds a call of the first of these tools that the request offers, with the same arguments; see [`ModelReply::call_first`].
    pub fn call_any(self, names: &[&str], arguments: impl Into<Value>) -> Self {
        let arguments = arguments.into();
        self.call_first(names.iter().map(|name| (*name, arguments.clone())))
    }

    /// Adds a call of the first of these tools that the request offers: clients, and versions of a client, name their tools
    /// differently. If it offers none, and in strict scripts, it is the first. Without tools, nothing is added.
    ///
    /// A custom tool of the Responses API takes free text: the arguments are then a string, or an object whose first string is the
    /// text.
    pub fn call_first<'n>(mut self, tools: impl IntoIterator<Item = (&'n str, Value)>) -> Self {
        let mut calls =
            tools.into_iter().map(|(name, arguments)| Call::new(name, arguments.to_string()));
        if let Some(call) = calls.next() {
            let others = calls.collect();
            self.parts.push(Part::Call(call, others));
        }
        self
    }

    /// Sets the tokens of the input, of the output, and of the input from the provider's cache. If there is reasoning, it is half of
    /// the output.
    pub fn usage(mut self, input: u64, output: u64, cached_tokens: u64) -> Self {
        self.usage = Usage { input, output, cached: cached_tokens, written: self.usage.written };
        self
    }

    /// Sets the input tokens written to the provider's cache, which only Anthropic reports.
    pub fn cache_write(mut self, tokens: u64) -> Self {
        self.usage.written = tokens;
        self
    }

    /// Sets why the model stops.
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Adds a fault. Several faults are combined if possible: a delay and then a status.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Repeats the faults at every request for this reply. In lenient scripts, a reply otherwise fails once and the retry succeeds.
    pub fn always_fails(mut self) -> Self {
        self.fails_always = true;
        self
    }

    /// Replaces the input tokens by `tokens`, none of which are from the provider's cache.
    pub fn input_tokens(mut self, tokens: u64) -> Self {
        self.usage = Usage { input: tokens, cached: 0, written: 0, ..self.usage };
        self
    }

    /// Returns the name and the arguments of the first call.
    pub fn first_call(&self) -> Option<(&str, &str)> {
        self.parts.iter().find_map(|part| match part {
            Part::Call(call, _) => Some((call.name.as_str(), call.arguments.as_str())),
            Part::Text(_) => None,
        })
    }

    /// Returns the texts of the reply as one.
    pub fn joined_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call(..) => None,
        });
        texts.collect()
    }

    /// Returns the recorded stream that is sent unchanged.
    pub fn recorded_stream(&self) -> Option<&str> {
        self.raw.as_ref().map(|(_, stream)| stream.as_str())
    }

    /// Returns the reply with calls that these tools allow.
    pub(super) fn for_tools(mut self, tools: &[OfferedTool]) -> Self {
        for part in &mut self.parts {
            if let Part::Call(call, others) = part {
                call.choose(std::mem::take(others), tools);
            }
        }
        self
    }

    /// Returns true if the reply is complete despite its faults.
    pub fn is_whole(&self) -> bool {
        self.faults.iter().all(|fault| {
            matches!(fault, Fault::Delay(_) | Fault::Slow(_) | Fault::CommentLines | Fault::NoDone)
        })
    }
}

/// A fault of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP error.
    Status {
        /// The status: 401, 429, 500, 503, 529, …
        code: u16,
        /// Seconds, in the header `retry-after` (and, with Gemini, in the body as well).
        retry_after: Option<u64>,
        /// The body; `None` is what the provider documents for this status.
        body: Option<String>,
    },
    /// 400: the conversation is too long, in the provider's words.
    TooLong,
    /// 404: there is no such model, in the provider's words.
    UnknownModel,
    /// A delay in milliseconds before the reply.
    Delay(u64),
    /// A delay in milliseconds between any two events.
    Slow(u64),
    /// Comment lines before the first event.
    CommentLines,
    /// After the headers, a comment line every few milliseconds, until the client disconnects.
    EndlessComments,
    /// The text repeated as fast as possible, until the client disconnects.
    EndlessText,
    /// After the headers, one endless line, as fast as possible, until the client disconnects.
    EndlessLine,
    /// The connection closes before the first byte.
    HangUp,
    /// The headers, then nothing until the client disconnects or the server is dropped.
    Silence,
    /// Half of the text, then nothing until the client disconnects or the server is dropped.
    SilenceMidText,
    /// The connection breaks in the middle of the text.
    CutMidText,
    /// The connection breaks in the middle of the first call's arguments.
    CutInsideToolJson,
    /// Half of the text, then the format's own error event, then a clean end.
    ErrorInStream,
    /// Everything but the final events, then a clean end.
    EndWithoutFinish,
    /// A data line that is not JSON, in the middle of the text.
    MalformedJson,
    /// 200 and no body.
    EmptyBody,
    /// Chat Completions without the closing `[DONE]`; no other format has one.
    NoDone,
}

impl Fault {
    /// Returns an HTTP error with the provider's own body.
    pub fn status(code: u16) -> Self {
        Self::Status { code, retry_after: None, body: None }
    }

    /// Returns 429 with a `retry-after` of so many seconds.
    pub fn rate_limited(retry_after: u64) -> Self {
        Self::Status { code: 429, retry_after: Some(retry_after), body: None }
    }
}
