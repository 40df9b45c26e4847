//! The process of one hook, and the connections that use it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tenter_base::rfc3339;
use tenter_bridge::keeper::{ControlLine, KeptHook, Opening};
use tenter_proc::{
    Dialogue, DialogueEnd, DialogueLimits, DialogueListener, Invocation, Limits, NotSent,
    ProcessEnd, Streams,
};
use tenter_protocol::runtime::{MAX_LINE, Message, read_line};

use super::routes::{Action, Peer, Routes};

/// How long a connection may take to read a line. One that takes longer is dropped: others use the same process.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a hook may take to answer the requests of a connection that is gone, once they are cancelled.
const ABANDONED: Duration = Duration::from_millis(500);

/// The process of a hook.
pub(super) struct HookProcess {
    hook: String,
    layer: String,
    since: Timestamp,
    dialogue: OnceLock<Dialogue>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    routes: Routes,
    peers: BTreeMap<Peer, Arc<UnixStream>>,
    last_peer: Peer,
    ended: Option<String>,
}

impl HookProcess {
    /// Starts the process. `now` is the present time.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(opening: &Opening, now: Timestamp) -> io::Result<Arc<Self>> {
        let process = Arc::new(Self {
            hook: opening.hook.clone(),
            layer: opening.layer.clone(),
            since: now,
            dialogue: OnceLock::new(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let invocation = Invocation {
            program: (&opening.program).into(),
            args: opening.args.iter().map(OsString::from).collect(),
            cwd: (&opening.cwd).into(),
            env: opening.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            stdin: Vec::new(),
            streams: Streams::Separate,
            limits: Limits::default(),
        };
        let limits = DialogueLimits { line: MAX_LINE, ..DialogueLimits::default() };
        let listener = Listener(Arc::downgrade(&process));
        let dialogue = Dialogue::start(invocation, None, limits, listener)?;
        let _ = process.dialogue.set(dialogue);
        Ok(process)
    }

    /// Adds a connection, which is notified when it is its turn. `None` if the process has ended.
    pub(super) fn join(&self, stream: &Arc<UnixStream>) -> Option<Peer> {
        let mut state = self.state();
        if state.ended.is_some() {
            return None;
        }
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).ok()?;
        state.last_peer += 1;
        let peer = state.last_peer;
        state.peers.insert(peer, Arc::clone(stream));
        let actions = state.routes.join(peer);
        drop(state);
        self.perform(actions);
        Some(peer)
    }

    /// A connection sent a message.
    pub(super) fn received(&self, peer: Peer, message: Message) {
        let stderr = self.stderr_position();
        let actions = self.state().routes.of_peer(peer, message, stderr);
        self.perform(actions);
    }

    /// A connection is gone. Its requests are cancelled, and a hook that does not answer that is killed.
    pub(super) fn leave(&self, peer: Peer) {
        let stderr = self.stderr_position();
        let mut state = self.state();
        state.peers.remove(&peer);
        let actions = state.routes.leave(peer, stderr);
        drop(state);
        self.perform(actions);
        let until = Instant::now() + ABANDONED;
        let mut state = self.state();
        while state.ended.is_none() && state.routes.has_abandoned() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                self.end("did not end a request that was cancelled");
                return;
            }
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Kills the process, and says why to its connections.
    pub(super) fn end(&self, why: &str) {
        let mut state = self.state();
        let is_first = state.ended.is_none();
        state.ended.get_or_insert_with(|| why.to_owned());
        let peers = std::mem::take(&mut state.peers);
        drop(state);
        self.changed.notify_all();
        if let Some(dialogue) = self.dialogue.get() {
            dialogue.kill();
        }
        let line = ControlLine::Ended(why.to_owned()).to_line();
        for stream in peers.values().filter(|_| is_first) {
            let _ = (&**stream).write_all(&line);
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Why the process has ended, if it has.
    pub(super) fn has_ended(&self) -> bool {
        self.state().ended.is_some()
    }

    /// Whether no connection uses it.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state();
        state.peers.is_empty() && state.routes.is_idle()
    }

    pub(super) fn status(&self) -> KeptHook {
        KeptHook {
            hook: self.hook.clone(),
            layer: self.layer.clone(),
            since: rfc3339(self.since),
            answered: self.state().routes.answered,
        }
    }

    fn perform(&self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToHook(line) => self.send(&line),
                Action::ToPeer(peer, line) => self.tell(peer, line.as_bytes()),
                Action::Grant(peer) => self.tell(peer, &ControlLine::Granted.to_line()),
                Action::Respond { peer, line, stderr_from } => {
                    let dialogue = self.dialogue.get();
                    let stderr = dialogue.map(|dialogue| dialogue.stderr_since(stderr_from));
                    let stderr = stderr.filter(|text| !text.is_empty());
                    let mut bytes =
                        stderr.map(|text| ControlLine::Stderr(text).to_line()).unwrap_or_default();
                    bytes.extend(line.as_bytes());
                    self.tell(peer, &bytes);
                }
                Action::Kill(why) => self.end(&why),
            }
        }
        self.changed.notify_all();
    }

    fn send(&self, line: &str) {
        let Some(dialogue) = self.dialogue.get() else { return };
        match dialogue.send(line.as_bytes()) {
            Ok(()) => {}
            Err(NotSent::Full) => self.end("does not read its stdin"),
            Err(NotSent::Closed) => self.end("closed its stdin"),
        }
    }

    /// Sends lines to a connection. One that does not read is dropped.
    fn tell(&self, peer: Peer, lines: &[u8]) {
        let stream = self.state().peers.get(&peer).cloned();
        if let Some(stream) = stream
            && (&*stream).write_all(lines).is_err()
        {
            // The thread that reads from it then leaves.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn stderr_position(&self) -> u64 {
        self.dialogue.get().map_or(0, Dialogue::stderr_position)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what the hook writes.
struct Listener(Weak<HookProcess>);

impl DialogueListener for Listener {
    fn line(&mut self, line: &[u8]) {
        let Some(process) = self.0.upgrade() else { return };
        match read_line(line) {
            Ok(None) => {}
            Ok(Some(message)) => {
                let stderr = process.stderr_position();
                let actions = process.state().routes.of_hook(message, stderr);
                process.perform(actions);
            }
            Err(error) => process.end(&format!("broke the protocol: {error}")),
        }
    }

    fn line_too_long(&mut self) {
        if let Some(process) = self.0.upgrade() {
            process.end("wrote a line of more than 1 MiB");
        }
    }

    fn ended(&mut self, end: DialogueEnd) {
        let Some(process) = self.0.upgrade() else { return };
        process.end(&match end {
            DialogueEnd::Process(ProcessEnd::Exited(code)) => format!("exited with code {code}"),
            DialogueEnd::Process(ProcessEnd::Signalled(signal)) => {
                format!("was terminated by signal {signal}")
            }
            DialogueEnd::StdoutClosed => "closed its stdout".to_owned(),
            DialogueEnd::Process(_) | DialogueEnd::Killed => "was killed".to_owned(),
        });
    }
}
