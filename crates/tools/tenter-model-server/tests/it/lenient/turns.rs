//! The turn that answers a request.

use serde_json::json;
use tenter_model_server::{Fault, Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, continue_with, send, talk, ways};

#[test]
fn the_model_turns_in_the_request_select_the_turn() {
    for way in ways() {
        let script = LenientScript::new([
            ModelReply::text("One.").call("bash", json!({"command": "ls"})).usage(900, 30, 0),
            ModelReply::text("Two."),
        ]);
        let server = ModelServer::start(script).unwrap();
        let mut body = ask(way.0, "Please.");
        let first = talk(&server, way, &body);
        assert_eq!((first.text.as_str(), first.calls.len()), ("One.", 1), "{way:?}");
        assert_eq!(first.usage, (900, 30, 0), "{way:?}");
        assert_eq!(talk(&server, way, &body).text, "One.", "a retry: {way:?}");
        continue_with(way.0, &mut body, &first);
        let second = talk(&server, way, &body);
        assert_eq!((second.text.as_str(), second.calls.len()), ("Two.", 0), "{way:?}");
        continue_with(way.0, &mut body, &second);
        assert_eq!(talk(&server, way, &body).text, "Done.", "{way:?}");
        let turns: Vec<_> = server.requests().iter().map(|request| request.turn.unwrap()).collect();
        assert_eq!(turns, [0, 0, 1, 2], "{way:?}");
        assert!(server.violations().is_empty());
    }
}

#[test]
fn an_empty_result_separates_turns() {
    let server = ModelServer::start(LenientScript::new([
        ModelReply::text("One."),
        ModelReply::text("Two."),
    ]));
    let server = server.unwrap();
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": ""});
    let body = json!({"model": "claude", "tools": [{"name": "bash"}], "messages": [
        {"role": "user", "content": "Please."},
        {"role": "assistant", "content": [call("x")]},
        {"role": "user", "content": [result("x")]},
        {"role": "assistant", "content": [call("y")]},
        {"role": "user", "content": [result("y")]},
    ]});
    send(&server, Format::Anthropic, &body);
    assert_eq!(server.requests()[0].turn, Some(2));
}

#[test]
fn a_turn_fails_once_and_its_retry_succeeds() {
    for script in [LenientScript::new([]), LenientScript::new([]).select_by_order()] {
        for way in ways() {
            let server = ModelServer::start(script.clone()).unwrap();
            server.push(ModelReply::text("One.").fault(Fault::rate_limited(1)));
            let body = ask(way.0, "Please.");
            let response = send(&server, way.0, &body);
            assert_eq!(response.status, 429, "{way:?}");
            assert!(response.head.contains("retry-after: 1\r\n"), "{way:?}");
            assert_eq!(talk(&server, way, &body).text, "One.", "{way:?}");
        }
    }
}
