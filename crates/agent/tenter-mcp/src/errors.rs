//! Errors of the SDK and of servers as the ends of sentences about a server.

use rmcp::service::{ClientInitializeError, ServiceError};
use tenter_base::one_line;

/// Maximum number of characters of an error that a server or the SDK describes.
const MAX_ERROR: usize = 500;
/// A server behind HTTP wants to know who asks.
const REQUIRES_AUTHORIZATION: &str =
    "it requires a login (HTTP 401): `tenter mcp login NAME`, or set `headers`";

/// Describes why a server did not accept the greeting.
pub(crate) fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "it ended before it answered the first request".to_owned()
        }
        error if error.is_authorization_required() => REQUIRES_AUTHORIZATION.to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            format!("cannot talk to it: {}", brief(&error.error.to_string()))
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused the first request: {}", brief(&error.message))
        }
        other => {
            format!("its answer to the first request is not valid: {}", brief(&other.to_string()))
        }
    }
}

/// Describes why a request got no usable answer.
pub(crate) fn describe(error: &ServiceError) -> String {
    match error {
        error if error.is_authorization_required() => REQUIRES_AUTHORIZATION.to_owned(),
        ServiceError::McpError(error) => brief(&error.message),
        ServiceError::TransportSend(error) => {
            format!("cannot talk to it: {}", brief(&error.error.to_string()))
        }
        ServiceError::TransportClosed => "it ended before it answered".to_owned(),
        ServiceError::UnexpectedResponse => "its answer is not valid".to_owned(),
        ServiceError::Timeout { timeout } => {
            format!("it did not answer within {} s", timeout.as_secs())
        }
        other => brief(&other.to_string()),
    }
}

fn brief(text: &str) -> String {
    one_line(text, MAX_ERROR)
}
