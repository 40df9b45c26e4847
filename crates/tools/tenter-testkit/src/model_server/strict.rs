//! Strict scripts: every request must be one that the provider accepts and that a careful client sends.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tenter_model_server::{
    Delivery, Evidence, Format, HttpRequest, ModelReply, Player, RecordedRequest, Response, Route,
    ScriptedResponse, failure,
};

use super::invariants::{self, CheckedRequest};
use super::ledger::Ledger;
use super::violations::Violations;

/// Replies for clients whose requests are checked. Each request takes the next one, whatever its API; after the last one, every reply is `Done.`.
#[must_use]
#[derive(Debug, Clone)]
pub struct StrictScript {
    replies: VecDeque<ModelReply>,
    llama: bool,
    key: Option<String>,
    first_id: usize,
    window: Option<u64>,
    recipes: Option<String>,
    reported_window: Option<u64>,
    served: Vec<String>,
}

impl StrictScript {
    /// Creates a script with these replies.
    pub fn new(replies: impl IntoIterator<Item = ModelReply>) -> Self {
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

    fn models(&self) -> Value {
        let model = |tokens| json!({"id": "m", "object": "model", "meta": {"n_ctx": tokens}});
        let served = self.served.iter().map(|name| json!({"id": name, "object": "model"}));
        let data: Vec<Value> = self.reported_window.map(model).into_iter().chain(served).collect();
        json!({"object": "list", "data": data})
    }

    /// Replies with `text` to every request that contains `</conversation>`, which is how recipes receive a conversation. These
    /// requests use no reply of the script.
    pub fn answers_recipes(mut self, text: &str) -> Self {
        self.recipes = Some(text.to_owned());
        self
    }

    /// Returns the reply to a request.
    fn next(&mut self, request: &HttpRequest) -> ModelReply {
        let is_recipe = || String::from_utf8_lossy(&request.body).contains("</conversation>");
        let reply = match &self.recipes {
            Some(text) if is_recipe() => ModelReply::text(text),
            _ => self.replies.pop_front().unwrap_or_else(|| ModelReply::text("Done.")),
        };
        if self.window.is_some() { reply.input_tokens(request.tokens()) } else { reply }
    }

    /// Numbers messages and calls from `first`, so that a second server in the same conversation does not reuse ids.
    pub fn ids_from(mut self, first: usize) -> Self {
        self.first_id = first;
        self
    }
}

impl From<Vec<ModelReply>> for StrictScript {
    fn from(replies: Vec<ModelReply>) -> Self {
        Self::new(replies)
    }
}

impl<const N: usize> From<[ModelReply; N]> for StrictScript {
    fn from(replies: [ModelReply; N]) -> Self {
        Self::new(replies)
    }
}

impl From<ModelReply> for StrictScript {
    fn from(reply: ModelReply) -> Self {
        Self::new([reply])
    }
}

impl From<StrictScript> for Box<dyn Player> {
    fn from(script: StrictScript) -> Self {
        let serial = script.first_id;
        Box::new(StrictPlayer { script, ledger: Ledger::default(), serial })
    }
}

/// Plays a strict script.
#[derive(Debug)]
struct StrictPlayer {
    script: StrictScript,
    ledger: Ledger,
    serial: usize,
}

impl Player for StrictPlayer {
    fn push(&mut self, reply: ModelReply) {
        self.script.replies.push_back(reply);
    }

    fn unused(&self) -> usize {
        self.script.replies.len()
    }

    /// Checks a request and selects its response. Requests for replies are recorded.
    fn respond(
        &mut self,
        request: &HttpRequest,
        body: &Value,
        evidence: &mut Evidence,
    ) -> Response {
        if request.method == "GET" && request.target == "/v1/models" {
            return Response::Fixed(200, self.script.models());
        }
        let Some(route) = route(request, body) else {
            let line = format!("{} {}: unknown path", request.method, request.target);
            let refusal = failure::rejection(Format::Chat, &line);
            evidence.violations.push(line);
            return Response::Fixed(404, refusal);
        };
        evidence.requests.push(RecordedRequest::new(request, route.format, body));
        let number = evidence.requests.len();
        let violations = self.check(request, &route, body);
        if !violations.is_empty() {
            let violations = violations.join("; ");
            let text = format!("request {number}, POST {}: {violations}", request.target);
            let refusal = failure::rejection(route.format, &text);
            evidence.violations.push(text);
            return Response::Fixed(400, refusal);
        }
        self.refuse(request, route.format, evidence)
            .unwrap_or_else(|| self.reply(request, route, body))
    }
}

impl StrictPlayer {
    fn check(&self, request: &HttpRequest, route: &Route, body: &Value) -> Vec<String> {
        let request_to_check = CheckedRequest {
            request,
            body,
            streams: route.delivery == Delivery::Events,
            keyless: self.script.llama,
        };
        let mut violations = Violations::default();
        let replayed = invariants::check(route.format, &request_to_check, &mut violations);
        self.ledger.check(route.format, &route.model, &replayed, &mut violations);
        violations.into_lines()
    }

    /// Returns the provider's error for a wrong key or a conversation that is too long.
    fn refuse(
        &self,
        request: &HttpRequest,
        format: Format,
        evidence: &mut Evidence,
    ) -> Option<Response> {
        if let Some(key) = &self.script.key
            && invariants::key_of(format, request) != Some(key)
        {
            let (status, body) = wrong_key(format, self.script.llama);
            return Some(Response::Fixed(status, body));
        }
        let count = request.tokens();
        let window = self.script.window.filter(|window| count > *window)?;
        let number = evidence.requests.len();
        evidence
            .violations
            .push(format!("request {number}: over the window: {count} of {window} tokens"));
        Some(Response::Fixed(400, failure::too_long(format, self.script.llama)))
    }

    fn reply(&mut self, request: &HttpRequest, route: Route, body: &Value) -> Response {
        let reply = self.script.next(request);
        let serial = self.serial;
        self.serial += 1;
        self.ledger.note(&reply, &route, body, serial);
        let llama = self.script.llama;
        Response::Scripted(Box::new(ScriptedResponse { reply, route, serial, llama }))
    }
}

/// Returns the status and the body for a wrong key; Gemini's status is 400.
fn wrong_key(format: Format, llama: bool) -> (u16, Value) {
    if format != Format::Gemini {
        return (401, failure::body(format, 401, None, llama));
    }
    let mut refusal = failure::rejection(format, "API key not valid. Please pass a valid API key.");
    refusal["error"]["details"] = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }]);
    (400, refusal)
}

/// Returns the route of a request; `None` for paths that a client of these APIs has no reason to use.
fn route(request: &HttpRequest, body: &Value) -> Option<Route> {
    let path = request.path();
    let simple = |format| {
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        let delivery = if body["stream"] == true { Delivery::Events } else { Delivery::Whole };
        Some(Route { format, model, delivery })
    };
    match path {
        _ if request.method != "POST" => None,
        "/v1/messages" => simple(Format::Anthropic),
        "/v1/responses" => simple(Format::Responses),
        "/v1/chat/completions" => simple(Format::Chat),
        _ => {
            let (model, verb) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
            let delivery = match verb {
                "streamGenerateContent" => Delivery::Events,
                "generateContent" => Delivery::Whole,
                _ => return None,
            };
            Some(Route { format: Format::Gemini, model: model.to_owned(), delivery })
        }
    }
}
