//! The services that a hook may request, with their parameters and results (S7, S8).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RawJson, ServiceError};
use crate::{Message, Object};

/// A group of methods that a manifest lists in `metadata.services` (S2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// Reads the conversation.
    History,
    /// Asks the model.
    Model,
    /// Asks the user.
    Ask,
    /// Keeps values between runs.
    State,
    /// Shows the user a line.
    Notify,
}

impl Service {
    /// Every service, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::History, Self::Model, Self::Ask, Self::State, Self::Notify];
    /// The services of an executable, which cannot list any (S1).
    pub const OF_EXECUTABLES: [Self; 2] = [Self::State, Self::Notify];

    /// Returns the name in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Model => "model",
            Self::Ask => "ask",
            Self::State => "state",
            Self::Notify => "notify",
        }
    }

    /// Describes what a hook can do with it, for the user who decides whether to trust the hook.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::History => "reads the conversation",
            Self::Model => "asks the model, which costs tokens",
            Self::Ask => "asks you questions",
            Self::State => "keeps values between runs",
            Self::Notify => "shows you messages",
        }
    }

    /// Returns true if a hook may request it while no event request is open (S8).
    pub fn needs_no_request(self) -> bool {
        matches!(self, Self::State | Self::Notify)
    }
}

/// A request of a hook's for a service.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceCall {
    /// The id of the event request that it belongs to, if the hook says so.
    pub request: Option<u64>,
    /// The service, with its parameters.
    pub service: ServiceRequest,
}

/// A request for a service, one variant per method.
#[derive(Debug, Clone, PartialEq)]
pub enum ServiceRequest {
    /// `history.get`
    History(HistoryQuery),
    /// `model.complete`
    Complete(CompletionRequest),
    /// `ask`
    Ask(Question),
    /// `state.get`
    StateGet(StateKey),
    /// `state.set`, `state.add` and `state.delete`
    StateChange(StateKey, StateChange),
    /// `notify`
    Notify(UserNotice),
}

impl ServiceRequest {
    /// Returns the service that it belongs to.
    pub fn service(&self) -> Service {
        match self {
            Self::History(_) => Service::History,
            Self::Complete(_) => Service::Model,
            Self::Ask(_) => Service::Ask,
            Self::StateGet(_) | Self::StateChange(..) => Service::State,
            Self::Notify(_) => Service::Notify,
        }
    }
}

impl ServiceCall {
    /// Returns the service that a method belongs to; `None` if there is no such method.
    pub fn service_of(method: &str) -> Option<Service> {
        Some(match method {
            "history.get" => Service::History,
            "model.complete" => Service::Model,
            "ask" => Service::Ask,
            "state.get" | "state.set" | "state.add" | "state.delete" => Service::State,
            "notify" => Service::Notify,
            _ => return None,
        })
    }

    /// Reads the parameters of a method; `None` if there is no such method.
    ///
    /// # Errors
    /// [`ServiceError::InvalidParams`] if the parameters do not fit. Unknown ones do not: a misspelled `if_version` must not overwrite.
    pub fn read(method: &str, params: Option<&RawJson>) -> Option<Result<Self, ServiceError>> {
        Self::service_of(method)?;
        Some(Self::read_params(method, params).map_err(ServiceError::InvalidParams))
    }

    fn read_params(method: &str, params: Option<&RawJson>) -> Result<Self, String> {
        let mut fields: Object = match params {
            None => Object::new(),
            Some(params) => params.read().map_err(|_| "`params` must be an object".to_owned())?,
        };
        let request = match fields.remove("request") {
            None => None,
            Some(id) => {
                Some(id.as_u64().ok_or("`params.request` must be the id of an event request")?)
            }
        };
        let service = match method {
            "history.get" => ServiceRequest::History(decode(fields)?),
            "model.complete" => ServiceRequest::Complete(decode(fields)?),
            "ask" => ServiceRequest::Ask(decode(fields)?),
            "notify" => ServiceRequest::Notify(decode(fields)?),
            "state.get" => ServiceRequest::StateGet(decode(fields)?),
            _ => {
                let change = StateChange::take(method, &mut fields)?;
                ServiceRequest::StateChange(decode(fields)?, change)
            }
        };
        Ok(Self { request, service })
    }
}

fn decode<T: DeserializeOwned>(fields: Object) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| format!("`params`: {error}"))
}

/// The parameters of `history.get`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryQuery {
    /// The conversation; the event's conversation if it is missing. A subagent's hook may also name the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conv_id: Option<String>,
    /// Maximum number of messages, the last ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<usize>,
    /// True to shorten the results of tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub light: bool,
}

/// The result of `history.get`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryResult {
    /// The messages, oldest first, with secrets masked as in the journal.
    pub messages: Vec<Message>,
}

/// The parameters of `model.complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionRequest {
    /// The prompt.
    pub prompt: String,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Maximum number of tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The configured model that answers.
    #[serde(default)]
    pub model: ModelChoice,
}

/// A configured model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelChoice {
    /// The model of the conversation.
    #[default]
    Default,
    /// The cheaper model for small tasks.
    Weak,
}

