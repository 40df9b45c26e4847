//! What a server is to answer, said once for every format.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::Format;

/// The answers of a server, in order. Each request takes the next one, whatever its format; after the last, every request
/// gets the text `Done.`.
#[must_use]
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) replies: VecDeque<Reply>,
    pub(super) llama: bool,
    pub(super) key: Option<String>,
    pub(super) first_id: usize,
    pub(super) window: Option<u64>,
    pub(super) recipes: Option<String>,
    pub(super) told_window: Option<u64>,
    pub(super) served: Vec<String>,
}

impl Script {
    /// These answers.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            llama: false,
            key: None,
            first_id: 1,
            window: None,
            recipes: None,
            told_window: None,
            served: Vec::new(),
        }
    }

    /// Answers with the oddities of llama.cpp's own server, and asks for no key.
    pub fn like_llama_cpp(mut self) -> Self {
        self.llama = true;
        self
    }

    /// Refuses every key but this one, as the provider does. Without it, any key opens the server.
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Counts what it is sent: four bytes of a request's body are a token, and what a reply says of its input is overruled. A
    /// request of more than `window` tokens is refused in the provider's words, takes no answer from the script, and is a
    /// violation: `over the window`.
    pub fn counts_tokens(mut self, window: u64) -> Self {
        self.window = Some(window);
        self
    }

    /// Tells in its list of models, as llama.cpp does, that it holds `tokens`. Without it, the list is empty.
    pub fn tells_window(mut self, tokens: u64) -> Self {
        self.told_window = Some(tokens);
        self
    }

    /// Tells these names in its list of models, and not what they hold, as Ollama does.
    pub fn serves(mut self, names: &[&str]) -> Self {
        self.served = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// The list of models.
    pub(super) fn models(&self) -> Value {
        let model = |tokens| json!({"id": "m", "object": "model", "meta": {"n_ctx": tokens}});
        let named = self.served.iter().map(|name| json!({"id": name, "object": "model"}));
        let data: Vec<Value> = self.told_window.map(model).into_iter().chain(named).collect();
        json!({"object": "list", "data": data})
    }

    /// Answers every request that holds a conversation as text, between `<conversation>` and `</conversation>`, with `text`,
    /// and not from the script.
    pub fn answers_recipes(mut self, text: &str) -> Self {
        self.recipes = Some(text.to_owned());
        self
    }

    /// The next answer to a request with this body.
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

    /// Numbers messages and calls from `first`. For a second server that the same conversation comes to: ids that were
    /// given out before would come again.
    pub fn ids_from(mut self, first: usize) -> Self {
        self.first_id = first;
        self
    }
}

/// The tokens of a request's body, as a server that counts them counts.
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

/// One answer.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub(super) reasoning: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
    pub(super) stop: Stop,
    pub(super) faults: Vec<Fault>,
    pub(super) raw: Option<(Format, String)>,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Call { name: String, arguments: String },
}

/// Token figures of an answer, as a person counts: `input` is all of the input, the cached part included.
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
pub enum Stop {
    /// It is done, or calls tools.
    #[default]
    Done,
    /// It came to the limit of what it may write.
    Length,
    /// What it said was filtered.
    Filtered,
}

impl Reply {
    /// An answer that says and does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer that says `text`.
    pub fn text(text: &str) -> Self {
        Self::new().say(text)
    }

    /// The publicly documented example stream of `format`, served as it is; see [`Format::fixture`].
    pub fn recorded(format: Format) -> Self {
        Self::raw(format, format.fixture())
    }

    /// An event stream of `format`, served as it is. Only a streamed request of that format can take it.
    pub fn raw(format: Format, stream: &str) -> Self {
        Self { raw: Some((format, stream.to_owned())), ..Self::default() }
    }

    /// Says more.
    pub fn say(mut self, text: &str) -> Self {
        self.parts.push(Part::Text(text.to_owned()));
        self
    }

    /// Thinks before everything else, with an opaque signature where the format has one. The signature must come back as
    /// it was, beside the first call of this answer, or beside its text.
    pub fn reasoning(mut self, text: &str) -> Self {
        self.reasoning = Some(text.to_owned());
        self
    }

    /// Calls a tool. Several calls of one answer are parallel ones.
    ///
    /// `Value` and not a reference to one: a call is written `call("bash", json!({"command": "ls"}))`.
    #[expect(clippy::needless_pass_by_value, reason = "a call is written with json! in place")]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.raw_call(name, &arguments.to_string())
    }

    /// Calls a tool with arguments that need not be JSON. Gemini, whose arguments are no text, says
    /// `MALFORMED_FUNCTION_CALL` instead.
    pub fn raw_call(mut self, name: &str, arguments: &str) -> Self {
        self.parts.push(Part::Call { name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    /// Tokens: all of the input, all of the output, and how much of the input came out of the provider's cache. With
    /// reasoning, half of the output is it.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = Usage { input, output, cached, written: self.usage.written };
        self
    }

    /// How much of the input went into the provider's cache; only Anthropic says so.
    pub fn cache_write(mut self, tokens: u64) -> Self {
        self.usage.written = tokens;
        self
    }

    /// Why the model stops.
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Does this wrong. Several faults add up where they can: a delay and then a status.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Whether the answer comes to its end, so that what it gave out may come back.
    pub(super) fn is_whole(&self) -> bool {
        self.faults.iter().all(|fault| {
            matches!(fault, Fault::Delay(_) | Fault::Slow(_) | Fault::CommentLines | Fault::NoDone)
        })
    }
}

/// What a server can do wrong.
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
    /// 400: the conversation is longer than the model can hold, in the provider's words.
    TooLong,
    /// 404: there is no such model, in the provider's words.
    UnknownModel,
    /// Nothing for so many milliseconds, then the answer.
    Delay(u64),
    /// So many milliseconds between any two events.
    Slow(u64),
    /// Comment lines before the first event.
    CommentLines,
    /// After the headers, a comment line every few milliseconds, until the client hangs up.
    EndlessComments,
    /// The text again and again, as fast as it goes, until the client hangs up.
    EndlessText,
    /// After the headers, one line without an end, as fast as it goes, until the client hangs up.
    EndlessLine,
    /// The connection closes before the first byte.
    HangUp,
    /// The headers, then nothing until the client hangs up or the server is dropped.
    Silence,
    /// Half of the text, then nothing until the client hangs up or the server is dropped.
    SilenceMidText,
    /// The connection breaks in the middle of the text.
    CutMidText,
    /// The connection breaks in the middle of the first call's arguments.
    CutInsideToolJson,
    /// Half of the text, then the format's own error event, then a clean end.
    ErrorInStream,
    /// Everything but the events that end an answer, then a clean end.
    EndWithoutFinish,
    /// A data line that is no JSON, in the middle of the text.
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

    /// 429 that asks for so many seconds of peace.
    pub fn rate_limited(retry_after: u64) -> Self {
        Self::Status { code: 429, retry_after: Some(retry_after), body: None }
    }
}
