//! File, text and time utilities shared by the Tenter crates.
//!
//! Nothing here knows about hooks, agents or terminals, and nothing reads the environment or the clock.
//!
//! ```
//! use tenter_base::{replace_file, untrusted_file};
//!
//! # let directory = tempfile::tempdir()?;
//! let path = directory.path().join("state.json");
//! replace_file::replace(&path, b"{}")?;
//! assert_eq!(untrusted_file::read_to_string(&path)?, "{}");
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod account;
mod agent_state;
pub mod clock;
mod container;
pub mod excerpt;
mod file_lock;
pub mod file_stamp;
mod hex;
mod known_tree;
mod mutex;
mod names;
mod packed;
mod percent;
pub mod privacy;
pub mod private_dir;
mod real_path;
pub mod replace_file;
mod sanitize;
pub mod search_path;
pub mod server_names;
pub mod tree;
pub mod untrusted_file;
pub mod versioned;
#[doc(hidden)]
pub mod word_list;

pub use agent_state::AgentState;
pub use clock::{Clock, rfc3339};
pub use container::{Containment, mount_points};
pub use file_lock::FileLock;
pub use file_stamp::FileStamp;
pub use hex::hex;
pub use known_tree::KnownTree;
pub use mutex::lock;
pub use names::{capitalize, did_you_mean, edits, format_count, nearest, or_list, resembles};
pub use packed::PackedList;
pub use percent::percent_decoded;
pub use real_path::{DestinationFinder, destination, real_path};
pub use sanitize::{one_line, sanitize, visible};
