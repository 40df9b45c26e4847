//! Which request of a hook's process belongs to which connection. No threads, no sockets, no clock.
//!
//! Each connection chooses its own ids, and all of them talk to one process: event requests get new ids on the way to the hook and
//! their own ones on the way back. The ids of the hook's requests stay as they are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};
use tenter_protocol::runtime::{
    CANCEL, Cancelled, ErrorObject, INITIALIZE, Id, Initialized, Message, Notification, RawJson,
    Request, Response, ServiceError, notification, request,
};

/// The id under which `initialize` is sent to the hook.
const INITIALIZE_ID: i64 = 1;

/// A connection of a `tenter-hook`.
pub(super) type Peer = u64;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Send a line to the hook.
    ToHook(String),
    /// Send a line to a connection.
    ToPeer(Peer, String),
    /// Send the response to an event request: what the hook wrote to stderr since then comes first.
    Respond { peer: Peer, line: String, stderr_from: u64 },
    /// It is this connection's turn.
    Grant(Peer),
    /// The process breaks the protocol, and why.
    Kill(String),
}

/// The routes of one process.
#[derive(Debug, Default)]
pub(super) struct Routes {
    start: Start,
    last_id: i64,
    /// Connections whose turn it is, and which have sent no event request yet.
    leases: BTreeSet<Peer>,
    open: BTreeMap<i64, OpenRequest>,
    waiting: VecDeque<Waiting>,
    /// Requests of the hook that are not answered: which connection answers them.
    services: Vec<(Id, Peer)>,
    /// Number of event requests that the hook answered.
    pub(super) answered: u64,
}

#[derive(Debug, Default)]
enum Start {
    /// `initialize` was not sent.
    #[default]
    New,
    /// It was sent; these connections wait for the answer.
    Sent(Vec<(Peer, Id)>),
    Done {
        result: RawJson,
        concurrency: usize,
    },
}

#[derive(Debug)]
struct OpenRequest {
    /// `None` once its connection is gone.
    peer: Option<Peer>,
    id: Id,
    stderr_from: u64,
}

#[derive(Debug)]
enum Waiting {
    Turn(Peer),
    Request(Peer, Request),
}

impl Routes {
    /// A connection asks for its turn.
    pub(super) fn join(&mut self, peer: Peer) -> Vec<Action> {
        self.waiting.push_back(Waiting::Turn(peer));
        self.advance(0)
    }

    /// A connection is gone: its requests are cancelled. `stderr` is the position in the hook's stderr.
    pub(super) fn leave(&mut self, peer: Peer, stderr: u64) -> Vec<Action> {
        self.leases.remove(&peer);
        self.waiting.retain(|waiting| match waiting {
            Waiting::Turn(other) | Waiting::Request(other, _) => *other != peer,
        });
        if let Start::Sent(waiting) = &mut self.start {
            waiting.retain(|(other, _)| *other != peer);
        }
        let mut actions = Vec::new();
        for (id, open) in &mut self.open {
            if open.peer == Some(peer) {
                open.peer = None;
                actions.push(cancelled(*id));
            }
        }
        let (gone, kept) =
            std::mem::take(&mut self.services).into_iter().partition(|(_, other)| *other == peer);
        self.services = kept;
        let gone: Vec<(Id, Peer)> = gone;
        actions.extend(gone.into_iter().map(|(id, _)| refused(id, ServiceError::Cancelled)));
        actions.extend(self.advance(stderr));
        actions
    }

    /// Whether the hook still works on requests of connections that are gone.
    pub(super) fn has_abandoned(&self) -> bool {
        self.open.values().any(|open| open.peer.is_none())
    }

