//! From a user message to the stop: `before_agent`, then turn after turn, then `before_stop` and `after_agent`.

use std::collections::BTreeSet;

use tenter_engine::{Attributed, MessageDecision, StopReview};
use tenter_protocol::event::{StopAttempt, StopReason, Turn};
use tenter_protocol::{Block, Diagnostic, Image, Message, Role, Severity};

use super::response::{assistant_message, bound, finding, requested_calls};
use super::{AgentError, DeniedByHook, Finish, Session, Status, UserMessage};
use crate::model::{ModelError, Response, ResponseBlock};
use crate::store::Origin;
use crate::watch::SessionUpdate;

/// The note to the model in plan mode.
const PLAN_NOTE: &str = "Plan mode is on: no call that changes something is allowed until the user approves a plan. Read what you need, \
                         then describe what you would change, step by step, and stop.";

/// The state of the loop that answers one user message.
#[derive(Debug, Default)]
struct Progress {
    /// Number of model responses so far (R6).
    turns: u64,
    /// Number of continuations in a row that hooks have forced (R34).
    continuations: u32,
    /// All of the last tool calls were denied.
    rejected: bool,
    /// The text of the last response.
    response: String,
    /// Ids of the diagnostics that were reported: repeated empty responses are reported once.
    reported_ids: BTreeSet<&'static str>,
}

