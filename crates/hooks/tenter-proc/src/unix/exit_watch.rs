//! A descriptor that becomes readable when a child exits, without reaping it: a pidfd, or else a pipe that a waiting thread
//! closes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// A descriptor that becomes, and stays, readable once a child has exited.
#[derive(Debug)]
pub(super) struct ExitWatch(OwnedFd);

impl ExitWatch {
    /// Watches a child that is not reaped yet.
    pub(super) fn on(child: Pid) -> io::Result<Self> {
        by_descriptor(child).or_else(|_| by_thread(child)).map(Self)
    }
}

impl AsFd for ExitWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(target_os = "linux")]
fn by_descriptor(child: Pid) -> io::Result<OwnedFd> {
    Ok(rustix::process::pidfd_open(child, rustix::process::PidfdFlags::empty())?)
}

#[cfg(not(target_os = "linux"))]
fn by_descriptor(_child: Pid) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the fallback where pidfds do not exist or are not permitted.
fn by_thread(child: Pid) -> io::Result<OwnedFd> {
    let (reader, writer) = super::pipe()?;
    thread::Builder::new().name(format!("watch {child}")).spawn(move || {
        until_exit(child);
        drop(writer);
    })?;
    Ok(reader.into())
}

/// Waits until a child has exited. Does not reap it.
pub(super) fn until_exit(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(child), options), Err(Errno::INTR)) {}
}

/// Returns true while a child is running. Does not reap it.
pub(super) fn is_running(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(child), options), Ok(None))
}

#[cfg(test)]
mod tests {
    use std::io::PipeWriter;
    use std::process::{Child, Command};
    use std::time::Duration;

    use rustix::event::PollFlags;

    use super::*;
    use crate::os::wait_for;

    fn is_readable(watch: &OwnedFd, timeout: Option<Duration>) -> bool {
        wait_for([Some((watch.as_fd(), PollFlags::IN))], timeout) == [true]
    }

    /// Returns a child that exits with code 7 once its stdin is closed.
    fn waiting_child() -> (Child, PipeWriter) {
        let (stdin, writer) = io::pipe().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "the test needs a child that this crate does not supervise"
        )]
        let child =
            Command::new("sh").args(["-c", "read line; exit 7"]).stdin(stdin).spawn().unwrap();
        (child, writer)
    }

    fn shows_the_exit_without_reaping_the_child(watch: fn(Pid) -> io::Result<OwnedFd>) {
        let (mut child, stdin) = waiting_child();
        let pid = Pid::from_child(&child);
        let watch = watch(pid).unwrap();
        assert!(!is_readable(&watch, Some(Duration::ZERO)));
        assert!(is_running(pid));
        drop(stdin);
        assert!(is_readable(&watch, None) && is_readable(&watch, None), "it stays readable");
        assert!(!is_running(pid));
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_descriptor_shows_the_exit_without_reaping_the_child() {
        shows_the_exit_without_reaping_the_child(by_descriptor);
    }

    #[test]
    fn a_thread_shows_the_exit_without_reaping_the_child() {
        shows_the_exit_without_reaping_the_child(by_thread);
    }

    #[test]
    fn a_child_that_has_already_exited_can_be_watched() {
        for watch in [by_thread, |child| ExitWatch::on(child).map(|watch| watch.0)] {
            let (mut child, stdin) = waiting_child();
            drop(stdin);
            while is_running(Pid::from_child(&child)) {
                std::thread::yield_now();
            }
            assert!(is_readable(&watch(Pid::from_child(&child)).unwrap(), None));
            child.wait().unwrap();
        }
    }
}
