//! Plugins: hooks, skills and recipes that come from a repository (R55).
//!
//! ```text
//! "org/repo@v1" ─► Spec ─► fetch ─► Content ─► Staging::install ─► .kodelet/plugins/org@repo
//!                          git or    checked      one rename          plugin.lock
//!                          a folder
//! ```
//!
//! Whatever a repository holds is read as data and written as files: nothing of it is ever run here, neither its hooks nor
//! what its attributes or its configuration name. What would leave the plugin's folder, or be another file on another
//! system, is refused before anything is written. This crate prints nothing, reads no environment and no clock, and asks
//! nobody; whether hooks may run is for the trust store.

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

pub use changes::{Change, ChangeKind, changes};
pub use content::{Content, Entry};
pub use fetch::{Fetched, Fetcher};
pub use fetch_error::FetchError;
pub use installed::Installed;
pub use lock::{Lock, Locked};
pub use name::PluginName;
pub use spec::{Source, Spec};
pub use staging::Staging;
pub use store::{Conflict, Order, Plugins};
pub use verify::{Difference, verify};
