//! Subagents: they run in the same process, under the same hooks, with their own conversation (R51).

use std::sync::Arc;

use tenter_base::lock;
use tenter_engine::StartDecision;
use tenter_protocol::event::{Subagent, TurnUsage, Usage};

use super::{Session, Status, UserMessage};
use crate::conversation::{Conversation, Spent};
use crate::tools::{SubagentAnswer, SubagentError, Subagents};

impl Subagents for Session<'_> {
    fn run(&self, subagent: &Subagent) -> Result<SubagentAnswer, SubagentError> {
        match self.hooks().subagent_start(subagent.clone()) {
            StartDecision::Start { .. } => {}
            StartDecision::Deny(denial) if denial.is_cancelled() => {
                return Err(SubagentError::Failed(denial.reason));
            }
            StartDecision::Deny(denial) => {
                self.report_denial(Some(&denial));
                return Err(SubagentError::Blocked(denial.reason));
            }
        }
        let id = crate::store::new_conversation_id(self.agent.engine.now());
        let conversation = Conversation::new(
            id.clone(),
            Some(self.conversation.id().to_owned()),
            self.agent.engine.project(),
            self.agent.model.name(),
        );
        let mut child = Session {
            workspace: Arc::new(self.workspace.for_another_conversation()),
            parent_messages: Some(self.conversation.messages()),
            ..Session::new(self.agent, conversation, self.cancel().clone())
        };
        let finish = child.send(&UserMessage::from(subagent.task.as_str()));
        let late = child.end_late_recipes();
        self.account(&child);
        let now = self.now();
        let result = late.and_then(|()| {
            let status = finish.status.as_str();
            Ok(child.conversation.set_status(&self.agent.store, status, &now)?)
        });
        let response = self.after_subagent(subagent, finish.response);
        if let Err(error) = result {
            return Err(SubagentError::Failed(error.to_string()));
        }
        let refusal = finish.denial.map_or_else(
            || "a hook denied the task".to_owned(),
            |denial| format!("{} (the hook {} denied the task)", denial.reason, denial.hook),
        );
        match (finish.status, finish.error) {
            (Status::Done, _) => Ok(SubagentAnswer { response, conversation_id: id }),
            (_, Some(error)) => Err(SubagentError::Failed(error.to_string())),
            (Status::Blocked, None) => Err(SubagentError::Blocked(refusal)),
            (Status::MaxTurns, None) => {
                Err(SubagentError::Failed("it reached the turn limit".to_owned()))
            }
            (Status::Failed | Status::Interrupted, None) => {
                Err(SubagentError::Failed("interrupted".to_owned()))
            }
        }
    }
}

impl Session<'_> {
    /// Fires `subagent_stop`. The feedback of hooks is appended to the response, so that the parent's model reads it (R29).
    fn after_subagent(&self, subagent: &Subagent, response: String) -> String {
        let feedback = self.hooks().subagent_stop(subagent.clone(), response.clone());
        self.report_denial(feedback.denial.as_ref());
        feedback.into_messages().into_iter().fold(response, |response, message| {
            let block = self.context_block(&message.hook, &message.value);
            format!("{response}\n\n{}", block.content())
        })
    }

    /// Adds a subagent's usage to its parent's (R58).
    fn account(&self, child: &Session) {
        let Usage { input_tokens, output_tokens, cost_usd, .. } = *child.usage();
        let turn = TurnUsage { input_tokens, output_tokens, ..TurnUsage::default() };
        lock(&self.subagents_spent).add(Spent { turn, cost_usd });
    }

    /// Returns the usage of subagents since the last call.
    pub(super) fn take_subagents_spent(&self) -> Spent {
        std::mem::take(&mut *lock(&self.subagents_spent))
    }
}
