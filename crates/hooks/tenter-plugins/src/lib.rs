//! Plugins: hooks, skills and recipes from a repository (R55).
//!
//! ```text
//! "org/repo@v1" ─► Spec ─► fetch ─► Content ─► Staging::install ─► .kodelet/plugins/org@repo
//!                          git or    checked      one rename          plugin.lock
//!                          a directory
//! ```
//!
//! ```
//! use std::path::Path;
//! use std::time::Duration;
//!
//! use tenter_plugins::{Fetcher, Spec};
//! use tenter_proc::Cancel;
//!
//! # let scratch = tempfile::tempdir()?;
//! # let directory = scratch.path().join("acme/guards");
//! # std::fs::create_dir_all(directory.join("recipes"))?;
//! # std::fs::write(directory.join("recipes/hello.md"), "Say hello.")?;
//! # let cwd = directory.parent().unwrap_or(Path::new("/"));
//! let spec = Spec::parse("./guards", cwd)?;
//! assert_eq!(spec.name.to_string(), "acme/guards");
//!
//! let fetcher = Fetcher { env: &[], cancel: &Cancel::new(), timeout: Duration::from_secs(60) };
//! let Ok(fetched) = fetcher.fetch(&spec.source, spec.reference.as_deref(), scratch.path()) else {
//!     return Err("the plugin was rejected".into());
//! };
//! assert!(fetched.content.digests().contains_key("recipes/hello.md"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The content of a repository is read as data and written as files: nothing of it is run here, neither its hooks nor programs
//! that its attributes or configuration name. Files that would be outside of the plugin's directory, or that would be other files on
//! another system, are rejected before anything is written. This crate prints nothing, does not read the environment or the clock,
//! and asks no questions; the trust store decides whether hooks run.

pub mod bundle;
pub mod changes;
pub mod check;
pub mod content;
pub mod fetch;
pub mod fetch_error;
mod git;
pub mod installed;
mod links;
pub mod lock;
pub mod name;
mod rules;
pub mod spec;
mod staging;
pub mod store;
pub mod verify;

pub use changes::{FileDifference, PluginChange, changes};
pub use content::{Content, TreeEntry};
pub use fetch::{Fetched, Fetcher};
pub use fetch_error::FetchError;
pub use installed::Installed;
pub use lock::{Lock, LockedPlugin};
pub use name::PluginName;
pub use spec::{Source, Spec};
pub use staging::Staging;
pub use store::{InstallError, InstallRequest, Plugins};
pub use verify::{Difference, verify};
