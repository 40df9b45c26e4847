//! The thread on which the SDK's tasks run. It is started with the first task.

use std::sync::Mutex;
use std::{io, thread};

use tenter_base::lock;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The thread of the SDK's tasks, which ends when this is dropped.
#[derive(Default)]
pub(crate) struct Runtime(Mutex<Option<Running>>);

impl Runtime {
    /// Ends the thread, and with it all connections that are open or being opened. A later task starts another one.
    pub(crate) fn stop(&self) {
        lock(&self.0).take();
    }
}

struct Running {
    handle: Handle,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl Runtime {
    /// Starts tasks.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn handle(&self) -> io::Result<Handle> {
        let mut running = lock(&self.0);
        if let Some(running) = &*running {
            return Ok(running.handle.clone());
        }
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stop_signal) = oneshot::channel::<()>();
        thread::Builder::new().name("mcp".to_owned()).spawn(move || {
            let _ = runtime.block_on(stop_signal);
            runtime.shutdown_background();
        })?;
        *running = Some(Running { handle: handle.clone(), _stop: stop });
        Ok(handle)
    }
}