/// The result of `model.complete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The answer.
    pub text: String,
    /// The tokens and the cost.
    pub usage: CompletionUsage,
}

/// The tokens and the cost of a completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CompletionUsage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Cost in US dollars, as far as the prices are known.
    pub cost_usd: f64,
}

/// The parameters of `ask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The answers to choose from; any text if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// The result of `ask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAnswer {
    /// The user's answer; one of the choices if there are any.
    pub answer: String,
}

/// The key of a value in a hook's state: parameters of all methods of `state`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateKey {
    /// The name of the value.
    pub key: String,
    /// Whose value it is.
    #[serde(default)]
    pub scope: StateScope,
}

/// The lifetime of a value in a hook's state.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum StateScope {
    /// For one conversation.
    #[default]
    Session,
    /// For the project.
    Project,
}

/// A change of a hook's state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateChange {
    /// `state.set`: replaces the value.
    Set {
        /// The new value.
        value: Value,
        /// The version that the value must have; 0 if there must be none.
        if_version: Option<u64>,
    },
    /// `state.add`: adds to a number; a missing value counts as 0.
    Add {
        /// The number to add.
        by: serde_json::Number,
    },
    /// `state.delete`: removes the value.
    Delete,
}

impl StateChange {
    /// Takes the parameters of a change from the parameters of a method; the rest is a [`StateKey`].
    fn take(method: &str, fields: &mut Object) -> Result<Self, String> {
        let missing = |field: &str| format!("`params`: missing field `{field}`");
        Ok(match method {
            "state.set" => {
                let value = fields.remove("value").ok_or_else(|| missing("value"))?;
                let if_version = match fields.remove("if_version") {
                    None | Some(Value::Null) => None,
                    Some(version) => Some(
                        version
                            .as_u64()
                            .ok_or("`params.if_version` must be a version, from 0 on")?,
                    ),
                };
                Self::Set { value, if_version }
            }
            "state.add" => match fields.remove("by").ok_or_else(|| missing("by"))? {
                Value::Number(by) => Self::Add { by },
                _ => return Err("`params.by` must be a number".to_owned()),
            },
            _ => Self::Delete,
        })
    }
}

/// The result of every method of `state`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StateValue {
    /// The value; `null` if there is none.
    pub value: Value,
    /// The version, which every change increases; 0 if there is no value.
    pub version: u64,
}

/// The parameters of `notify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserNotice {
    /// A line for the user.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(method: &str, params: &Value) -> Result<ServiceCall, ServiceError> {
        ServiceCall::read(method, Some(&RawJson::new(params))).unwrap()
    }

    fn invalid(method: &str, params: &Value) -> String {
        match read(method, params) {
            Err(ServiceError::InvalidParams(why)) => why,
            other => panic!("{method} {params}: {other:?}"),
        }
    }

    #[test]
    fn every_service_is_named_as_in_manifests() {
        for service in Service::ALL {
            assert_eq!(serde_json::to_value(service).unwrap(), service.as_str());
        }
    }

    #[test]
    fn parameters_are_read_with_the_event_request_that_they_belong_to() {
        let call = read("history.get", &json!({"request": 4, "last": 2})).unwrap();
        let query = HistoryQuery { last: Some(2), ..HistoryQuery::default() };
        assert_eq!(call, ServiceCall { request: Some(4), service: ServiceRequest::History(query) });
        let call = read("model.complete", &json!({"prompt": "p", "model": "weak"})).unwrap();
        let ServiceRequest::Complete(request) = call.service else { panic!() };
        assert_eq!((call.request, request.model), (None, ModelChoice::Weak));
        let call = read(
            "state.set",
            &json!({"key": "n", "value": null, "if_version": 0, "scope": "project"}),
        )
        .unwrap();
        let key = StateKey { key: "n".into(), scope: StateScope::Project };
        let change = StateChange::Set { value: Value::Null, if_version: Some(0) };
        assert_eq!(call.service, ServiceRequest::StateChange(key, change));
        let call = read("state.add", &json!({"key": "n", "by": 1.5})).unwrap();
        assert_eq!(call.service.service(), Service::State);
    }

    #[test]
    fn unknown_and_missing_parameters_are_errors() {
        assert!(
            invalid("state.set", &json!({"key": "n", "value": 1, "if_versoin": 1}))
                .contains("if_versoin")
        );
        assert!(invalid("state.set", &json!({"key": "n"})).contains("value"));
        assert!(invalid("state.add", &json!({"key": "n", "by": "1"})).contains("by"));
        assert!(invalid("state.delete", &json!({})).contains("key"));
        assert!(invalid("ask", &json!({"request": "1", "question": "?"})).contains("request"));
        assert!(invalid("notify", &json!([])).contains("object"));
        assert!(
            invalid("model.complete", &json!({"prompt": "p", "model": "best"})).contains("best")
        );
    }

    #[test]
    fn a_method_that_does_not_exist_is_none() {
        assert!(ServiceCall::read("state.list", None).is_none());
        assert!(ServiceCall::read("", None).is_none());
    }
}
