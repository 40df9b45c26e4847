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
//!
//! The API, in the order in which a program meets it:
//!
//! | step | items |
//! | --- | --- |
//! | load the hooks | [`Engine::builder`] returns an [`EngineBuilder`], which takes [`Directories`], a [`TrustMode`], a [`PolicyTable`] and more; [`load`](EngineBuilder::load) returns the [`Engine`] |
//! | fire events | [`Engine::session`] returns a [`HookSession`], with one method for each event |
//! | apply decisions | [`StartDecision`], [`MessageDecision`], [`ToolDecision`], [`ToolReview`], [`TurnReview`], [`StopReview`], [`Feedback`] |
//! | observe | an [`Observer`] receives every [`HookRun`], every [`Decision`] and every answer of the user |
//! | write hooks in Rust | a [`NativeHook`] receives a [`NativeEvent`]; a [`NativeRegistration`] says when it runs |
//! | offer services | [`Services`] gives runtime hooks the conversation, the model and the user |
//!
//! The modules that the documentation hides (`inspect`, `layout`, `source`, `trust`, `journal`, `configuration`, `builtin`) are for
//! Tenter's own commands, which list, explain, trust and test hooks. They change without notice.

mod builder;
#[doc(hidden)]
pub mod builtin;
mod call_index;
mod catalog;
mod changed_files;
mod checkpoints;
mod claude_code;
#[doc(hidden)]
pub mod configuration;
mod directories;
mod dispatch;
mod environment;
mod facts;
mod failure;
mod hook;
mod hook_notices;
mod hook_policy;
mod hook_stamp;
mod hook_state;
mod hook_values;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod journal;
mod keys;
mod layer;
#[doc(hidden)]
pub mod layout;
mod managed;
mod matcher;
mod model_budget;
mod native;
mod native_registration;
mod observe;
mod outer_projects;
mod pattern;
mod protected_paths;
mod provided_services;
mod query;
mod ready_made;
mod run_context;
mod run_end;
mod runner;
mod services;
mod serving;
mod session;
mod settings;
#[doc(hidden)]
pub mod source;
mod static_action;
#[doc(hidden)]
pub mod trust;

// Load the hooks.
pub use builder::EngineBuilder;
pub use catalog::{PolicyOverride, PolicyTable, Untrusted};
pub use directories::Directories;
pub use dispatch::Engine;
pub use hook_policy::{FailMode, HookPolicy};
pub use layer::Layer;
pub use layout::DirectoryNames;
#[doc(hidden)]
pub use managed::BUNDLE_POINTER;
#[doc(hidden)]
pub use managed::ManagedDirectory;
pub use model_budget::ModelBudget;
pub use settings::CallbackCheck;
pub use trust::{Fingerprint, TrustMode};

// Fire events and apply decisions.
pub use dispatch::{Attributed, LateReply};
pub use facts::CallFacts;
pub use session::{
    ApprovedCall, Denial, DenialCause, Feedback, HookSession, MessageDecision, StartDecision,
    StopReview, ToolDecision, ToolQuestion, ToolReview, TurnReview,
};

// Observe.
pub use observe::{
    AnswerRecord, AskAnswer, CallPermission, Decision, DecisionKind, DecisionRecord, HookRun,
    Notice, NoticeRecord, Observation, Observer, PermissionAnswer, PermissionRecord,
    PermissionSource, RewriteChange, RunRecord, Transport,
};
pub use run_end::RunEnd;

// Hooks in Rust, and services for hooks.
pub use native::{NativeEvent, NativeHook};
pub use native_registration::NativeRegistration;
pub use services::{ServiceCaller, Services};

// Types of other crates that the API uses.
pub use jiff::Timestamp;
pub use tenter_proc::Cancel;
pub use tenter_protocol as protocol;
pub use tenter_protocol::{Diagnostic, EventName, Scope, Severity, ToolCall, ToolResult};
