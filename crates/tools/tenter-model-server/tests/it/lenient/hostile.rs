//! Clients that send garbage, too much, or nothing at all.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tenter_model_server::{Format, LenientScript, ModelReply, ModelServer};

use tenter_testkit::api_client::{ask, connect, door, post, read, talk};

fn server() -> ModelServer {
    ModelServer::start(LenientScript::new([ModelReply::text("One.")])).unwrap()
}

/// Drops a server, which must not take long whatever its clients do.
fn closes_at_once(server: ModelServer) {
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn garbage_gets_an_error_and_the_next_client_is_served() {
    let server = server();
    let long = format!("POST /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    let headers = format!("POST / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1000));
    let garbage: [&[u8]; 7] = [
        b"hello\r\n\r\n",
        b"\xff\xfe\xfd \x00\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        long.as_bytes(),
        headers.as_bytes(),
    ];
    for bytes in garbage {
        let mut stream = connect(&server);
        stream.write_all(bytes).unwrap();
        let status = read(&mut BufReader::new(stream)).status;
        assert_eq!(status, 400, "{:?}", String::from_utf8_lossy(bytes).get(..50));
    }
    let body = ask(Format::Chat, "Hello.");
    assert_eq!(talk(&server, (Format::Chat, true), &body).text, "One.");
    closes_at_once(server);
}

#[test]
fn bodies_that_are_not_conversations_get_a_reply() {
    let server = server();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies = ["", "no json", "[]", "3", "null", r#"{"messages": 7, "tools": {"a": 1}}"#, &deep];
    for format in Format::ALL {
        for body in bodies {
            let (path, headers) = door(format, false);
            let status = post(&server, path, headers, body).status;
            assert_eq!(status, 200, "{format:?} {:?}", body.get(..20));
        }
    }
    assert_eq!(server.requests().len(), Format::ALL.len() * bodies.len());
}

#[test]
fn clients_that_never_finish_do_not_hold_up_others_or_the_end() {
    let server = server();
    let start = |bytes: &[u8]| -> TcpStream {
        let mut stream = connect(&server);
        stream.write_all(bytes).unwrap();
        stream
    };
    let open: Vec<TcpStream> = [
        &b""[..],
        b"POST",
        b"POST /v1/messages HTTP/1.1\r\nx: ",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: 1000\r\n\r\n{",
        b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
    ]
    .into_iter()
    .flat_map(|bytes| (0..10).map(|_| start(bytes)).collect::<Vec<_>>())
    .collect();
    assert_eq!(talk(&server, (Format::Chat, true), &ask(Format::Chat, "Hello.")).text, "One.");
    closes_at_once(server);
    drop(open);
}
