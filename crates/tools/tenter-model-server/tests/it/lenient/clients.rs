//! Behaviour of real clients that the documentation of the APIs does not mention.

use std::io::{BufReader, Write};

use serde_json::json;
use tenter_model_server::{Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, connect, door, post, read};

fn server() -> ModelServer {
    ModelServer::start(LenientScript::new([ModelReply::text("One.")])).unwrap()
}

#[test]
fn the_path_before_the_api_does_not_matter() {
    for (path, format) in [
        ("/messages", Format::Anthropic),
        ("/anthropic/v1/messages?beta=true", Format::Anthropic),
        ("/responses", Format::Responses),
        ("/openai/deployments/m/chat/completions", Format::Chat),
        ("/v1/models/gemini-3:generateContent", Format::Gemini),
        ("/v1beta/tunedModels/gemini-3:generateContent?key=x", Format::Gemini),
    ] {
        let server = server();
        let answer = post(&server, path, &[], &ask(format, "Hello.").to_string());
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains("On"), "{path}: {}", answer.body);
        assert_eq!(server.requests()[0].format, format, "{path}");
    }
}

#[test]
fn gemini_streams_an_array_without_alt_sse() {
    let path = "/v1beta/models/gemini-3:streamGenerateContent";
    let answer = post(&server(), path, &[], &ask(Format::Gemini, "Hello.").to_string()).json();
    let text = &answer[0]["candidates"][0]["content"]["parts"][0]["text"];
    assert_eq!(*text, json!("One."), "{answer}");
}

#[test]
fn a_body_in_chunks_with_extensions_and_trailers_is_read() {
    let server = server();
    let body = ask(Format::Chat, "Hello.").to_string();
    let (first, second) = body.split_at(20);
    let mut stream = connect(&server);
    for _ in 0..2 {
        let (path, _) = door(Format::Chat, false);
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
             {:x};name=value\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\ntrailer: x\r\n\r\n",
            first.len(),
            second.len()
        )
        .unwrap();
        assert_eq!(read(&mut BufReader::new(&stream)).status, 200);
    }
    let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [(); 2].map(|()| ask(Format::Chat, "Hello.")));
}
