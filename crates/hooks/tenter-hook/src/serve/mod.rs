//! `--serve`: many events, for hosts whose plugins are JavaScript (B50).
//!
//! A request is a line `{"id": …, "event": …, "cwd": …, "payload": {…}}`, its answer a line `{"id": …, "answer": …}`, perhaps with
//! `warnings`. Many requests may be open at once; answers come in any order. Each is equal to the answer of a process of its own.

mod line;
mod request;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};
use tenter_bridge::host::Moment;
use tenter_bridge::payload::Payload;
use tenter_bridge::{Visited, Visitor};
use tenter_protocol::Object;

use crate::output;
use crate::remainder;
use crate::resources;
use line::Lines;
use request::{Head, Request};

thread_local! {
    /// The request that this thread answers.
    static CURRENT: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Answers the requests on stdin until it closes, and ends the sessions that were seen.
pub(crate) fn run(visitor: Visitor) -> ExitCode {
    let visitor = Visitor { kept: Some(Arc::default()), ..visitor };
    let server = Arc::new(Server { visitor, open: Mutex::default(), answered: Condvar::new() });
    server.deny_on_panic();
    let mut sessions = Sessions::default();
    let mut lines = Lines::new(io::stdin().lock());
    while let Some(line) = lines.next() {
        let (received, length) = (Instant::now(), line.len());
        match Request::parse(&line, server.visitor.host) {
            Ok(request) => {
                sessions.see(&request);
                server.start(request, received, length);
            }
            Err((id, error)) => {
                let visited = Visited::warning(error);
                write(&id, &visited);
            }
        }
    }
    server.wait();
    sessions.end(&server.visitor);
    ExitCode::SUCCESS
}

/// The state that all requests share.
struct Server {
    /// The common inputs of requests. Its event is not used.
    visitor: Visitor,
    /// The requests that were not answered, by number.
    open: Mutex<BTreeMap<u64, Head>>,
    answered: Condvar,
}

impl Server {
    /// Answers a request, which is a line of this length, in a thread of its own.
    fn start(self: &Arc<Self>, request: Request, received: Instant, length: usize) {
        let number = self.add(request.head.clone());
        let visitor = Visitor {
            event: request.head.event,
            cwd: request.cwd,
            started: received,
            progress: Arc::default(),
            ..self.visitor.clone()
        };
        let (server, payload) = (Arc::clone(self), request.payload);
        let answer = move || {
            CURRENT.set(Some(number));
            let visited = match resources::missing(length) {
                Some(what) => visitor.refuse(what),
                None => visitor.run(payload),
            };
            server.answer(number, &visitor, &visited);
        };
        if let Err(error) = thread::Builder::new().name(format!("request {number}")).spawn(answer) {
            let why = format!("tenter-hook cannot start a thread: {error}");
            self.deny(number, &why);
        }
    }

    fn add(&self, head: Head) -> u64 {
        let mut open = self.open();
        let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
        open.insert(number, head);
        number
    }

    fn answer(&self, number: u64, visitor: &Visitor, visited: &Visited) {
        let Some(head) = self.open().get(&number).cloned() else { return };
        write(&head.id, visited);
        start_remainder(visitor, visited);
        self.open().remove(&number);
        self.answered.notify_all();
    }

    /// Denies a request that no hook could see.
    fn deny(&self, number: u64, why: &str) {
        let Some(event) = self.open().get(&number).map(|head| head.event) else { return };
        let visitor = Visitor { event, ..self.visitor.clone() };
        self.answer(number, &visitor, &visitor.refuse(why.to_owned()));
    }

    /// Waits until all requests are answered.
    fn wait(&self) {
        let mut open = self.open();
        while !open.is_empty() {
            open = self.answered.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Head>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a panic hook that denies the request of the thread, and no other. The thread never continues: if panics abort, that would end the
    /// process. In a thread without a request, it denies all open requests and ends the process.
    fn deny_on_panic(self: &Arc<Self>) {
        let server = Arc::clone(self);
        std::panic::set_hook(Box::new(move |panic| {
            let why = format!("{}: {panic}", crate::DEFECT);
            if let Some(number) = CURRENT.get() {
                server.deny(number, &why);
                loop {
                    thread::park();
                }
            }
            let open: Vec<u64> = server.open().keys().copied().collect();
            for number in open {
                server.deny(number, &why);
            }
            std::process::exit(1);
        }));
    }
}

fn start_remainder(visitor: &Visitor, visited: &Visited) {
    let after = visited.after.as_ref();
    let warning = after.and_then(|remainder| remainder::start(visitor, remainder));
    output::warn(warning.as_slice());
}

/// Writes an answer.
fn write(id: &Value, visited: &Visited) {
    let answer = visited.answer.as_deref().map_or(Value::Null, |answer| {
        serde_json::from_str(answer).unwrap_or_else(|_| Value::String(answer.to_owned()))
    });
    let mut line = json!({ "id": id, "answer": answer });
    if !visited.warnings.is_empty() {
        line["warnings"] = json!(visited.warnings);
    }
    // The error is ignored: the host does not read the answer.
    let _ = output::answer(Some(&line.to_string()));
}

/// The root sessions that had events and did not end, with their working directories.
#[derive(Default)]
struct Sessions(BTreeMap<String, PathBuf>);

impl Sessions {
    fn see(&mut self, request: &Request) {
        let Some(session) = request.session() else { return };
        if request.head.event.moment == Moment::SessionEnd {
            self.0.remove(session);
        } else if !self.0.contains_key(session) {
            self.0.insert(session.to_owned(), request.cwd.clone());
        }
    }

    /// Ends the open sessions: the host exited or closed its plugin, and most sessions have no other end.
    fn end(self, visitor: &Visitor) {
        let ends = |event: &&tenter_bridge::NativeEvent| event.moment == Moment::SessionEnd;
        let Some(event) = visitor.host.events.iter().find(ends) else { return };
        for (session, cwd) in self.0 {
            let payload = Object::from_iter([
                ("session".to_owned(), Value::String(session)),
                ("cwd".to_owned(), json!(cwd)),
            ]);
            let visitor = Visitor { event, cwd, started: Instant::now(), ..visitor.clone() };
            let visited = visitor.run(Ok(Payload::from(payload)));
            output::warn(&visited.warnings);
            start_remainder(&visitor, &visited);
        }
    }
}
