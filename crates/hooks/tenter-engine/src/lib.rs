//! Lifecycle hooks for any agent: finds hooks, decides which run, runs them, and returns one decision.
//!
//! An agent builds an [`Engine`] for its project, opens a [`HookSession`] for each conversation, and calls the method of each
//! event: [`before_tool`](HookSession::before_tool) returns a [`ToolDecision`], and so on. The agent applies the decision;
//! the engine does the rest.
//!
//! ```
//! use tenter_engine::{Directories, Engine, Scope, Timestamp, ToolCall, ToolDecision};
//!
//! # let directory = tempfile::tempdir()?;
//! # let (project, home) = (directory.path(), directory.path().join("home"));
//! let (engine, diagnostics) = Engine::builder(project)
//!     .directories(Directories::in_home(home))
//!     .clock(Timestamp::now)
//!     .load();
//! assert!(diagnostics.is_empty());
//!
//! let hooks = engine.session(Scope::new("conversation-1", project));
//! let call = ToolCall::new("call-1", "bash", [("command".to_owned(), "ls".into())]);
//! match hooks.before_tool(call) {
//!     ToolDecision::Run(approved) => println!("run {:?}", approved.call.input),
//!     ToolDecision::Ask(question) => println!("{} asks: {}", question.hook, question.reason),
//!     ToolDecision::Deny(denial) => println!("denied: {}", denial.reason),
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A program passes `std::env::vars_os()` to [`EngineBuilder::vars`] instead of setting the directories. The example
//! `embed.rs` is a complete agent.
//!
//! ```text
//! HookSession::before_tool ──► Engine::dispatch ──────────────────────────► Outcome ──► ToolDecision
//!                               ├─ catalog    which hooks subscribe: built once, immutable
//!                               ├─ runner     hook + event ─► payload ─► process, or template ─► reply
//!                               ├─ fold       replies ─► outcome: pure, in order, the first deny ends it
//!                               ├─ builtin    the hook that is part of Tenter, after all others
//!                               └─ observers  see every run and every decision; they decide nothing
//! ```
//!
//! The engine never reads the environment, the home directory, the clock or the terminal: they come in as values. It knows no
//! model, no database and no agent.

mod builder;
pub mod builtin;
pub mod catalog;
mod claude_code;
pub mod configuration;
mod directories;
pub mod dispatch;
pub mod environment;
pub mod facts;
mod failure;
pub mod hook;
mod hook_notices;
mod hook_policy;
pub mod hook_stamp;
mod hook_state;
mod hook_values;
pub mod journal;
pub mod keys;
mod layer;
pub mod layout;
pub mod matcher;
mod model_budget;
mod native;
mod native_registration;
pub mod observe;
pub mod outer_projects;
mod protected_paths;
mod provided_services;
pub mod query;
mod run_context;
mod run_end;
mod runner;
pub mod services;
mod serving;
mod session;
mod settings;
pub mod source;
pub mod static_action;
pub mod trust;

pub use builder::EngineBuilder;
pub use directories::Directories;
pub use dispatch::{
    Attributed, ConsideredHook, Engine, HookTest, LateReply, Outcome, Reload, Selection,
    SelectionSubject, TestRun,
};
pub use facts::{CallFacts, CallSurroundings, HookFacts};
pub use native::{NativeEvent, NativeHandle, NativeHook};
pub use native_registration::NativeRegistration;
pub use observe::{
    AskAnswer, CallPermission, Decision, DecisionKind, HookRun, Notice, Observer, PermissionAnswer,
    PermissionSource, Transport,
};
pub use protected_paths::{ProtectedPaths, is_git_directory};
pub use run_end::RunEnd;
pub use services::{NoServices, ServiceCaller, Services};
pub use serving::{Connection, Connector, Start, is_given_up};
pub use session::{
    ApprovedCall, Denial, DenialCause, Feedback, HookSession, MessageDecision, StartDecision,
    StopReview, ToolDecision, ToolQuestion, ToolReview, TurnReview,
};
pub use settings::{AsynchronousHooks, CallbackCheck};
pub use static_action::CHECKS;

pub use jiff::Timestamp;
pub use tenter_proc::{Cancel, Trampoline};
pub use tenter_protocol as protocol;
pub use tenter_protocol::{
    Diagnostic, EventName, Message, Object, Scope, Severity, ToolCall, ToolResult,
};
