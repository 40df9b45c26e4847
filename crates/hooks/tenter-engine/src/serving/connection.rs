//! The connection that lines are exchanged over: to the process of a hook, or to a program in between.

use std::io;
use std::time::Duration;

use tenter_proc::{Dialogue, DialogueLimits, DialogueListener, Invocation, NotSent, Trampoline};
use tenter_protocol::runtime::{Initialize, Initialized, MAX_LINE};

use crate::layer::Layer;
use crate::trust::Fingerprint;

/// The parameters of a start.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program, its arguments, environment and working directory.
    pub invocation: Invocation,
    /// The parameters of `initialize`, the first request.
    pub initialize: Initialize,
    /// The hook's layer.
    pub layer: Layer,
    /// Identifies the hook's content and, if it must be trusted, the state of its files.
    pub fingerprint: Fingerprint,
    /// The variables of its environment that the hook or the user requests by name.
    pub requested_env: Vec<String>,
    /// True if the hook has no one-shot form.
    pub is_serve_only: bool,
}

/// Starts the processes of runtime hooks. By default they are children of this process; a program that does not live long can
/// pass another implementation to [`EngineBuilder::connector`](crate::EngineBuilder::connector).
pub trait Connector: Send + Sync {
    /// Starts or finds the process of a hook. What it writes is passed to `listener`, from the first line on.
    ///
    /// # Errors
    /// There is no process. The hook then runs in the one-shot form, if it has one.
    fn connect(
        &self,
        start: Start,
        listener: Box<dyn DialogueListener>,
    ) -> io::Result<Box<dyn Connection>>;
}

/// A turn to call a process that another program has started.
#[derive(Debug, Clone, Copy)]
pub struct GrantedTurn {
    /// The answer to `initialize`, which the process gave to the other program.
    pub initialized: Initialized,
    /// True if the turn did not come at once.
    pub has_waited: bool,
}

/// A process with which lines are exchanged. Dropping it ends the process.
pub trait Connection: Send + Sync {
    /// Sends a line, which ends with a line break, without waiting.
    ///
    /// # Errors
    /// The process has ended, or does not read.
    fn send(&self, line: &[u8]) -> Result<(), NotSent>;

    /// Ends the process once it has read everything, or kills it after `patience`. Does not wait for that.
    fn close(&self, patience: Duration);

    /// Waits until the process has ended, up to `patience`.
    fn wait(&self, patience: Duration);

    /// Returns whether other programs call the same process: then it is not known whose request made it end.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns the turn to call the process if another program has started it and grants turns. Otherwise `initialize` is sent.
    fn turn(&self) -> Option<GrantedTurn> {
        None
    }

    /// Returns the number of bytes that the process has written to stderr, as far as that is known here.
    fn stderr_position(&self) -> u64 {
        0
    }

    /// Returns the stderr of the process since `position`, as far as it is kept.
    fn stderr_since(&self, position: u64) -> String {
        let _ = position;
        String::new()
    }
}

/// Starts the processes of hooks as children of this process.
#[derive(Default)]
pub struct ChildProcesses {
    /// Lets them die with this process, where the system can do that.
    pub(crate) trampoline: Option<Trampoline>,
}

impl Connector for ChildProcesses {
    fn connect(
        &self,
        start: Start,
        listener: Box<dyn DialogueListener>,
    ) -> io::Result<Box<dyn Connection>> {
        let limits = DialogueLimits { line: MAX_LINE, ..DialogueLimits::default() };
        let trampoline = self.trampoline.clone();
        Ok(Box::new(Dialogue::start(start.invocation, trampoline, limits, listener)?))
    }
}

impl Connection for Dialogue {
    fn send(&self, line: &[u8]) -> Result<(), NotSent> {
        Self::send(self, line)
    }

    fn close(&self, patience: Duration) {
        Self::close(self, patience);
    }

    fn wait(&self, patience: Duration) {
        Self::wait(self, patience);
    }

    fn stderr_position(&self) -> u64 {
        Self::stderr_position(self)
    }

    fn stderr_since(&self, position: u64) -> String {
        Self::stderr_since(self, position)
    }
}
