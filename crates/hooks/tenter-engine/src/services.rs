//! The services that a runtime hook may request while it decides (S7, S8).
//!
//! The embedding program provides the conversation, the model and the user ([`Services`]); state and notices are the engine's own.

use tenter_protocol::runtime::{
    Completion, CompletionRequest, HistoryQuery, HistoryResult, Question, ServiceError, UserAnswer,
};
use tenter_protocol::{EventName, Scope};

use crate::hook::Hook;
use crate::layer::Layer;
use tenter_proc::Cancel;

/// The services of the program that embeds the engine, for the events of one conversation: everything that is not implemented is
/// `unsupported`.
///
/// [`HookSession::with_services`](crate::HookSession::with_services) passes them with an event. They work on a snapshot of the
/// conversation at the event, and must take no lock that the thread holds which fires the event: that thread waits for the hook, and
/// the hook for the service. Each request comes on a thread of its own, and several can come at once. The engine has checked that the
/// hook may use the service and that its event request is open. Once `cancel` is set, the answer is not sent any more.
pub trait Services: Send + Sync {
    /// Returns the messages of the conversation, oldest first, with secrets masked as in the journal.
    ///
    /// # Errors
    /// The conversation is unknown, or not one that the hook may read.
    fn history(
        &self,
        by: &ServiceCaller<'_>,
        query: &HistoryQuery,
    ) -> Result<HistoryResult, ServiceError> {
        let _ = (by, query);
        Err(ServiceError::Unsupported("there is no known conversation here".to_owned()))
    }

    /// Asks the model, without tools.
    ///
    /// # Errors
    /// There is no model, a limit is reached, or the model failed.
    fn complete(
        &self,
        by: &ServiceCaller<'_>,
        request: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<Completion, ServiceError> {
        let _ = (by, request, cancel);
        Err(ServiceError::Unsupported("there is no model here".to_owned()))
    }

    /// Asks the user. Questions come one after another, and the time of the hook stands still meanwhile. Questions at `session_end`
    /// and of asynchronous hooks do not come here: they are `unsupported`.
    ///
    /// # Errors
    /// There is no user to ask, or the user interrupted the agent.
    fn ask(
        &self,
        by: &ServiceCaller<'_>,
        question: &Question,
        cancel: &Cancel,
    ) -> Result<UserAnswer, ServiceError> {
        let _ = (by, question, cancel);
        Err(ServiceError::Unsupported("there is no user to ask here".to_owned()))
    }
}

/// No services: everything is `unsupported`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoServices;

impl Services for NoServices {}

/// The hook that requests a service, and the event at which it does.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ServiceCaller<'c> {
    /// The hook's full name.
    pub hook: &'c str,
    /// The hook's layer.
    pub layer: Layer,
    /// The event.
    pub event: EventName,
    /// The conversation and the agent of the event.
    pub scope: &'c Scope,
    /// True if the hook is asynchronous.
    pub asynchronous: bool,
}

impl<'c> ServiceCaller<'c> {
    /// Creates the caller: `hook` at an event.
    pub(crate) fn new(hook: &'c Hook, event: EventName, scope: &'c Scope) -> Self {
        let Hook { name, layer, policy, .. } = hook;
        Self { hook: name, layer: *layer, event, scope, asynchronous: policy.asynchronous }
    }
}
