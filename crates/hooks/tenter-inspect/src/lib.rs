//! Inspects the activity of hooks: figures from their journal, and local web pages that show it live.
//!
//! ```text
//! journal files ──► JournalIndex ──► runs ──► figures::compute ──► terminal, diagnostics, page of hooks
//!              └──────────────────────────► timeline ──► page of a session
//! ```
//!
//! ```
//! use tenter_inspect::JournalIndex;
//! use tenter_inspect::figures;
//!
//! # let directory = tempfile::tempdir()?;
//! # let journal = directory.path();
//! let mut index = JournalIndex::new(journal);
//! index.advance(None)?;
//! for hook in figures::compute(index.runs(), index.answers(), &[]).hooks {
//!     println!("{}: {} runs, half of them in {:?}", hook.name, hook.runs, hook.durations.p50);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod csv;
pub mod facts;
pub mod figures;
mod file_data;
mod filter;
mod http;
mod index;
mod line;
mod names;
mod pages;
mod server;
mod timeline;

pub use index::{JournalIndex, Progress, Session};
pub use pages::Pages;
pub use server::Server;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
