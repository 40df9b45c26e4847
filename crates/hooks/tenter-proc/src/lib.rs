//! Supervised child processes.
//!
//! A child process is not trusted to behave: it may hang, flood its output, fork or crash. [`run`] starts it in its own process
//! group, writes its stdin and reads its output concurrently, enforces a timeout, and returns a [`Completion`] with the output
//! so far, whatever happens (R37, R38, R39).
//!
//! ```
//! use std::time::Duration;
//!
//! use tenter_proc::{Cancel, ProcessEnd, Invocation, Limits, run};
//!
//! let invocation = Invocation {
//!     program: "/bin/sh".into(),
//!     args: vec!["-c".into(), "echo ready; exec sleep 60".into()],
//!     cwd: "/".into(),
//!     env: vec![("PATH".into(), "/usr/bin:/bin".into())],
//!     limits: Limits { timeout: Duration::from_millis(500), ..Limits::default() },
//!     ..Invocation::default()
//! };
//! let completion = run(&invocation, &Cancel::new());
//! assert!(matches!(completion.end, ProcessEnd::TimedOut));
//! assert_eq!(completion.stdout.text(), "ready\n");
//! ```
//!
//! [`Dialogue`] exchanges lines with a program that keeps running. [`start_background`] starts programs that are left running. [`interactive`] runs a program that owns the terminal, such as an
//! editor, without supervision; [`replace_process`] continues as another program.
//!
//! The crate has no dependency on hooks, tools or JSON, and reads no environment and no settings: everything is passed in with
//! the [`Invocation`].
//!
//! All platform-specific code is in the module `os`: `Process` (a program with its pipes), `DialoguePipes` (one that keeps running), `Leader` (the leader of a process
//! group), `Latch` (what [`Cancel`] is made of), foreground programs, and two checks of files. Another platform needs another
//! file with the same items, selected here.

mod background;
mod cancel;
mod capture;
mod completion;
mod deadline;
mod dialogue;
mod interactive;
mod invocation;
mod program;
mod supervise;
mod trampoline;

#[cfg(unix)]
#[path = "unix.rs"]
mod os;

pub use background::{Background, start_background, start_detached};
pub use cancel::{Cancel, CancelHandler};
pub use capture::CapturedOutput;
pub use completion::{Completion, ProcessEnd};
pub use dialogue::{Dialogue, DialogueEnd, DialogueLimits, DialogueListener, NotSent};
pub use interactive::{interactive, replace_process};
pub use invocation::{Invocation, Limits, Streams};
pub use supervise::{run, run_watched};
pub use trampoline::Trampoline;

/// Prevents other processes of the same user from reading this process's memory and environment, which hold keys, and disables
/// core dumps. Child processes are not affected.
///
/// # Errors
/// The system does not support it.
pub fn keep_memory_private() -> std::io::Result<()> {
    os::keep_memory_private()
}

/// Makes a write beyond the limit of a file's size (`ulimit -f`) an error, like a full disk, instead of the end of this process.
/// Child processes have the default action of the signal.
///
/// # Errors
/// The system does not support it.
pub fn outlive_file_size_limit() -> std::io::Result<()> {
    os::outlive_file_size_limit()
}

/// Kills all supervised programs before this process exits: every program in [`run`], including the descendants that
/// [`adopt_orphans`] makes findable, and every background program that is being ended. Other background programs and
/// [`interactive`] ones keep running.
///
/// Afterwards no program can be started or reaped: a thread that tries blocks forever. This function itself waits for other
/// threads for less than a second.
pub fn kill_all() {
    os::kill_all();
}

/// Continues as another program, which the system kills when the process that started this one is killed: what a [`Trampoline`]
/// does. `args` are the last arguments of this program: the id of its parent, and the program and its arguments. Returns only if
/// that fails, or the parent has ended.
///
/// On other systems than Linux, the program is not killed: it has to end at the end of its stdin.
pub fn exec_bound_to_parent(args: impl IntoIterator<Item = std::ffi::OsString>) -> std::io::Error {
    os::exec_bound_to_parent(args)
}

/// Makes this process a subreaper for the rest of its life, so that ending a program also ends descendants that left its process
/// group (R38). Orphaned descendants become children of this process, which finds and reaps them. Every program is then started
/// with the environment variable `TENTER_RUN_ID`, which tells the processes of concurrent runs apart.
///
/// Only for processes that start all their children through this crate: waiting for "any child" would also return orphans. A
/// descendant that has lost its parents, its process group and its environment is not found.
///
/// # Errors
/// The system is not Linux, or does not permit it. Everything else then works without it.
pub fn adopt_orphans() -> std::io::Result<()> {
    os::adopt_orphans()
}
