//! The start and the end of a session, the user's messages, and compactions.

use serde_json::json;
use tenter_base::{format_count, search_path};
use tenter_engine::configuration::Reaction;
use tenter_engine::inspect::Status;
use tenter_engine::journal::Seals;
use tenter_engine::{DecisionKind, Denial, MessageDecision, StartDecision};
use tenter_protocol::event::{self, ExitReason, SessionEnd, SessionStart};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, Object, Severity};

use super::guards::guards;
use super::{Visit, attributed, reason};
use crate::digest::digest;
use crate::host::{HostVersion, Moment, RegistrationScope, Support};
use crate::occurrence::{Compaction, Detail};
use crate::packaged_version;
use crate::registration::Registry;
use crate::reply::HostVerdict;
use crate::state::{RewrittenMessage, StateDir};

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
        if self.session.get().opened && !is_native {
            return;
        }
        let guards = guards(&self.engine.catalog());
        let (project, now) = (self.engine.project().to_owned(), self.engine.now().as_second());
        // Some hosts fire the start and the first message at the same time.
        let is_first = self.session.update(|state| {
            let is_late = is_native && state.opened_early;
            if is_late || (state.opened && !is_native) {
                state.opened_early &= !is_late;
                return false;
            }
            state.project.get_or_insert(project);
            state.opened = true;
            state.opened_early = !is_native;
            state.opened_at = now;
            state.blocked = None;
            state.guards = guards;
            state.has_more_guards = false;
            true
        });
        if !is_first {
            return;
        }
        self.run_session_start(source.as_deref(), model.as_deref());
        self.report_hooks();
        self.report_update();
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
                    self.session.update(|state| state.work.start_contexts.clone_from(&texts));
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

    /// Returns the event of a session that starts.
    pub(super) fn start_event(&self, source: Option<&str>, model: Option<&str>) -> SessionStart {
        let mut args = Object::new();
        args.insert("ui".to_owned(), json!(self.visitor.host.id));
        if let Some(source) = source {
            args.insert("source".to_owned(), json!(source));
        }
        SessionStart { model: model.map(str::to_owned), args }
    }

    /// Notifies the user of hooks that do not run, by names and counts only: the texts of untrusted hooks are not shown (B27).
    fn report_hooks(&mut self) {
        let catalog = self.engine.catalog();
        let names: Vec<&str> = catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
        if !names.is_empty() {
            let list = super::plain(&names.join(", "));
            let which = format_count(
                names.len(),
                "hook of this project is not trusted and does not run",
                "hooks of this project are not trusted and do not run",
            );
            let text =
                format!("{which}: {list}. Run `tenter trust` in a terminal to look at them.");
            self.notice_once("untrusted", || text);
        }
        let names: Vec<&str> = catalog.lost().iter().map(|names| names.name.as_str()).collect();
        if !names.is_empty() {
            let list = super::plain(&names.join(", "));
            self.notice_once("lost", || {
                format!("trusted hooks of this project do not run any more: {list}. Run `tenter trust` in a terminal to look at them.")
            });
        }
        let is_broken = |status: &Status| matches!(status, Status::Invalid { .. });
        let problems = catalog.listing().iter().filter(|hook| is_broken(&hook.status)).count();
        let errors = self.diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
        if problems.max(errors) > 0 {
            self.notice_once("problems", || {
                "some hooks cannot run. `tenter hooks doctor` says why.".to_owned()
            });
        }
    }

    /// Notifies the user of an update of the host to a version with other events.
    fn report_update(&mut self) {
        let (host, directories) = (self.visitor.host, &self.visitor.directories);
        if host.registration.oldest == HostVersion::EARLIEST {
            return;
        }
        let parse = |text: Option<String>| HostVersion::parse(&text?);
        let programs = host.registration.programs.iter();
        let mut programs =
            programs.filter_map(|name| search_path::program(name, &self.visitor.vars));
        let Some(version) = parse(programs.find_map(|program| packaged_version(&program))) else {
            return;
        };
        let records = Registry::in_home(&directories.home).records_of(host);
        let user = records.into_iter().find(|record| record.scope == RegistrationScope::User);
        let Some(registered) = parse(user.and_then(|record| record.version)) else { return };
        if host.events_of(version).eq(host.events_of(registered)) {
            return;
        }
        self.notice_once("update", || {
            format!(
                "{name} is {version} now; hooks are registered for {registered}. Run `tenter bridge install {id}` in a terminal to register for the new version.",
                name = host.name,
                id = host.id,
            )
        });
    }

    /// Gives the model the contexts of the session's start again, without running hooks (B20).
    pub(super) fn context_lost(&mut self) {
        // They are there already if this very event opened the session.
        if self.reply.contexts.is_empty() {
            self.reply.contexts.clone_from(&self.session.get().work.start_contexts);
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
                    self.rewrite_message(text, message);
                }
            }
        }
        if let Some(id) = id
            && self.reply.denial().is_none()
        {
            self.session.update(|state| state.passed = Some(digest(&[id, text])));
        }
    }

    /// Returns whether hooks must see the message (B13). They do not see a message that passed and that the host shows again, nor the text
    /// with which they made the agent continue. The id of a message is not enough: another text may have it.
    fn is_new_message(&mut self, text: &str, id: Option<&str>) -> bool {
        let state = self.session.get();
        let has_passed = |id: &str| state.passed.as_deref() == Some(digest(&[id, text]).as_str());
        if id.is_some_and(has_passed) {
            return false;
        }
        if state.injected.as_deref() == Some(digest(&[text]).as_str()) {
            // Once: the same text may come from the user later.
            self.session.update(|state| state.injected = None);
            return false;
        }
        let is_main = self.occurrence.agent.is_none();
        let is_counting = !state.continuations.is_empty() || !state.demands.is_empty();
        let is_next = id.is_none() || state.prompt.as_deref() != id;
        if is_next && (id.is_some() || (is_main && is_counting)) {
            self.session.update(|state| {
                state.prompt = id.map(str::to_owned);
                if is_main {
                    state.start_message();
                }
            });
        }
        true
    }

    /// Denies the action that follows in a session that must not continue. Returns whether the session is blocked.
    pub(super) fn is_blocked(&mut self) -> bool {
        let Some(why) = self.blocked() else { return false };
        self.reply.verdict = Some(HostVerdict::Deny(why));
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

    fn rewrite_message(&mut self, original: &str, message: String) {
        let support = self.visitor.host.support(EventName::BeforeAgent, Power::RewriteMessage);
        match support {
            Support::Native if self.is_sent_later() => self.rewrite_later(original, &message),
            Support::Native => self.reply.message = Some(message),
            _ => self.cannot_rewrite_message(&message),
        }
    }

    /// Returns whether the host has an event of its own for the text that the model reads of a message.
    fn is_sent_later(&self) -> bool {
        self.visitor.host.events.iter().any(|event| event.moment == Moment::PromptSent)
    }

    fn rewrite_later(&mut self, original: &str, message: &str) {
        let agent = self.agent_id().unwrap_or_default();
        let rewrite = RewrittenMessage { original: digest(&[original]), text: message.to_owned() };
        self.session.update(|state| state.work.messages.insert(agent.clone(), rewrite));
        let is_kept = self.session.get().work.messages.contains_key(&agent);
        if self.session.error().is_some() || !is_kept {
            self.cannot_rewrite_message(message);
        }
    }

    /// Replaces the message `text` in `sent_text`, the text for the model, if hooks changed the message.
    pub(super) fn prompt_sent(&mut self, text: &str, sent_text: &str) {
        let agent = self.agent_id().unwrap_or_default();
        let digest = digest(&[text]);
        let is_changed = |rewrite: &RewrittenMessage| rewrite.original == digest;
        if !self.session.get().work.messages.get(&agent).is_some_and(is_changed) {
            return;
        }
        let rewrite = self.session.update(|state| state.work.messages.remove(&agent));
        self.reply.message = rewrite.map(|message| replaced(sent_text, text, &message.text));
    }

    /// Handles a changed message that the host cannot send. If the hook fails closed, the message is rejected, and the user reads the
    /// changed text; otherwise the original is sent (B18).
    fn cannot_rewrite_message(&mut self, rewrite: &str) {
        let (host, event) = (self.visitor.host.name, EventName::BeforeAgent);
        let hook = self.runs.last_with(event, DecisionKind::Rewrite).unwrap_or_default();
        if self.fails_closed(&hook) {
            let text = format!(
                "hook {hook}: it changed the message, and {host} cannot send the changed text. Send this instead:\n{}",
                super::plain(rewrite)
            );
            self.reply.verdict = Some(HostVerdict::Deny(text));
            return;
        }
        self.notice_once(&format!("message {hook}"), || {
            format!("the hook {hook} changed a message, but {host} cannot send the changed text; the original is sent.")
        });
    }

    pub(super) fn fails_closed(&self, hook: &str) -> bool {
        let catalog = self.engine.catalog();
        let hook = catalog.hooks().iter().find(|one| one.name == hook);
        hook.is_some_and(|hook| hook.policy.fail == tenter_engine::FailMode::Closed)
    }

    pub(super) fn pre_compact(&mut self, compaction: Compaction) {
        if self.lacks_guard() {
            return;
        }
        let decision = self.hooks().pre_compact(compaction.before());
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

    pub(super) fn post_compact(&mut self, compaction: Compaction) {
        let feedback = self.hooks().post_compact(compaction.after());
        self.add_contexts(&feedback.into_messages());
    }

    /// Returns the event of a session that ends.
    pub(super) fn end_event(&self, reason: Option<&str>) -> SessionEnd {
        let state = self.session.get();
        let seconds = self.engine.now().as_second().saturating_sub(state.opened_at);
        let is_known = state.opened && self.session.error().is_none();
        let exit = match reason {
            Some("clear" | "logout" | "prompt_input_exit") => ExitReason::UserExit,
            _ => ExitReason::Done,
        };
        let duration_seconds = seconds.try_into().ok().filter(|_| is_known);
        SessionEnd { duration_seconds, total_steps: None, exit_reason: exit }
    }

    /// Seals the journal of this session, and deletes journals that are older or larger than they may be (M5, M6).
    fn seal_journal(&mut self) {
        let seals = Seals::from_directory(&self.visitor.directories.state.join("journal"));
        let now = (self.visitor.clock)();
        let conversation = self.hooks_of(None).scope().conversation_id.clone();
        let seal_result = seals.seal(Some(&conversation), now);
        let result = seal_result.and_then(|_| seals.prune(self.configuration.retention, now));
        if let Err(error) = result {
            self.warnings.push(format!("the journal could not be sealed: {error}"));
        }
    }

    pub(super) fn session_end(&mut self, reason: Option<&str>) {
        let end = self.end_event(reason);
        let _ = self.hooks_of(None).session_end(end);
        self.seal_journal();
        self.session.update(|state| (state.opened, state.opened_early) = (false, false));
    }
}

impl Compaction {
    /// Returns the event before it.
    pub(super) fn before(self) -> event::Compaction {
        let Self { trigger, tokens } = self;
        event::Compaction { trigger, tokens_before: tokens, tokens_after: None }
    }

    /// Returns the event after it.
    pub(super) fn after(self) -> event::Compaction {
        let Self { trigger, tokens } = self;
        event::Compaction { trigger, tokens_before: None, tokens_after: tokens }
    }
}

/// Replaces the paragraphs of `sent_text` that are the message `text` by `new`. Without such a paragraph, the result is `new` alone.
fn replaced(sent_text: &str, text: &str, new: &str) -> String {
    const BREAK: &str = "\n\n";
    let mut rest = sent_text;
    let mut output = String::new();
    let mut is_found = false;
    while let Some(at) = rest.find(text).filter(|_| !text.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + text.len()..]);
        let starts = before.is_empty() && output.is_empty() || before.ends_with(BREAK);
        let is_paragraph = starts && (after.is_empty() || after.starts_with(BREAK));
        output.push_str(before);
        output.push_str(if is_paragraph { new } else { text });
        is_found |= is_paragraph;
        rest = after;
    }
    if is_found { output + rest } else { new.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn a_message_is_replaced_in_what_the_host_adds_to_it() {
        for (sent, text, expected) in [
            ("<date>2026</date>\n\n2026", "2026", "<date>2026</date>\n\nX"),
            (
                "<date/>\n\nask\n\n<context>ask</context>",
                "ask",
                "<date/>\n\nX\n\n<context>ask</context>",
            ),
            ("ask", "ask", "X"),
            ("<date/> ask again", "ask", "X"),
            ("something else", "ask", "X"),
            ("", "", "X"),
        ] {
            assert_eq!(replaced(sent, text, "X"), expected, "{sent}");
        }
    }
}
