//! Walks directories as ripgrep does: applies ignore files, never follows symlinks, never enters a version store.
//!
//! ```
//! use tenter_proc::Cancel;
//! use tenter_walk::{SkipRules, walk};
//!
//! # let directory = tempfile::tempdir()?;
//! # let root = directory.path();
//! std::fs::write(root.join(".gitignore"), "*.log\n")?;
//! std::fs::write(root.join("a.log"), "")?;
//! std::fs::write(root.join("a.rs"), "")?;
//! let cancel = Cancel::new();
//! let entries = walk(root, SkipRules::IgnoreFiles(root), &cancel).collect::<Result<Vec<_>, _>>()?;
//! let files: Vec<_> = entries.iter().filter(|entry| entry.kind.is_file()).map(|entry| &entry.path).collect();
//! assert_eq!(files, [&root.join(".gitignore"), &root.join("a.rs")]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod ignore_files;
mod walk;

pub use walk::{SkipRules, Walk, WalkEntry, walk};
