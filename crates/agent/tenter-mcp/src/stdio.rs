//! The transport of programs: lines of JSON through a dialogue.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tenter_base::{excerpt, lock};
use tenter_proc::{Dialogue, DialogueEnd, DialogueLimits, DialogueListener, NotSent, ProcessEnd};
use tokio::sync::mpsc;

use crate::definition::ServerProgram;

/// Limits of the lines of a server: a result may contain images.
const LIMITS: DialogueLimits =
    DialogueLimits { line: 16 << 20, unread: 16 << 20, stderr: 16 << 10 };
/// Maximum number of messages that wait to be read. A server that writes more is ended.
const MAX_WAITING: usize = 256;
/// Maximum time that a server takes to end after its stdin is closed.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// Maximum number of characters of a line that is quoted.
const QUOTED: usize = 120;

/// The program of a server.
pub(crate) struct RunningProgram {
    dialogue: Dialogue,
    log: Arc<Mutex<Log>>,
}

/// The state of a program, for messages about it.
#[derive(Default)]
struct Log {
    /// The first line that is not a message.
    stray: Option<String>,
    /// The end of the program, once it has ended.
    end: Option<String>,
}

impl RunningProgram {
    /// Starts the program. Returns also what it writes.
    pub(crate) fn start(program: ServerProgram) -> io::Result<(Arc<Self>, StdioTransport)> {
        let log = Arc::<Mutex<Log>>::default();
        let (sender, messages) = mpsc::channel(MAX_WAITING);
        let listener = Listener { sender: Some(sender), log: Arc::clone(&log) };
        let ServerProgram { invocation, trampoline, .. } = program;
        let dialogue = Dialogue::start(invocation, trampoline, LIMITS, listener)?;
        let program = Arc::new(Self { dialogue, log });
        Ok((Arc::clone(&program), StdioTransport { program, messages }))
    }

    /// Closes stdin, and kills the program if it is still running after a moment. Does not wait for that.
    pub(crate) fn close(&self) {
        self.dialogue.close(GRACE);
    }

    /// Waits until the program has ended.
    pub(crate) fn wait(&self) {
        self.dialogue.wait(GRACE * 2);
    }

    /// Describes how the program ended, any output that is not a message, and the last lines of its stderr.
    pub(crate) fn account(&self) -> Vec<String> {
        let log = lock(&self.log);
        let stray = log.stray.as_ref().map(|line| format!("it wrote to stdout: {line}"));
        let stderr = self.dialogue.stderr_since(0);
        let last = excerpt::last_lines(stderr.trim_end(), 5).to_owned();
        let stderr = (!last.is_empty()).then(|| format!("stderr: {last}"));
        log.end.clone().into_iter().chain(stray).chain(stderr).collect()
    }
}

/// Receives the lines of a program.
struct Listener {
    /// `None` once the program wrote too much.
    sender: Option<mpsc::Sender<RxJsonRpcMessage<RoleClient>>>,
    log: Arc<Mutex<Log>>,
}

impl Listener {
    fn note(&self, change: impl FnOnce(&mut Log)) {
        change(&mut lock(&self.log));
    }

    /// Ends the conversation with a program that does not keep to the protocol.
    fn give_up(&mut self, why: &str) {
        self.note(|log| {
            log.end.get_or_insert_with(|| why.to_owned());
        });
        self.sender = None;
    }
}

impl DialogueListener for Listener {
    fn line(&mut self, line: &[u8]) {
        let Some(sender) = &self.sender else { return };
        match serde_json::from_slice(line) {
            Ok(message) => {
                if sender.try_send(message).is_err() {
                    self.give_up("it wrote more messages than can be read");
                }
            }
            // Other lines are ignored: some servers log to stdout.
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => {
                let text = excerpt::one_line(&String::from_utf8_lossy(line), QUOTED);
                self.note(|log| {
                    log.stray.get_or_insert(text);
                });
            }
        }
    }

    fn line_too_long(&mut self) {
        self.give_up("it wrote a line of more than 16 MiB");
    }

    fn ended(&mut self, end: DialogueEnd) {
        match end {
            DialogueEnd::Process(ProcessEnd::Exited(code)) => {
                self.give_up(&format!("exit code {code}"));
            }
            DialogueEnd::Process(ProcessEnd::Signalled(signal)) => {
                self.give_up(&format!("ended by signal {signal}"));
            }
            DialogueEnd::Process(ProcessEnd::NotStarted(error)) => self.give_up(&error.to_string()),
            DialogueEnd::StdoutClosed => self.give_up("it closed its stdout"),
            // Tenter ended it, for a reason that is known elsewhere.
            DialogueEnd::Killed
            | DialogueEnd::Process(ProcessEnd::TimedOut | ProcessEnd::Cancelled) => {
                self.sender = None;
            }
        }
    }
}

/// Messages to and from a program.
pub(crate) struct StdioTransport {
    program: Arc<RunningProgram>,
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let result = serde_json::to_vec(&message).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            match self.program.dialogue.send(&line) {
                // The end of its messages says so too, and comes after the last of them.
                Ok(()) | Err(NotSent::Closed) => Ok(()),
                Err(NotSent::Full) => Err(io::Error::other("it does not read what it is sent")),
            }
        });
        std::future::ready(result)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.program.close();
        Ok(())
    }
}
