//! A server over journals that a test writes.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tenter_engine::{Cancel, Timestamp};
use tenter_inspect::facts::{Facts, HookSource, HostProof, HostRegistration, HostStatus};
use tenter_inspect::figures::KnownHook;
use tenter_inspect::{Pages, Server};

/// The project of the records.
pub(crate) const PROJECT: &str = "/home/ada/shop";

/// Returns the time at which pages are made.
fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

struct TestFacts;

impl Facts for TestFacts {
    fn hooks(&self) -> Vec<KnownHook> {
        let hook = |name: &str, hash: &str, budget: u64, is_at_every_call: bool| KnownHook {
            name: name.to_owned(),
            hash: hash.to_owned(),
            budget: Some(Duration::from_millis(budget)),
            is_at_every_call,
        };
        vec![hook("guard", "aa", 20, true), hook("idle", "bb", 20, false)]
    }

    fn hosts(&self) -> Vec<HostStatus> {
        let registered = HostStatus {
            id: "codex".to_owned(),
            name: "Codex".to_owned(),
            is_installed: true,
            registrations: vec![HostRegistration {
                scope: "user".to_owned(),
                file: "/home/ada/.codex/hooks.json".to_owned(),
                flaw: Some("incomplete: install it again".to_owned()),
            }],
            last_event: Some("2026-03-01T11:00:00Z".to_owned()),
            proof: Some(HostProof {
                version: "0.169.0".to_owned(),
                at: "2026-02-28T11:00:00Z".to_owned(),
                proved_checks: 30,
                broken_checks: vec![(
                    "a deny denies".to_owned(),
                    "the file was written".to_owned(),
                )],
            }),
            breach: Some(("Codex ran a denied call".to_owned(), "2026-03-01T10:00:00Z".to_owned())),
        };
        let missing = HostStatus { name: "Pi".to_owned(), ..HostStatus::default() };
        vec![missing, registered]
    }

    fn source(&self, hook: &str, hash: &str) -> Option<HookSource> {
        let files = vec![
            (format!("{hook}/run.sh"), Some("#!/bin/sh\necho '<b>'\n".to_owned())),
            (format!("{hook}/data"), None),
        ];
        let source = HookSource { origin: "As it was trusted.".to_owned(), files };
        (hash == "aa").then_some(source)
    }
}

/// A server and its journals.
pub(crate) struct Scene {
    directory: TempDir,
    pub(crate) port: u16,
    pub(crate) token: String,
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    /// Returns the value of a header; `name` is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns the body, if the request was answered with a page.
    pub(crate) fn page(self) -> String {
        assert_eq!(self.status, 200, "{}", self.head);
        self.body
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pages = Pages::new(directory.path(), PROJECT.as_ref(), Box::new(TestFacts), now);
        let server = Arc::new(Server::bind(0, pages).unwrap());
        let address = server.address();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_owned());
        let cancel = Cancel::new();
        let stop = cancel.clone();
        let thread = Some(thread::spawn(move || server.serve(&stop).unwrap()));
        Self { directory, port, token, cancel, thread }
    }

    /// Returns the file of a session's journal.
    pub(crate) fn file(&self, session: &str) -> PathBuf {
        self.directory.path().join(format!("{session}.jsonl"))
    }

    /// Appends text to a session's journal.
    pub(crate) fn append(&self, session: &str, text: &str) {
        let file = self.file(session);
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Appends records to a session's journal.
    pub(crate) fn record(&self, session: &str, records: &[Value]) {
        let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
        self.append(session, &lines.concat());
    }

    pub(crate) fn write(&self, session: &str, bytes: &[u8]) {
        fs::write(self.file(session), bytes).unwrap();
    }

    /// Returns a path with the token.
    pub(crate) fn with_token(&self, path: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}token={}", self.token)
    }

    /// Returns the whole address of a path.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.with_token(path))
    }

    /// Requests a path, with the token, until the page is complete: it shows what there was time for, and the next one more.
    pub(crate) fn get(&self, path: &str) -> HttpAnswer {
        let is_complete = |answer: &HttpAnswer| {
            let is_cut = |note| answer.body.contains(note);
            !["are read so far", "The search took too long"].into_iter().any(is_cut)
        };
        std::iter::repeat_with(|| self.get_once(path)).take(1000).find(is_complete).unwrap()
    }

    /// Requests a path once, with the token.
    pub(crate) fn get_once(&self, path: &str) -> HttpAnswer {
        self.request(&self.with_token(path))
    }

    /// Requests a path as it is.
    pub(crate) fn request(&self, target: &str) -> HttpAnswer {
        self.raw(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends bytes and reads the response.
    pub(crate) fn raw(&self, bytes: &str) -> HttpAnswer {
        let mut stream = self.connect();
        stream.write_all(bytes.as_bytes()).unwrap();
        answer(stream)
    }
}

/// Reads a response to its end.
pub(crate) fn answer(mut stream: TcpStream) -> HttpAnswer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect(&text);
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    HttpAnswer { status, head: head.to_owned(), body: body.to_owned() }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.cancel.cancel();
        let _ = self.thread.take().unwrap().join();
    }
}

/// Returns the fields of every record: it is the `number`-th of its session.
fn record(session: &str, number: usize, event: &str, more: &Value) -> Value {
    let mut record = json!({"v": 1, "time": format!("2026-03-01T09:{:02}:{:02}.000Z", number / 60 % 60, number % 60),
        "conversation_id": session, "project": PROJECT, "event": event});
    let fields = record.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    record
}

/// Returns a run of `hook` about a call of bash.
pub(crate) fn run(session: &str, number: usize, hook: &str, decision: &str) -> Value {
    let more = json!({"tool_call_id": format!("call-{number}"), "tool_name": "bash",
        "tool_input": {"command": format!("ls {number}")}, "kind": "run", "hook": hook, "layer": "user", "hash": "aa",
        "spelling": "before_tool", "duration_ms": number, "exit": "exit 0", "decision": decision});
    record(session, number, "before_tool", &more)
}

/// Returns `value` with further fields; null removes one.
pub(crate) fn with(mut value: Value, more: &Value) -> Value {
    let fields = value.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    fields.retain(|_, value| !value.is_null());
    value
}

/// Returns the record of the decision about the call of [`run`] with this number.
pub(crate) fn decided(session: &str, number: usize, decision: &str, by: &str) -> Value {
    let more = json!({"tool_call_id": format!("call-{number}"), "tool_name": "bash",
        "tool_input": {"command": format!("ls {number}")}, "kind": "decision", "decision": decision, "hooks_run": 1, "by": by});
    record(session, number, "before_tool", &more)
}
