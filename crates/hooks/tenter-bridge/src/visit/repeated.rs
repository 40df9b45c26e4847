//! One event that a host reports to several registrations: the first process runs the hooks, and the others repeat its reply (B7). Replies
//! are only kept for hosts with several registrations.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use serde_json::Value;
use tenter_base::{FileLock, private_dir, replace_file, untrusted_file};

use super::Visitor;
use crate::digest::digest;
use crate::occurrence::{Detail, Occurrence};
use crate::reply::HostReply;
use crate::tool_call;

/// The time for which a reply applies to an equal event.
const LIFETIME: Duration = Duration::from_secs(2);
/// The pause before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(2);

/// The directory in the state directory whose files name the hosts with several registrations.
const SEVERAL: &str = "bridge/several";

/// The claim of this process to run the hooks of one event.
pub(super) struct EventClaim {
    file: PathBuf,
    #[expect(dead_code, reason = "dropping it releases the lock")]
    lock: FileLock,
}

impl EventClaim {
    /// Waits until no other process runs hooks for this event. `None` if the host has one registration, or the state cannot be
    /// written: the hooks run then.
    pub(super) fn acquire(visitor: &Visitor, occurrence: &Occurrence) -> Option<Self> {
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

    /// Returns the reply of another process to the event a moment ago.
    pub(super) fn earlier_reply(&self, now: SystemTime) -> Option<HostReply> {
        let mtime = fs::metadata(&self.file).and_then(|metadata| metadata.modified()).ok()?;
        // The clock of the file system may be ahead.
        let is_new = now.duration_since(mtime).map_or(true, |age| age < LIFETIME);
        let text = untrusted_file::read_to_string(&self.file).ok().filter(|_| is_new)?;
        serde_json::from_str(&text).ok()
    }

    /// Saves the reply for the other processes, without the texts that the model and the user read only once.
    pub(super) fn save(&self, reply: &HostReply) {
        let reply = HostReply {
            contexts: Vec::new(),
            continue_with: None,
            notices: Vec::new(),
            ..reply.clone()
        };
        if let Ok(text) = serde_json::to_vec(&reply) {
            // Without it, the other processes run the hooks themselves.
            let _ = replace_file::replace_with_mode(&self.file, &text, Some(0o600));
        }
    }
}

fn wait_for(path: &Path, deadline: Instant) -> Option<FileLock> {
    loop {
        match FileLock::try_acquire(path) {
            Ok(Some(lock)) => return Some(lock),
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => return None,
        }
    }
}

/// Returns a key that is the same for every registration: it depends neither on the payload's form nor on names of the host's own.
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
