//! Runtime hooks: processes that are started once and called for many events (S5 to S13).
//!
//! ```text
//! runner ── payload ──► Pool ── process of the hook ──► ServingProcess ── lines ──► Connection ──► hook
//!                                                            │   ▲
//!                                                        Requests └── service_calls ──► Services
//! ```
//!
//! `pool` keeps the processes and decides when a hook runs in the one-shot form instead; `process` has one conversation with one
//! process; `requests` is its state, without threads and pipes: which requests are open, which wait, what became of an id.
//! `listener` reads what the hook writes, and `service_calls`
//! answers what it requests. `connection` is what lines are exchanged with: a child of this process, or whatever an
//! embedding program provides. `question_clock` stops the time of hooks while the user is asked.

mod caller;
mod connection;
mod listener;
mod pool;
mod process;
mod question_clock;
mod requests;
mod service_calls;
mod shared;

pub(crate) use caller::{EventCaller, ServiceProvider};
pub(crate) use connection::ChildProcesses;
pub use connection::{Connection, Connector, Start};
pub(crate) use pool::{Pool, PoolResult};
pub(crate) use process::{Call, CallReport, CallResult};
