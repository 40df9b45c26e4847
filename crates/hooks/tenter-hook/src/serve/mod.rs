//! `--serve`: many events, for hosts whose plugins are JavaScript (B50).
//!
//! A request is a line `{"id": …, "event": …, "cwd": …, "payload": {…}}`, its answer a line `{"id": …, "answer": …}`, perhaps with
//! `warnings`. Many requests may be open at once; answers come in any order. Each is equal to the answer of a process of its own.

mod line;
mod request;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};
use tenter_bridge::host::Moment;
use tenter_bridge::payload::{Payload, PayloadError};
use tenter_bridge::{NativeEvent, Visited, Visitor};
use tenter_protocol::Object;

use crate::{WATCH_STACK, output, remainder, resources};
use line::Lines;
use request::Request;

thread_local! {
    /// The request that this thread answers.
    static CURRENT: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Answers the requests on stdin until it closes, and ends the sessions that were seen.
pub(crate) fn run(visitor: Visitor) -> ExitCode {
    let visitor = Visitor { memory: Some(Arc::default()), ..visitor };
    let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let lines = Lines::new(BufReader::new(File::from(stdin)));
    let input = Input { lines, sessions: Sessions::default() };
    let server = Arc::new(Server::new(visitor, input));
    server.deny_on_panic();
    server.watch();
    server.work();
    server.wait();
    let sessions = std::mem::take(&mut server.input().sessions);
    sessions.end(&server.visitor);
    ExitCode::SUCCESS
}

/// The state that all threads share. One of them waits for the next request, which it answers itself: passing it to another thread would
/// take longer than most answers.
struct Server {
    /// The common inputs of requests. Its event is not used.
    visitor: Visitor,
    input: Mutex<Input>,
    /// Number of threads that read requests, or wait for the one that does.
    readers: AtomicUsize,
    open: Mutex<OpenRequests>,
    /// Notified when a request has to be answered before the time until which the watching thread sleeps.
    earlier: Condvar,
    /// Notified when a request was answered.
    answered: Condvar,
}

/// The requests on stdin.
struct Input {
    lines: Lines<BufReader<File>>,
    sessions: Sessions,
}

/// The requests that were not answered.
#[derive(Default)]
struct OpenRequests {
    by_number: BTreeMap<u64, OpenRequest>,
    last: u64,
    /// The time until which the watching thread sleeps; `None` if it waits for a notification.
    sleeps_until: Option<Instant>,
}

/// A request that was not answered, or whose answer is being written.
struct OpenRequest {
    id: Value,
    visitor: Arc<Visitor>,
    /// True once one thread writes the answer.
    is_claimed: bool,
}

/// A request, as the thread needs it that answers it.
struct ReceivedRequest {
    number: u64,
    visitor: Arc<Visitor>,
    payload: Result<Payload, PayloadError>,
    /// The length of its line, in bytes.
    length: usize,
}

impl Server {
    fn new(visitor: Visitor, input: Input) -> Self {
        let (readers, open, earlier, answer_event) = Default::default();
        Self { visitor, input: Mutex::new(input), readers, open, earlier, answered: answer_event }
    }

    /// Reads requests and answers them until stdin closes.
    fn work(self: &Arc<Self>) {
        while let Some(request) = self.next_request() {
            if let Err(error) = self.ensure_reader() {
                self.deny(request.number, &format!("tenter-hook cannot start a thread: {error}"));
                continue;
            }
            CURRENT.set(Some(request.number));
            let visit = match resources::missing(request.length) {
                Some(what) => request.visitor.refuse(what),
                None => request.visitor.run(request.payload),
            };
            self.answer(request.number, &visit);
            CURRENT.set(None);
        }
    }

    /// Waits for the next request.
    fn next_request(&self) -> Option<ReceivedRequest> {
        self.readers.fetch_add(1, Ordering::SeqCst);
        let request = self.read_request();
        self.readers.fetch_sub(1, Ordering::SeqCst);
        request
    }

    fn read_request(&self) -> Option<ReceivedRequest> {
        let mut input = self.input();
        loop {
            let line = input.lines.next()?;
            let (start, length) = (Instant::now(), line.len());
            let Request { head, cwd, payload } = match Request::parse(&line, self.visitor.host) {
                Ok(request) => request,
                Err((id, error)) => {
                    write(&id, &Visited::warning(error));
                    continue;
                }
            };
            input.sessions.see(head.event, &cwd, payload.as_ref().ok());
            let (event, progress) = (head.event, Arc::default());
            let visitor = Visitor { event, cwd, start, progress, ..self.visitor.clone() };
            let visitor = Arc::new(visitor);
            // While no other thread can read the end of stdin.
            let number = self.add(head.id, Arc::clone(&visitor));
            return Some(ReceivedRequest { number, visitor, payload, length });
        }
    }

    /// Starts a thread that reads the next request, unless one does.
    fn ensure_reader(self: &Arc<Self>) -> io::Result<()> {
        if self.readers.load(Ordering::SeqCst) > 0 {
            return Ok(());
        }
        let server = Arc::clone(self);
        let thread = thread::Builder::new().name("requests".to_owned());
        thread.spawn(move || server.work()).map(drop)
    }

    /// Adds a request, and returns its number.
    fn add(&self, id: Value, visitor: Arc<Visitor>) -> u64 {
        let latest = visitor.latest_answer();
        let mut open = self.open();
        open.last += 1;
        let number = open.last;
        open.by_number.insert(number, OpenRequest { id, visitor, is_claimed: false });
        let is_asleep = |latest| open.sleeps_until.is_none_or(|time| latest < time);
        if latest.is_some_and(is_asleep) {
            self.earlier.notify_all();
        }
        number
    }

    /// Writes the answer to a request, unless another thread does.
    fn answer(&self, number: u64, visit: &Visited) {
        let request = self.open().by_number.get_mut(&number).and_then(OpenRequest::claim);
        let Some((id, visitor)) = request else { return };
        write(&id, visit);
        start_remainder(&visitor, visit);
        self.open().by_number.remove(&number);
        self.answered.notify_all();
    }

    /// Denies a request that no hook could see.
    fn deny(&self, number: u64, why: &str) {
        let visitor =
            self.open().by_number.get(&number).map(|request| Arc::clone(&request.visitor));
        if let Some(visitor) = visitor {
            self.answer(number, &visitor.refuse(why.to_owned()));
        }
    }

    /// Waits until all requests are answered.
    fn wait(&self) {
        let mut open = self.open();
        while !open.by_number.is_empty() {
            open = self.answered.wait(open).unwrap_or_else(PoisonError::into_inner);
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
            let unanswered = open.by_number.iter().filter(|(_, request)| !request.is_claimed);
            let latest = |(number, request): (&u64, &OpenRequest)| {
                request.visitor.latest_answer().map(|time| (time, *number))
            };
            let next = unanswered.filter_map(latest).min();
            open.sleeps_until = next.map(|(time, _)| time);
            let Some((time, number)) = next else {
                open = self.earlier.wait(open).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match time.checked_duration_since(Instant::now()) {
                Some(rest) => {
                    let woken = self.earlier.wait_timeout(open, rest);
                    open = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => return (number, open.by_number[&number].visitor.late()),
            }
        }
    }

    fn input(&self) -> MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, OpenRequests> {
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
            let open: Vec<u64> = server.open().by_number.keys().copied().collect();
            for number in open {
                server.deny(number, &why);
            }
            std::process::exit(1);
        }));
    }
}

