//! Requests and responses.

mod request;
mod response;

pub(crate) use request::Request;
pub(crate) use response::{Response, Status};
