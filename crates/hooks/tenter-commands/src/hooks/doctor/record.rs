//! Finds slow hooks, timeouts and exceeded budgets in the journal. Only runs of a hook's current content in the last days count.

use std::time::Duration;

use jiff::SignedDuration;
use tenter_engine::inspect::Hook;
use tenter_engine::journal::JournalDirectories;
use tenter_inspect::JournalIndex;
use tenter_inspect::figures::{self, HookFigures, KnownHook};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::now;

use super::at_hook;
use crate::hook_figures;

/// Maximum median duration of a hook that the agent waits for.
const MAX_MEDIAN: Duration = Duration::from_secs(1);

/// The age of the oldest runs that count.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Number of questions without an answer from which it is reported.
const MANY_UNANSWERED: usize = 10;

/// The figures of all hooks, of their current content.
pub(super) struct RecordHistory(Vec<HookFigures>);

impl RecordHistory {
    /// Reads the newest records of `journals`; unreadable files are reported.
    pub(super) fn read(
        journals: &JournalDirectories,
        hooks: &[KnownHook],
    ) -> (Self, Vec<Diagnostic>) {
        let since = now().checked_sub(MAX_AGE).ok();
        let (index, unread) = hook_figures::read(journals, since);
        (Self(compute_current(&index, hooks)), unread)
    }

    /// Returns warnings about the runs of a hook.
    pub(super) fn warnings(&self, hook: &Hook) -> Vec<Diagnostic> {
        let Some(figures) = self.0.iter().find(|figures| figures.name == hook.name) else {
            return Vec::new();
        };
        let (count, median) = (figures.runs, figures.durations.p50);
        let timeout = hook.policy.timeout;
        let warning = |id, message: String, help: &str| {
            at_hook(hook, Diagnostic::new(id, Severity::Warning, message)).help(help)
        };
        let mut findings = Vec::new();
        if figures.failures > figures.timeouts
            && let Some(message) = figures.describe_failures()
        {
            let help = format!("`tenter log --failed --hook {}` shows why", hook.name);
            findings.push(warning("hook-failed", message, &help));
        }
        let unanswered = figures.questions.unanswered();
        if unanswered >= MANY_UNANSWERED {
            let message = format!(
                "the hook {} asked {} times; {unanswered} of these questions had no answer",
                hook.name, figures.questions.count
            );
            let help = "without a user, what a hook asks about is refused; change its settings or rules if that is too much";
            let finding = Diagnostic::new("hook-unanswered", Severity::Info, message);
            findings.push(at_hook(hook, finding).help(help));
        }
        if figures.timeouts > 0 {
            let message =
                format!("the hook {} timed out in {} of {count} runs", hook.name, figures.timeouts);
            findings.push(warning(
                "hook-timed-out",
                message,
                "raise its timeout, or make it faster",
            ));
        }
        if let Some(over) = figures.over_budget {
            findings.push(warning(
                "hook-over-budget",
                over.describe(&hook.name),
                "make it faster, narrow its matcher, or raise `metadata.budget_ms`",
            ));
        }
        if median > timeout {
            let message = format!(
                "the timeout of the hook {} is {} ms, but half of its {count} runs took {} ms or more",
                hook.name,
                timeout.as_millis(),
                median.as_millis()
            );
            findings.push(warning("hook-timeout-short", message, "raise its timeout"));
        } else if median > MAX_MEDIAN && !hook.policy.asynchronous && figures.over_budget.is_none()
        {
            let message = format!(
                "the hook {} is slow: half of its {count} runs took {} ms or more, and the agent waited",
                hook.name,
                median.as_millis()
            );
            findings.push(warning(
                "hook-slow",
                message,
                "make it faster, narrow its matcher, or let it run with `async: true`",
            ));
        }
        findings
    }
}

fn compute_current(index: &JournalIndex, hooks: &[KnownHook]) -> Vec<HookFigures> {
    let is_current =
        |name: &str, hash: &str| hooks.iter().any(|hook| hook.name == name && hook.hash == hash);
    let runs = index.runs().filter(|run| is_current(run.hook, run.hash));
    figures::compute(runs, index.answers(), hooks).hooks
}
