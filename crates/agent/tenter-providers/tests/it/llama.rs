//! The peculiarities of llama.cpp's server, replayed, and an ignored test against the server itself.

use serde_json::json;
use tenter_agent::model::{ModelError, ResponseBlock, StopCause, TransientCause};
use tenter_protocol::{Block, Message};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer, Script};

use crate::setup::{ask, choice, endpoint, failed};
use tenter_agent::Model;
use tenter_providers::connect;

const FORMATS: [Format; 3] = [Format::Chat, Format::Responses, Format::Anthropic];

fn keyless(format: Format, base_url: String) -> Box<dyn Model> {
    let mut endpoint = endpoint(format, base_url);
    endpoint.key = None;
    connect(endpoint, choice()).unwrap()
}

#[test]
fn fields_that_it_omits_are_optional() {
    for format in FORMATS {
        let replies = [
            ModelReply::text("Paris.").usage(68, 10, 63).fault(Fault::CommentLines),
            ModelReply::new().call("bash", json!({"command": "ls -la"})),
        ];
        let server = ModelServer::start(Script::new(replies).like_llama_cpp());
        let model = keyless(format, server.base_url(format));
        let (answer, stream) = ask(model.as_ref(), &[Message::user("hi")]);
        let answer = answer.unwrap();
        assert_eq!(stream.text, "Paris.", "{format:?}");
        assert_eq!(answer.usage.unwrap().cached_input_tokens, 63, "{format:?}");
        let (call_answer, _) = ask(model.as_ref(), &[Message::user("hi")]);
        let call_answer = call_answer.unwrap();
        assert_eq!(call_answer.stop, StopCause::Done);
        assert!(
            matches!(&call_answer.blocks[..], [ResponseBlock::Content(Block::ToolUse(call))] if call.input["command"] == "ls -la"),
            "{format:?} {call_answer:?}"
        );
        server.requests().iter().for_each(|request| {
            assert_eq!(request.header("authorization"), None, "a server without keys refuses one");
        });
    }
}

#[test]
fn its_errors_are_recognised() {
    let at = |code, body: &str| {
        let fault = Fault::Status { code, retry_after: None, body: Some(body.to_owned()) };
        let server =
            ModelServer::start(Script::from(ModelReply::new().fault(fault)).like_llama_cpp());
        failed(keyless(Format::Chat, server.base_url(Format::Chat)).as_ref())
    };
    let too_long = at(
        400,
        r#"{"error":{"code":400,"message":"request (12062 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":12062,"n_ctx":8192}}"#,
    );
    assert!(matches!(too_long, ModelError::TooLong { .. }), "{too_long:?}");
    // The same request would fail again, whatever the status says.
    let model = at(
        500,
        r#"{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: …","type":"server_error"}}"#,
    );
    assert!(matches!(model, ModelError::Rejected { .. }), "{model:?}");
    let image = at(
        500,
        r#"{"error":{"code":500,"message":"image input is not supported - hint: …","type":"server_error"}}"#,
    );
    assert!(matches!(image, ModelError::Rejected { .. }), "{image:?}");
    let loading =
        at(503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#);
    assert!(
        matches!(loading, ModelError::Transient { cause: TransientCause::Overloaded, .. }),
        "{loading:?}"
    );
}

#[test]
fn an_error_inside_a_200_is_not_a_stream_without_done() {
    for format in FORMATS {
        let replies = [
            ModelReply::text("Once upon a time").fault(Fault::ErrorInStream),
            ModelReply::text("Once upon a time").fault(Fault::NoDone),
        ];
        let server = ModelServer::start(Script::new(replies).like_llama_cpp());
        let model = keyless(format, server.base_url(format));
        let error = failed(model.as_ref());
        assert!(matches!(error, ModelError::Transient { .. }), "{format:?} {error:?}");
        // The finish reason was there, so nothing is missing.
        if format == Format::Chat {
            ask(model.as_ref(), &[Message::user("hi")]).0.unwrap();
        }
    }
}

/// On its Messages endpoint, an error event does not have the type of Anthropic's error events.
#[test]
fn an_error_event_without_a_type_is_read() {
    let stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"chatcmpl-1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":0}}}\n\n\
         event: error\ndata: {\"code\":500,\"message\":\"The model produced output that does not match the expected peg-native format\",\"type\":\"server_error\"}\n\n";
    let server = ModelServer::start(
        Script::from(ModelReply::raw(Format::Anthropic, stream)).like_llama_cpp(),
    );
    let error = failed(keyless(Format::Anthropic, server.base_url(Format::Anthropic)).as_ref());
    assert!(
        matches!(error, ModelError::Transient { cause: TransientCause::Server, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("peg-native format"), "{error}");
}

/// Run by hand, with the address of a server in `TENTER_TEST_LLAMA` (`http://127.0.0.1:18080`).
#[test]
#[ignore = "needs a server"]
#[expect(clippy::disallowed_methods, reason = "the user who runs this names the server")]
fn the_server_itself_answers_in_three_apis() {
    let root =
        std::env::var("TENTER_TEST_LLAMA").expect("TENTER_TEST_LLAMA says where the server is");
    for format in FORMATS {
        let base = if format == Format::Anthropic { root.clone() } else { format!("{root}/v1") };
        let mut choice = choice();
        choice.max_tokens = Some(64);
        let mut endpoint = endpoint(format, base);
        endpoint.key = None;
        let model = connect(endpoint, choice).unwrap();
        let (answer, stream) = ask(model.as_ref(), &[Message::user("Run the command ls -la")]);
        let answer = answer.unwrap();
        assert!(!answer.blocks.is_empty(), "{format:?}");
        assert!(answer.usage.is_some_and(|usage| usage.input_tokens > 0), "{format:?}");
        let text = |block: &ResponseBlock| match block {
            ResponseBlock::Content(block) => block.content(),
            ResponseBlock::Malformed { name, .. } => name.clone(),
        };
        assert!(
            stream.text.is_empty()
                || answer.blocks.iter().map(text).any(|text| text.contains(stream.text.trim()))
        );
    }
}
