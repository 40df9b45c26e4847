//! The open connections. If there are too many, the one that has sent no request for the longest time makes room for the next.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

use tenter_base::lock;

/// Maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 256;

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<OpenConnections>);

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// The connections in the order in which they were opened.
    open: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: Arc<TcpStream>,
    /// True if its request is complete.
    has_request: bool,
}

impl Connections {
    /// Adds a connection, and returns its id. Without room, the oldest one without a request is closed; `None` if all have one.
    pub(super) fn add(&self, stream: &Arc<TcpStream>) -> Option<u64> {
        let mut state = lock(&self.0);
        if state.open.len() >= MAX_CONNECTIONS {
            let idle = *state.open.iter().find(|(_, open)| !open.has_request)?.0;
            let idle = state.open.remove(&idle)?;
            // Its thread ends, since there is nothing more to read.
            let _ = idle.stream.shutdown(Shutdown::Both);
        }
        let id = state.next;
        state.next += 1;
        state.open.insert(id, Connection { stream: Arc::clone(stream), has_request: false });
        Some(id)
    }

    /// Notes that the request of a connection is complete.
    pub(super) fn has_request(&self, id: u64) {
        if let Some(open) = lock(&self.0).open.get_mut(&id) {
            open.has_request = true;
        }
    }

    /// Removes a connection.
    pub(super) fn remove(&self, id: u64) {
        lock(&self.0).open.remove(&id);
    }
}
