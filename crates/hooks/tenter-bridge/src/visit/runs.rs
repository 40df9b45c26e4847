//! The record of the hooks that ran in a visit, and of their decisions.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tenter_engine::{DecisionKind, HookRun, Notice, Observer};
use tenter_protocol::EventName;

use super::plain;
use super::watch::EventProgress;

/// The hook runs of one visit.
#[derive(Default)]
pub(super) struct RunLog {
    runs: Mutex<Vec<Run>>,
    /// Notices of hooks for the user: messages, and warnings about their replies.
    notices: Mutex<Vec<String>>,
    progress: Arc<EventProgress>,
}

/// The parts of a hook run that a visit needs.
#[derive(Debug, Clone)]
struct Run {
    event: EventName,
    hook: String,
    parts: Vec<DecisionKind>,
}

impl RunLog {
    pub(super) fn new(progress: Arc<EventProgress>) -> Self {
        Self { progress, ..Self::default() }
    }

    /// Returns the last hook whose reply to `event` has this part.
    pub(super) fn last_with(&self, event: EventName, part: DecisionKind) -> Option<String> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut runs = runs.iter().rev();
        runs.find(|run| run.event == event && run.parts.contains(&part)).map(|run| run.hook.clone())
    }

    /// Returns the hooks whose replies to `event` have this part.
    pub(super) fn all_with(&self, event: EventName, part: DecisionKind) -> BTreeSet<String> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let has = |run: &&Run| run.event == event && run.parts.contains(&part);
        runs.iter().filter(has).map(|run| run.hook.clone()).collect()
    }

    /// Takes the notices of hooks for the user.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a notice of a hook, once.
    fn add_notice(&self, hook: &str, text: &str) {
        let text = format!("hook {hook}: {}", plain(text));
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.contains(&text) {
            notices.push(text);
        }
    }

    /// Returns whether a hook allowed a tool call.
    pub(super) fn was_allowed(&self) -> bool {
        self.last_with(EventName::BeforeTool, DecisionKind::Allow).is_some()
    }
}

impl Observer for RunLog {
    fn hook_started(&self, _run: &HookRun) {
        self.progress.hook_started();
    }

    fn hook_ran(&self, run: &HookRun) {
        for warning in &run.warnings {
            self.add_notice(&run.hook, warning);
        }
        let parts = std::iter::once(run.decision).chain(run.also.iter().copied()).collect();
        let run = Run { event: run.event, hook: run.hook.clone(), parts };
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }

    fn noticed(&self, notice: &Notice) {
        if let Some(hook) = &notice.hook {
            self.add_notice(hook, &notice.text);
        }
    }
}
