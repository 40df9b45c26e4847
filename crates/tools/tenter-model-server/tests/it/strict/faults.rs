//! Scripted faults of the server.

use std::io::{BufReader, Read};

use serde_json::{Value, json};
use tenter_testkit::model_server::{Fault, Format, ModelServer, Reply};

use crate::client::{HttpResponse, connect, door, read, send, send_whole, write};
use crate::speech::{ask, hear};

fn with(format: Format, fault: Fault) -> HttpResponse {
    let reply = Reply::text("a text of some length").call("bash", json!({"command": "ls"}));
    let server = ModelServer::start(reply.fault(fault));
    send(&server, format, &ask(format, "hello"))
}

#[test]
fn errors_have_the_providers_shape() {
    let kind = |format, code| match (format, code) {
        (Format::Anthropic, 529) => ("/error/type", json!("overloaded_error")),
        (Format::Anthropic, 429) => ("/error/type", json!("rate_limit_error")),
        (Format::Anthropic, 401) => ("/error/type", json!("authentication_error")),
        (Format::Anthropic, _) => ("/error/type", json!("api_error")),
        (Format::Gemini, 529 | 503) => ("/error/status", json!("UNAVAILABLE")),
        (Format::Gemini, 429) => ("/error/status", json!("RESOURCE_EXHAUSTED")),
        (Format::Gemini, 401) => ("/error/status", json!("UNAUTHENTICATED")),
        (Format::Gemini, _) => ("/error/status", json!("INTERNAL")),
        (_, 429) => ("/error/code", json!("rate_limit_exceeded")),
        (_, 401) => ("/error/code", json!("invalid_api_key")),
        _ => ("/error/type", json!("server_error")),
    };
    for format in Format::ALL {
        for code in [401, 429, 500, 503, 529] {
            let answer = with(format, Fault::status(code));
            let (place, word) = kind(format, code);
            assert_eq!(
                (answer.status, answer.json().pointer(place)),
                (code, Some(&word)),
                "{format:?}"
            );
        }
    }
}

#[test]
fn a_rate_limit_says_when_to_retry() {
    for format in Format::ALL {
        let answer = with(format, Fault::rate_limited(7));
        assert!(answer.head.contains("\r\nretry-after: 7\r\n"), "{}", answer.head);
    }
    let details = with(Format::Gemini, Fault::rate_limited(7)).json();
    assert_eq!(details["error"]["details"][0]["retryDelay"], "7s");
}

#[test]
fn a_custom_error_body_is_sent_unchanged() {
    let fault = Fault::Status { code: 502, retry_after: None, body: Some("<html>".to_owned()) };
    let answer = with(Format::Chat, fault);
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
        let answer = with(format, Fault::TooLong);
        assert!(answer.status == 400 && answer.body.contains(long), "{answer:?}");
        let answer = with(format, Fault::UnknownModel);
        assert!(answer.status == 404 && answer.body.contains(unknown), "{answer:?}");
    }
}

#[test]
fn a_stream_breaks_in_the_text() {
    for format in Format::ALL {
        let answer = with(format, Fault::CutMidText);
        assert_eq!((answer.status, answer.complete), (200, false), "{format:?}");
        assert!(answer.body.contains("a text of"), "{format:?}: {}", answer.body);
        assert!(!answer.body.contains("some length"), "{format:?}: {}", answer.body);
    }
}

#[test]
fn a_stream_breaks_in_the_arguments_of_a_call() {
    for format in Format::ALL {
        let answer = with(format, Fault::CutInsideToolJson);
        assert!(!answer.complete, "{format:?}");
        assert!(answer.body.contains("\"bash\""), "{format:?}: {}", answer.body);
        assert!(!answer.body.contains("\"ls\\\"}"), "{format:?}: {}", answer.body);
    }
}

#[test]
fn an_error_event_ends_a_stream() {
    let place = |format| match format {
        Format::Anthropic => ("/error/type", json!("overloaded_error")),
        Format::Responses => ("/code", json!("server_error")),
        Format::Chat => ("/error/type", json!("server_error")),
        Format::Gemini => ("/error/code", json!(503)),
    };
    for format in Format::ALL {
        let answer = with(format, Fault::ErrorInStream);
        let (place, word) = place(format);
        assert_eq!(answer.data().pop().unwrap().pointer(place), Some(&word), "{format:?}");
        assert!(answer.complete && !answer.body.contains("[DONE]"), "{format:?}");
    }
}

