//! Answers the service requests of runtime hooks (S7): checks that the hook may use the service, does what belongs to the engine, and
//! passes the rest to the program that embeds it.

use std::sync::{Arc, Weak};

use serde_json::{Value, json};
use tenter_proc::Cancel;
use tenter_protocol::runtime::{
    CompletionRequest, ErrorObject, HistoryQuery, Question, RawJson, Service, ServiceError,
    ServiceRequest, StateChange, StateKey, StateScope, StateValue, UserNotice,
};
use tenter_protocol::{EventName, Scope};

use crate::hook::Hook;
use crate::hook_notices;
use crate::hook_state::HookOwner;
use crate::hook_values::{ValueError, ValueFile, ValueScope};
use crate::model_budget::{ModelBudget, Refusal};
use crate::observe::{Notice, NoticeRecord};
use crate::services::{NoServices, ServiceCaller, Services};
use crate::serving::{HookRequest, RequestCaller};
use crate::settings::EngineSettings;

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 256;
/// Maximum number of bytes that a light history keeps of one text of a tool's result.
const LIGHT_TEXT: usize = 2 * 1024;
/// Maximum number of bytes of a question, and of each choice.
const MAX_QUESTION: usize = 2_000;
/// Maximum number of choices.
const MAX_CHOICES: usize = 20;

/// A hook that requests services at an event.
#[derive(Clone, Copy)]
pub(crate) struct Requester<'r> {
    pub(crate) settings: &'r EngineSettings,
    /// The event of the open request, or the last one.
    pub(crate) at: &'r EventCaller,
    /// True if an event request is open.
    pub(crate) has_request: bool,
}

/// The event that a runtime hook is called for.
pub(crate) struct EventCaller {
    pub(crate) settings: Weak<EngineSettings>,
    /// The hook that the process was started from.
    pub(crate) hook: Arc<Hook>,
    pub(crate) event: EventName,
    pub(crate) scope: Scope,
    /// The services of the embedding program.
    pub(crate) services: Option<Arc<dyn Services>>,
}

impl RequestCaller for EventCaller {
    fn answer(
        &self,
        request: &HookRequest,
        has_request: bool,
        cancel: &Cancel,
    ) -> Result<RawJson, ErrorObject> {
        let settings = self.settings.upgrade().ok_or(ServiceError::Cancelled)?;
        let requester = Requester { settings: &settings, at: self, has_request };
        let service = &request.call.service;
        if !matches!(service, ServiceRequest::Ask(_)) {
            return Ok(requester.answer(service, cancel)?);
        }
        let _question = settings.serving.clock().begin();
        let _turn = settings.serving.clock().turn();
        if cancel.is_cancelled() {
            return Err(ServiceError::Cancelled.into());
        }
        Ok(requester.answer(service, cancel)?)
    }
}

