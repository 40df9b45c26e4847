//! The proxy through which a command reaches the hosts that it may (F10). The command has a network namespace without a way out. The
//! proxy is a process outside of it, with a listener that was made inside: whatever ignores the proxy has no network.
//!
//! ```text
//! launcher ── starts ──► proxy process, in the network of the machine
//!    │ enters a network namespace, makes a listener there, sends it ──► accepts, checks names and addresses, connects
//!    └─ starts the command, with HTTP_PROXY and its siblings; the proxy ends with the launcher
//! ```

mod address;
mod connection;
mod names;
mod process;
mod request;
mod router;
mod upstream;

pub(crate) use process::{ARGUMENT, COMMAND as LAUNCHER_COMMAND, ProxyProcess, RunningProxy, run};
