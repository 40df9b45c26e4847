//! A program to run, and the limits of its run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program to run. Nothing of the environment is inherited.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The path of the program, relative to `cwd`. A bare name is looked up in the `PATH` of `env`.
    pub program: PathBuf,
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// The working directory, as an absolute path.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The bytes of stdin. If empty, the program reads end-of-file at once.
    pub stdin: Vec<u8>,
    /// The capture of stdout and stderr: separately or merged.
    pub streams: Streams,
    /// Limits on time and captured output.
    pub limits: Limits,
}

/// The capture of a program's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Streams {
    /// stdout and stderr separately.
    #[default]
    Separate,
    /// Both as stdout, in the order in which they were written.
    Merged,
}

/// Limits of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from the start to SIGTERM.
    pub timeout: Duration,
    /// Time from SIGTERM to SIGKILL.
    pub grace: Duration,
    /// The time for which output is still read after the program has exited, if a descendant holds the pipes open.
    pub drain: Duration,
    /// Maximum number of bytes kept of each stream. Further bytes are read and counted.
    pub keep: usize,
}

impl Default for Limits {
    /// Returns the limits of a hook (R37, R38): 30 s, 500 ms of grace, 100 ms of drain, 1 MiB kept.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            drain: Duration::from_millis(100),
            keep: 1 << 20,
        }
    }
}
