//! Limits of one response: size, time, and the nesting of arguments.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tenter_agent::Model;
use tenter_agent::model::{ModelError, Request, ResponseBlock};
use tenter_http::ResponseLimits;
use tenter_proc::Cancel;
use tenter_protocol::{Block, Message};
use tenter_providers::connect;
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer};

use crate::setup::{ask, ask_and_interrupt, choice, endpoint, failed, model};

const ENDLESS: [Fault; 3] = [Fault::EndlessText, Fault::EndlessLine, Fault::EndlessComments];

fn endless(fault: Fault) -> ModelServer {
    ModelServer::start(ModelReply::text("Once upon a time").fault(fault))
}

fn limited(server: &ModelServer, format: Format, limits: ResponseLimits) -> Box<dyn Model> {
    let endpoint = endpoint(format, server.base_url(format));
    connect(tenter_providers::Endpoint { limits, ..endpoint }, choice()).unwrap()
}

#[test]
fn an_endless_response_ends_at_its_limit() {
    for format in Format::ALL {
        for fault in ENDLESS {
            let server = endless(fault.clone());
            let bytes = if fault == Fault::EndlessComments { 1 << 10 } else { 64 << 10 };
            let limits = ResponseLimits { bytes, ..ResponseLimits::default() };
            match failed(limited(&server, format, limits).as_ref()) {
                ModelError::Rejected { message, help } => {
                    assert!(message.contains("its response is larger than"), "{message}");
                    assert!(help.unwrap().contains("response_max_mib"));
                }
                other => panic!("{format:?} {fault:?}: {other:?}"),
            }
            server.wait_for_hang_ups(1);
        }
    }
}

