//! The peculiarities of llama.cpp's server.

use serde_json::{Value, json};
use tenter_testkit::model_server::{Fault, Format, ModelServer, Reply, Script};

use crate::client::{HttpResponse, door, post};
use crate::speech::{ask, hear};

fn with(format: Format, reply: Reply) -> HttpResponse {
    let server = ModelServer::start(Script::new([reply]).like_llama_cpp());
    let (path, _) = door(format, true);
    post(&server, path, &[], &ask(format, "hello").to_string())
}

fn reply() -> Reply {
    Reply::text("so").call("bash", json!({"command": "ls"})).usage(166, 29, 161)
}

#[test]
fn it_requires_no_key() {
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let said = hear(format, &with(format, reply()));
        assert_eq!((&*said.text, &*said.calls[0].2), ("so", r#"{"command":"ls"}"#), "{format:?}");
    }
}

#[test]
fn its_ids_have_a_prefix_only_in_responses() {
    let id = |format| hear(format, &with(format, reply())).calls[0].0.clone();
    for format in [Format::Anthropic, Format::Chat] {
        let id = id(format);
        assert!(id.len() == 32 && id.chars().all(char::is_alphanumeric), "{id}");
    }
    assert!(id(Format::Responses).starts_with("call_"));
}

#[test]
fn its_responses_lack_numbers_and_repeated_arguments() {
    let answer = with(Format::Responses, reply());
    for name in ["sequence_number", "output_index", "content_index"] {
        assert!(answer.data().iter().all(|event| event.get(name).is_none()), "{name}");
    }
    assert!(!answer.body.contains("function_call_arguments.done"));
    let first = &answer.data()[0]["response"];
    assert_eq!(first.as_object().unwrap().len(), 3, "{first}");
}

#[test]
fn its_messages_start_a_call_without_input_and_have_no_ping() {
    let answer = with(Format::Anthropic, reply());
    let opened =
        answer.data().into_iter().find(|event| event["content_block"]["type"] == "tool_use");
    assert_eq!(opened.unwrap()["content_block"].get("input"), None);
    assert!(answer.events().iter().all(|(name, _)| name != "ping"));
}

#[test]
fn its_errors_have_a_numeric_code_in_every_format() {
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let long = with(format, Reply::new().fault(Fault::TooLong)).json();
        assert_eq!(long["error"]["type"], "exceed_context_size_error", "{format:?}");
        assert_eq!(long["error"]["n_ctx"], 8192, "{format:?}");
        let loading = with(format, Reply::new().fault(Fault::status(503))).json();
        let expected =
            json!({"code": 503, "message": "Loading model", "type": "unavailable_error"});
        assert_eq!(loading["error"], expected, "{format:?}");
    }
}

#[test]
fn its_error_event_ends_the_stream_without_done() {
    let answer = with(Format::Chat, Reply::text("some text").fault(Fault::ErrorInStream));
    let last: Value = answer.data().pop().unwrap();
    assert_eq!(last["error"]["code"], 500);
    assert!(answer.complete && !answer.body.contains("[DONE]"));
    assert!(answer.head.contains("\r\naccess-control-allow-origin: \r\n"), "{}", answer.head);
}
