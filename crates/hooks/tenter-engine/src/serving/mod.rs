//! Runtime hooks: processes that are started once and called for many events (S5 to S13).
//!
//! ```text
//! runner ── payload ──► ProcessPool ── process of the hook ──► ServingProcess ── lines ──► Connection ──► hook
//!                                                                  │   ▲
//!                                                              Requests └── service_calls ──► RequestCaller
//! ```
//!
//! `pool` keeps the processes and decides whether one that ended is started again; `calls` decides when a hook runs in the one-shot form
//! instead; `process` has one conversation with one process; `requests` is its state, without threads and pipes: which requests are open,
//! which wait, what became of an id. `listener` reads what the hook writes, and `service_calls` passes what it requests to the `caller`
//! of the event. `connection` is what lines are exchanged with: a child of this process, or whatever
//! an embedding program provides. `question_clock` stops the time of hooks while the user is asked.
//!
//! The keeper of `tenter-hook` calls hooks of all agents with the same pool.

mod caller;
mod calls;
mod connection;
mod listener;
mod pool;
mod process;
mod question_clock;
mod requests;
mod service_calls;
mod shared;

pub use caller::{HookRequest, RequestCaller};
pub(crate) use calls::{HookCall, HookPool};
pub use connection::{ChildProcesses, Connection, Connector, GrantedTurn, Start};
pub use pool::{PoolKey, ProcessPool};
pub(crate) use process::CallResult;
pub use process::{Call, CallReport, RequestTurn, ServingProcess};
pub use requests::HookAnswer;
