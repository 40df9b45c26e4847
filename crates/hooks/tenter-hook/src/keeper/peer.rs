//! A connection of a `tenter-hook` to the process of a hook.
//!
//! The keeper is a caller of the hook as the engine is one: each event request of the connection has a thread, which calls the process
//! in its turn. What the hook requests meanwhile is passed to the connection, under ids of the keeper.

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tenter_bridge::keeper::ControlLine;
use tenter_engine::inspect::{
    Call, CallReport, GrantedTurn, HookRequest, RequestCaller, ServingProcess,
};
use tenter_proc::Cancel;
use tenter_protocol::Object;
use tenter_protocol::runtime::{
    CANCEL, Cancelled, ErrorObject, Id, Notification, RawJson, Request, Response, RuntimeMessage,
    ServiceError, read_message,
};

/// The limit for a connection to read a line. One that takes longer is dropped: others use the same process.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// An answer of the connection to a request of the hook.
type ServiceAnswer = Result<RawJson, ErrorObject>;

/// A connection of a `tenter-hook`.
pub(super) struct Peer {
    stream: Arc<UnixStream>,
    process: Arc<ServingProcess>,
    state: Mutex<PeerState>,
    /// Held while lines are written.
    writing: Mutex<()>,
}

#[derive(Default)]
struct PeerState {
    /// The event requests that are not answered.
    calls: Vec<(Id, Cancel)>,
    /// The requests of the hook that the connection has not answered.
    services: BTreeMap<i64, Sender<ServiceAnswer>>,
    last_service: i64,
    has_left: bool,
}

/// Passes messages between a connection and the process of a hook until one of them ends.
pub(super) fn serve(
    stream: &Arc<UnixStream>,
    mut reader: impl BufRead,
    process: Arc<ServingProcess>,
) {
    let _ = stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let (state, writing) = Default::default();
    let peer = Arc::new(Peer { stream: Arc::clone(stream), process, state, writing });
    let first_call = Cancel::new();
    let (sender, first_request) = mpsc::channel();
    let mut sender = Some(sender);
    let (granting_peer, cancel) = (Arc::clone(&peer), first_call.clone());
    if !spawn(move || granting_peer.grant(&first_request, &cancel)) {
        return;
    }
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        match read_message(&line) {
            Ok(Some(RuntimeMessage::Request(request))) => match sender.take() {
                Some(sender) => {
                    peer.state().calls.push((request.id.clone(), first_call.clone()));
                    let _ = sender.send(request);
                }
                None => peer.start_call(request),
            },
            Ok(Some(RuntimeMessage::Notification(sent))) => peer.cancel(&sent),
            Ok(Some(RuntimeMessage::Response(response))) => peer.service_answered(response),
            Ok(None) => {}
            Err(_) => break,
        }
        line.clear();
    }
    drop(sender);
    first_call.cancel();
    peer.leave();
}

/// Starts a thread. Returns whether there is one.
fn spawn(run: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new().name("call".to_owned()).spawn(run).is_ok()
}

impl Peer {
    /// Waits for the first turn, grants it, and calls the hook with the request that the connection then sends.
    fn grant(self: &Arc<Self>, requests: &Receiver<Request>, cancel: &Cancel) {
        let caller = PeerCaller::new(self);
        let shared: Arc<dyn RequestCaller> = caller.clone();
        let turn = match self.process.take_turn(&shared, cancel.into()) {
            Ok(turn) => turn,
            Err(report) => return self.answer(None, report),
        };
        if let Some(GrantedTurn { initialized, has_waited }) = turn.granted() {
            let concurrency = initialized.concurrency;
            self.write(&ControlLine::Granted { concurrency, has_waited }.to_line());
        }
        // The connection ends if it does not use its turn.
        let Ok(request) = requests.recv() else { return };
        let report = caller.call(&request, cancel, |call| turn.call(call));
        self.answer(Some(request.id), report);
    }

    /// Calls the hook in a turn that the connection does not wait for.
    fn start_call(self: &Arc<Self>, request: Request) {
        let (peer, cancel) = (Arc::clone(self), Cancel::new());
        self.state().calls.push((request.id.clone(), cancel.clone()));
        spawn(move || {
            let caller = PeerCaller::new(&peer);
            let shared: Arc<dyn RequestCaller> = caller.clone();
            let report = caller.call(&request, &cancel, |call| {
                let turn = peer.process.take_turn(&shared, (&cancel).into());
                turn.map_or_else(|report| report, |turn| turn.call(call))
            });
            peer.answer(Some(request.id), report);
        });
    }

