//! The journal: every hook run and every decision, as versioned JSON lines, one file per conversation (a subagent's
//! records stand in its parent's file).
//!
//! `writer` is an observer like any other, so what ends early is recorded too; `reader` reads what any version wrote;
//! `redact` and `masked` keep secrets out. The journal answers "what did my hooks do?" and nothing else: it is no store.

mod masked;
mod reader;
mod record;
mod redact;
mod writer;

pub use masked::MaskingObserver;
pub use reader::{JournalLine, JournalLines, JournalTail, conversations, read};
pub use record::{AnswerRecord, DecisionRecord, Record, RecordKind, RunRecord};
pub use redact::{Redactor, secrets_in};
pub use writer::JournalWriter;
