//! A coding agent that fires all lifecycle events.
//!
//! ```text
//! Session::send(message) ─► before_agent ─► model ─► tools ─► after_turn ─► … ─► before_stop ─► after_agent
//!                                                   each call: before_tool ─► tool ─► after_tool
//! ```
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use tenter_agent::model::scripted::ScriptedModel;
//! use tenter_agent::permission::{FixedAnswer, PermissionAnswer, Permissions};
//! use tenter_agent::recipe::{RecipeBook, Recipes};
//! use tenter_agent::store::Store;
//! use tenter_agent::tools::{ProtectedPaths, Registry, Workspace, WorkspaceSettings};
//! use tenter_agent::{Agent, AgentSettings, Conversation, RetrySettings, Session};
//! use tenter_agent::{SessionUpdate, UserMessage, Watcher};
//! use tenter_engine::layout::ResourceLayout;
//! use tenter_engine::{Cancel, Directories, Engine, Scope, Timestamp, inspect::KeyMask};
//!
//! struct Printer;
//!
//! impl Watcher for Printer {
//!     fn on_update(&self, _: &Scope, update: &SessionUpdate) {
//!         if let SessionUpdate::Text(text) = update {
//!             println!("{text}");
//!         }
//!     }
//! }
//!
//! fn agent(project: &Path, home: &Path) -> Result<Agent, Box<dyn std::error::Error>> {
//!     let builder = Engine::builder(project).directories(Directories::in_home(home));
//!     let (engine, _diagnostics) = builder.clock(Timestamp::now).load();
//!     let layout = ResourceLayout::new(project, home, home.join(".config"));
//!     let workspace = WorkspaceSettings {
//!         project: project.to_owned(),
//!         cwd: project.to_owned(),
//!         add_dirs: Vec::new(),
//!         read_dirs: Vec::new(),
//!         protected_paths: ProtectedPaths::new(project, &layout.names),
//!         env: vec![("PATH".into(), "/usr/bin:/bin".into())],
//!         state_dir: home.join("state"),
//!         launcher: None,
//!         clock: Timestamp::now,
//!     };
//!     let recipes = RecipeBook {
//!         recipes: Recipes::new(&layout, &[]),
//!         project: project.to_owned(),
//!         env: Vec::new(),
//!         launcher: None,
//!         trust: Arc::new(|_| false),
//!     };
//!     let script = "turns: [{tool_calls: [{name: bash, input: {command: ls}}]}, {text: Done.}]";
//!     Ok(Agent {
//!         model: Arc::new(ScriptedModel::parse("scripted", script)?),
//!         weak_model: None,
//!         engine,
//!         tools: Registry::standard(),
//!         workspace: Arc::new(Workspace::new(workspace)?),
//!         store: Store::in_memory()?,
//!         watcher: Arc::new(Printer),
//!         asker: Arc::new(FixedAnswer(PermissionAnswer::No)),
//!         permissions: Permissions::default(),
//!         snapshots: None,
//!         settings: AgentSettings {
//!             system_prompt: "You are a coding agent.".into(),
//!             max_turns: Some(20),
//!             max_continuations: 8,
//!             retry: RetrySettings::default(),
//!             auto_compact: Some(0.8),
//!             recipes,
//!             recipe: None,
//!             is_side_recipe: false,
//!             keys: KeyMask::default(),
//!             ui: "run",
//!         },
//!     })
//! }
//!
//! # let directory = tempfile::tempdir()?;
//! # let (project, home) = (directory.path(), &directory.path().join("home"));
//! let agent = agent(project, home)?;
//! let conversation = Conversation::new("1".to_owned(), None, project, agent.model.name());
//! let Ok(mut session) = Session::start(&agent, conversation, Cancel::new()) else {
//!     return Err("a hook denied the session".into());
//! };
//! let finish = session.send(&UserMessage::from("Which files are here?"));
//! assert_eq!(finish.response, "Done.");
//! session.end(finish.status, finish.status.exit_reason());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The agent uses the engine's public API only: it dispatches events and applies outcomes. A model implements [`Model`],
//! a tool implements [`tools::Tool`], and displays and output formats implement [`Watcher`]. This crate prints nothing,
//! reads neither environment nor clock, and terminates only processes that it started.

pub mod attachments;
pub mod conversation;
pub mod model;
pub mod permission;
pub mod prompt;
pub mod recipe;
pub mod session;
pub mod skill;
pub mod snapshot;
pub mod store;
pub mod tools;
mod transcript;
pub mod watch;

pub use conversation::Conversation;
pub use model::{Model, ModelError};
pub use session::{Agent, AgentError, AgentSettings, Finish, RetrySettings, Session, UserMessage};
pub use watch::{SessionUpdate, Watcher};
