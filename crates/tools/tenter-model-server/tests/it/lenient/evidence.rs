//! The record of requests.

use serde_json::json;
use tenter_model_server::{Format, LenientScript, ModelServer};

use tenter_testkit::api_client::talk;

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
