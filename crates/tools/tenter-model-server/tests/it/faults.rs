//! Scripted faults of the server.

use std::io::{BufReader, Read};
use std::net::TcpStream;

use serde_json::{Value, json};
use tenter_testkit::api_client::{
    HttpResponse, ask, connect, door, hear, read, send, send_whole, write,
};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer};

fn response(format: Format, fault: Fault) -> HttpResponse {
    let reply = ModelReply::text("a text of some length").call("bash", json!({"command": "ls"}));
    let server = ModelServer::start(reply.fault(fault));
    send(&server, format, &ask(format, "hello"))
}

/// Starts a request of Chat Completions without reading the response.
fn begin(server: &ModelServer) -> TcpStream {
    let mut stream = connect(server);
    let (path, headers) = door(Format::Chat, true);
    let headers = [headers, &["content-type: application/json"]].concat();
    write(&mut stream, path, &headers, &ask(Format::Chat, "hello").to_string());
    server.wait_for_requests(1);
    stream
}

#[test]
fn errors_have_the_providers_shape() {
    let kind = |format, code| match (format, code) {
        (Format::Anthropic, 529) => ("/error/type", "overloaded_error"),
        (Format::Anthropic, 429) => ("/error/type", "rate_limit_error"),
        (Format::Anthropic, 401) => ("/error/type", "authentication_error"),
        (Format::Anthropic, _) => ("/error/type", "api_error"),
        (Format::Gemini, 529 | 503) => ("/error/status", "UNAVAILABLE"),
        (Format::Gemini, 429) => ("/error/status", "RESOURCE_EXHAUSTED"),
        (Format::Gemini, 401) => ("/error/status", "UNAUTHENTICATED"),
        (Format::Gemini, _) => ("/error/status", "INTERNAL"),
        (_, 429) => ("/error/code", "rate_limit_exceeded"),
        (_, 401) => ("/error/code", "invalid_api_key"),
        _ => ("/error/type", "server_error"),
    };
    for format in Format::ALL {
        for code in [401, 429, 500, 503, 529] {
            let answer = response(format, Fault::status(code));
            let (place, word) = kind(format, code);
            let expected = (code, Some(&json!(word)));
            assert_eq!((answer.status, answer.json().pointer(place)), expected, "{format:?}");
        }
        let answer = response(format, Fault::rate_limited(7));
        assert!(answer.head.contains("\r\nretry-after: 7\r\n"), "{}", answer.head);
        assert_eq!(answer.body.contains(r#""retryDelay":"7s""#), format == Format::Gemini);
    }
    let fault = Fault::Status { code: 502, retry_after: None, body: Some("<html>".to_owned()) };
    let answer = response(Format::Chat, fault);
    assert_eq!((answer.status, &*answer.body), (502, "<html>"));
}

#[test]
fn too_long_conversations_and_unknown_models_have_the_providers_errors() {
    let words = |format| match format {
        Format::Anthropic => ("prompt is too long", "model: claude"),
        Format::Responses => ("exceeds the context window", "`gpt` does not exist"),
        Format::Chat => ("maximum context length", "`gpt` does not exist"),
        Format::Gemini => ("input token count", "models/gemini-3-pro is not found"),
    };
    for format in Format::ALL {
        let (long, unknown) = words(format);
        let answer = response(format, Fault::TooLong);
        assert!(answer.status == 400 && answer.body.contains(long), "{answer:?}");
        let answer = response(format, Fault::UnknownModel);
        assert!(answer.status == 404 && answer.body.contains(unknown), "{answer:?}");
    }
}

#[test]
fn a_stream_breaks_in_the_text_or_in_the_arguments_of_a_call() {
    for (fault, before, after) in [
        (Fault::CutMidText, "a text of", "some length"),
        (Fault::CutInsideToolJson, "\"bash\"", "\"ls\\\"}"),
    ] {
        for format in Format::ALL {
            let answer = response(format, fault.clone());
            assert_eq!((answer.status, answer.complete), (200, false), "{format:?}");
            let body = &answer.body;
            assert!(body.contains(before) && !body.contains(after), "{format:?}: {body}");
        }
    }
}

#[test]
fn a_stream_ends_early_or_has_broken_or_additional_lines() {
    let place = |format| match format {
        Format::Anthropic => ("/error/type", json!("overloaded_error")),
        Format::Responses => ("/code", json!("server_error")),
        Format::Chat => ("/error/type", json!("server_error")),
        Format::Gemini => ("/error/code", json!(503)),
    };
    for format in Format::ALL {
        let answer = response(format, Fault::ErrorInStream);
        let (place, word) = place(format);
        assert_eq!(answer.data().pop().unwrap().pointer(place), Some(&word), "{format:?}");
        assert!(answer.complete && !answer.body.contains("[DONE]"), "{format:?}");
        let unfinished = hear(format, &response(format, Fault::EndWithoutFinish));
        assert_eq!((&*unfinished.stop, &*unfinished.text), ("", "a text of some length"));
        let events = response(format, Fault::MalformedJson).events();
        let is_broken = |data: &str| serde_json::from_str::<Value>(data).is_err();
        let data = events.iter().map(|(_, data)| data).filter(|data| *data != "[DONE]");
        assert_eq!(data.filter(|data| is_broken(data)).count(), 1, "{format:?}");
        let empty = response(format, Fault::EmptyBody);
        assert_eq!((empty.status, &*empty.body, empty.complete), (200, "", true), "{format:?}");
        let commented = response(format, Fault::CommentLines);
        assert!(commented.body.starts_with(": keep-alive\n\n"), "{format:?}");
        assert_eq!(hear(format, &commented).text, "a text of some length", "{format:?}");
    }
    assert!(!response(Format::Chat, Fault::NoDone).body.contains("[DONE]"));
}

#[test]
fn whole_responses_are_cut_and_malformed_too() {
    for format in Format::ALL {
        let faults = [Fault::CutMidText, Fault::MalformedJson, Fault::EmptyBody];
        let replies = faults.map(|fault| ModelReply::text("some text").fault(fault));
        let server = ModelServer::start(replies);
        let [cut, broken, empty] =
            [(); 3].map(|()| send_whole(&server, format, &ask(format, "hello")));
        assert!(!cut.complete && broken.complete, "{format:?}");
        assert!(serde_json::from_str::<Value>(&broken.body).is_err(), "{format:?}");
        assert_eq!((empty.status, &*empty.body), (200, ""), "{format:?}");
    }
}

#[test]
fn replies_are_delayed_slow_or_closed_before_the_first_byte() {
    let server = ModelServer::start([
        ModelReply::new().fault(Fault::HangUp),
        ModelReply::new().fault(Fault::Delay(5)).fault(Fault::status(503)),
        ModelReply::text("slowly").fault(Fault::Slow(1)),
    ]);
    let [closed, delayed, slow] =
        [(); 3].map(|()| send(&server, Format::Chat, &ask(Format::Chat, "hello")));
    assert_eq!((&*closed.head, delayed.status), ("", 503));
    assert_eq!(hear(Format::Chat, &slow).text, "slowly");
}

#[test]
fn silence_lasts_until_the_client_disconnects_or_the_server_is_dropped() {
    for fault in [Fault::Silence, Fault::SilenceMidText, Fault::Delay(600_000)] {
        let server = ModelServer::start(ModelReply::text("never all of it").fault(fault.clone()));
        let mut stream = begin(&server);
        if !matches!(fault, Fault::Delay(_)) {
            let mut first = [0; 15];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200 OK");
        }
        drop(stream);
        server.wait_for_hang_ups(1);
    }
    let server =
        ModelServer::start(ModelReply::text("never all of it").fault(Fault::SilenceMidText));
    let stream = begin(&server);
    drop(server);
    assert!(!read(&mut BufReader::new(stream)).complete);
}

#[test]
fn a_fault_that_does_not_apply_is_an_error_in_the_script() {
    for (reply, error) in [
        (
            ModelReply::text("no call").fault(Fault::CutInsideToolJson),
            "the script cannot be followed",
        ),
        (ModelReply::recorded(Format::Gemini), "the reply is Gemini, the request is Chat"),
    ] {
        let server = ModelServer::start(reply);
        assert_eq!(send(&server, Format::Chat, &ask(Format::Chat, "hello")).status, 400);
        let violations = server.take_violations().join("\n");
        assert!(violations.contains(error), "{violations}");
    }
}
