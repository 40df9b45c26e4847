//! Scripted faults of the server.

use std::io::{BufReader, Read};
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use serde_json::json;
use tenter_testkit::api_client::{HttpResponse, ask, connect, door, read, send, write};
use tenter_testkit::model_server::{Fault, Format, ModelReply, ModelServer};
use tenter_testkit::own_process::alone;

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
fn a_server_that_is_stopped_and_continued_keeps_its_clients() {
    let name = "faults::a_server_that_is_stopped_and_continued_keeps_its_clients";
    alone(name, || {
        let client = thread::spawn(|| response(Format::Chat, Fault::Delay(1000)));
        while !client.is_finished() {
            stop_and_continue();
        }
        assert_eq!(client.join().unwrap().status, 200);
    });
}

/// Stops this process, and continues it.
#[expect(clippy::disallowed_methods, reason = "a process that is stopped cannot continue itself")]
fn stop_and_continue() {
    let signals = format!("kill -STOP {0}; kill -CONT {0}", std::process::id());
    assert!(Command::new("sh").args(["-c", &signals]).status().unwrap().success());
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
