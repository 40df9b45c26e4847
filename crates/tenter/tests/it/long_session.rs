//! A long session against a server that counts tokens: a hundred turns in a window of sixteen thousand tokens, and in a soak
//! three hundred.
//!
//! The server refuses what is over its window and what leaves a call unanswered; either fails the test.

use std::collections::HashSet;

use serde_json::{Value, json};
use tenter_testkit::model_server::{Format, ModelReply, ModelServer, RecordedRequest, Script};
use tenter_testkit::{Sandbox, is_soak};

use crate::manifests::hook;
use crate::sandbox;

const WINDOW: u64 = 16_000;
/// Turns per message of the user.
const EACH: usize = 50;

/// Turns of the whole session.
fn turns() -> usize {
    if is_soak() { 300 } else { 100 }
}

/// Returns the model's reply in a turn: one call or two with outputs of any size, at the end of a message only words.
fn turn(number: usize) -> ModelReply {
    let reply = ModelReply::new().say(&format!("MARK-{number:03}: going on."));
    if (number + 1).is_multiple_of(EACH) {
        return reply;
    }
    let lines = if number % 37 == 5 { 6000 } else { number * 7919 % 900 };
    let reply =
        reply.call("bash", json!({"command": format!("seq {lines}; echo RESULT-{number:03}")}));
    if number.is_multiple_of(5) {
        reply.call("bash", json!({"command": "printf '\"quoted\"\\n\\t%.0s' $(seq 200)"}))
    } else {
        reply
    }
}

fn configured(server: &ModelServer, format: Format) -> Sandbox {
    let sandbox = sandbox();
    let name = if format == Format::Anthropic { "anthropic" } else { "local" };
    let text = format!(
        "model = \"{name}/test\"\nmax_turns = 0\n[providers.{name}]\nbase_url = \"{}\"\napi_key_command = \"echo sk-0123456789\"\n\
         [models.\"{name}/test\"]\ncontext_window = {WINDOW}\n",
        server.base_url(format)
    );
    sandbox.configure(text);
    for event in ["after_turn", "pre_compact", "post_compact"] {
        let body = format!("printf '%s\\n' \"$payload\" >> \"$HOME/{event}\"");
        let name = format!("log-{}", event.replace('_', "-"));
        hook(&sandbox, &name, event, "metadata:\n  payload: light", &body);
    }
    sandbox
}

fn logged(sandbox: &Sandbox, event: &str) -> Vec<Value> {
    sandbox.read_lines(&format!("../home/{event}"))
}

/// A request with its body as text.
struct Sent {
    body: String,
    tokens: u64,
    /// True if the request is from a recipe beside the conversation.
    is_aside: bool,
}

impl Sent {
    fn new(request: &RecordedRequest) -> Self {
        let body = request.body.to_string();
        Self { is_aside: body.contains("</conversation>"), tokens: request.tokens, body }
    }
}

fn played(format: Format) -> (ModelServer, Sandbox) {
    let script = Script::new((0..turns()).map(turn));
    let server = ModelServer::start(script.counts_tokens(WINDOW).answers_recipes("SUMMARY-OF-ALL"));
    let sandbox = configured(&server, format);
    for message in 0..turns() / EACH {
        let text = format!("REQUEST-{message}: continue with all of it");
        let args = ["run", "--follow", &text];
        let output = sandbox.run(args).expect_code(0);
        assert!(!output.stderr.contains("callback-failed"), "{output}");
    }
    (server, sandbox)
}

fn check(format: Format) {
    let (server, sandbox) = played(format);
    server.assert_clean();
    assert_eq!(server.unused_replies(), 0);
    let requests: Vec<Sent> = server.requests().iter().map(Sent::new).collect();
    requests_know_what_is_asked(&requests);
    figures_are_the_servers(&sandbox, &requests);
    compactions_are_reported(&sandbox, &requests);
    nothing_is_lost(&sandbox);
}

/// Checks that the model still sees, whatever was compacted, the user's last request.
fn requests_know_what_is_asked(requests: &[Sent]) {
    let main_requests = requests.iter().filter(|request| !request.is_aside);
    let mut most = 0;
    for (number, request) in main_requests.enumerate() {
        let question = format!("REQUEST-{}: continue with all of it", number / EACH);
        assert!(request.body.contains(&question), "turn {number}");
        most = most.max(request.tokens);
    }
    assert!(most > WINDOW / 2, "the window is used: {most}");
}

/// Checks that hooks read the tokens that the server counted, recipes included.
fn figures_are_the_servers(sandbox: &Sandbox, requests: &[Sent]) {
    let (mut input, mut output, mut turns) = (0, 0, logged(sandbox, "after_turn").into_iter());
    for request in requests {
        input += request.tokens;
        output += 20;
        if request.is_aside {
            continue;
        }
        let usage = turns.next().unwrap()["usage"].clone();
        assert_eq!(usage["input_tokens"], input);
        assert_eq!(usage["output_tokens"], output);
        assert_eq!(usage["current_context_window"], request.tokens + 20);
        assert_eq!(usage["max_context_window"], WINDOW);
    }
    assert_eq!(turns.count(), 0);
    let value = sandbox.run("conversation show last --json").expect_code(0).json();
    let usage = &value["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(input), &json!(output)));
}

fn compactions_are_reported(sandbox: &Sandbox, requests: &[Sent]) {
    let (before, after) = (logged(sandbox, "pre_compact"), logged(sandbox, "post_compact"));
    let asides = requests.iter().filter(|request| request.is_aside).count();
    assert_eq!((before.len(), after.len()), (asides, asides), "each once, and all successful");
    for trigger in ["auto", "overflow"] {
        assert!(before.iter().any(|event| event["trigger"] == trigger), "{trigger}: {before:#?}");
    }
    for event in &after {
        let figure = |name: &str| event[name].as_u64().unwrap();
        assert!(figure("tokens_after") < figure("tokens_before"), "{event}");
    }
}

/// Checks that all that was ever said is in the store, in one history or another.
fn nothing_is_lost(sandbox: &Sandbox) {
    let output = sandbox.run("conversation show last --history --json").expect_code(0);
    let (marks, results) = (numbers(&output.stdout, "MARK-"), numbers(&output.stdout, "RESULT-"));
    for number in 0..turns() {
        let (mark, result) = (format!("{number:03}:"), format!("{number:03}\\n"));
        assert!(marks.contains(mark.as_str()), "turn {number}");
        let has_result = results.contains(result.as_str());
        assert!(has_result || (number + 1).is_multiple_of(EACH), "turn {number}");
    }
}

/// Returns the three digits behind every `word` of the text, with what ends them.
fn numbers<'t>(text: &'t str, word: &str) -> HashSet<&'t str> {
    let width =
        |rest: &str| if rest.get(3..).is_some_and(|end| end.starts_with('\\')) { 5 } else { 4 };
    text.split(word).skip(1).filter_map(|rest| rest.get(..width(rest))).collect()
}

#[test]
fn a_long_session_fits_the_context_window_with_chat_completions() {
    check(Format::Chat);
}

#[test]
fn a_long_session_fits_the_context_window_with_messages() {
    check(Format::Anthropic);
}
