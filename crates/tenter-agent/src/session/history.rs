//! What hooks want done to the history: `mutate` and `callback` (R31, R32).

use tenter_engine::Attributed;
use tenter_protocol::{Diagnostic, HistoryAction, Message, Severity};

use super::{AgentError, Session};
use crate::store::ChangeKind;
use crate::watch::Happening;

impl Session<'_> {
    /// Applies the first hook's wish; the wishes that came too late are told.
    pub(super) fn apply_history(
        &mut self,
        action: Option<&Attributed<HistoryAction>>,
        overruled: &[String],
    ) -> Result<(), AgentError> {
        let Some(action) = action else { return Ok(()) };
        for hook in overruled {
            self.diagnose(&conflict(&action.hook, hook));
        }
        match &action.value {
            HistoryAction::Mutate(messages) => self.mutate(&action.hook, messages.clone()),
            HistoryAction::Callback { recipe, .. } => {
                self.diagnose(&no_such_recipe(&action.hook, recipe));
                Ok(())
            }
        }
    }

    fn mutate(&mut self, hook: &str, messages: Vec<Message>) -> Result<(), AgentError> {
        let before = self.conversation.messages().len();
        let after = messages.len();
        let now = self.now();
        self.conversation.replace(&self.agent.store, hook, messages, &now)?;
        // What the model read of the files is no longer in what it sees, so it must read them again before it edits.
        self.agent.workspace.forget_reads();
        self.tell(&Happening::History {
            kind: ChangeKind::Mutate.as_str(),
            by: hook,
            before,
            after,
        });
        Ok(())
    }
}

fn conflict(winner: &str, loser: &str) -> Diagnostic {
    let message = format!(
        "the hooks {winner} and {loser} both want to change the history; {winner} comes first and wins"
    );
    Diagnostic::new("history-conflict", Severity::Warning, message)
}

fn no_such_recipe(hook: &str, recipe: &str) -> Diagnostic {
    Diagnostic::new(
        "no-such-recipe",
        Severity::Warning,
        format!("the hook {hook} calls back the recipe {recipe:?}: no such recipe"),
    )
    .help("the conversation goes on unchanged")
}