#[test]
fn the_size_and_the_number_of_values_of_an_event_are_limited() {
    let values = format!("data: [{}1]\n\n", "1,".repeat(200_000));
    for (reply, problem) in [
        (
            ModelReply::text("x").fault(Fault::EndlessLine),
            "one event of its response is larger than 16 MiB",
        ),
        (
            ModelReply::raw(Format::Chat, &values),
            "one event of its response has more than 100000 values",
        ),
    ] {
        let server = ModelServer::start(reply);
        match failed(model(&server, Format::Chat).as_ref()) {
            ModelError::Rejected { message, .. } => {
                assert!(message.ends_with(problem), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn comments_do_not_extend_the_time_limit() {
    for format in Format::ALL {
        let server = endless(Fault::EndlessComments);
        let limits =
            ResponseLimits { time: Duration::from_millis(200), ..ResponseLimits::default() };
        let error = failed(limited(&server, format, limits).as_ref());
        assert!(
            matches!(&error, ModelError::Rejected { message, .. } if message.contains("takes longer than 200ms")),
            "{format:?} {error:?}"
        );
        server.wait_for_hang_ups(1);
    }
}

#[test]
fn a_cancel_ends_an_endless_response() {
    for fault in [Fault::EndlessComments, Fault::EndlessText] {
        let server = endless(fault.clone());
        let limits = ResponseLimits { bytes: u64::MAX, ..ResponseLimits::default() };
        let model = limited(&server, Format::Chat, limits);
        let end = ask_and_interrupt(model.as_ref(), |began| {
            server.wait_for_requests(1);
            while fault == Fault::EndlessText && !began.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
        assert_eq!(end, Err(ModelError::Cancelled), "{fault:?}");
        server.wait_for_hang_ups(1);
    }
}

#[test]
fn a_cancel_ends_a_request_that_the_server_does_not_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let model = connect(endpoint(Format::Chat, address), choice()).unwrap();
    // More than the buffers of both ends hold.
    let messages = [Message::user("x".repeat(64 << 20))];
    let request = Request { messages: &messages, ..Request::default() };
    let cancel = Cancel::new();
    let end = std::thread::scope(|scope| {
        let response_thread = scope.spawn(|| model.respond(&request, &mut |_| {}, &cancel));
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        cancel.cancel();
        response_thread.join().unwrap()
    });
    assert_eq!(end, Err(ModelError::Cancelled));
}

/// Returns `{"command": [[…]]}` with so many levels.
fn nested(levels: usize) -> String {
    format!("{{\"command\": {}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
}

/// Returns a reply with one call with these arguments.
fn call(format: Format, arguments: &str) -> ModelReply {
    if format != Format::Gemini {
        return ModelReply::new().raw_call("bash", arguments);
    }
    let frame = format!(
        "{{\"candidates\":[{{\"content\":{{\"role\":\"model\",\"parts\":[{{\"functionCall\":{{\"name\":\"bash\",\"args\":{arguments}}}}}]}},\"finishReason\":\"STOP\",\"index\":0}}]}}"
    );
    ModelReply::raw(format, &format!("data: {frame}\n\n"))
}

fn only_block(format: Format, arguments: &str) -> Result<ResponseBlock, ModelError> {
    let server = ModelServer::start(call(format, arguments));
    let (response, _) = ask(model(&server, format).as_ref(), &[Message::user("hello")]);
    response.map(|mut response| response.blocks.remove(0))
}

#[test]
fn arguments_that_nest_deeper_than_64_levels_are_a_malformed_call() {
    for format in Format::ALL {
        let Ok(ResponseBlock::Content(Block::ToolUse(call))) = only_block(format, &nested(64))
        else {
            panic!("{format:?}");
        };
        let expected: Value = serde_json::from_str(&nested(64)).unwrap();
        assert_eq!(Value::Object(call.input), expected, "{format:?}");
        for levels in [65, 100] {
            match only_block(format, &nested(levels)) {
                Ok(ResponseBlock::Malformed { error, .. }) => {
                    assert_eq!(
                        error, "the arguments are nested deeper than 64 levels",
                        "{format:?}"
                    );
                }
                other => panic!("{format:?} {levels}: {other:?}"),
            }
        }
    }
}

/// Returns a reply of Chat Completions with one call whose arguments are in one piece.
fn in_one_piece(arguments: &str) -> ModelReply {
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "bash", "arguments": arguments}});
    let event = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let first = event(json!({"role": "assistant", "tool_calls": [call]}), Value::Null);
    let last = event(json!({}), json!("tool_calls"));
    ModelReply::raw(Format::Chat, &format!("{first}{last}data: [DONE]\n\n"))
}

fn error_of(reply: ModelReply, format: Format) -> String {
    let server = ModelServer::start(reply);
    let (response, _) = ask(model(&server, format).as_ref(), &[Message::user("hello")]);
    match (format, response.map(|mut response| response.blocks.remove(0))) {
        (_, Ok(ResponseBlock::Malformed { error, .. })) => error,
        // There, arguments are JSON and no text of it; JSON nests 128 levels at most.
        (Format::Gemini, Err(ModelError::Transient { message, .. })) => message,
        (format, other) => panic!("{format:?}: {other:?}"),
    }
}

#[test]
fn endlessly_nested_arguments_use_bounded_memory() {
    let too_deep = "the arguments are nested deeper than 64 levels";
    for levels in [1_000, 90_000] {
        let whole = nested(levels);
        for arguments in [whole.as_str(), &whole[..whole.len() / 2]] {
            assert_eq!(error_of(in_one_piece(arguments), Format::Chat), too_deep);
            let gemini = error_of(call(Format::Gemini, arguments), Format::Gemini);
            assert!(gemini.contains("cannot read its response"), "{gemini}");
        }
    }
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let whole = nested(1_000);
        for arguments in [whole.as_str(), &whole[..whole.len() / 2]] {
            assert_eq!(error_of(call(format, arguments), format), too_deep, "{format:?}");
        }
    }
}

#[test]
fn truncated_arguments_with_very_many_values_are_a_malformed_call() {
    let many = format!("{{\"command\": [{}", "1,".repeat(1_000_000));
    let error = error_of(in_one_piece(&many), Format::Chat);
    assert!(error.contains("100000 values"), "{error}");
    // A long text is not many values.
    let text = json!({"command": "[{\"a\": 1}, ".repeat(100_000)});
    let server = ModelServer::start(in_one_piece(&text.to_string()));
    let (response, _) = ask(model(&server, Format::Chat).as_ref(), &[Message::user("hi")]);
    let [ResponseBlock::Content(Block::ToolUse(call))] = &response.unwrap().blocks[..] else {
        panic!("it is one call");
    };
    assert_eq!(Value::Object(call.input.clone()), text);
}
