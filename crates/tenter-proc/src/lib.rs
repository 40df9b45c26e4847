//! Supervised child processes.
//!
//! A child of Tenter's is someone else's program: it may hang, flood, fork, lie and die. [`run`] starts it in a process
//! group of its own, feeds and drains its pipes at once, holds it to a deadline, and returns what came of it with the
//! output so far, whatever happened (RESOLUTIONS section E).
//!
//! [`interactive`] is for the one kind of program that is not supervised: an editor that the person asked for.
//!
//! This crate knows nothing of hooks, tools or JSON, and reads neither environment nor settings: everything comes in with
//! the [`Invocation`].
//!
//! What differs between systems is in the module `os`: `Process` (a program with its pipes), `Leader` (a program whose group
//! can be ended), `Latch` (what [`Cancel`] is made of), a program beside us, and two questions about files. Another system needs another file with
//! the same names, chosen here; nothing else knows of descriptors or signals.

mod background;
mod cancel;
mod capture;
mod completion;
mod deadline;
mod interactive;
mod invocation;
mod program;
mod supervise;

#[cfg(unix)]
#[path = "unix.rs"]
mod os;

pub use background::{Background, start_background};
pub use cancel::Cancel;
pub use capture::Captured;
pub use completion::{Completion, End};
pub use interactive::interactive;
pub use invocation::{Invocation, Limits, Streams};
pub use supervise::run;

/// From now on no other process of the same person reads this one's memory and environment, where keys are, and no crash
/// writes them to a file. Programs that are started are as open as ever.
///
/// # Errors
/// The system has no such thing.
pub fn keep_memory_private() -> std::io::Result<()> {
    os::keep_memory_private()
}

/// Kills at once, for a process that is about to exit, every program that [`run`] supervises, with all that
/// [`adopt_orphans`] finds of it, and every background program that was told to end. Other background programs go on, as after
/// any exit, and so does what is [`interactive`].
///
/// From then on no program is started, and none is waited for to its end: a thread that tries to stands still. Whatever other
/// threads do, they are not waited for longer than a moment.
pub fn kill_all() {
    os::kill_all();
}

/// From now on, and until this process ends, a run that is ended takes with it also those of its processes that left its group
/// (R38): this process becomes the parent of every orphan below it, which is how they can be found, and reaps them. Every program
/// is then started with a variable `TENTER_RUN_ID`, by which those of one run are told from those of another.
///
/// It is for programs that start others through this crate alone, as it changes whose child an orphan is: a program that waits
/// for "any child" would meet children that it never started. A process that has lost its parents, its group and its environment
/// is not found.
///
/// # Errors
/// Where the system is not Linux, or forbids it. Everything else then works as without it.
pub fn adopt_orphans() -> std::io::Result<()> {
    os::adopt_orphans()
}
