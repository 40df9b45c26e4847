//! The journal: every hook run and every decision, as versioned JSON lines, one file per conversation (a subagent's
//! records are in its parent's file).
//!
//! `writer` is an observer like any other, so runs that end early are recorded too; `reader` reads what any version wrote;
//! `seals` find later changes. `redact` and `masked` remove secrets. The journal answers "what did my hooks do?"; conversations are stored elsewhere.

mod conversation;
mod directories;
mod key_formats;
mod masked;
mod reader;
mod record;
mod redact;
mod seals;
mod writer;

pub use crate::observe::{AnswerRecord, DecisionRecord, NoticeRecord, PermissionRecord, RunRecord};
pub use directories::JournalDirectories;
pub use masked::MaskingObserver;
pub use reader::{
    JournalLine, JournalLines, JournalTail, NewestLines, conversations, length, path, read,
};
pub use record::{Record, RecordKind};
pub use redact::{Redactor, secrets_in};
pub use seals::{Retention, Seal, SealFinding, Seals, Verification};
pub use writer::JournalWriter;
