//! Tests of connections to a process that answers two requests at once.

use std::io::BufReader;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tenter_bridge::keeper::Opening;
use tenter_engine::inspect::{ChildProcesses, ProcessPool};
use tenter_protocol::runtime::{event_request, notification};

use super::super::opening;
use super::*;

const FOREVER: Duration = Duration::from_mins(1);

/// The beginning of a hook: two requests at once, and functions for the parts of a request.
const START: &str = r#"
read -r initialize
echo '{"jsonrpc": "2.0", "id": 1, "result": {"concurrency": 2}}'
id() { echo "$1" | sed 's/^[^,]*, *"id": *\([0-9]*\).*/\1/'; }
from() { echo "$1" | sed 's/.*"from": *"\([a-z]*\)".*/\1/'; }
answer() { echo "{\"jsonrpc\": \"2.0\", \"id\": $1, \"result\": $2}"; }
"#;

/// Starts a hook that runs this script after [`START`]. Its process ends with the pool.
fn process(script: &str) -> (ProcessPool<()>, Arc<ServingProcess>) {
    let opening = json!({
        "initialize": {"protocol": 1, "hook": "guard", "project": "/", "host": "test", "events": [], "services": []},
        "layer": "user",
        "fingerprint": "0",
        "program": "/bin/sh",
        "args": ["-c", format!("{START}{script}")],
        "cwd": "/",
        "env": [["PATH", "/usr/local/bin:/usr/bin:/bin"]],
    });
    let opening: Opening = serde_json::from_value(opening).unwrap();
    let pool = ProcessPool::new(Arc::new(ChildProcesses::default()), 1);
    let start = || ((), opening::start(opening.clone()));
    let (process, ()) = pool.get_or_start(&opening::key(&opening), |()| true, start).unwrap();
    (pool, process)
}

/// The other end of a connection.
struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    serving: JoinHandle<()>,
    /// The line that grants the turn.
    grant: String,
}

impl Client {
    /// Connects, and waits for the turn.
    fn connect(process: &Arc<ServingProcess>) -> Self {
        let (stream, other) = UnixStream::pair().unwrap();
        stream.set_read_timeout(Some(FOREVER)).unwrap();
        let process = Arc::clone(process);
        let serving = thread::spawn(move || {
            let other = Arc::new(other);
            serve(&other, BufReader::new(&*other), process);
        });
        let reader = BufReader::new(stream.try_clone().unwrap());
        let mut client = Self { stream, reader, serving, grant: String::new() };
        client.grant = client.line();
        assert!(client.grant.starts_with(r#"!{"granted":{"concurrency":2,"#), "{}", client.grant);
        client
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    fn send(&self, line: &str) {
        (&self.stream).write_all(line.as_bytes()).unwrap();
    }

    /// Sends the request with the id 2.
    fn request(&self, from: &str) {
        self.send(&event_request(2, "before_tool", &json!({"from": from}).to_string()));
    }

    fn leave(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
        self.serving.join().unwrap();
    }
}

#[test]
fn two_connections_use_the_same_id_and_each_gets_its_own_answer() {
    let (_pool, process) = process(
        r#"read -r one; read -r two
        answer "$(id "$two")" "\"$(from "$two")\""; answer "$(id "$one")" "\"$(from "$one")\"";
        read -r end"#,
    );
    let (mut first, mut second) = (Client::connect(&process), Client::connect(&process));
    assert_eq!(second.grant, r#"!{"granted":{"concurrency":2,"has_waited":false}}"#);
    first.request("first");
    second.request("second");
    for (client, name) in [(&mut first, "first"), (&mut second, "second")] {
        assert_eq!(client.message(), json!({"jsonrpc": "2.0", "id": 2, "result": name}));
    }
    assert_eq!(process.answered(), 2);
}

#[test]
fn a_request_of_the_hook_goes_to_the_connection_of_its_event_and_back() {
    let (_pool, process) = process(
        r#"read -r one; read -r two
        for event in "$one" "$two"; do
            echo "{\"jsonrpc\": \"2.0\", \"id\": \"s\", \"method\": \"state.get\", \"params\": {\"key\": \"$(from "$event")\", \"request\": $(id "$event")}}"
            read -r value
            answer "$(id "$event")" "$(echo "$value" | sed 's/.*"result": *\([0-9]*\).*/\1/')"
        done; read -r end"#,
    );
    let clients = [("first", 7), ("second", 8)].map(|client| (Client::connect(&process), client));
    thread::scope(|scope| {
        for (mut client, (name, value)) in clients {
            scope.spawn(move || {
                client.request(name);
                let request = client.message();
                assert_eq!(request["method"], "state.get");
                assert_eq!(request["params"], json!({"key": name, "request": 2}), "its own id");
                let id = Id::Number(request["id"].as_i64().unwrap());
                client.send(&Response { id, result: Ok(RawJson::new(&value)) }.to_line());
                assert_eq!(client.message()["result"], value);
            });
        }
    });
}

#[test]
fn a_connection_cancels_its_own_request_only() {
    let (_pool, process) = process(
        r#"for line in 1 2 3; do
            read -r line
            case $line in
            *'"method": "cancel"'*) cancelled=$(echo "$line" | sed 's/.*"id": *\([0-9]*\).*/\1/') ;;
            *'"second"'*) second=$(id "$line") ;;
            *) first=$(id "$line") ;;
            esac
        done
        [ "$cancelled" != "$first" ] || answer "$first" null
        answer "$second" '"not cancelled"'; read -r end"#,
    );
    let (mut first, mut second) = (Client::connect(&process), Client::connect(&process));
    first.request("first");
    second.request("second");
    first.send(&notification(CANCEL, Some(&Cancelled { id: 2 })));
    assert_eq!(first.message()["error"]["data"]["name"], "cancelled");
    assert_eq!(second.message()["result"], "not cancelled");
}

#[test]
fn the_request_of_a_connection_that_leaves_is_cancelled() {
    let scratch = tempfile::tempdir().unwrap();
    let flag = scratch.path().join("read");
    let (_pool, process) = process(&format!(
        r#"for line in 1 2 3; do
            read -r line
            case $line in
            *'"method": "cancel"'*) answer "$first" null ;;
            *'"second"'*) second=$(id "$line") ;;
            *) first=$(id "$line"); : > '{}' ;;
            esac
        done
        answer "$second" '"the same process"'; read -r end"#,
        flag.display()
    ));
    let first = Client::connect(&process);
    first.request("first");
    // A request that is cancelled before it is sent is not sent.
    while !flag.exists() {
        thread::yield_now();
    }
    first.leave();
    let mut second = Client::connect(&process);
    second.request("second");
    let answer = second.message();
    assert_eq!(answer["result"], "the same process", "{answer}");
}

#[test]
fn a_hook_that_does_not_answer_a_cancelled_request_is_killed() {
    let (_pool, process) = process("read -r one; while :; do sleep 1; done");
    let (first, mut second) = (Client::connect(&process), Client::connect(&process));
    first.request("first");
    first.leave();
    second.request("second");
    assert_eq!(second.line(), r#"!{"ended":"did not end a request that was cancelled"}"#);
}
