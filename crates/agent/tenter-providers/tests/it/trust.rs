//! Certificate authorities, proxies and redirects.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tenter_agent::model::{ModelError, TransientCause};
use tenter_http::Authorities;
use tenter_protocol::Message;
use tenter_providers::{Endpoint, connect};
use tenter_testkit::model_server::{Format, ModelReply, ModelServer, Script};
use tenter_testkit::tls::{Certificate, TlsFront, authority};

use crate::setup::{KEY, ask, choice, endpoint, failed};

fn trusting(certificate: &std::path::Path) -> Authorities {
    Authorities::from_pem(&std::fs::read(certificate).unwrap()).unwrap()
}

/// Returns the server behind TLS, at `localhost`.
fn behind(front: &TlsFront, server: &ModelServer, format: Format) -> Endpoint {
    let url = front.url(&server.base_url(format)).replace("127.0.0.1", "localhost");
    endpoint(format, url)
}

#[test]
fn a_server_with_a_configured_authority_is_trusted() {
    for format in Format::ALL {
        let server = ModelServer::start(ModelReply::text("encrypted"));
        let front = TlsFront::start(Certificate::Signed, &server.base_url(format));
        let mut endpoint = behind(&front, &server, format);
        endpoint.authorities = Some(trusting(&authority()));
        let model = connect(endpoint, choice()).unwrap();
        let (answer, stream) = ask(model.as_ref(), &[Message::user("hello")]);
        answer.unwrap_or_else(|error| panic!("{format:?} {error}"));
        assert_eq!(stream.text, "encrypted");
    }
}

#[test]
fn an_untrusted_certificate_is_an_error_with_help() {
    let server = ModelServer::start(Script::new([]));
    let front = TlsFront::start(Certificate::Signed, &server.base_url(Format::Chat));
    for authorities in [None, Some(trusting(&Certificate::SelfSigned.file()))] {
        let endpoint = Endpoint { authorities, ..behind(&front, &server, Format::Chat) };
        match failed(connect(endpoint, choice()).unwrap().as_ref()) {
            ModelError::Rejected { message, help } => {
                assert!(message.starts_with("https://localhost:"), "{message}");
                assert!(
                    message.ends_with(": its certificate is not signed by a trusted authority"),
                    "{message}"
                );
                assert_eq!(help.as_deref(), Some("say whom to trust"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_with_the_certificate_of_an_authority_is_rejected() {
    let server = ModelServer::start(Script::new([]));
    let front = TlsFront::start(Certificate::SelfSigned, &server.base_url(Format::Chat));
    let mut endpoint = behind(&front, &server, Format::Chat);
    endpoint.authorities = Some(trusting(&Certificate::SelfSigned.file()));
    let error = failed(connect(endpoint, choice()).unwrap().as_ref());
    assert!(matches!(error, ModelError::Rejected { .. }), "{error:?}");
    assert!(error.to_string().contains("a certificate authority"), "{error}");
}

#[test]
fn a_server_without_tls_at_an_https_address_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    let answer_thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
        // Wait until the client closes the connection: closing it first could discard the reply.
        let _result = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let error = failed(connect(endpoint(Format::Chat, url), choice()).unwrap().as_ref());
    answer_thread.join().unwrap();
    assert!(matches!(error, ModelError::Rejected { .. }), "{error:?}");
    assert!(error.to_string().contains("try the address with http://"), "{error}");
}

/// Returns a proxy that accepts one connection and always connects to `to`.
fn proxy(to: &str) -> (String, thread::JoinHandle<()>) {
    let to = to.trim_start_matches("https://").split('/').next().unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let led = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(&client).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.is_empty()));
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let (mut back_from, mut back_to) =
            (server.try_clone().unwrap(), client.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _result = std::io::copy(&mut back_from, &mut back_to);
            let _result = back_to.shutdown(std::net::Shutdown::Both);
        });
        let _result = std::io::copy(&mut client, &mut server);
        let _result = server.shutdown(std::net::Shutdown::Both);
        back.join().unwrap();
    });
    (address, led)
}