impl Requester<'_> {
    /// Answers a request. `cancel` is thrown when the event request ends.
    ///
    /// # Errors
    /// The hook may not use the service, or the service failed.
    pub(crate) fn answer(
        &self,
        request: &ServiceRequest,
        cancel: &Cancel,
    ) -> Result<RawJson, ServiceError> {
        self.check_consent(request.service())?;
        if !self.has_request && !request.service().needs_no_request() {
            return Err(ServiceError::NoRequest);
        }
        match request {
            ServiceRequest::History(query) => self.history(query),
            ServiceRequest::Complete(request) => self.complete(request, cancel),
            ServiceRequest::Ask(question) => self.ask(question, cancel),
            ServiceRequest::StateGet(key) => self.value(key),
            ServiceRequest::StateChange(key, change) => self.change_value(key, change),
            ServiceRequest::Notify(notice) => self.notify(notice),
        }
    }

    fn check_consent(&self, service: Service) -> Result<(), ServiceError> {
        let services = self.at.hook.runtime.as_ref().map_or(&[][..], |runtime| &runtime.services);
        if services.contains(&service) {
            return Ok(());
        }
        let service = service.as_str();
        Err(ServiceError::Refused(format!(
            "the hook does not list the service `{service}` in `metadata.services`"
        )))
    }

    fn history(&self, query: &HistoryQuery) -> Result<RawJson, ServiceError> {
        let conversation = query.conv_id.as_deref().unwrap_or(&self.at.scope.conversation_id);
        let own = std::iter::once(&self.at.scope.conversation_id)
            .chain(&self.at.scope.parent_conversation_id);
        if !own.into_iter().any(|id| id == conversation) {
            let message = "a hook reads only the conversation of its event, and its parent";
            return Err(ServiceError::Refused(message.to_owned()));
        }
        let query = HistoryQuery { conv_id: Some(conversation.to_owned()), ..query.clone() };
        let result = self.services().history(&self.caller(), &query)?;
        let skip = result.messages.len().saturating_sub(query.last.unwrap_or(usize::MAX));
        let light = query.light.then_some(LIGHT_TEXT);
        let redactor = &self.settings.redactor;
        let messages = result.messages.iter().skip(skip);
        let messages: Vec<Value> =
            messages.map(|message| redactor.message(message, light)).collect();
        Ok(RawJson::new(&json!({"messages": messages})))
    }

    fn complete(
        &self,
        request: &CompletionRequest,
        cancel: &Cancel,
    ) -> Result<RawJson, ServiceError> {
        let session = self.values(StateScope::Session)?;
        self.at.hook.policy.model.begin_call(&session).map_err(|refusal| match refusal {
            Refusal::Spent { is_first, text } => {
                if is_first {
                    self.tell_user(&format!("{text}; its further calls are refused"));
                }
                ServiceError::Limit(text)
            }
            Refusal::NotCounted(error) => error.into(),
        })?;
        let completion = self.services().complete(&self.caller(), request, cancel)?;
        ModelBudget::add_cost(&session, completion.usage.cost_usd)?;
        Ok(RawJson::new(&completion))
    }

    fn ask(&self, question: &Question, cancel: &Cancel) -> Result<RawJson, ServiceError> {
        let unsupported = |why: &str| Err(ServiceError::Unsupported(why.to_owned()));
        if self.at.event == EventName::SessionEnd {
            return unsupported("a hook cannot ask while the session ends");
        }
        if self.at.hook.policy.asynchronous {
            return unsupported("an asynchronous hook cannot ask");
        }
        let texts = std::iter::once(&question.question).chain(&question.choices);
        if texts.into_iter().any(|text| text.trim().is_empty() || text.len() > MAX_QUESTION)
            || question.choices.len() > MAX_CHOICES
        {
            return Err(ServiceError::InvalidParams(format!(
                "a question and its choices have 1 to {MAX_QUESTION} bytes each, and there are at most {MAX_CHOICES} choices"
            )));
        }
        let answer = self.services().ask(&self.caller(), question, cancel)?;
        Ok(RawJson::new(&answer))
    }

    fn value(&self, key: &StateKey) -> Result<RawJson, ServiceError> {
        check_key(&key.key)?;
        let entry = self.values(key.scope)?.get(&key.key)?;
        let value = entry.map_or_else(StateValue::default, |entry| StateValue {
            value: entry.value,
            version: entry.version,
        });
        Ok(RawJson::new(&value))
    }

    fn change_value(&self, key: &StateKey, change: &StateChange) -> Result<RawJson, ServiceError> {
        check_key(&key.key)?;
        let file = self.values(key.scope)?;
        let result = match change {
            StateChange::Set { value, if_version } => {
                let version = file.set(&key.key, value.clone(), *if_version)?;
                StateValue { value: value.clone(), version }
            }
            StateChange::Add { by } => {
                let sum = file.add(&key.key, by)?;
                StateValue { value: sum.value, version: sum.version }
            }
            StateChange::Delete => {
                file.delete(&key.key)?;
                StateValue::default()
            }
        };
        Ok(RawJson::new(&result))
    }

    fn notify(&self, notice: &UserNotice) -> Result<RawJson, ServiceError> {
        let line = hook_notices::line(&notice.text);
        if line.trim().is_empty() {
            return Err(ServiceError::InvalidParams("`params.text` is empty".to_owned()));
        }
        let now = (self.settings.clock)();
        if !hook_notices::admits(&self.values(StateScope::Project)?, now)? {
            let message = "a hook notifies the user at most 10 times a minute";
            return Err(ServiceError::Limit(message.to_owned()));
        }
        self.tell_user(&line);
        Ok(RawJson::null())
    }

    /// Shows the user a line through the observers.
    fn tell_user(&self, text: &str) {
        let text = self.settings.keys.text(text).into_owned();
        let record = NoticeRecord { hook: Some(self.at.hook.name.clone()), text };
        let time = (self.settings.clock)();
        let notice = Notice::new(Arc::new(self.at.scope.clone()), self.at.event, time, record);
        self.settings.notify(|observer| observer.noticed(&notice));
    }

    /// Returns the hook's values in this scope. The session is the one of the open request.
    fn values(&self, scope: StateScope) -> Result<ValueFile, ServiceError> {
        let Some(values) = &self.settings.values else {
            return Err(ServiceError::Unsupported("there is no state directory here".to_owned()));
        };
        let scope = match scope {
            StateScope::Project => ValueScope::Project,
            StateScope::Session if self.has_request => {
                ValueScope::Session(&self.at.scope.conversation_id)
            }
            StateScope::Session => return Err(ServiceError::NoRequest),
        };
        let (layer, name) = (self.at.hook.layer, self.at.hook.name.as_str());
        let project = self.at.hook.project_in(&self.settings.project);
        let owner = HookOwner { project, layer, name };
        Ok(values.file(owner, scope, (self.settings.clock)()))
    }

    fn caller(&self) -> ServiceCaller<'_> {
        ServiceCaller::new(&self.at.hook, self.at.event, &self.at.scope)
    }

    fn services(&self) -> &dyn Services {
        self.at.services.as_ref().map_or(&NoServices, |services| services.as_ref())
    }
}

/// Checks the key of a stored value.
///
/// # Errors
/// The key is empty, too long, or has control characters.
fn check_key(key: &str) -> Result<(), ServiceError> {
    if key.is_empty() || key.len() > MAX_KEY || key.chars().any(char::is_control) {
        let message =
            format!("`params.key` must have 1 to {MAX_KEY} bytes and no control characters");
        return Err(ServiceError::InvalidParams(message));
    }
    Ok(())
}

impl From<ValueError> for ServiceError {
    fn from(error: ValueError) -> Self {
        let text = error.to_string();
        match error {
            ValueError::TooLarge => Self::Limit(text),
            ValueError::Conflict(_) => Self::Conflict(text),
            ValueError::NotANumber | ValueError::Overflow => Self::InvalidParams(text),
            ValueError::Io(_) | ValueError::Damaged { .. } => Self::Failed(text),
        }
    }
}

#[cfg(test)]
mod tests;
