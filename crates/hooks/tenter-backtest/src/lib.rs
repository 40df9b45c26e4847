//! Replays past tool calls through hooks, to show what the hooks would have done.
//!
//! Coding agents keep transcripts. A [`TranscriptReader`] finds the transcripts of one agent and reads their tool calls; [`scan`] reads all of
//! them, each call once. A [`Replay`] dispatches each call to the hooks that decide without a process, by the engine's own dispatch, and
//! a [`ReportBuilder`] counts what they would have stopped.
//!
//! ```text
//! transcripts ── readers ──► RecordedCall ── Replay ──► Judgement ── ReportBuilder ──► Report
//! ```
//!
//! Transcripts are untrusted: lines have a maximum length, values a maximum depth, and no path in them is opened. Nothing is
//! executed and nothing is written.

mod collector;
mod diff;
mod places;
pub mod readers;
mod recorded;
mod replay;
mod report;
mod scan;
mod titles;

pub use collector::{CallCollector, ReadCounts};
pub use diff::{PastVerdict, VerdictChange, VerdictDiff, VerdictDiffBuilder};
pub use places::HostPlaces;
pub use readers::TranscriptReader;
pub use recorded::{CallEnd, DenialSource, OWN_AGENT, RecordedCall};
pub use replay::{CallAnswer, HookSet, Judgement, Replay, RuleStop, UNKNOWN_PROJECT};
pub use report::{Report, ReportBuilder, RuleReport, StoppedCommand};
pub use scan::{HostCounts, ScanOptions, scan};
pub use titles::TitleFinder;
