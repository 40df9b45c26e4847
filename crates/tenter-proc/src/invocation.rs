//! What to run, and within which limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program to run. The environment is exactly what is given: nothing is inherited.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program's path, from `cwd` where it is relative; a bare name is looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder it starts in, as an absolute path.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// What it may read; an empty stdin is at its end at once.
    pub stdin: Vec<u8>,
    /// How its output is taken.
    pub streams: Streams,
    /// What it is held to.
    pub limits: Limits,
}

/// How a program's output is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// stdout and stderr apart.
    Separate,
    /// Both in the order in which they came, as stdout.
    Merged,
}

/// What a program is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From start to SIGTERM.
    pub timeout: Duration,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// How long pipes that a grandchild holds are still read after the program itself has exited.
    pub drain: Duration,
    /// Bytes kept of each stream; the rest is read and counted.
    pub keep: usize,
}

impl Default for Limits {
    /// The limits of a hook (R37, R38): 30 s, 500 ms of grace, 100 ms of drain, 1 MiB kept.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            drain: Duration::from_millis(100),
            keep: 1 << 20,
        }
    }
}