impl Session<'_> {
    /// Answers one user message. Everything is reported to the watcher and in the returned [`Finish`]; what was done
    /// before a failure or an interruption is saved.
    pub fn send(&mut self, message: &UserMessage) -> Finish {
        if self.conversation.parent().is_none() {
            self.agent.permissions.forget_refused_writes();
        }
        let mut progress = Progress::default();
        let mut denial = None;
        let result = self.accept(message).and_then(|refusal| {
            denial = refusal;
            if denial.is_none() { self.answer(&mut progress) } else { Ok(Status::Blocked) }
        });
        let (status, error) = match result {
            Ok(status) => (status, None),
            Err(error) => (error.status(), Some(error)),
        };
        if status != Status::Blocked
            && let Err(unsaved) = self.after_agent(&progress.response)
            && !matches!(error, Some(AgentError::Store(_)))
        {
            // A store error was already reported; this is the same one again.
            self.diagnose(&unsaved.diagnostic());
        }
        Finish {
            status,
            response: progress.response,
            error: error.filter(|_| status == Status::Failed),
            denial,
        }
    }

    /// Fires `before_agent`: a denied message leaves no trace in the conversation (R29). Returns the refusal, if there is one.
    fn accept(&mut self, message: &UserMessage) -> Result<Option<DeniedByHook>, AgentError> {
        let (text, contexts) = match self.hooks().before_agent(message.text.as_str()) {
            MessageDecision::Send { message, contexts } => (message, contexts),
            MessageDecision::Deny(denial) if denial.is_cancelled() => {
                return Err(ModelError::Cancelled.into());
            }
            MessageDecision::Deny(denial) => {
                self.report_denial(Some(&denial));
                return Ok(Some(DeniedByHook::from(denial)));
            }
        };
        let contexts = std::mem::take(&mut self.pending_context).into_iter().chain(contexts);
        // Models work best if an image precedes the text about it.
        let mut blocks = message.images.clone();
        blocks.push(Block::text(text));
        let note = |note: &String| Block::text(self.sections.section("note", &[], note));
        blocks.extend(message.notes.iter().map(note));
        if self.agent.permissions.is_planning() {
            blocks.push(note(&PLAN_NOTE.to_owned()));
        }
        blocks.extend(contexts.map(|context| self.context_block(&context.hook, &context.value)));
        self.conversation.push(Message::new(Role::User, blocks), Origin::User);
        self.save()?;
        Ok(None)
    }

    fn answer(&mut self, progress: &mut Progress) -> Result<Status, AgentError> {
        loop {
            if self.cancel().is_cancelled() {
                return Ok(Status::Interrupted);
            }
            if self.agent.settings.max_turns.is_some_and(|limit| progress.turns >= limit) {
                self.stop_at_limit(progress)?;
                return Ok(Status::MaxTurns);
            }
            let tools_used = self.turn(progress)?;
            if self.cancel().is_cancelled() {
                return Ok(Status::Interrupted);
            }
            self.after_turn(progress, tools_used)?;
            if tools_used {
                progress.continuations = 0;
            } else if !self.before_stop(progress)? {
                // Hooks that were cancelled cannot make the agent continue.
                let is_cancelled = self.cancel().is_cancelled();
                return Ok(if is_cancelled { Status::Interrupted } else { Status::Done });
            }
        }
    }

    /// Runs one turn: a model response and its tool calls, saved together, so that the store never has a call without its result.
    /// Returns whether there were calls.
    fn turn(&mut self, progress: &mut Progress) -> Result<bool, AgentError> {
        self.deliver_late_replies()?;
        self.renew_tools();
        progress.turns += 1;
        self.steps += 1;
        let response = bound(self.request_response()?);
        progress.response = response.text();
        self.notify_response(&response, progress);
        let calls = requested_calls(&response);
        let reports = self.run_calls(&calls);
        self.conversation.push(assistant_message(response), Origin::Model);
        if !reports.is_empty() {
            progress.rejected = reports.iter().all(|report| report.result.is_blocked());
            let results = calls.iter().zip(&reports).map(|(call, report)| Block::ToolResult {
                call_id: call.id().to_owned(),
                result: report.result.clone(),
            });
            let contexts = reports.iter().flat_map(|report| &report.contexts);
            let contexts =
                contexts.map(|context| self.context_block(&context.hook, &context.value));
            let images = reports.iter().flat_map(|report| Image::all_of(&report.result));
            let blocks = results.chain(images.map(Block::Image)).chain(contexts);
            let message = Message::new(Role::User, blocks.collect());
            self.conversation.push(message, Origin::Tools);
        }
        self.conversation.add_subagent_usage(self.take_subagents_spent());
        self.save()?;
        self.notify(&SessionUpdate::Usage(self.usage()));
        Ok(!reports.is_empty())
    }

    fn notify_response(&self, response: &Response, progress: &mut Progress) {
        for block in &response.blocks {
            if let ResponseBlock::Content(Block::Reasoning { text }) = block {
                self.notify(&SessionUpdate::Reasoning(text));
            }
        }
        if !progress.response.is_empty() {
            self.notify(&SessionUpdate::Text(&progress.response));
        }
        if let Some(finding) = finding(response)
            && progress.reported_ids.insert(finding.id)
        {
            self.diagnose(&finding);
        }
    }

    fn after_turn(&mut self, progress: &Progress, tools_used: bool) -> Result<(), AgentError> {
        let review = self.hooks().after_turn(Turn {
            turn_number: Some(progress.turns),
            session_turn: Some(self.conversation.turns()),
            tools_used,
            usage: Some(*self.usage()),
            auto_compact: self.agent.settings.auto_compact,
            response: progress.response.clone(),
            messages: Some(self.conversation.messages()),
        });
        self.apply_history(&review.history)?;
        self.report_denial(review.feedback.denial.as_ref());
        // A denial cannot undo the turn, but the model reads the reason (R29).
        self.add_context(review.feedback.into_messages())
    }

    /// Fires `before_stop`; returns whether a hook makes the agent continue.
    fn before_stop(&mut self, progress: &mut Progress) -> Result<bool, AgentError> {
        let reason =
            if progress.rejected { StopReason::ToolRejected } else { StopReason::NoToolCalls };
        let review = self.review_stop(progress, reason);
        self.report_denial(review.denial.as_ref());
        self.apply_history(&review.history)?;
        let Some(first) = review.follow_ups.first() else {
            // The model reads it with the next user message, possibly in another process.
            self.add_context(review.contexts)?;
            return Ok(false);
        };
        if progress.continuations >= self.agent.settings.max_continuations {
            self.diagnose(&stop_loop(&first.hook, progress.continuations));
            self.add_context(review.contexts)?;
            return Ok(false);
        }
        progress.continuations += 1;
        progress.rejected = false;
        self.follow_up(review)?;
        Ok(true)
    }

    /// Fires `before_stop` at the turn limit. Follow-ups are ignored and reported (R35, R65).
    fn stop_at_limit(&mut self, progress: &Progress) -> Result<(), AgentError> {
        let review = self.review_stop(progress, StopReason::TurnLimit);
        for follow_up in &review.follow_ups {
            self.diagnose_once(&limit_reached(&follow_up.hook));
        }
        self.apply_history(&review.history)?;
        self.add_context(review.contexts)
    }

    fn review_stop(&self, progress: &Progress, reason: StopReason) -> StopReview {
        self.hooks().before_stop(StopAttempt {
            reason,
            step_count: Some(progress.turns),
            usage: Some(*self.usage()),
            auto_compact: self.agent.settings.auto_compact,
            response: progress.response.clone(),
            messages: Some(self.conversation.messages()),
            continuation_count: progress.continuations,
        })
    }

    /// Adds the follow-ups of all hooks in order, each as its own user message (R31).
    fn follow_up(&mut self, review: StopReview) -> Result<(), AgentError> {
        for follow_up in &review.follow_ups {
            self.notify(&SessionUpdate::FollowUp { hook: &follow_up.hook, text: &follow_up.value });
            self.conversation
                .push(Message::user(&follow_up.value), Origin::Hook(follow_up.hook.clone()));
        }
        self.add_context(review.contexts)?;
        self.save()
    }

    /// Adds text from hooks for the model, each as its own user message.
    pub(super) fn add_context(
        &mut self,
        contexts: Vec<Attributed<String>>,
    ) -> Result<(), AgentError> {
        for context in contexts {
            let blocks = vec![self.context_block(&context.hook, &context.value)];
            self.conversation.push(Message::new(Role::User, blocks), Origin::Hook(context.hook));
        }
        self.save()
    }

    /// Fires `after_agent`, also after errors and interruptions (R35). Text from hooks is added to the next user message.
    fn after_agent(&mut self, response: &str) -> Result<(), AgentError> {
        let feedback = self.hooks().after_agent(response);
        self.report_denial(feedback.denial.as_ref());
        self.add_context(feedback.into_messages())
    }

    /// Marks text from a hook for the model.
    pub(super) fn context_block(&self, hook: &str, text: &str) -> Block {
        Block::text(self.sections.section("hook", &[("name", hook)], text))
    }

    /// Saves new messages and usage.
    pub(super) fn save(&mut self) -> Result<(), AgentError> {
        self.account_completions();
        let now = self.now();
        self.conversation.save(&self.agent.store, &now)?;
        Ok(())
    }
}

fn limit_reached(hook: &str) -> Diagnostic {
    let message = format!(
        "the hook {hook} requested a continuation, which is ignored: the turn limit is reached"
    );
    Diagnostic::new("follow-up-ignored", Severity::Warning, message)
        .help("raise the limit with --max-turns, or continue with `tenter run --follow`")
}

fn stop_loop(hook: &str, continuations: u32) -> Diagnostic {
    Diagnostic::new(
        "stop-loop",
        Severity::Warning,
        format!("the hook {hook} made the agent continue {continuations} times in a row, which is the limit; the agent stops"),
    )
    .help("the hook should check `stop_hook_active` or `continuation_count` in its payload, and let the agent stop")
}
