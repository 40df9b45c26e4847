//! One server: whether it is running, and what it provides.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenter_base::{lock, one_line};
use tenter_proc::Cancel;

use crate::connection::{self, OpenedConnection, ServerConnection};
use crate::definition::ServerDefinition;
use crate::listing::{self, Listing};
use crate::runtime::Runtime;

/// Maximum time for the start of a server, even if no request waits for it any more: some install themselves first.
const START_LIMIT: Duration = Duration::from_mins(2);
/// A server is started at most this often...
const STARTS: usize = 3;
/// ... in this time.
const STARTS_PERIOD: Duration = Duration::from_mins(1);
/// Interval at which waiting threads check whether they are cancelled.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum wait for the new tools of a running server that changed them.
const LIST_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of characters of a message about a server.
const MAX_MESSAGE: usize = 800;

/// A server and its state.
pub(crate) struct Server {
    pub(crate) definition: ServerDefinition,
    runtime: Arc<Runtime>,
    state: Mutex<ServerState>,
    changes: Condvar,
}

#[derive(Default)]
struct ServerState {
    phase: ServerPhase,
    /// The last list of its tools.
    listing: Option<Arc<NumberedListing>>,
    /// It announced that its list changed since.
    is_stale: bool,
    /// The error of the last start or the last list.
    problem: Option<String>,
    /// When it was started.
    starts: VecDeque<Instant>,
    /// A request has waited for the first start.
    was_awaited: bool,
}

/// A listing with a number that no other listing of this process has.
pub(crate) struct NumberedListing {
    pub(crate) number: u64,
    pub(crate) listing: Listing,
}

impl NumberedListing {
    fn new(listing: Listing) -> Arc<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { number: NUMBER.fetch_add(1, Ordering::Relaxed), listing })
    }
}

#[derive(Default)]
enum ServerPhase {
    /// Not running: not started yet, ended, or failed to start.
    #[default]
    Down,
    /// It is starting since then.
    Starting(Instant),
    Up(ServerConnection),
    /// It is not started any more.
    Closed,
}

/// The tools of a server for a model request.
pub(crate) struct Provided {
    pub(crate) listing: Option<Arc<NumberedListing>>,
    /// The reason for missing or outdated tools.
    pub(crate) problem: Option<String>,
}

impl Server {
    pub(crate) fn new(definition: ServerDefinition, runtime: Arc<Runtime>) -> Arc<Self> {
        Arc::new(Self { definition, runtime, state: Mutex::default(), changes: Condvar::new() })
    }

    /// Starts the server if it was never started. Does not wait.
    pub(crate) fn start_first(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.starts.is_empty() {
            self.start(&mut state);
        }
    }

    /// Starts the server unless it is running or was started too often. Does not wait.
    fn start(self: &Arc<Self>, state: &mut ServerState) {
        if !matches!(state.phase, ServerPhase::Down) {
            return;
        }
        let now = Instant::now();
        state.starts.retain(|start| now.duration_since(*start) < STARTS_PERIOD);
        if state.starts.len() >= STARTS {
            return;
        }
        let handle = match self.runtime.handle() {
            Ok(handle) => handle,
            Err(error) => {
                state.problem = Some(format!("no thread can be started for it: {error}"));
                return;
            }
        };
        state.starts.push_back(now);
        state.phase = ServerPhase::Starting(now);
        let server = Arc::clone(self);
        handle.spawn(async move { server.run().await });
    }

    /// Opens the connection and stays until it ends.
    async fn run(self: Arc<Self>) {
        let weak = Arc::downgrade(&self);
        let on_list_changed = Arc::new(move || {
            if let Some(server) = weak.upgrade() {
                lock(&server.state).is_stale = true;
            }
        });
        let check = self.definition.check.as_ref().map_or(Ok(()), |check| check());
        let result = match check {
            Ok(()) => connection::open(&self.definition, on_list_changed, START_LIMIT).await,
            Err(why) => Err(why),
        };
        let (service, open) = match result {
            Ok(OpenedConnection { connection, service, listing }) => {
                let mut state = lock(&self.state);
                if matches!(state.phase, ServerPhase::Closed) {
                    drop(state);
                    connection.close();
                    return;
                }
                state.phase = ServerPhase::Up(connection.clone());
                state.problem = None;
                state.is_stale = false;
                let is_same = state.listing.as_ref().is_some_and(|old| old.listing == listing);
                if !is_same {
                    state.listing = Some(NumberedListing::new(listing));
                }
                (service, connection)
            }
            Err(why) => {
                let mut state = lock(&self.state);
                state.problem = Some(self.message(&why));
                if matches!(state.phase, ServerPhase::Starting(_)) {
                    state.phase = ServerPhase::Down;
                }
                drop(state);
                self.changes.notify_all();
                return;
            }
        };
        self.changes.notify_all();
        let _ = service.waiting().await;
        open.ended();
        let mut state = lock(&self.state);
        if matches!(state.phase, ServerPhase::Up(_)) {
            state.phase = ServerPhase::Down;
        }
        drop(state);
        self.changes.notify_all();
    }

