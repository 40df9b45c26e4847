//! One POST of JSON: what is sent, and which responses are errors.

use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tenter_http::{Authorities, JsonPost, Key, PostError, post_json};
use tenter_proc::Cancel;
use tenter_testkit::http_server::HttpServer;
use tenter_testkit::tls::{Certificate, TlsFront, authority};

fn to(url: String) -> JsonPost {
    JsonPost {
        url,
        headers: Vec::new(),
        body: b"{\"event\": 1}".to_vec(),
        proxy: None,
        authorities: None,
        timeout: Duration::from_mins(1),
    }
}

fn post(server: &HttpServer) -> Result<Option<String>, PostError> {
    post_json(to(server.url("/hook?token=hidden")), &Cancel::new())
}

/// Returns the error for a response, without the server.
fn error(server: &HttpServer) -> String {
    let error = post(server).unwrap_err();
    let prefix = server.url("/hook");
    assert!(!error.message.contains("hidden"), "{error:?}");
    error.message.strip_prefix(&prefix).unwrap_or_else(|| panic!("{error:?}")).to_owned()
}

const JSON: &str = "content-type: application/json";

#[test]
fn sends_the_payload_once_with_its_headers() {
    let server = HttpServer::json("{\"decision\": \"deny\"}");
    let headers = vec![("X-Team".to_owned(), Key::new("blue"))];
    let post = JsonPost { headers, ..to(server.url("/hook?token=hidden")) };
    let reply = post_json(post, &Cancel::new());
    assert_eq!(reply, Ok(Some("{\"decision\": \"deny\"}".to_owned())));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!(request.line, "POST /hook?token=hidden HTTP/1.1");
    assert_eq!(request.body, "{\"event\": 1}");
    for (name, value) in [
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("accept-encoding", "identity"),
        ("x-team", "blue"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert!(request.header("user-agent").unwrap().starts_with("tenter/"));
}

#[test]
fn an_empty_response_is_no_reply() {
    for (status, headers, body) in [
        ("204 No Content", &[][..], ""),
        ("200 OK", &[], ""),
        ("202 Accepted", &["content-type: text/plain"], " \n"),
        ("200 OK", &[JSON], "null"),
    ] {
        assert_eq!(post(&HttpServer::answering(status, headers, body)), Ok(None), "{status}");
    }
}

#[test]
fn json_may_have_parameters_and_a_suffix() {
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"] {
        let server = HttpServer::answering("200 OK", &[&format!("content-type: {kind}")], "{}");
        assert_eq!(post(&server), Ok(Some("{}".to_owned())), "{kind}");
    }
}

#[test]
fn an_unusable_response_is_an_error_that_says_why() {
    for (status, headers, body, expected) in [
        ("500 Oops", &[JSON][..], "{}", " responded with HTTP 500 Internal Server Error"),
        ("404 Not Found", &[], "", " responded with HTTP 404 Not Found"),
        ("599 X", &[], "", " responded with HTTP 599"),
        (
            "200 OK",
            &["content-type: text/html"],
            "{}",
            " responded with \"text/html\" instead of application/json",
        ),
        ("200 OK", &[], "{}", " did not say that its response is application/json"),
        (
            "200 OK",
            &[JSON, "content-encoding: gzip"],
            "{}",
            " compressed its response (\"gzip\"), which it was asked not to do",
        ),
        ("200 OK", &[JSON], "[]", " responded with JSON that is not an object"),
        (
            "200 OK",
            &[JSON],
            "{\"a\": }",
            " responded with invalid JSON: expected value at line 1 column 7",
        ),
    ] {
        assert_eq!(error(&HttpServer::answering(status, headers, body)), expected);
    }
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = format!("location: http://{}/", elsewhere.local_addr().unwrap());
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = HttpServer::answering(status, &[&location], "");
        let error = error(&server);
        let expected =
            format!(" redirects to another address (HTTP {status}), which is not followed");
        assert_eq!(error, expected);
        assert!(elsewhere.accept().is_err());
    }
}

#[test]
fn a_response_of_more_than_a_mebibyte_is_an_error() {
    let object = |length: usize| format!("{{\"a\": \"{}\"}}", "x".repeat(length - 9));
    let fits = object(1 << 20);
    assert_eq!(post(&HttpServer::json(&fits)), Ok(Some(fits)));
    let over = error(&HttpServer::json(&object((1 << 20) + 1)));
    assert_eq!(over, ": its response is larger than 1 MiB");
}

#[test]
fn a_connection_that_closes_early_is_an_error() {
    let head = format!("HTTP/1.1 200 OK\r\n{JSON}\r\ncontent-length: 100\r\n\r\n");
    for response in ["", "HTTP/1.1 2", &head, &format!("{head}{{}}")] {
        let error = error(&HttpServer::start(Some(response.to_owned())));
        assert!(error.starts_with(": "), "{response:?}: {error}");
    }
}

#[test]
fn a_server_that_does_not_respond_is_given_up_and_can_be_cancelled() {
    let server = HttpServer::start(None);
    let slow = JsonPost { timeout: Duration::from_millis(200), ..to(server.url("/")) };
    let error = post_json(slow, &Cancel::new()).unwrap_err();
    assert!(error.message.starts_with(&server.url("/")), "{error:?}");
    let (cancel, (sender, receiver)) = (Cancel::new(), mpsc::channel());
    let (post, switch) = (to(server.url("/")), cancel.clone());
    thread::spawn(move || sender.send(post_json(post, &switch)));
    cancel.cancel();
    assert!(receiver.recv_timeout(Duration::from_secs(30)).unwrap().is_err());
}

#[test]
fn an_address_at_which_nothing_listens_is_an_error() {
    // Another test may get a port that was free a moment ago.
    let error = post_json(to("http://127.0.0.1:9/".to_owned()), &Cancel::new()).unwrap_err();
    assert!(error.message.starts_with("http://127.0.0.1:9/: "), "{error:?}");
}

#[test]
fn the_certificate_must_be_signed_by_a_trusted_authority() {
    let server = HttpServer::json("{}");
    let front = TlsFront::start(Certificate::Signed, &server.url(""));
    let with = |authorities: Option<&Path>| {
        let pem = authorities.map(|file| std::fs::read(file).unwrap());
        let authorities = pem.map(|pem| Authorities::from_pem(&pem).unwrap());
        let url = front.url("/hook").replace("127.0.0.1", "localhost");
        post_json(JsonPost { authorities, ..to(url) }, &Cancel::new())
    };
    let error = with(None).unwrap_err();
    assert!(error.is_untrusted);
    assert!(
        error.message.ends_with("/hook: its certificate is not signed by a trusted authority"),
        "{error:?}"
    );
    assert!(server.requests().is_empty());
    assert_eq!(with(Some(&authority())), Ok(Some("{}".to_owned())));
}

#[test]
fn a_value_that_cannot_be_a_header_is_an_error_that_does_not_show_it() {
    let headers = vec![("X-Team".to_owned(), Key::new("sec\nret"))];
    let post = JsonPost { headers, ..to("http://127.0.0.1:9/".to_owned()) };
    let error = post_json(post, &Cancel::new()).unwrap_err();
    assert_eq!(error.message, "the value of the header X-Team is not valid");
}
