//! The services that runtime hooks request of a session (S7): a snapshot of the conversation, the model, and the user.

use std::sync::{Arc, Mutex};

use tenter_base::lock;
use tenter_engine::{HookSession, ServiceCaller, Services};
use tenter_proc::Cancel;
use tenter_protocol::Message;
use tenter_protocol::runtime::{
    Completion, CompletionRequest, HistoryQuery, HistoryResult, ModelChoice, Question,
    ServiceError, UserAnswer,
};

use super::{Agent, Session};
use crate::conversation::Spent;
use crate::model::completion::{self, Completed};
use crate::model::{Model, ModelError};
use crate::permission::{Asker, NoAnswer};

/// The services of a session, which are the same at all events.
pub(super) struct SessionServices {
    model: Arc<dyn Model>,
    weak_model: Option<Arc<dyn Model>>,
    asker: Arc<dyn Asker>,
    /// Tokens and cost of completions that are not yet added to the conversation.
    spent: Mutex<Spent>,
}

/// The services at one event, on the conversation as it is then.
struct EventServices {
    session: Arc<SessionServices>,
    conversation: String,
    messages: Arc<Vec<Message>>,
    /// The conversation that started this one, as it was then.
    parent: Option<Arc<Vec<Message>>>,
}

impl SessionServices {
    pub(super) fn new(agent: &Agent) -> Arc<Self> {
        Arc::new(Self {
            model: Arc::clone(&agent.model),
            weak_model: agent.weak_model.clone(),
            asker: Arc::clone(&agent.asker),
            spent: Mutex::default(),
        })
    }

    /// Returns the model that answers; without a weak one, the model of the conversation does.
    fn model(&self, choice: ModelChoice) -> &dyn Model {
        let weak = self.weak_model.as_ref().filter(|_| choice == ModelChoice::Weak);
        weak.unwrap_or(&self.model).as_ref()
    }
}

impl Services for EventServices {
    fn history(
        &self,
        _by: &ServiceCaller<'_>,
        query: &HistoryQuery,
    ) -> Result<HistoryResult, ServiceError> {
        let is_own = query.conv_id.as_ref().is_none_or(|id| *id == self.conversation);
        let messages = if is_own { Some(&self.messages) } else { self.parent.as_ref() };
        let messages = messages.ok_or_else(|| {
            ServiceError::Unsupported("the parent's conversation is not known here".to_owned())
        })?;
        Ok(HistoryResult { messages: messages.to_vec() })
    }

    fn complete(
        &self,
        _by: &ServiceCaller<'_>,
        request: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<Completion, ServiceError> {
        let model = self.session.model(request.model);
        let completion =
            completion::complete(model, request, cancel).map_err(|error| match error {
                ModelError::Cancelled => ServiceError::Cancelled,
                error => ServiceError::Failed(error.to_string()),
            })?;
        let Completed { completion, tokens: turn, cost_usd } = completion;
        let mut sum = lock(&self.session.spent);
        sum.add(Spent { turn, cost_usd });
        Ok(completion)
    }

    fn ask(
        &self,
        by: &ServiceCaller<'_>,
        question: &Question,
        cancel: &Cancel,
    ) -> Result<UserAnswer, ServiceError> {
        match self.session.asker.answer(by.hook, question, cancel) {
            Ok(answer) => Ok(UserAnswer { answer }),
            Err(NoAnswer::NoUser) => {
                Err(ServiceError::Unsupported("there is no user to ask".to_owned()))
            }
            Err(NoAnswer::Interrupted) => Err(ServiceError::Cancelled),
        }
    }
}

impl<'a> Session<'a> {
    /// Returns the hooks for one event. Their requests see the conversation as it is now.
    pub(super) fn hooks(&self) -> HookSession<'a> {
        let services = EventServices {
            session: Arc::clone(&self.services),
            conversation: self.conversation.id().to_owned(),
            messages: self.conversation.messages(),
            parent: self.parent_messages.clone(),
        };
        self.hooks.clone().with_services(Arc::new(services))
    }

    /// Adds what hooks spent on models to the conversation's usage. It is no part of the context, and no turn.
    pub(super) fn account_completions(&mut self) {
        let usage = std::mem::take(&mut *lock(&self.services.spent));
        if usage != Spent::default() {
            self.conversation.add_side_usage(usage);
        }
    }
}
