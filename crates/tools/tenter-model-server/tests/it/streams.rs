//! Each format streams a reply as its provider documents it. `lenient::round_trip` checks the content of replies.

use serde_json::{Value, json};
use tenter_testkit::api_client::{SpokenResponse, ask, continue_with, hear, send};
use tenter_testkit::model_server::{Format, ModelReply, ModelServer};

fn reply() -> ModelReply {
    ModelReply::text("Let me look — naïvely.")
        .reasoning("The user wants a list.")
        .call("bash", json!({"command": "ls -la"}))
        .call("bash", json!({"command": "pwd"}))
        .usage(1200, 80, 1000)
}

#[test]
fn anthropic_has_named_events_a_ping_and_signed_thinking() {
    let server = ModelServer::start(reply());
    let answer = send(&server, Format::Anthropic, &ask(Format::Anthropic, "list"));
    let mut names: Vec<String> = answer.events().into_iter().map(|(name, _)| name).collect();
    names.dedup();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let first = ["message_start", block[0], "ping", block[1], block[2]];
    let last = ["message_delta", "message_stop"];
    assert_eq!(names, [first.as_slice(), &block, &block, &block, &last].concat());
    for (name, data) in answer.events() {
        assert_eq!(serde_json::from_str::<Value>(&data).unwrap()["type"], name);
    }
    let deltas: Vec<Value> =
        answer.data().iter().map(|event| event["delta"]["type"].clone()).collect();
    let position = deltas.iter().position(|kind| kind == "signature_delta").unwrap();
    assert_eq!(deltas[position - 1], "thinking_delta");
}

#[test]
fn responses_events_have_numbers_and_their_item() {
    let server = ModelServer::start(reply());
    let answer = send(&server, Format::Responses, &ask(Format::Responses, "list"));
    for (number, (name, data)) in answer.events().into_iter().enumerate() {
        let event: Value = serde_json::from_str(&data).unwrap();
        assert_eq!((&event["type"], &event["sequence_number"]), (&json!(name), &json!(number)));
        let parts = ["output_item", "content_part", "output_text", "function_call", "reasoning"];
        let has_item = parts.iter().any(|part| name.starts_with(&format!("response.{part}")));
        assert_eq!(has_item, event["output_index"].is_u64(), "{event}");
    }
    let last = answer.data().pop().unwrap();
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 4);
}

#[test]
fn chat_counts_tokens_on_request_and_ends_with_done() {
    let server = ModelServer::start([reply(), reply()]);
    let mut body = ask(Format::Chat, "list");
    let response = send(&server, Format::Chat, &body);
    assert_eq!(response.events().pop().unwrap().1, "[DONE]");
    assert_eq!(response.data().pop().unwrap()["choices"], json!([]));
    body.as_object_mut().unwrap().remove("stream_options");
    let uncounted = send(&server, Format::Chat, &body);
    assert!(uncounted.data().iter().all(|event| event.get("usage").is_none()));
}

#[test]
fn the_documented_streams_can_be_played_and_repeated() {
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::recorded(format));
        let mut body = ask(format, "hello");
        let answer = send(&server, format, &body);
        assert_eq!(answer.body, format.fixture());
        let reply = hear(format, &answer);
        assert!(!reply.text.is_empty(), "{format:?}");
        continue_with(format, &mut body, &SpokenResponse { signature: String::new(), ..reply });
        send(&server, format, &body);
    }
}
