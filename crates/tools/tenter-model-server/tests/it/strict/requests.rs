//! What the server records of requests; keys, addresses, unknown paths.

use tenter_testkit::model_server::{Fault, Format, ModelServer, Reply, Script};

use crate::client::{door, post, send};
use crate::speech::{ask, hear};

#[test]
fn requests_are_recorded_unchanged() {
    let server = ModelServer::start(Script::new([]));
    for format in Format::ALL {
        send(&server, format, &ask(format, "hello"));
    }
    let requests = server.requests();
    for (request, format) in requests.iter().zip(Format::ALL) {
        assert_eq!((request.format, &*request.path), (format, door(format, true).0));
        assert_eq!(request.body, ask(format, "hello"));
        assert_eq!(request.header("content-type"), Some("application/json"));
    }
    assert_eq!(requests[1].header("authorization"), Some("Bearer sk-test"));
}

#[test]
fn base_urls_are_those_that_clients_expect() {
    let server = ModelServer::start(Script::new([]));
    for format in Format::ALL {
        let rooted = matches!(format, Format::Anthropic | Format::Gemini);
        assert_eq!(server.base_url(format).ends_with("/v1"), !rooted);
    }
}

#[test]
fn a_wrong_key_is_rejected_without_a_violation() {
    for format in Format::ALL {
        let server = ModelServer::start(Script::new([]).key("sk-other"));
        let answer = send(&server, format, &ask(format, "hello"));
        assert_eq!(answer.status, if format == Format::Gemini { 400 } else { 401 });
        server.assert_clean();
    }
    let server = ModelServer::start(Script::new([]).key("sk-test"));
    assert_eq!(send(&server, Format::Gemini, &ask(Format::Gemini, "hello")).status, 200);
}

#[test]
fn replies_can_be_added() {
    let server = ModelServer::start(Script::new([]));
    server.push(Reply::text("late").fault(Fault::Delay(1)));
    let answer = send(&server, Format::Chat, &ask(Format::Chat, "hello"));
    assert_eq!(hear(Format::Chat, &answer).text, "late");
}

#[test]
fn an_unknown_path_is_a_violation() {
    let server = ModelServer::start(Script::new([]));
    assert_eq!(post(&server, "/v1/models", &[], "{}").status, 404);
    assert_eq!(server.take_violations(), ["POST /v1/models: unknown path"]);
}

#[test]
#[should_panic(expected = "requests to the model server violated its rules")]
fn a_violation_fails_the_test_that_drops_the_server() {
    let server = ModelServer::start(Script::new([]));
    post(&server, "/v1/messages", &[], "{}");
}
