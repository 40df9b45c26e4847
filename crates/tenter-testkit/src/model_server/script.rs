//! The replies of a server, independent of the API.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::Format;

/// The replies of a server. Each request takes the next one, whatever its API; after the last one, every reply is `Done.`.
#[must_use]
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) replies: VecDeque<Reply>,
    pub(super) llama: bool,
    pub(super) key: Option<String>,
    pub(super) first_id: usize,
    pub(super) window: Option<u64>,
    pub(super) recipes: Option<String>,
    pub(super) reported_window: Option<u64>,
    pub(super) served: Vec<String>,
}

impl Script {
    /// A script with these replies.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            llama: false,
            key: None,
            first_id: 1,
            window: None,
            recipes: None,
            reported_window: None,
            served: Vec::new(),
        }
    }

    /// Imitates the peculiarities of llama.cpp's server, and requires no key.
    pub fn like_llama_cpp(mut self) -> Self {
        self.llama = true;
        self
    }

    /// Rejects every other key, as the provider does. By default any key is accepted.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Counts the tokens of requests, at four bytes of the body each, and reports them instead of the replies' input tokens. A
    /// request of more than `window` tokens is rejected as by the provider, uses no reply, and is a violation: `over the window`.
    pub fn counts_tokens(mut self, window: u64) -> Self {
        self.window = Some(window);
        self
    }

    /// Reports a context window of `tokens` in the list of models, as llama.cpp does. By default the list is empty.
    pub fn reports_window(mut self, tokens: u64) -> Self {
        self.reported_window = Some(tokens);
        self
    }

    /// Lists models with these names and without context windows, as Ollama does.
    pub fn serves(mut self, names: &[&str]) -> Self {
        self.served = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// The list of models.
    pub(super) fn models(&self) -> Value {
        let model = |tokens| json!({"id": "m", "object": "model", "meta": {"n_ctx": tokens}});
        let named = self.served.iter().map(|name| json!({"id": name, "object": "model"}));
        let data: Vec<Value> = self.reported_window.map(model).into_iter().chain(named).collect();
        json!({"object": "list", "data": data})
    }

    /// Replies with `text` to every request that contains `</conversation>`, which is how recipes receive a conversation. These
    /// requests use no reply of the script.
    pub fn answers_recipes(mut self, text: &str) -> Self {
        self.recipes = Some(text.to_owned());
        self
    }

    /// The reply to a request with this body.
    pub(super) fn next(&mut self, body: &[u8]) -> Reply {
        let is_recipe = || String::from_utf8_lossy(body).contains("</conversation>");
        let mut reply = match &self.recipes {
            Some(text) if is_recipe() => Reply::text(text),
            _ => self.replies.pop_front().unwrap_or_else(|| Reply::text("Done.")),
        };
        if self.window.is_some() {
            reply.usage = Usage { input: tokens(body), cached: 0, written: 0, ..reply.usage };
        }
        reply
    }

    /// Numbers messages and calls from `first`, so that a second server in the same conversation does not reuse ids.
    pub fn ids_from(mut self, first: usize) -> Self {
        self.first_id = first;
        self
    }
}

/// Number of tokens of a request body, at four bytes each.
pub(super) fn tokens(body: &[u8]) -> u64 {
    (body.len() as u64).div_ceil(4)
}

impl From<Vec<Reply>> for Script {
    fn from(replies: Vec<Reply>) -> Self {
        Self::new(replies)
    }
}

impl<const N: usize> From<[Reply; N]> for Script {
    fn from(replies: [Reply; N]) -> Self {
        Self::new(replies)
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::new([reply])
    }
}

/// One reply.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(super) reasoning: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
    pub(super) stop: StopReason,
    pub(super) faults: Vec<Fault>,
    pub(super) raw: Option<(Format, String)>,
}

/// A part of a reply.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Call { name: String, arguments: String },
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

/// Why the model stops.
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

impl Reply {
    /// An empty reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reply with a text.
    pub fn text(text: &str) -> Self {
        Self::new().say(text)
    }

    /// The documented example stream of `format`; see [`Format::fixture`].
    pub fn recorded(format: Format) -> Self {
        Self::raw(format, format.fixture())
    }

    /// An event stream of `format`, sent unchanged. Only a streamed request of that API can use it.
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
        self.parts.push(Part::Call { name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    /// Sets the tokens of the input, of the output, and of the input from the provider's cache. If there is reasoning, it is half of
    /// the output.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = Usage { input, output, cached, written: self.usage.written };
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

    /// Whether the reply is complete despite its faults.
    pub(super) fn is_whole(&self) -> bool {
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
    /// Everything but the events that end an answer, then a clean end.
    EndWithoutFinish,
    /// A data line that is not JSON, in the middle of the text.
    MalformedJson,
    /// 200 and no body.
    EmptyBody,
    /// Chat Completions without the closing `[DONE]`; no other format has one.
    NoDone,
}

impl Fault {
    /// An HTTP error with the provider's own body.
    pub fn status(code: u16) -> Self {
        Self::Status { code, retry_after: None, body: None }
    }

    /// 429 with a `retry-after` of so many seconds.
    pub fn rate_limited(retry_after: u64) -> Self {
        Self::Status { code: 429, retry_after: Some(retry_after), body: None }
    }
}
