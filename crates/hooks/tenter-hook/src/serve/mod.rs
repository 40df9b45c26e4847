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

use crate::WATCH_STACK;
use crate::output;
use crate::remainder;
use crate::resources;
use line::Lines;
use request::Request;

thread_local! {
    /// The request that this thread answers.
    static CURRENT: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Answers the requests on stdin until it closes, and ends the sessions that were seen.
pub(crate) fn run(visitor: Visitor) -> ExitCode {
    let visitor = Visitor { kept: Some(Arc::default()), ..visitor };
    let server = Arc::new(Server { visitor, open: Mutex::default(), changed: Condvar::new() });
    server.deny_on_panic();
    server.watch();
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
    open: Mutex<BTreeMap<u64, OpenRequest>>,
    /// Notified when a request was received or answered.
    changed: Condvar,
}

/// A request that was not answered, or whose answer is being written.
struct OpenRequest {
    id: Value,
    visitor: Visitor,
    /// True once one thread writes the answer.
    is_claimed: bool,
}

impl Server {
    /// Answers a request, which is a line of this length, in a thread of its own.
    fn start(self: &Arc<Self>, request: Request, received: Instant, length: usize) {
        let visitor = Visitor {
            event: request.head.event,
            cwd: request.cwd,
            started: received,
            progress: Arc::default(),
            ..self.visitor.clone()
        };
        let number = self.add(request.head.id, visitor.clone());
        let (server, payload) = (Arc::clone(self), request.payload);
        let answer = move || {
            CURRENT.set(Some(number));
            let visited = match resources::missing(length) {
                Some(what) => visitor.refuse(what),
                None => visitor.run(payload),
            };
            server.answer(number, &visited);
        };
        if let Err(error) = thread::Builder::new().name(format!("request {number}")).spawn(answer) {
            let why = format!("tenter-hook cannot start a thread: {error}");
            self.deny(number, &why);
        }
    }

    fn add(&self, id: Value, visitor: Visitor) -> u64 {
        let mut open = self.open();
        let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
        open.insert(number, OpenRequest { id, visitor, is_claimed: false });
        self.changed.notify_all();
        number
    }

    /// Writes the answer to a request, unless another thread does.
    fn answer(&self, number: u64, visited: &Visited) {
        let claimed = self.open().get_mut(&number).and_then(OpenRequest::claim);
        let Some((id, visitor)) = claimed else { return };
        write(&id, visited);
        start_remainder(&visitor, visited);
        self.open().remove(&number);
        self.changed.notify_all();
    }

    /// Denies a request that no hook could see.
    fn deny(&self, number: u64, why: &str) {
        let Some(visitor) = self.open().get(&number).map(|open| open.visitor.clone()) else {
            return;
        };
        self.answer(number, &visitor.refuse(why.to_owned()));
    }

    /// Waits until all requests are answered.
    fn wait(&self) {
        let mut open = self.open();
        while !open.is_empty() {
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Starts a thread that answers requests that take too long (B24). Without a thread, they are answered without that limit.
    fn watch(self: &Arc<Self>) {
        let server = Arc::clone(self);
        let answer_late = move || {
            loop {
                let (number, late) = server.next_late();
                server.answer(number, &late);
            }
        };
        let thread = thread::Builder::new().name("watch".to_owned()).stack_size(WATCH_STACK);
        let _ = thread.spawn(answer_late);
    }

    /// Waits until a request must be answered, and returns its number and its answer.
    fn next_late(&self) -> (u64, Visited) {
        let mut open = self.open();
        loop {
            let unanswered = open.iter().filter(|(_, request)| !request.is_claimed);
            let latest = |(number, request): (&u64, &OpenRequest)| {
                request.visitor.latest_answer().map(|time| (time, *number))
            };
            let Some((time, number)) = unanswered.filter_map(latest).min() else {
                open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match time.checked_duration_since(Instant::now()) {
                Some(rest) => {
                    let woken = self.changed.wait_timeout(open, rest);
                    open = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => return (number, open[&number].visitor.late()),
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, OpenRequest>> {
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

impl OpenRequest {
    /// Returns what the answer needs to the first thread that asks.
    fn claim(&mut self) -> Option<(Value, Visitor)> {
        let is_first = !std::mem::replace(&mut self.is_claimed, true);
        is_first.then(|| (self.id.clone(), self.visitor.clone()))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns a server, and the number of a request that no thread answers and whose host waits that long.
    fn with_request(timeout: Duration) -> (Server, u64) {
        let words = ["claude-code", "--serve"].map(std::ffi::OsString::from);
        let arguments = crate::Arguments::parse(words).unwrap();
        let event = arguments.host.event("PreToolUse").unwrap().within(timeout);
        let visitor = crate::visitor(&arguments, Box::leak(Box::new(event)), Instant::now());
        let server =
            Server { visitor: visitor.clone(), open: Mutex::default(), changed: Condvar::new() };
        let number = server.add(json!(1), visitor);
        (server, number)
    }

    #[test]
    fn a_request_that_takes_too_long_is_denied_at_half_of_the_timeout_and_answered_once() {
        let timeout = Duration::from_secs(1);
        let (server, number) = with_request(timeout);
        let started = Instant::now();
        let (late, visited) = server.next_late();
        assert!(started.elapsed() < timeout, "{:?}", started.elapsed());
        assert_eq!(late, number);
        assert!(visited.answer.unwrap().contains("could not look at this in time"));
        let claim = || server.open().get_mut(&number).and_then(OpenRequest::claim);
        assert!(claim().is_some());
        assert!(claim().is_none(), "the thread that comes later has nothing to write");
    }
}
