//! The start and the end of a session, the user's messages, and compactions.

use serde_json::json;
use tenter_engine::catalog::Status;
use tenter_engine::configuration::Reaction;
use tenter_engine::{DecisionKind, Denial, MessageDecision, StartDecision};
use tenter_protocol::event::{CompactTrigger, Compaction, ExitReason, SessionEnd, SessionStart};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object, Severity};

use super::{Visit, attributed, reason};
use crate::host::Support;
use crate::occurrence::Detail;
use crate::reply::Verdict;
use crate::state::{StateDir, digest};

impl Visit<'_> {
    /// Runs the hooks of `session_start`, at the first event of the session (B46).
    pub(super) fn open(&mut self) {
        let (source, model) = match &self.occurrence.detail {
            Detail::SessionStart { source, model } => (source.clone(), model.clone()),
            // A subagent's events and the end start nothing.
            Detail::SessionEnd { .. } | Detail::StopFailure { .. } => return,
            _ => (None, None),
        };
        let is_native = matches!(self.occurrence.detail, Detail::SessionStart { .. });
        let state = self.session.get();
        let is_late = is_native && state.opened_early;
        if (state.opened && !is_native) || is_late {
            if is_late {
                self.session.update(|state| state.opened_early = false);
            }
            return;
        }
        let guards = self.guards();
        let (project, now) = (self.engine.project().to_owned(), self.engine.now().as_second());
        self.session.update(|state| {
            state.project.get_or_insert(project);
            state.opened = true;
            state.opened_early = !is_native;
            state.opened_at = now;
            state.blocked = None;
            state.guards = guards;
        });
        self.run_session_start(source.as_deref(), model.as_deref());
        self.report_hooks();
        let states = StateDir::new(&self.visitor.directories.state);
        states.sweep(self.engine.now().into());
    }

    fn run_session_start(&mut self, source: Option<&str>, model: Option<&str>) {
        if !self.has_hooks(EventName::SessionStart) {
            return;
        }
        let start = self.start_event(source, model);
        let decision = self.hooks_of(None).session_start(start);
        match decision {
            StartDecision::Start { contexts } => {
                let texts: Vec<String> = contexts.iter().map(attributed).collect();
                if !texts.is_empty() {
                    self.session.update(|state| state.start_contexts.clone_from(&texts));
                }
                self.reply.contexts.extend(texts);
            }
            StartDecision::Deny(denial) => {
                let why = reason(denial.hook.as_deref(), &denial.reason);
                self.notice_once("blocked", || format!("this session is blocked. {why}"));
                self.session.update(|state| state.blocked = Some(why.clone()));
            }
        }
    }

    /// The event of a session that starts.
    pub(super) fn start_event(&self, source: Option<&str>, model: Option<&str>) -> SessionStart {
        let mut args = Object::new();
        args.insert("ui".to_owned(), json!(self.visitor.host.id));
        if let Some(source) = source {
            args.insert("source".to_owned(), json!(source));
        }
        SessionStart { model: model.map(str::to_owned), args }
    }

    /// Tells the user which hooks do not run. Names and counts only: the texts of untrusted hooks are not shown (B27).
    fn report_hooks(&mut self) {
        let catalog = self.engine.catalog();
        let names: Vec<&str> = catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
        if !names.is_empty() {
            let list = super::plain(&names.join(", "));
            let which = match names.len() {
                1 => "1 hook of this project is not trusted and does not run".to_owned(),
                count => format!("{count} hooks of this project are not trusted and do not run"),
            };
            let text =
                format!("{which}: {list}. Run `tenter trust` in a terminal to look at them.");
            self.notice_once("untrusted", || text);
        }
        let lost: Vec<&str> = catalog.lost().iter().map(|lost| lost.name.as_str()).collect();
        if !lost.is_empty() {
            let list = super::plain(&lost.join(", "));
            self.notice_once("lost", || {
                format!("trusted hooks of this project do not run any more: {list}. Run `tenter trust` in a terminal to look at them.")
            });
        }
        let is_broken = |status: &Status| matches!(status, Status::Invalid { .. });
        let problems = catalog.listing().iter().filter(|listed| is_broken(&listed.status)).count();
        let errors =
            self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
        if problems.max(errors) > 0 {
            self.notice_once("problems", || {
                "some hooks cannot run. `tenter hooks doctor` says why.".to_owned()
            });
        }
    }

    /// What the model read at the session's start is given again, without running hooks (B20).
    pub(super) fn context_lost(&mut self) {
        // They are there already if this very event opened the session.
        if self.reply.contexts.is_empty() {
            self.reply.contexts.clone_from(&self.session.get().start_contexts);
        }
    }

    pub(super) fn prompt(&mut self, text: &str, id: Option<&str>) {
        if !self.is_new_message(text, id) {
            return;
        }
        if self.is_blocked() || self.lacks_guard() {
            return;
        }
        let decision = self.hooks().before_agent(text);
        match decision {
            MessageDecision::Deny(denial) => self.deny(&denial),
            MessageDecision::Send { message, contexts } => {
                self.add_contexts(&contexts);
                if message != text {
                    self.rewrite_message(message);
                }
            }
        }
    }

    /// Whether the user, or the caller of a subagent, sends a message that no hook has seen yet (B13).
    fn is_new_message(&mut self, text: &str, id: Option<&str>) -> bool {
        let state = self.session.get();
        let injected = digest(&[text]);
        if (id.is_some() && state.prompt.as_deref() == id)
            || state.injected.as_ref() == Some(&injected)
        {
            return false;
        }
        let is_main = self.occurrence.agent.is_none();
        let is_counting = !state.continuations.is_empty() || !state.demands.is_empty();
        if (is_main && is_counting) || id.is_some() {
            self.session.update(|state| {
                state.prompt = id.map(str::to_owned);
                if is_main {
                    state.start_message();
                }
            });
        }
        true
    }

    /// Denies what is about to happen in a session that must not continue; returns whether it is one.
    pub(super) fn is_blocked(&mut self) -> bool {
        let Some(why) = self.blocked() else { return false };
        self.reply.verdict = Some(Verdict::Deny(why));
        true
    }

    fn blocked(&self) -> Option<String> {
        let (state, settings) = (self.session.get(), &self.configuration.bridge);
        if let Some(why) = &state.blocked {
            return Some(format!("this session is blocked. {why}"));
        }
        if state.breached && settings.on_breach == Reaction::Block {
            let host = self.visitor.host.name;
            return Some(format!(
                "{host} ran a call that a hook had denied, so this session is blocked (`bridge.on_breach`)"
            ));
        }
        let has_untrusted = !self.engine.catalog().untrusted().is_empty();
        (has_untrusted && settings.untrusted == Reaction::Block).then(|| {
            "hooks of this project are not trusted (`bridge.untrusted`); the user can look at them with `tenter trust` in a terminal".to_owned()
        })
    }

    fn rewrite_message(&mut self, message: String) {
        let support = self.visitor.host.support(EventName::BeforeAgent, Power::RewriteMessage);
        match support {
            Support::Native => self.reply.message = Some(message),
            _ => self.cannot_rewrite_message(&message),
        }
    }

    /// The host sends the user's own text. A hook that fails closed must not be ignored, so its message is rejected, and the
    /// user reads what the hook made of it (B18).
    fn cannot_rewrite_message(&mut self, rewritten: &str) {
        let (host, event) = (self.visitor.host.name, EventName::BeforeAgent);
        let hook = self.runs.last_with(event, DecisionKind::Rewrite).unwrap_or_default();
        if self.fails_closed(&hook) {
            let text = format!(
                "hook {hook}: it changed the message, and {host} cannot send the changed text. Send this instead:\n{}",
                super::plain(rewritten)
            );
            self.reply.verdict = Some(Verdict::Deny(text));
            return;
        }
        self.notice_once(&format!("message {hook}"), || {
            format!("the hook {hook} changed a message, but {host} cannot send the changed text; the original is sent.")
        });
    }

    pub(super) fn fails_closed(&self, hook: &str) -> bool {
        let catalog = self.engine.catalog();
        let found = catalog.hooks().iter().find(|known| known.name == hook);
        found.is_some_and(|hook| hook.policy.fail == tenter_engine::hook::FailMode::Closed)
    }

    pub(super) fn pre_compact(&mut self, trigger: CompactTrigger) {
        if self.lacks_guard() {
            return;
        }
        let decision = self.hooks().pre_compact(compaction(trigger));
        match decision {
            StartDecision::Start { contexts } => self.add_contexts(&contexts),
            StartDecision::Deny(denial) => self.deny_compaction(&denial),
        }
    }

    fn deny_compaction(&mut self, denial: &Denial) {
        let host = self.visitor.host;
        if host.support(EventName::PreCompact, Power::Block) != Support::Unsupported {
            return self.deny(denial);
        }
        let hook = denial.hook.clone().unwrap_or_default();
        self.notice_once(&format!("compaction {hook}"), || {
            format!("the hook {hook} wants to prevent a compaction, which {} does not allow; it takes place.", host.name)
        });
        self.add_contexts(&denial.contexts);
    }

    pub(super) fn post_compact(&mut self, trigger: CompactTrigger) {
        let feedback = self.hooks().post_compact(compaction(trigger));
        self.add_contexts(&feedback.into_messages());
    }

    /// The event of a session that ends.
    pub(super) fn end_event(&self, reason: Option<&str>) -> SessionEnd {
        let state = self.session.get();
        let seconds = self.engine.now().as_second().saturating_sub(state.opened_at);
        let is_known = state.opened && self.session.trouble().is_none();
        let exit = match reason {
            Some("clear" | "logout" | "prompt_input_exit") => ExitReason::UserExit,
            _ => ExitReason::Done,
        };
        let duration_seconds = seconds.try_into().ok().filter(|_| is_known);
        SessionEnd { duration_seconds, total_steps: None, exit_reason: exit }
    }

    pub(super) fn session_end(&mut self, reason: Option<&str>) {
        let end = self.end_event(reason);
        let _ = self.hooks_of(None).session_end(end);
        self.session.update(|state| (state.opened, state.opened_early) = (false, false));
    }
}

/// A compaction of a history whose size is not known.
pub(super) fn compaction(trigger: CompactTrigger) -> Compaction {
    Compaction { trigger, tokens_before: None, tokens_after: None }
}
