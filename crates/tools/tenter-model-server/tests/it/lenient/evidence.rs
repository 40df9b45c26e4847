//! The record of requests.

use std::time::Duration;

use serde_json::json;
use tenter_model_server::{Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, continue_with};
use tenter_testkit::api_client::{talk, ways};

#[test]
fn a_request_shows_everything_that_the_model_reads() {
    for way in ways() {
        let reply = ModelReply::text("I look.").call("bash", json!({"command": "cat secret"}));
        let server = ModelServer::start(LenientScript::new([reply])).unwrap();
        let mut body = ask(way.0, "Please look.");
        let spoken = talk(&server, way, &body);
        continue_with(way.0, &mut body, &spoken);
        talk(&server, way, &body);
        let text = server.requests()[1].text();
        assert_eq!(text.first().unwrap(), "Be brief.", "{way:?}");
        assert_eq!(text[1], "Please look.", "{way:?}");
        assert!(text.contains(&"I look.".to_owned()), "{way:?}: {text:?}");
        assert_eq!(text.last().unwrap(), "fine", "{way:?}");
        assert!(!text.concat().contains("secret"), "{way:?}: {text:?}");
        assert_eq!(server.requests()[1].tools(), ["bash"], "{way:?}");
    }
}

#[test]
fn text_in_nested_blocks_and_results_is_found() {
    let body = json!({"model": "claude", "tools": [{"name": "bash"}], "messages": [
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "RESULT"}]},
            {"type": "text", "text": "REMINDER"},
        ]},
        {"role": "system", "content": "CONTEXT"},
    ]});
    let server = ModelServer::start(LenientScript::new([])).unwrap();
    talk(&server, (Format::Anthropic, false), &body);
    assert_eq!(server.requests()[0].text(), ["RESULT", "REMINDER", "CONTEXT"]);
    let response = json!({"name": "bash", "response": {"output": "RESULT", "more": ["REMINDER"]}});
    let body = json!({"contents": [{"role": "user", "parts": [{"functionResponse": response}]}]});
    talk(&server, (Format::Gemini, false), &body);
    assert_eq!(server.requests()[1].text(), ["RESULT\nREMINDER"]);
}

#[test]
fn headers_and_path_are_kept() {
    let server = ModelServer::start(LenientScript::new([])).unwrap();
    talk(&server, (Format::Anthropic, true), &ask(Format::Anthropic, "Hello."));
    assert!(server.wait_for_requests(1, Duration::ZERO));
    assert!(!server.wait_for_requests(2, Duration::from_millis(1)));
    let request = &server.requests()[0];
    assert_eq!(request.header("x-api-key"), Some("sk-test"));
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.body["model"], "claude");
}
