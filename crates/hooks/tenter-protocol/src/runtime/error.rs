//! Errors on the wire, and why a service was not provided.

use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::RawJson;

/// The error codes of JSON-RPC and of services.
pub mod codes {
    /// The line is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The line is JSON and not a message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The request failed for a reason that is not the caller's.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The service does not exist here.
    pub const UNSUPPORTED: i64 = -32001;
    /// A limit is reached.
    pub const LIMIT: i64 = -32002;
    /// The request belongs to no open event request.
    pub const NO_REQUEST: i64 = -32003;
    /// The event request ended before the service did.
    pub const CANCELLED: i64 = -32004;
    /// The manifest does not list the service.
    pub const REFUSED: i64 = -32005;
    /// The state has another version than the hook expected.
    pub const CONFLICT: i64 = -32006;
}

/// The `error` of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// One of [`codes`], or a code of the hook's own.
    pub code: i64,
    /// The failed action and the cause.
    pub message: String,
    /// For a [`ServiceError`], `{"name": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the answer to a request with a method that does not exist.
    pub fn method_not_found(method: &str) -> Self {
        let method = tenter_base::excerpt::chars(method, 60);
        Self::new(codes::METHOD_NOT_FOUND, format!("there is no method {method:?}"))
    }
}

/// The reason why a service was not provided. Hooks read the name in `error.data.name`, and the code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ServiceError {
    /// The service does not exist here; says why.
    #[error("{0}")]
    Unsupported(String),
    /// A limit is reached; says which.
    #[error("{0}")]
    Limit(String),
    /// The request belongs to no open event request.
    #[error("the service needs an open event request; name it in `params.request`")]
    NoRequest,
    /// The event request ended before the service did.
    #[error("the event request has ended")]
    Cancelled,
    /// The manifest does not list the service.
    #[error("{0}")]
    Refused(String),
    /// The state has another version than the hook expected; says which.
    #[error("{0}")]
    Conflict(String),
    /// The parameters do not fit the method; says how.
    #[error("{0}")]
    InvalidParams(String),
    /// The service failed; says why.
    #[error("{0}")]
    Failed(String),
}

impl ServiceError {
    /// Returns the name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unsupported(_) => "unsupported",
            Self::Limit(_) => "limit",
            Self::NoRequest => "no_request",
            Self::Cancelled => "cancelled",
            Self::Refused(_) => "refused",
            Self::Conflict(_) => "conflict",
            Self::InvalidParams(_) => "invalid_params",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns the code on the wire.
    pub fn code(&self) -> i64 {
        match self {
            Self::Unsupported(_) => codes::UNSUPPORTED,
            Self::Limit(_) => codes::LIMIT,
            Self::NoRequest => codes::NO_REQUEST,
            Self::Cancelled => codes::CANCELLED,
            Self::Refused(_) => codes::REFUSED,
            Self::Conflict(_) => codes::CONFLICT,
            Self::InvalidParams(_) => codes::INVALID_PARAMS,
            Self::Failed(_) => codes::INTERNAL_ERROR,
        }
    }
}

impl From<ServiceError> for ErrorObject {
    fn from(error: ServiceError) -> Self {
        let data = RawJson::new(&json!({"name": error.name()}));
        Self { data: Some(data), ..Self::new(error.code(), error.to_string()) }
    }
}