    /// Returns a message about the server: without secrets and control characters, and bounded.
    pub(crate) fn message(&self, text: &str) -> String {
        let masked_text = self
            .definition
            .secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[secret]"));
        one_line(&masked_text, MAX_MESSAGE)
    }

    /// Returns the tools of the server now. The first time, waits until it has started, up to its limit.
    pub(crate) fn provided(self: &Arc<Self>, cancel: &Cancel) -> Provided {
        let mut state = lock(&self.state);
        let period_is_over =
            state.starts.back().is_none_or(|start| start.elapsed() >= STARTS_PERIOD);
        // A server that failed is tried again later, and one that ended when it is called.
        if state.listing.is_none() && period_is_over {
            self.start(&mut state);
        }
        if state.listing.is_none() && !state.was_awaited {
            let limit = self.definition.startup_timeout;
            let is_starting = |state: &ServerState| match state.phase {
                ServerPhase::Starting(since) => since.elapsed() < limit,
                _ => false,
            };
            state = self.wait_while(state, cancel, is_starting);
            state.was_awaited = !cancel.is_cancelled();
        }
        if state.is_stale && matches!(state.phase, ServerPhase::Up(_)) {
            drop(state);
            self.list_again(cancel);
            state = lock(&self.state);
        }
        let is_late = state.listing.is_none() && matches!(state.phase, ServerPhase::Starting(_));
        let late = is_late.then(|| {
            let limit = self.definition.startup_timeout.as_secs();
            format!("it has not started within {limit} s; its tools are available once it has")
        });
        Provided { listing: state.listing.clone(), problem: late.or_else(|| state.problem.clone()) }
    }

    /// Waits while `condition` holds, until the call is cancelled.
    fn wait_while<'s>(
        &'s self,
        mut state: MutexGuard<'s, ServerState>,
        cancel: &Cancel,
        condition: impl Fn(&ServerState) -> bool,
    ) -> MutexGuard<'s, ServerState> {
        while condition(&state) && !cancel.is_cancelled() {
            let waited = self.changes.wait_timeout(state, CHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Asks a running server again for its tools.
    fn list_again(self: &Arc<Self>, cancel: &Cancel) {
        let connection = {
            let mut state = lock(&self.state);
            state.is_stale = false;
            match &state.phase {
                ServerPhase::Up(connection) => connection.clone(),
                _ => return,
            }
        };
        let definition = self.definition.clone();
        let result = self.runtime.wait(cancel, async move {
            let listing = listing::list(&connection.peer, &definition);
            let late = |_| format!("it did not list its tools within {} s", LIST_LIMIT.as_secs());
            tokio::time::timeout(LIST_LIMIT, listing).await.map_err(late)?
        });
        let mut state = lock(&self.state);
        match result {
            Some(Ok(listing)) => {
                state.problem = None;
                if state.listing.as_ref().is_none_or(|old| old.listing != listing) {
                    state.listing = Some(NumberedListing::new(listing));
                }
            }
            Some(Err(why)) => state.problem = Some(self.message(&why)),
            None => state.is_stale = true,
        }
    }

    /// Returns a connection for a call: starts the server if it is not running.
    ///
    /// # Errors
    /// It does not start, or the call is cancelled.
    pub(crate) fn connection(
        self: &Arc<Self>,
        cancel: &Cancel,
    ) -> Result<ServerConnection, String> {
        let mut state = lock(&self.state);
        self.start(&mut state);
        let is_starting = |state: &ServerState| matches!(state.phase, ServerPhase::Starting(_));
        let state = self.wait_while(state, cancel, is_starting);
        match &state.phase {
            ServerPhase::Up(connection) => Ok(connection.clone()),
            _ if cancel.is_cancelled() => Err("interrupted".to_owned()),
            ServerPhase::Closed => {
                Err(format!("the MCP server {} has ended", self.definition.name))
            }
            ServerPhase::Starting(_) | ServerPhase::Down => {
                let why = state.problem.clone().unwrap_or_else(|| {
                    format!("it ended, and was started {STARTS} times within a minute")
                });
                Err(format!("the MCP server {} is not available: {why}", self.definition.name))
            }
        }
    }

    /// Returns the thread of the SDK's tasks.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Begins to end the server; it is not started again. Returns what has to be awaited.
    pub(crate) fn close(&self) -> Option<ServerConnection> {
        let mut state = lock(&self.state);
        let phase = std::mem::replace(&mut state.phase, ServerPhase::Closed);
        drop(state);
        self.changes.notify_all();
        match phase {
            ServerPhase::Up(connection) => {
                connection.close();
                Some(connection)
            }
            _ => None,
        }
    }
}
