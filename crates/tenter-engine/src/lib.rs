//! From folders on disk to one decision.
//!
//! ```text
//! Event ──► Engine::dispatch ─────────────────────────────────────────────► Outcome
//!             ├─ catalog   which hooks subscribe: built once, immutable
//!             ├─ runner    hook + event ─► payload ─► process, or template ─► reply
//!             ├─ fold      replies ─► outcome: pure, in order, the first deny ends it
//!             ├─ builtin   what Tenter itself asks for, after all hooks
//!             └─ observers see every run and every decision; they decide nothing
//! ```
//!
//! The engine never reads the environment, the home folder, the clock or the terminal: places, environment and clock come
//! in as values. It knows no model, no database and no agent: whoever has an [`Event`](tenter_protocol::Event) may
//! dispatch it and apply the [`Outcome`].

pub mod builtin;
pub mod catalog;
pub mod dispatch;
pub mod environment;
mod facts;
pub mod hook;
pub mod hook_stamp;
mod hook_state;
pub mod journal;
pub mod keys;
pub mod layout;
pub mod matcher;
pub mod observe;
pub mod query;
mod run_end;
mod runner;
mod settings;
pub mod source;
pub mod static_action;
pub mod trust;

pub use dispatch::{Attributed, Engine, HookTest, LateReply, Outcome, Reload, TestRun};
pub use facts::facts;
pub use observe::{AskAnswer, Decision, DecisionKind, HookRun, Observer, PermissionAnswer};
pub use run_end::RunEnd;
pub use settings::{CallbackCheck, EngineSettings};
pub use static_action::CHECKS;