#[test]
fn tls_through_a_proxy_is_with_the_requested_server() {
    let server = ModelServer::start(ModelReply::text("encrypted"));
    let front = TlsFront::start(Certificate::Signed, &server.base_url(Format::Chat));
    let there = behind(&front, &server, Format::Chat);
    let ask_at = |base_url: &str| {
        let (address, led) = proxy(&front.url(""));
        let endpoint = Endpoint {
            base_url: Some(base_url.to_owned()),
            authorities: Some(trusting(&authority())),
            proxy: Some(address),
            ..there.clone()
        };
        let (answer, stream) =
            ask(connect(endpoint, choice()).unwrap().as_ref(), &[Message::user("hello")]);
        led.join().unwrap();
        answer.map(|_| stream.text)
    };
    assert_eq!(ask_at(there.base_url.as_deref().unwrap()).as_deref(), Ok("encrypted"));
    let error = ask_at("https://llm.example.com/v1").unwrap_err();
    assert!(matches!(error, ModelError::Rejected { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("its certificate is not valid:"), "{message}");
    assert!(message.contains("llm.example.com"), "{message}");
}

#[test]
fn a_file_without_certificates_is_an_error() {
    let problem = |pem: &str| Authorities::from_pem(pem.as_bytes()).unwrap_err();
    assert!(problem("").starts_with("holds no certificate in PEM"));
    assert!(
        problem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
            .starts_with("holds no")
    );
    let damaged = problem("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    assert!(damaged.starts_with("is damaged"), "{damaged}");
    let cut = problem("-----BEGIN CERTIFICATE-----\nAAAA\n");
    assert!(cut.starts_with("is damaged"), "{cut}");
}

/// Returns a server that accepts one connection and responds with `answer`. Returns the head of the request.
fn once(answer: String) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let request_text = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        (&stream).write_all(answer.as_bytes()).unwrap();
        head.join("\n")
    });
    (address, request_text)
}

#[test]
fn a_proxy_error_names_the_proxy_without_its_password() {
    for (status, passes) in [("407 Auth", false), ("403 No", false), ("502 Bad Gateway", true)] {
        let (proxy, request_text) = once(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"));
        let mut endpoint = endpoint(Format::Chat, "https://llm.example.com/v1".into());
        endpoint.proxy = Some(format!("http://ada:hunter2@{proxy}"));
        let error = failed(connect(endpoint, choice()).unwrap().as_ref());
        let request_text = request_text.join().unwrap();
        assert!(request_text.starts_with("CONNECT llm.example.com:443 HTTP/1.1"), "{request_text}");
        assert!(request_text.contains("Basic YWRhOmh1bnRlcjI="), "{request_text}");
        let transient =
            matches!(error, ModelError::Transient { cause: TransientCause::Connection, .. });
        assert_eq!(transient, passes, "{status}: {error:?}");
        assert!(error.to_string().contains(&format!("(through the proxy {proxy})")), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}

#[test]
fn the_password_of_a_proxy_is_in_no_error() {
    for proxy in [
        "http://ada:hunter2@127.0.0.1:9",
        "socks5://ada:hunter2@127.0.0.1:9",
        "ada:hunter2@127.0.0.1:9",
        "gopher://ada:hunter2@127.0.0.1:9",
        "http://ada:hunter2@:x",
        "http://ada:hun ter2@127.0.0.1:9",
        "http://ada:hunter2%ff@127.0.0.1:9",
    ] {
        let mut endpoint = endpoint(Format::Chat, "http://llm.example.com/v1".into());
        endpoint.proxy = Some(proxy.into());
        let error =
            connect(endpoint, choice()).map_or_else(|error| error, |model| failed(model.as_ref()));
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hunter2") && !text.contains("ter2"), "{proxy}: {text}");
    }
}

/// A server must not be able to redirect a key to another one.
#[test]
fn redirects_are_not_followed() {
    let codes = ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"];
    for (format, code) in
        Format::ALL.into_iter().flat_map(|format| codes.map(|code| (format, code)))
    {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let to = elsewhere.local_addr().unwrap();
        let (server, request_text) =
            once(format!("HTTP/1.1 {code}\r\nlocation: http://{to}/\r\ncontent-length: 0\r\n\r\n"));
        let error = failed(
            connect(endpoint(format, format!("http://{server}")), choice()).unwrap().as_ref(),
        );
        assert!(request_text.join().unwrap().contains(KEY));
        assert!(matches!(&error, ModelError::Rejected { .. }), "{format:?}: {error:?}");
        let message = format!("redirects to another address (HTTP {})", &code[..3]);
        assert!(error.to_string().contains(&message), "{error}");
        assert!(elsewhere.accept().is_err(), "{format:?} was followed");
    }
}
