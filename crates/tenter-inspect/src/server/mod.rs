//! A small HTTP server: loopback only, GET only, one request a connection, one thread a connection. `httparse` parses requests; there is
//! no async runtime.

mod access;
mod connection;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tenter_proc::Cancel;

use crate::pages::Pages;
use access::Access;

/// Maximum number of connections at a time. Further ones are closed.
const MAX_CONNECTIONS: usize = 256;
/// How often the server looks whether it should stop, in milliseconds.
const LOOK_MS: i64 = 100;

/// A server of the pages, bound to a port of the loopback interface.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What all connections share.
struct Shared {
    access: Access,
    pages: Pages,
    connections: AtomicUsize,
}

impl Server {
    /// Binds to a port; 0 for any.
    ///
    /// # Errors
    /// When the port is in use, or the system provides no random numbers.
    pub fn bind(port: u16, pages: Pages) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let access = Access::new(listener.local_addr()?.port())?;
        let shared = Shared { access, pages, connections: AtomicUsize::new(0) };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// The address of the first page, with the token that every request needs.
    pub fn address(&self) -> String {
        self.shared.access.address()
    }

    /// Serves until `cancel` is set.
    ///
    /// # Errors
    /// When the listening socket fails.
    pub fn serve(&self, cancel: &Cancel) -> io::Result<()> {
        while !cancel.is_cancelled() {
            let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
            let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 };
            match poll(&mut ready, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.start(stream),
                // The client has gone, or this process has too many files open for a moment.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
        Ok(())
    }

    fn start(&self, stream: std::net::TcpStream) {
        if self.shared.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
            self.shared.connections.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let serving = Serving(Arc::clone(&self.shared));
        let serve = move || {
            let Serving(shared) = &serving;
            // An error means that the client has gone.
            let _ = connection::serve(&stream, &shared.access, &shared.pages);
        };
        // Without a thread the connection is closed, and its place freed.
        let _ = thread::Builder::new().name("connection".to_owned()).spawn(serve);
    }
}

/// A connection that is served; its end makes room for another.
struct Serving(Arc<Shared>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}
