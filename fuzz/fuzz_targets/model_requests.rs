//! The model server answers any bytes or closes the connection, and still serves the next client.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tenter_model_server::{Format, LenientScript, ModelServer, ModelReply};

const PATHS: [&str; 6] = [
    "/v1/messages",
    "/v1/responses",
    "/v1/chat/completions",
    "/v1beta/models/gemini:generateContent",
    "/v1beta/models/gemini:streamGenerateContent?alt=sse",
    "/v1/messages/count_tokens",
];

/// A new server now and then, since a server keeps every request.
static CLIENTS: LazyLock<Clients> = LazyLock::new(Clients::default);

#[derive(Default)]
struct Clients(std::sync::Mutex<Option<(ModelServer, usize)>>);

impl Clients {
    fn connect(&self) -> TcpStream {
        let mut slot = self.0.lock().expect("a thread panicked");
        if slot.as_ref().is_none_or(|(_, served)| *served > 1000) {
            let turn = ModelReply::text("One.").call_any(&["bash"], "text");
            let server = ModelServer::start(LenientScript::new([turn])).expect("no port");
            *slot = Some((server, 0));
        }
        let (server, served) = slot.as_mut().expect("it was just set");
        *served += 1;
        let address = server.base_url(Format::Gemini).replace("http://", "");
        TcpStream::connect(address).expect("the server accepts")
    }

    /// What the server says to these bytes; it closes the connection.
    fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _result = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        answer
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (path, bytes) = input;
    CLIENTS.send(bytes);
    let path = PATHS[usize::from(path) % PATHS.len()];
    let head = format!("POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n", bytes.len());
    let answer = CLIENTS.send(&[head.as_bytes(), bytes].concat());
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&answer));
});
