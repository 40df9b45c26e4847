//! One event that a host reports to several registrations: the first process runs the hooks, and the others repeat what they decided
//! (B7). Outcomes are only kept for hosts that are known to have several registrations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tenter_base::{FileLock, private_dir, replace_file, untrusted_file};

use super::Visitor;
use crate::digest::digest;
use crate::occurrence::{Detail, Occurrence};
use crate::reply::Reply;
use crate::tool_call;

/// How long an outcome counts for an equal event.
const LIFETIME: Duration = Duration::from_secs(2);
/// How long to wait before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(2);

/// The directory in the state directory whose files name the hosts with several registrations.
const SEVERAL: &str = "bridge/several";

/// The outcome of one event, locked by this process.
pub(super) struct Outcome {
    file: PathBuf,
    #[expect(dead_code, reason = "dropping it releases the lock")]
    lock: FileLock,
}

impl Outcome {
    /// Waits until no other process runs hooks for this event. `None` if the host has one registration, or the state cannot be
    /// written: the hooks run then.
    pub(super) fn claim(visitor: &Visitor, occurrence: &Occurrence) -> Option<Self> {
        let state = &visitor.directories.state;
        if !state.join(SEVERAL).join(visitor.host.id).exists() {
            return None;
        }
        let directory = state.join("bridge/outcomes");
        private_dir::enforce(&directory).ok()?;
        let file = directory.join(format!("{}.json", key(visitor, occurrence)));
        let lock = wait_for(&file.with_extension("lock"), visitor.deadline())?;
        Some(Self { file, lock })
    }

    /// What another process decided for the event a moment ago.
    pub(super) fn earlier(&self, now: SystemTime) -> Option<Reply> {
        let written = fs::metadata(&self.file).and_then(|found| found.modified()).ok()?;
        // The clock of the file system may be ahead.
        let is_new = now.duration_since(written).map_or(true, |age| age < LIFETIME);
        let text = untrusted_file::read_to_string(&self.file).ok().filter(|_| is_new)?;
        serde_json::from_str(&text).ok()
    }

    /// Keeps what the hooks decided. Contexts and continuations are only given once.
    pub(super) fn keep(&self, reply: &Reply) {
        let decided = Reply {
            contexts: Vec::new(),
            continue_with: None,
            notices: Vec::new(),
            ..reply.clone()
        };
        if let Ok(text) = serde_json::to_vec(&decided) {
            // Without it, the other processes run the hooks themselves.
            let _ = replace_file::replace_with_mode(&self.file, &text, Some(0o600));
        }
    }
}

fn wait_for(path: &Path, deadline: Instant) -> Option<FileLock> {
    loop {
        let tried: io::Result<Option<FileLock>> = FileLock::try_acquire(path);
        match tried {
            Ok(Some(lock)) => return Some(lock),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => return None,
        }
    }
}

/// What is the same for every registration: neither the payload's form nor names of the host's own.
fn key(visitor: &Visitor, occurrence: &Occurrence) -> String {
    let agent = occurrence.agent.as_ref().map_or("", |agent| agent.id.as_str());
    let moment = format!("{:?}", visitor.event.moment);
    let subject = match &occurrence.detail {
        Detail::BeforeTool(call) | Detail::AfterTool { call, .. } => {
            let canonical = tool_call::canonical(visitor.host, call);
            let id = call.id.as_deref().unwrap_or_default();
            format!("{id} {} {}", canonical.name, Value::Object(canonical.input))
        }
        Detail::Prompt { text, .. } => text.clone(),
        _ => String::new(),
    };
    digest(&[visitor.host.id, &occurrence.session, agent, &moment, &subject])
}