#[test]
fn a_stream_ends_without_its_final_events() {
    for format in Format::ALL {
        let said = hear(format, &with(format, Fault::EndWithoutFinish));
        assert_eq!((&*said.stop, &*said.text), ("", "a text of some length"), "{format:?}");
    }
}

#[test]
fn a_data_line_is_not_json() {
    for format in Format::ALL {
        let events = with(format, Fault::MalformedJson).events();
        let broken = |(_, data): &&(String, String)| serde_json::from_str::<Value>(data).is_err();
        let broken = events.iter().filter(|(_, data)| data != "[DONE]").filter(broken).count();
        assert_eq!(broken, 1, "{format:?}");
    }
}

#[test]
fn streams_are_empty_start_with_comments_or_lack_done() {
    for format in Format::ALL {
        let empty = with(format, Fault::EmptyBody);
        assert_eq!((empty.status, &*empty.body, empty.complete), (200, "", true), "{format:?}");
        let commented = with(format, Fault::CommentLines);
        assert!(commented.body.starts_with(": keep-alive\n\n"), "{format:?}");
        assert_eq!(hear(format, &commented).text, "a text of some length", "{format:?}");
    }
    assert!(!with(Format::Chat, Fault::NoDone).body.contains("[DONE]"));
}

#[test]
fn whole_responses_are_cut_and_malformed_too() {
    for format in Format::ALL {
        let faults = [Fault::CutMidText, Fault::MalformedJson, Fault::EmptyBody];
        let server =
            ModelServer::start(faults.map(|fault| Reply::text("some text").fault(fault)).to_vec());
        let [cut, broken, empty] =
            [(); 3].map(|()| send_whole(&server, format, &ask(format, "hello")));
        assert!(!cut.complete && broken.complete, "{format:?}");
        assert!(serde_json::from_str::<Value>(&broken.body).is_err(), "{format:?}");
        assert_eq!((empty.status, &*empty.body), (200, ""), "{format:?}");
    }
}

#[test]
fn a_connection_closes_before_the_first_byte_and_the_next_one_works() {
    let server = ModelServer::start([Reply::new().fault(Fault::HangUp), Reply::text("here")]);
    let body = ask(Format::Chat, "hello");
    assert_eq!(send(&server, Format::Chat, &body).head, "");
    assert_eq!(hear(Format::Chat, &send(&server, Format::Chat, &body)).text, "here");
}

#[test]
fn a_delay_precedes_an_error() {
    let reply = Reply::new().fault(Fault::Delay(5)).fault(Fault::status(503));
    let server = ModelServer::start(reply);
    assert_eq!(send(&server, Format::Chat, &ask(Format::Chat, "hello")).status, 503);
}

#[test]
fn a_slow_reply_is_complete() {
    for format in Format::ALL {
        let server = ModelServer::start(Reply::text("slowly").fault(Fault::Slow(1)));
        assert_eq!(hear(format, &send(&server, format, &ask(format, "hello"))).text, "slowly");
    }
}

#[test]
fn silence_lasts_until_the_client_disconnects() {
    for fault in [Fault::Silence, Fault::SilenceMidText, Fault::Delay(600_000)] {
        let server = ModelServer::start(Reply::text("never all of it").fault(fault.clone()));
        let mut stream = connect(&server);
        let (path, headers) = door(Format::Chat, true);
        let headers = [headers, &["content-type: application/json"]].concat();
        write(&mut stream, path, &headers, &ask(Format::Chat, "hello").to_string());
        server.wait_for_requests(1);
        if !matches!(fault, Fault::Delay(_)) {
            let mut first = [0; 15];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200 OK");
        }
        drop(stream);
        server.wait_for_hang_ups(1);
    }
}

#[test]
fn silence_ends_when_the_server_is_dropped() {
    let server = ModelServer::start(Reply::text("never all of it").fault(Fault::SilenceMidText));
    let mut stream = connect(&server);
    let (path, headers) = door(Format::Chat, true);
    let headers = [headers, &["content-type: application/json"]].concat();
    write(&mut stream, path, &headers, &ask(Format::Chat, "hello").to_string());
    server.wait_for_requests(1);
    drop(server);
    assert!(!read(&mut BufReader::new(stream)).complete);
}

#[test]
fn a_fault_that_does_not_apply_is_an_error_in_the_script() {
    let server = ModelServer::start(Reply::text("no call").fault(Fault::CutInsideToolJson));
    assert_eq!(send(&server, Format::Chat, &ask(Format::Chat, "hello")).status, 400);
    let violations = server.take_violations();
    assert!(violations[0].contains("the script cannot be followed"), "{violations:?}");
}
