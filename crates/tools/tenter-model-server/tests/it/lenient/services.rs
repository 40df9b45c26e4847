//! Requests for something else than a reply.

use std::io::{BufReader, Write};

use serde_json::{Value, json};
use tenter_model_server::{LenientScript, ModelServer};

use tenter_testkit::api_client::{HttpResponse, connect, post, read};

fn server() -> ModelServer {
    ModelServer::start(LenientScript::new([]).serves(&["one", "two"])).unwrap()
}

fn request(server: &ModelServer, head: &str) -> HttpResponse {
    let mut stream = connect(server);
    write!(stream, "{head} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    read(&mut BufReader::new(stream))
}

#[test]
fn lists_of_models_are_in_the_form_of_the_api() {
    let server = server();
    let names = |path: &str, list: &str, name: &str| -> Vec<Value> {
        let answer = request(&server, &format!("GET {path}")).json();
        answer[list].as_array().unwrap().iter().map(|model| model[name].clone()).collect()
    };
    for path in ["/v1/models", "/models", "/v1/models?limit=1000"] {
        assert_eq!(names(path, "data", "id"), ["one", "two"], "{path}");
    }
    assert_eq!(names("/v1beta/models", "models", "name"), ["models/one", "models/two"]);
    assert_eq!(request(&server, "GET /v1/models/two").json()["id"], "two");
    assert_eq!(request(&server, "GET /v1beta/models/two").json()["name"], "models/two");
    assert_eq!(request(&server, "GET /v1/models/three").json(), json!({}));
}

#[test]
fn tokens_are_counted_at_four_bytes_each() {
    let server = server();
    let body = json!({"messages": "x".repeat(100)}).to_string();
    let tokens = body.len().div_ceil(4);
    for (path, field) in [
        ("/v1/messages/count_tokens?beta=true", "input_tokens"),
        ("/v1/responses/input_tokens", "input_tokens"),
        ("/v1beta/models/one:countTokens", "totalTokens"),
    ] {
        let answer = post(&server, path, &[], &body);
        assert_eq!((answer.status, &answer.json()[field]), (200, &json!(tokens)), "{path}");
    }
}

#[test]
fn any_other_path_gets_an_empty_object_and_is_kept() {
    let server = server();
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api/claude_code/settings"),
        ("PUT", "/v1/files/1"),
        ("DELETE", "/v1/files/1"),
        ("POST", "/v1/traces"),
        ("POST", "/v1beta/models/one:embedContent"),
    ] {
        let answer = request(&server, &format!("{method} {path}"));
        assert_eq!((answer.status, answer.body.as_str()), (200, "{}"), "{method} {path}");
        let other = server.other_requests().pop().unwrap();
        assert_eq!((other.method.as_str(), other.path.as_str()), (method, path));
    }
    assert!(server.requests().is_empty());
    assert!(server.violations().is_empty());
}

#[test]
fn a_request_for_the_head_gets_no_body() {
    let server = server();
    let mut stream = connect(&server);
    write!(stream, "HEAD / HTTP/1.1\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn a_websocket_is_refused() {
    let server = server();
    let mut stream = connect(&server);
    write!(stream, "GET /v1/responses HTTP/1.1\r\nupgrade: websocket\r\n\r\n").unwrap();
    assert_eq!(read(&mut BufReader::new(stream)).status, 426);
}
