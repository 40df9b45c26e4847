//! Tests of the requests of a hook while it decides (S8).

use std::sync::Arc;
use std::time::Duration;

use tenter_engine::{Cancel, ServiceCaller, Services};
use tenter_protocol::Message;
use tenter_protocol::runtime::{
    Completion, CompletionRequest, CompletionUsage, HistoryQuery, HistoryResult, Question,
    ServiceError, UserAnswer,
};

use tenter_testkit::with_growing_limits;

use super::stage::{FOREVER, Script, Stage, is_served, until};

/// Requests `$1` with the parameters `$2` and puts the line with the response into `answer`.
const REQUEST: &str = r#"request() { printf '{"jsonrpc": "2.0", "id": "q", "method": "%s", "params": %s}\n' "$1" "$2"; read -r answer; }"#;

/// Denies with what is left of a response after `"jsonrpc"` and the id.
const TELL: &str = r#"told=$(printf %s "$answer" | tr -d '"\\{}'); respond "{\"decision\": \"deny\", \"reason\": \"$told\"}""#;

#[derive(Default)]
struct Fake {
    /// The time until the user answers a question, in milliseconds.
    asked_ms: u64,
}

impl Services for Fake {
    fn history(
        &self,
        by: &ServiceCaller<'_>,
        _: &HistoryQuery,
    ) -> Result<HistoryResult, ServiceError> {
        Ok(HistoryResult { messages: vec![Message::user(format!("for {}", by.hook))] })
    }

    fn complete(
        &self,
        _: &ServiceCaller<'_>,
        _: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<Completion, ServiceError> {
        assert!(cancel.wait(FOREVER), "it is cancelled when its request ends");
        Ok(Completion { text: "too late".into(), usage: CompletionUsage::default() })
    }

    fn ask(
        &self,
        _: &ServiceCaller<'_>,
        _: &Question,
        cancel: &Cancel,
    ) -> Result<UserAnswer, ServiceError> {
        cancel.wait(Duration::from_millis(self.asked_ms));
        Ok(UserAnswer { answer: "yes".into() })
    }
}

fn stage(services: &str, event: &str) -> Stage {
    stage_with(services, event, "")
}

fn stage_with(services: &str, event: &str, manifest: &'static str) -> Stage {
    let metadata = format!("  runtime: serve\n  services: {services}\n");
    let event = format!("{event}; {TELL}");
    Stage::new(&Script {
        manifest,
        metadata: metadata.leak(),
        start: REQUEST,
        event: event.leak(),
        ..Script::default()
    })
}

fn answer_of(stage: &Stage) -> String {
    answer_with(stage, Fake::default())
}

fn answer_with(stage: &Stage, services: Fake) -> String {
    let session = stage.engine.session(crate::scene::scope("c")).with_services(Arc::new(services));
    let call = tenter_protocol::ToolCall::new("1", "bash", []);
    match session.before_tool(call) {
        tenter_engine::ToolDecision::Deny(denial) => denial.reason,
        _ => panic!("{:?}", stage.last()),
    }
}

#[test]
fn a_listed_service_is_answered_and_another_one_refused() {
    let asks = "request history.get '{}'";
    let answer = answer_of(&stage("[history]", asks));
    assert!(answer.contains("for hook"), "{answer}");
    let answer = answer_of(&stage("[state]", asks));
    assert!(answer.contains("-32005") && answer.contains("refused"), "{answer}");
    let answer = answer_of(&stage("[state]", "request state.add '{\"key\": \"n\", \"by\": 2}'"));
    assert!(answer.contains("value: 2"), "{answer}");
    let answer = answer_of(&stage("[state]", "request state.set '{\"key\": \"n\"}'"));
    assert!(answer.contains("-32602"), "{answer}");
}

#[test]
fn a_service_that_belongs_to_no_open_request_gets_no_request() {
    let answer = answer_of(&stage("[history]", "request history.get '{\"request\": 99}'"));
    assert!(answer.contains("no_request"), "{answer}");
}

#[test]
fn the_end_of_the_event_cancels_its_services() {
    let event = r#"printf '{"jsonrpc": "2.0", "id": "q", "method": "model.complete", "params": {"prompt": "p"}}\n'; respond null; read -r answer; printf '%s\n' "$answer" > "$TENTER_PROJECT_DIR/answer.new"; mv "$TENTER_PROJECT_DIR/answer.new" "$TENTER_PROJECT_DIR/answer""#;
    let stage = Stage::new(&Script {
        metadata: "  runtime: serve\n  services: [model]\n",
        event,
        ..Script::default()
    });
    stage.fire_with(Arc::new(Fake::default()));
    assert!(is_served(&stage.last()), "{:?}", stage.last());
    until("it is cancelled", || stage.file("answer").exists());
    assert!(stage.lines("answer")[0].contains("cancelled"));
}

#[test]
fn the_clock_of_a_hook_stands_still_while_the_user_is_asked() {
    with_growing_limits(waits_for_an_answer_beyond_its_timeout);
}

fn waits_for_an_answer_beyond_its_timeout(factor: u32) {
    let timeout = 600 * u64::from(factor);
    let manifest = format!("timeout: {timeout}\n").leak();
    let stage = stage_with("[ask]", "request ask '{\"question\": \"really?\"}'", manifest);
    let asked_ms = timeout + 100;
    let answer = answer_with(&stage, Fake { asked_ms });
    assert!(answer.contains("yes"), "{answer}");
    assert!(stage.last().duration >= Duration::from_millis(asked_ms));
}

#[test]
fn a_question_without_a_user_is_unsupported() {
    let stage = stage("[ask, history, model]", "request ask '{\"question\": \"really?\"}'");
    let reason = stage.reason();
    assert!(reason.contains("unsupported"), "{reason}");
}

#[test]
fn the_number_of_open_requests_is_limited() {
    let event = r#"n=0; while [ $n -lt 17 ]; do n=$((n+1)); printf '{"jsonrpc": "2.0", "id": %s, "method": "model.complete", "params": {"prompt": "p"}}\n' $n; done; read -r answer"#;
    let answer = answer_of(&stage("[model]", event));
    assert!(answer.contains("id: 17") && answer.contains("limit"), "{answer}");
}
