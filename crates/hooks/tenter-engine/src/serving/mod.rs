//! Runtime hooks: processes that are started once and called for many events (S5 to S13).
//!
//! ```text
//! runner ── payload ──► Pool ── process of the hook ──► ServingProcess ── lines ──► Connection ──► hook
//!                                                            │   ▲
//!                                                        Requests └── service_calls ──► RequestCaller
//! ```
//!
//! `pool` keeps the processes and decides when a hook runs in the one-shot form instead; `process` has one conversation with one
//! process; `requests` is its state, without threads and pipes: which requests are open, which wait, what became of an id.
//! `listener` reads what the hook writes, and `service_calls` passes what it requests to the `caller` of the event. `slot` decides
//! whether a process that ended is started again. `connection` is what lines are exchanged with: a child of this process, or whatever
//! an embedding program provides. `question_clock` stops the time of hooks while the user is asked.
//!
//! The keeper of `tenter-hook` calls hooks of all agents with the same processes and slots.

mod caller;
mod connection;
mod listener;
mod pool;
mod process;
mod question_clock;
mod requests;
mod service_calls;
mod shared;
mod slot;

pub use caller::{HookRequest, RequestCaller};
pub(crate) use connection::ChildProcesses;
pub use connection::{Connection, Connector, Start, start_child};
pub(crate) use pool::{HookCall, Pool, PoolResult};
pub(crate) use process::CallResult;
pub use process::{Call, CallReport, RequestTurn, ServingProcess};
pub use question_clock::QuestionClock;
pub use requests::HookAnswer;
pub use slot::ProcessSlot;
