//! What asynchronous hooks ask for, once their answers come: text for the model, and recipes that run in a thread of their
//! own while the conversation continues. Both are delivered before a later turn and marked as late.
//!
//! A late recipe's answer never replaces the history, which has changed since the recipe was started.

use std::collections::BTreeMap;
use std::thread::{self, JoinHandle};

use tenter_engine::LateReply;
use tenter_proc::Cancel;
use tenter_protocol::{Block, Diagnostic, Message, Role, Severity};

use super::side::{SideAnswer, Wanted};
use super::{AgentError, Session};
use crate::store::Origin;
use crate::watch::Happening;

/// Late recipes that run at the same time, at most.
const AT_ONCE: usize = 4;

/// A recipe that an asynchronous hook called back.
pub(super) struct LateRun {
    hook: String,
    recipe: String,
    cancel: Cancel,
    thread: JoinHandle<SideAnswer>,
}

impl Session<'_> {
    /// Takes what has come since the last time into the conversation.
    pub(super) fn deliver_late(&mut self) -> Result<(), AgentError> {
        for late in self.hooks.take_late_replies() {
            self.take_late(late);
        }
        let (done, running): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late_runs)
            .into_iter()
            .partition(|run| run.thread.is_finished());
        self.late_runs = running;
        for run in done {
            self.finish_late(run);
        }
        self.save()
    }

    /// Ends what still runs, and keeps for the next session what hooks said to the end of this one. What of it comes to
    /// nothing is reported.
    pub(super) fn end_late(&mut self) -> Result<(), AgentError> {
        for run in &self.late_runs {
            run.cancel.cancel();
        }
        for run in std::mem::take(&mut self.late_runs) {
            self.finish_late(run);
        }
        for late in self.hooks.take_late_replies() {
            if let (Some(context), false) = (&late.context, self.conversation.messages().is_empty())
            {
                self.push_late(&late.hook, context);
            }
            if let Some((recipe, _)) = &late.callback {
                self.diagnose(&too_late(&late.hook, recipe));
            }
        }
        self.save()
    }

    fn take_late(&mut self, late: LateReply) {
        if let Some(context) = &late.context {
            self.push_late(&late.hook, context);
        }
        let Some((recipe, args)) = late.callback else { return };
        if self.is_tired(&recipe) {
            return;
        }
        if self.late_runs.len() >= AT_ONCE {
            return self.diagnose(&too_many(&late.hook, &recipe));
        }
        match self.start_late(&late.hook, &recipe, &args) {
            Ok(run) => self.late_runs.push(run),
            Err(reason) => self.late_failed(&late.hook, &recipe, &reason),
        }
    }

    fn late_failed(&mut self, hook: &str, recipe: &str, reason: &str) {
        let message = format!("the recipe {recipe}, which {hook} called back late: {reason}");
        self.callback_failed(recipe, &message, "the conversation continues without its answer");
    }

    fn start_late(
        &self,
        hook: &str,
        recipe: &str,
        args: &BTreeMap<String, String>,
    ) -> Result<LateRun, String> {
        let cancel = Cancel::new();
        let run = self.side_run(Wanted { recipe, args }, &cancel)?;
        self.tell(&Happening::Recipe { recipe, by: hook });
        let (hook, recipe) = (hook.to_owned(), recipe.to_owned());
        let thread = thread::Builder::new()
            .spawn(move || run.run())
            .map_err(|error| format!("no thread could be had for it: {error}"))?;
        Ok(LateRun { hook, recipe, cancel, thread })
    }

    fn finish_late(&mut self, run: LateRun) {
        let Ok(answer) = run.thread.join() else {
            return self.late_failed(&run.hook, &run.recipe, "it broke down");
        };
        self.conversation.add_side_usage(answer.spent);
        match answer.said {
            Ok(text) => {
                self.set_callback_failures(&run.recipe, 0);
                self.push_late(&run.hook, &text);
            }
            Err(_) if run.cancel.is_cancelled() => self.diagnose(&too_late(&run.hook, &run.recipe)),
            Err(reason) => self.late_failed(&run.hook, &run.recipe, &reason),
        }
    }

    fn push_late(&mut self, hook: &str, text: &str) {
        let text = self.agent.settings.keys.text(text);
        let text = self.sections.section("hook", &[("name", hook), ("late", "true")], &text);
        let message = Message::new(Role::User, vec![Block::text(text)]);
        self.conversation.push(message, Origin::Hook(hook.to_owned()));
    }
}

fn too_many(hook: &str, recipe: &str) -> Diagnostic {
    let message = format!(
        "the recipe {recipe}, which {hook} called back late, is not run: {AT_ONCE} of the kind run already"
    );
    Diagnostic::new("callback-dropped", Severity::Warning, message)
}

fn too_late(hook: &str, recipe: &str) -> Diagnostic {
    let message = format!(
        "the recipe {recipe}, which {hook} called back late, was not done when the session ended"
    );
    Diagnostic::new("callback-too-late", Severity::Warning, message)
}
