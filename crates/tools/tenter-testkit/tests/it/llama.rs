//! The peculiarities of llama.cpp's server.

use serde_json::json;
use tenter_testkit::api_client::{HttpResponse, ask, door, hear, post};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};

const FORMATS: [Format; 3] = [Format::Anthropic, Format::Responses, Format::Chat];

/// Sends a request without a key.
fn response(format: Format, reply: ModelReply) -> HttpResponse {
    let server = ModelServer::start(Script::new([reply]).like_llama_cpp());
    let (path, _) = door(format, true);
    post(&server, path, &[], &ask(format, "hello").to_string())
}

fn reply() -> ModelReply {
    ModelReply::text("so").call("bash", json!({"command": "ls"})).usage(166, 29, 161)
}

#[test]
fn it_requires_no_key_and_its_ids_have_a_prefix_only_in_responses() {
    for format in FORMATS {
        let reply = hear(format, &response(format, reply()));
        let (id, _, arguments) = &reply.calls[0];
        assert_eq!((&*reply.text, &**arguments), ("so", r#"{"command":"ls"}"#), "{format:?}");
        assert_eq!(id.starts_with("call_"), format == Format::Responses, "{id}");
    }
}

#[test]
fn its_streams_lack_numbers_repeated_arguments_and_pings() {
    let responses = response(Format::Responses, reply());
    for name in ["sequence_number", "output_index", "function_call_arguments.done"] {
        assert!(!responses.body.contains(name), "{name}");
    }
    let messages = response(Format::Anthropic, reply());
    let mut events = messages.data().into_iter();
    let call = events.find(|event| event["content_block"]["type"] == "tool_use").unwrap();
    assert_eq!(call["content_block"].get("input"), None);
    assert!(messages.events().iter().all(|(name, _)| name != "ping"));
}

#[test]
fn its_errors_have_a_numeric_code_in_every_format() {
    for format in FORMATS {
        let long = response(format, ModelReply::new().fault(Fault::TooLong)).json();
        assert_eq!(long["error"]["type"], "exceed_context_size_error", "{format:?}");
        let loading = response(format, ModelReply::new().fault(Fault::status(503))).json();
        let expected =
            json!({"code": 503, "message": "Loading model", "type": "unavailable_error"});
        assert_eq!(loading["error"], expected, "{format:?}");
    }
    let stream = response(Format::Chat, ModelReply::text("some text").fault(Fault::ErrorInStream));
    assert_eq!(stream.data().pop().unwrap()["error"]["code"], 500);
    assert!(stream.complete && !stream.body.contains("[DONE]"));
    assert!(stream.head.contains("\r\naccess-control-allow-origin: \r\n"), "{}", stream.head);
}
