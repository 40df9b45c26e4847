//! An answer in time when an event takes too long to read: hosts let calls pass after their timeout (B24).
//!
//! Hooks have deadlines of their own. A file system that hangs, or a command that takes longer to read than any that is known, has none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tenter_engine::FailMode;
use tenter_protocol::EventName;
use tenter_protocol::lifecycle::Power;

use super::{Visited, Visitor};
use crate::host::{HostVersion, Support};
use crate::reply::{HostReply, HostVerdict};

/// The progress of an event, which the thread that watches it looks at.
#[derive(Debug, Default)]
pub struct EventProgress {
    /// True once a hook has started.
    has_started_hook: AtomicBool,
    /// True once it is known that a failure denies.
    fails_closed: AtomicBool,
}

impl EventProgress {
    pub(crate) fn hook_started(&self) {
        self.has_started_hook.store(true, Ordering::Relaxed);
    }

    pub(crate) fn hooks_loaded(&self, modes: impl IntoIterator<Item = FailMode>) {
        let is_closed = modes.into_iter().any(|mode| mode == FailMode::Closed);
        self.fails_closed.store(is_closed, Ordering::Relaxed);
    }
}

impl Visitor {
    /// Returns when an event must be answered at the latest: at half of the host's timeout, or when hooks have started, shortly after their
    /// deadline. `None` if the answer cannot stop anything.
    pub fn latest_answer(&self) -> Option<Instant> {
        self.event.moment.deniable()?;
        let (timeout, hooks) = (self.event.timeout, self.event.time_for_hooks());
        let has_started = self.progress.has_started_hook.load(Ordering::Relaxed);
        let time = if has_started { (timeout + hooks) / 2 } else { timeout / 2 };
        Some(self.start + time)
    }

    /// Returns the result of an event that could not be read in time.
    pub fn late(&self) -> Visited {
        let warnings = vec!["the event could not be read in time".to_owned()];
        Visited { answer: self.late_answer(), warnings, after: None }
    }

    /// Returns the answer to an event that could not be read in time: the user is asked, or the action is denied if hooks fail closed or not
    /// every version of the host asks in every session, because neither is known then.
    fn late_answer(&self) -> Option<String> {
        let why = "Tenter could not look at this in time. Try again, with a shorter command if it is long";
        let can_ask = self.event.moment.deniable() == Some(EventName::BeforeTool)
            && self.host.support(EventName::BeforeTool, Power::Ask) == Support::Native
            && self.host.asks_unasked_since == HostVersion::EARLIEST
            && !self.progress.fails_closed.load(Ordering::Relaxed);
        let reply = if can_ask {
            let verdict = Some(HostVerdict::Ask(why.to_owned()));
            HostReply { verdict, ..HostReply::default() }
        } else {
            HostReply::deny(why)
        };
        (self.host.answer)(self.event, &reply)
    }
}