    /// Whether no connection uses the process.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.leases.is_empty() && self.waiting.is_empty()
    }

    /// A connection sent a message.
    pub(super) fn of_peer(&mut self, peer: Peer, message: Message, stderr: u64) -> Vec<Action> {
        match message {
            Message::Request(request) if request.method == INITIALIZE => {
                self.initialize(peer, request)
            }
            Message::Request(request) => {
                if self.leases.remove(&peer) {
                    return vec![self.send(peer, request, stderr)];
                }
                self.waiting.push_back(Waiting::Request(peer, request));
                self.advance(stderr)
            }
            Message::Notification(sent) => self.cancel(peer, &sent),
            Message::Response(response) => {
                let place =
                    self.services.iter().position(|open| *open == (response.id.clone(), peer));
                let Some(place) = place else { return Vec::new() };
                self.services.swap_remove(place);
                vec![Action::ToHook(response.to_line())]
            }
        }
    }

    fn initialize(&mut self, peer: Peer, wanted: Request) -> Vec<Action> {
        match &mut self.start {
            Start::New => {
                self.start = Start::Sent(vec![(peer, wanted.id)]);
                self.last_id = INITIALIZE_ID;
                let id = INITIALIZE_ID.cast_unsigned();
                let params = wanted.params.unwrap_or_else(RawJson::null);
                vec![Action::ToHook(request(id, INITIALIZE, &params))]
            }
            Start::Sent(waiting) => {
                waiting.push((peer, wanted.id));
                Vec::new()
            }
            Start::Done { result, .. } => {
                let response = Response { id: wanted.id, result: Ok(result.clone()) };
                vec![Action::ToPeer(peer, response.to_line())]
            }
        }
    }

    /// A connection cancels one of its requests. Other notifications are for this conversation only, such as `shutdown`.
    fn cancel(&mut self, peer: Peer, sent: &Notification) -> Vec<Action> {
        let params = sent.params.as_ref().filter(|_| sent.method == CANCEL);
        let Some(Ok(Cancelled { id })) = params.map(RawJson::read) else { return Vec::new() };
        let id = Id::Number(id.cast_signed());
        self.waiting.retain(|waiting| {
            !matches!(waiting, Waiting::Request(other, request) if *other == peer && request.id == id)
        });
        let mut open = self.open.iter();
        let found = open.find(|(_, open)| open.peer == Some(peer) && open.id == id);
        found.map(|(id, _)| cancelled(*id)).into_iter().collect()
    }

    /// The hook sent a message.
    pub(super) fn of_hook(&mut self, message: Message, stderr: u64) -> Vec<Action> {
        match message {
            Message::Response(response) => self.responded(response, stderr),
            Message::Request(request) => vec![self.service(request)],
            Message::Notification(_) => Vec::new(),
        }
    }

    fn responded(&mut self, response: Response, stderr: u64) -> Vec<Action> {
        let Id::Number(id) = response.id else {
            return vec![Action::Kill(format!(
                "answered the id {}, which was never sent",
                response.id
            ))];
        };
        if id == INITIALIZE_ID && matches!(self.start, Start::Sent(_)) {
            return self.initialized(response.result, stderr);
        }
        if !(1..=self.last_id).contains(&id) {
            return vec![Action::Kill(format!("answered the id {id}, which was never sent"))];
        }
        // An answer to a request that has ended is dropped.
        let Some(open) = self.open.remove(&id) else { return Vec::new() };
        self.answered += 1;
        let mut actions = Vec::new();
        if let Some(peer) = open.peer {
            self.services.retain(|(_, other)| *other != peer);
            let line = Response { id: open.id, result: response.result }.to_line();
            actions.push(Action::Respond { peer, line, stderr_from: open.stderr_from });
        }
        actions.extend(self.advance(stderr));
        actions
    }

    fn initialized(&mut self, result: Result<RawJson, ErrorObject>, stderr: u64) -> Vec<Action> {
        let Start::Sent(waiting) = std::mem::take(&mut self.start) else { return Vec::new() };
        let respond = |(peer, id): (Peer, Id)| {
            Action::ToPeer(peer, Response { id, result: result.clone() }.to_line())
        };
        let mut actions: Vec<Action> = waiting.into_iter().map(respond).collect();
        match result.as_ref().map(Initialized::read) {
            Ok(Ok(Initialized { concurrency })) => {
                let result = result.unwrap_or_else(|_| RawJson::null());
                self.start = Start::Done { result, concurrency };
                actions.extend(self.advance(stderr));
            }
            Ok(Err(why)) => actions.push(Action::Kill(why)),
            Err(error) => {
                let why = format!("answered `initialize` with an error: {}", error.message);
                actions.push(Action::Kill(why));
            }
        }
        actions
    }

    /// A request of the hook's goes to the connection of the event request to which it belongs.
    fn service(&mut self, request: Request) -> Action {
        let mut params: Map<String, Value> = match &request.params {
            Some(params) => params.read().unwrap_or_default(),
            None => Map::new(),
        };
        let mut open = self.open.iter().filter(|(_, open)| open.peer.is_some());
        let found = match params.get("request").map(Value::as_i64) {
            Some(named) => open.find(|(id, _)| Some(**id) == named),
            None => open.next().filter(|_| open.next().is_none()),
        };
        let Some((peer, id)) = found.and_then(|(_, open)| Some((open.peer?, open.id.clone())))
        else {
            return refused(request.id, ServiceError::NoRequest);
        };
        let has_params = request.params.as_ref().is_none_or(RawJson::is_object);
        if has_params && let Id::Number(number) = id {
            params.insert("request".to_owned(), number.into());
        }
        self.services.push((request.id.clone(), peer));
        let params = if has_params { Some(RawJson::of(&params)) } else { request.params };
        let line =
            Message::Request(Request { id: request.id, method: request.method, params }).to_line();
        Action::ToPeer(peer, line)
    }

    /// Gives free places to those that wait.
    fn advance(&mut self, stderr: u64) -> Vec<Action> {
        let concurrency = match &self.start {
            Start::Done { concurrency, .. } => *concurrency,
            Start::New | Start::Sent(_) => 1,
        };
        let mut actions = Vec::new();
        while self.open.len() + self.leases.len() < concurrency
            && let Some(next) = self.waiting.pop_front()
        {
            actions.push(match next {
                Waiting::Turn(peer) => {
                    self.leases.insert(peer);
                    Action::Grant(peer)
                }
                Waiting::Request(peer, request) => self.send(peer, request, stderr),
            });
        }
        actions
    }

    /// Sends an event request under a new id.
    fn send(&mut self, peer: Peer, request: Request, stderr_from: u64) -> Action {
        self.last_id = self.last_id.max(INITIALIZE_ID) + 1;
        let id = self.last_id;
        self.open.insert(id, OpenRequest { peer: Some(peer), id: request.id, stderr_from });
        Action::ToHook(Message::Request(Request { id: Id::Number(id), ..request }).to_line())
    }
}

fn cancelled(id: i64) -> Action {
    let params = Cancelled { id: id.cast_unsigned() };
    Action::ToHook(notification(CANCEL, Some(&params)))
}

fn refused(id: Id, error: ServiceError) -> Action {
    Action::ToHook(Response { id, result: Err(error.into()) }.to_line())
}

#[cfg(test)]
mod tests;
