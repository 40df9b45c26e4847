//! What hooks did, from their journal.
//!
//! ```text
//! journal files ──► JournalIndex ──► runs ──► figures::of ──► terminal, diagnostics
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
//! for hook in figures::of(index.runs(), &[]).hooks {
//!     println!("{}: {} runs, half of them in {:?}", hook.name, hook.runs, hook.durations.p50);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod figures;
mod index;
mod line;
mod names;

pub use index::{JournalIndex, Progress, Session};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
