//! Serves one connection: routes, checks, records and answers requests one after the other.

use std::io::{self, BufReader};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::http::{self, Request, Response};
use super::invariants::CheckedRequest;
use super::ledger::Ledger;
use super::script::{Fault, Reply, Script, tokens};
use super::stream::{Plan, StreamEnd};
use super::violations::Violations;
use super::wire::{WireReply, failure};
use super::{Format, RecordedRequest, invariants};

/// Maximum time that a test waits for a client.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The data shared by all connections of a server.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) closing: AtomicBool,
}

/// The mutable state of a server.
#[derive(Debug)]
pub(super) struct State {
    pub(super) script: Script,
    pub(super) requests: Vec<RecordedRequest>,
    pub(super) violations: Vec<String>,
    pub(super) hang_ups: usize,
    ledger: Ledger,
    serial: usize,
}

impl Shared {
    pub(super) fn new(script: Script) -> Self {
        let state = State {
            serial: script.first_id,
            script,
            requests: Vec::new(),
            violations: Vec::new(),
            hang_ups: 0,
            ledger: Ledger::default(),
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), closing: AtomicBool::new(false) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_until(&self, what: &str, ready: impl Fn(&State) -> bool) {
        let (state, wait) = self
            .changed
            .wait_timeout_while(self.state(), TIMEOUT, |state| !ready(state))
            .unwrap_or_else(PoisonError::into_inner);
        let seen = state.requests.len();
        drop(state);
        assert!(!wait.timed_out(), "gave up waiting for {what} after {seen} requests");
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

/// The route of a request.
struct Route {
    format: Format,
    model: String,
    streams: bool,
}

/// The response to a request.
enum Verdict {
    Rejected(u16, Value),
    Reply(Box<Reply>, usize),
}

/// Serves a connection until the client or the server closes it, or a fault breaks it.
pub(super) fn serve(stream: &TcpStream, shared: &Shared) {
    // Send small pieces at once, if possible.
    let _delayed = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Ok(Some(request)) = http::read(&mut reader, stream) {
        match answer(&request, &Response::new(stream), shared) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                shared.change(|state| state.hang_ups += 1);
                break;
            }
        }
    }
    let _gone = stream.shutdown(std::net::Shutdown::Both);
}

/// Answers a request. Returns false if the connection must be closed.
fn answer(request: &Request, to: &Response, shared: &Shared) -> io::Result<bool> {
    if request.method == "GET" && request.target == "/v1/models" {
        let models = shared.state().script.models().to_string();
        return to.whole(200, &[], &models).map(|()| true);
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(route) = route(request, &body) else {
        let line = format!("{} {}: unknown path", request.method, request.target);
        shared.change(|state| state.violations.push(line.clone()));
        to.whole(404, &[], &failure::rejection(Format::Chat, &line).to_string())?;
        return Ok(true);
    };
    let verdict = judge(request, &route, &body, shared);
    let llama = shared.state().script.llama;
    match verdict {
        Verdict::Rejected(status, body) => to.whole(status, &[], &body.to_string()).map(|()| true),
        Verdict::Reply(reply, serial) => {
            let answer =
                WireReply { reply: &reply, model: &route.model, request: &body, serial, llama };
            send(&answer, &route, to, shared)
        }
    }
}

fn route(request: &Request, body: &Value) -> Option<Route> {
    let path = request.target.split('?').next().unwrap_or_default();
    let simple = |format| {
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        Some(Route { format, model, streams: body["stream"] == true })
    };
    match path {
        _ if request.method != "POST" => None,
        "/v1/messages" => simple(Format::Anthropic),
        "/v1/responses" => simple(Format::Responses),
        "/v1/chat/completions" => simple(Format::Chat),
        _ => {
            let (model, verb) = path.strip_prefix("/v1beta/models/")?.split_once(':')?;
            let streams = match verb {
                "streamGenerateContent" => true,
                "generateContent" => false,
                _ => return None,
            };
            Some(Route { format: Format::Gemini, model: model.to_owned(), streams })
        }
    }
}

/// Checks and records a request, and selects its reply.
fn judge(request: &Request, route: &Route, body: &Value, shared: &Shared) -> Verdict {
    let mut state = shared.state();
    let seen =
        CheckedRequest { request, body, streams: route.streams, keyless: state.script.llama };
    let mut violations = Violations::default();
    let replayed = invariants::check(route.format, &seen, &mut violations);
    state.ledger.check(route.format, &route.model, &replayed, &mut violations);
    let verdict = state.verdict(request, route, body, violations);
    drop(state);
    shared.changed.notify_all();
    verdict
}

impl State {
    fn verdict(
        &mut self,
        request: &Request,
        route: &Route,
        body: &Value,
        violations: Violations,
    ) -> Verdict {
        self.requests.push(RecordedRequest {
            format: route.format,
            path: request.target.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            tokens: tokens(&request.body),
        });
        let number = self.requests.len();
        let found = violations.into_lines();
        if !found.is_empty() {
            let text = format!("request {number}, POST {}: {}", request.target, found.join("; "));
            let refusal = failure::rejection(route.format, &text);
            self.violations.push(text);
            return Verdict::Rejected(400, refusal);
        }
        if let Some(key) = &self.script.key
            && invariants::key_of(route.format, &request.headers) != Some(key)
        {
            let (status, body) = failure::wrong_key(route.format, self.script.llama);
            return Verdict::Rejected(status, body);
        }
        let counted = tokens(&request.body);
        if let Some(window) = self.script.window.filter(|window| counted > *window) {
            let text = format!("request {number}: over the window: {counted} of {window} tokens");
            self.violations.push(text);
            return Verdict::Rejected(400, failure::too_long(route.format, self.script.llama));
        }
        let reply = self.script.next(&request.body);
        let serial = self.serial;
        self.serial += 1;
        let llama = self.script.llama;
        let answer = WireReply { reply: &reply, model: &route.model, request: body, serial, llama };
        self.ledger.note(&answer, route.format, answer.carries_signature(route.format));
        Verdict::Reply(Box::new(reply), serial)
    }
}

/// Sends a reply with its faults. Returns false if the connection must be closed.
fn send(answer: &WireReply, route: &Route, to: &Response, shared: &Shared) -> io::Result<bool> {
    let headers = headers(answer, route.format);
    for fault in &answer.reply.faults {
        match fault {
            Fault::Delay(millis) if !to.wait(Some(Duration::from_millis(*millis)))? => {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Fault::HangUp => return Ok(false),
            _ => {}
        }
        if let Some((status, more, body)) = error(fault, answer, route.format) {
            return to.whole(status, &[headers, more].concat(), &body).map(|()| true);
        }
    }
    let format = route.format;
    let sent = if route.streams {
        stream(answer, format, &headers, to)
    } else {
        whole(answer, format, &headers, to)
    };
    sent?.or_else(|mistake| {
        let text = format!("the script cannot be followed: {mistake}");
        let refusal = failure::rejection(route.format, &text).to_string();
        shared.change(|state| state.violations.push(text));
        to.whole(400, &[], &refusal).map(|()| true)
    })
}

type Headers = Vec<(&'static str, String)>;

/// The headers of the provider's responses. llama.cpp sends a header without a value, and no id.
fn headers(answer: &WireReply, format: Format) -> Headers {
    let id = || format!("req_{:04}", answer.serial);
    match format {
        _ if answer.llama => {
            vec![("server", "llama.cpp".to_owned()), ("access-control-allow-origin", String::new())]
        }
        Format::Anthropic => vec![("request-id", id())],
        Format::Responses | Format::Chat => vec![("x-request-id", id())],
        Format::Gemini => Vec::new(),
    }
}

type Error = (u16, Headers, String);

/// The HTTP error of a fault, if it is one.
fn error(fault: &Fault, answer: &WireReply, format: Format) -> Option<Error> {
    match fault {
        Fault::Status { code, retry_after, body } => {
            let headers = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
            let usual = || failure::body(format, *code, *retry_after, answer.llama).to_string();
            Some((*code, headers.into_iter().collect(), body.clone().unwrap_or_else(usual)))
        }
        Fault::TooLong => {
            Some((400, Vec::new(), failure::too_long(format, answer.llama).to_string()))
        }
        Fault::UnknownModel => {
            Some((404, Vec::new(), failure::unknown_model(format, answer.model).to_string()))
        }
        _ => None,
    }
}

/// Whether the connection stays open, or the error in the script.
type SendResult = io::Result<Result<bool, String>>;

fn stream(answer: &WireReply, format: Format, headers: &Headers, to: &Response) -> SendResult {
    let faults = &answer.reply.faults;
    if faults.contains(&Fault::EmptyBody) {
        to.begin(headers)?;
        return to.end().map(|()| Ok(true));
    }
    if let Some((recorded, bytes)) = &answer.reply.raw {
        if *recorded != format {
            return Ok(Err(format!("the reply is {recorded:?}, the request is {format:?}")));
        }
        to.begin(headers)?;
        to.piece(bytes.as_bytes())?;
        return to.end().map(|()| Ok(true));
    }
    match Plan::new(answer.stream(format), faults, &failure::in_stream(format, answer.llama)) {
        Ok(plan) => {
            to.begin(headers)?;
            play(&plan, faults, to).map(Ok)
        }
        Err(mistake) => Ok(Err(mistake)),
    }
}

fn play(plan: &Plan, faults: &[Fault], to: &Response) -> io::Result<bool> {
    let pause = faults.iter().find_map(|fault| match fault {
        Fault::Slow(millis) => Some(Duration::from_millis(*millis)),
        _ => None,
    });
    for frame in &plan.frames {
        to.piece(frame.text.as_bytes())?;
        if pause.is_some() && !to.wait(pause)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
    match &plan.end {
        StreamEnd::Clean => to.end().map(|()| true),
        StreamEnd::Cut => Ok(false),
        StreamEnd::Silent => {
            while to.wait(None)? {}
            Err(io::ErrorKind::BrokenPipe.into())
        }
        StreamEnd::Endless(text, pause) => loop {
            to.piece(text.as_bytes())?;
            if !to.wait(Some(*pause))? {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        },
    }
}

fn whole(answer: &WireReply, format: Format, headers: &Headers, to: &Response) -> SendResult {
    if answer.reply.raw.is_some() {
        return Ok(Err("a recorded stream needs a request that streams".to_owned()));
    }
    let body = answer.whole(format).to_string();
    let half = body.char_indices().nth(body.chars().count() / 2).map_or(0, |(index, _)| index);
    for fault in &answer.reply.faults {
        match fault {
            Fault::EmptyBody => return to.whole(200, headers, "").map(|()| Ok(true)),
            Fault::MalformedJson => {
                return to.whole(200, headers, &body[..half]).map(|()| Ok(true));
            }
            Fault::CutMidText | Fault::CutInsideToolJson => {
                return to.short(200, headers, &body, half).map(|()| Ok(false));
            }
            Fault::Delay(_) => {}
            other => return Ok(Err(format!("{other:?} needs a request that streams"))),
        }
    }
    to.whole(200, headers, &body).map(|()| Ok(true))
}
