//! A listener on a loopback port, for the servers of tests.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A listener. Dropping it closes the port.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts to listen on a free port of 127.0.0.1; `serve` gets each client, one after the other.
    ///
    /// # Panics
    /// There is no free port.
    pub(crate) fn start(mut serve: impl FnMut(TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.unwrap_or_else(|error| panic!("there is no free port: {error}"));
        let address = listener.local_addr();
        let address = address.unwrap_or_else(|error| panic!("the port is unknown: {error}"));
        let closing = Arc::new(AtomicBool::new(false));
        let is_closing = Arc::clone(&closing);
        let thread = thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if is_closing.load(Ordering::SeqCst) {
                    return;
                }
                serve(client);
            }
        });
        Self { address, closing, thread: Some(thread) }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        // The thread checks the flag only when a client connects.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