impl OpenRequest {
    /// Returns what the answer needs to the first thread that asks.
    fn claim(&mut self) -> Option<(Value, Arc<Visitor>)> {
        let is_first = !std::mem::replace(&mut self.is_claimed, true);
        is_first.then(|| (self.id.take(), Arc::clone(&self.visitor)))
    }
}

fn start_remainder(visitor: &Visitor, visit: &Visited) {
    let after = visit.after.as_ref();
    let warning = after.and_then(|remainder| remainder::start(visitor, remainder));
    output::warn(warning.as_slice());
}

/// Writes an answer.
fn write(id: &Value, visit: &Visited) {
    let answer = visit.answer.as_deref().map_or(Value::Null, |answer| {
        serde_json::from_str(answer).unwrap_or_else(|_| Value::String(answer.to_owned()))
    });
    let mut line = json!({ "id": id, "answer": answer });
    if !visit.warnings.is_empty() {
        line["warnings"] = json!(visit.warnings);
    }
    // The error is ignored: the host does not read the answer.
    let _ = output::answer(Some(&line.to_string()));
}

/// The root sessions that had events and did not end, with their working directories.
#[derive(Default)]
struct Sessions(BTreeMap<String, PathBuf>);

impl Sessions {
    fn see(&mut self, event: &NativeEvent, cwd: &Path, payload: Option<&Payload>) {
        let Some(session) = payload.and_then(request::session) else { return };
        if event.moment == Moment::SessionEnd {
            self.0.remove(session);
        } else if !self.0.contains_key(session) {
            self.0.insert(session.to_owned(), cwd.to_owned());
        }
    }

    /// Ends the open sessions: the host exited or closed its plugin, and most sessions have no other end.
    fn end(self, visitor: &Visitor) {
        let ends = |event: &&NativeEvent| event.moment == Moment::SessionEnd;
        let Some(event) = visitor.host.events.iter().find(ends) else { return };
        for (session, cwd) in self.0 {
            let payload = Object::from_iter([
                ("session".to_owned(), Value::String(session)),
                ("cwd".to_owned(), json!(cwd)),
            ]);
            let visitor = Visitor { event, cwd, start: Instant::now(), ..visitor.clone() };
            let visit = visitor.run(Ok(Payload::from(payload)));
            output::warn(&visit.warnings);
            start_remainder(&visitor, &visit);
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
        let arguments = crate::Arguments::parse(&words).unwrap();
        let event = arguments.host.event("PreToolUse").unwrap().within(timeout);
        let visitor = crate::visitor(&arguments, Box::leak(Box::new(event)), Instant::now());
        let lines = Lines::new(BufReader::new(File::open("/dev/null").unwrap()));
        let input = Input { lines, sessions: Sessions::default() };
        let server = Server::new(visitor.clone(), input);
        let number = server.add(json!(1), Arc::new(visitor));
        (server, number)
    }

    #[test]
    fn a_request_that_takes_too_long_is_denied_at_half_of_the_timeout_and_answered_once() {
        let timeout = Duration::from_secs(1);
        let (server, number) = with_request(timeout);
        let start = Instant::now();
        let (late, visit) = server.next_late();
        assert!(start.elapsed() < timeout, "{:?}", start.elapsed());
        assert_eq!(late, number);
        assert!(visit.answer.unwrap().contains("could not look at this in time"));
        let claim = || server.open().by_number.get_mut(&number).and_then(OpenRequest::claim);
        assert!(claim().is_some());
        assert!(claim().is_none(), "the thread that comes later has nothing to write");
    }
}
