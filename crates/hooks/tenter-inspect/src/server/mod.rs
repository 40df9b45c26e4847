//! A small HTTP server: loopback only, GET only, one request a connection, one thread a connection. `httparse` parses requests; there is
//! no async runtime.

mod access;
mod connection;
mod connections;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tenter_proc::Cancel;

use crate::pages::Pages;
use access::Access;
use connections::Connections;

/// The interval at which the server checks whether it should stop, in milliseconds.
const LOOK_MS: i64 = 100;

/// A server of the pages, bound to a port of the loopback interface.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// The state that all connections share.
struct Shared {
    access: Access,
    pages: Pages,
    connections: Connections,
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
        let shared = Shared { access, pages, connections: Connections::default() };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Returns the address of the first page, with the token that every request needs.
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

    fn start(&self, stream: TcpStream) {
        let stream = Arc::new(stream);
        let Some(id) = self.shared.connections.add(&stream) else { return };
        let serving = Serving { id, shared: Arc::clone(&self.shared) };
        let serve = move || {
            let Shared { access, pages, connections } = &*serving.shared;
            let has_request = || connections.has_request(serving.id);
            // An error means that the client has gone.
            let _ = connection::serve(&stream, (access, pages), has_request);
        };
        // Without a thread the connection is closed, and its place freed.
        let _ = thread::Builder::new().name("connection".to_owned()).spawn(serve);
    }
}

/// A connection that is served; its end makes room for another.
struct Serving {
    id: u64,
    shared: Arc<Shared>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.shared.connections.remove(self.id);
    }
}