    /// Sends the result of a call. Without a process, the connection ends.
    fn answer(&self, id: Option<Id>, report: CallReport) {
        self.state().calls.retain(|(call, _)| Some(call) != id.as_ref());
        let stderr = Some(report.stderr()).filter(|text| !text.is_empty());
        let mut lines =
            stderr.map_or_else(Vec::new, |text| ControlLine::Stderr(text.to_owned()).to_line());
        match (report.into_answer(), id) {
            (Ok(answer), Some(id)) => {
                let result = answer.unwrap_or_else(|| Err(ServiceError::Cancelled.into()));
                lines.extend(Response { id, result }.to_line().into_bytes());
                self.write(&lines);
            }
            // The connection has ended before it was granted a turn.
            (Ok(_), None) => {}
            (Err(why), _) => {
                lines.extend(ControlLine::Ended(why).to_line());
                self.write(&lines);
                let _ = self.stream.shutdown(Shutdown::Both);
            }
        }
    }

    /// Cancels an event request. Other notifications are for this conversation only, such as `shutdown`.
    fn cancel(&self, notification: &Notification) {
        let params = notification.params.as_ref().filter(|_| notification.method == CANCEL);
        let Some(Ok(Cancelled { id })) = params.map(RawJson::read) else { return };
        let id = Id::Number(id.cast_signed());
        let state = self.state();
        let call = state.calls.iter().find(|(call, _)| *call == id);
        let cancel = call.map(|(_, cancel)| cancel.clone());
        drop(state);
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }

    fn service_answered(&self, response: Response) {
        let Id::Number(id) = response.id else { return };
        let service = self.state().services.remove(&id);
        if let Some(service) = service {
            let _ = service.send(response.result);
        }
    }

    /// Cancels the requests of a connection that is gone. A hook that does not answer that is killed.
    fn leave(&self) {
        let mut state = self.state();
        state.has_left = true;
        // The threads that wait for an answer end.
        state.services.clear();
        let calls = std::mem::take(&mut state.calls);
        drop(state);
        for (_, cancel) in calls {
            cancel.cancel();
        }
    }

    /// Writes lines. A connection that does not read them is dropped.
    fn write(&self, lines: &[u8]) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if (&*self.stream).write_all(lines).is_err() {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }

    fn state(&self) -> MutexGuard<'_, PeerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event request of a connection.
struct PeerCaller {
    peer: Weak<Peer>,
    id: OnceLock<Id>,
}

impl PeerCaller {
    fn new(peer: &Arc<Peer>) -> Arc<Self> {
        Arc::new(Self { peer: Arc::downgrade(peer), id: OnceLock::new() })
    }

    /// Calls the hook with the request.
    fn call(
        &self,
        request: &Request,
        cancel: &Cancel,
        call: impl FnOnce(&Call<'_>) -> CallReport,
    ) -> CallReport {
        let _ = self.id.set(request.id.clone());
        let payload = request.params.as_ref().map_or("null", RawJson::text);
        // The connection has its own timeout.
        let timeout = Duration::MAX;
        call(&Call { method: &request.method, payload, timeout, context: cancel.into() })
    }

    /// Returns the parameters of a request of the hook, with the id of the event request in the connection.
    fn params(&self, request: &HookRequest, has_request: bool) -> Option<RawJson> {
        let (true, Some(Id::Number(id))) = (has_request, self.id.get()) else {
            return request.params.clone();
        };
        let params = request.params.as_ref().map(RawJson::read::<Object>);
        let mut params = params.and_then(Result::ok).unwrap_or_default();
        params.insert("request".to_owned(), (*id).into());
        Some(RawJson::new(&params))
    }
}

impl RequestCaller for PeerCaller {
    fn answer(&self, request: &HookRequest, has_request: bool, cancel: &Cancel) -> ServiceAnswer {
        let peer = self.peer.upgrade().ok_or(ServiceError::NoRequest)?;
        let (answer, receiver) = mpsc::channel();
        let id = {
            let mut state = peer.state();
            if state.has_left {
                return Err(ServiceError::NoRequest.into());
            }
            state.last_service += 1;
            let id = state.last_service;
            state.services.insert(id, answer);
            id
        };
        let waiting = Weak::clone(&self.peer);
        let _handler = cancel.on_cancel(move || {
            if let Some(peer) = waiting.upgrade() {
                peer.state().services.remove(&id);
            }
        });
        let (method, params) = (request.method.clone(), self.params(request, has_request));
        let line =
            RuntimeMessage::Request(Request { id: Id::Number(id), method, params }).to_line();
        peer.write(line.as_bytes());
        receiver.recv().unwrap_or_else(|_| Err(ServiceError::Cancelled.into()))
    }
}

#[cfg(test)]
mod tests;
