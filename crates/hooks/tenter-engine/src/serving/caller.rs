//! The caller of an event request, which answers what the hook requests meanwhile.

use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::runtime::{ErrorObject, Id, RawJson, ServiceCall};

/// A request of a hook for a service.
#[derive(Debug)]
pub struct HookRequest {
    /// The method.
    pub method: String,
    /// The parameters as the hook sent them.
    pub params: Option<RawJson>,
    /// The parameters.
    pub call: ServiceCall,
}

/// The caller of an event request.
pub trait RequestCaller: Send + Sync {
    /// Answers a request of the hook; `has_request` is true while the event request is open. `cancel` is set when the event request
    /// ends.
    ///
    /// # Errors
    /// The hook may not use the service, or the service failed.
    fn answer(
        &self,
        request: &HookRequest,
        has_request: bool,
        cancel: &Cancel,
    ) -> Result<RawJson, ErrorObject>;
}

/// The caller of an event request, shared with the threads that answer the hook.
pub(super) type SharedCaller = Arc<dyn RequestCaller>;

/// A request of the hook that is not answered yet.
#[derive(Debug)]
pub(super) struct OpenService {
    pub(super) id: Id,
    /// The event request that it belongs to.
    pub(super) request: Option<u64>,
    pub(super) cancel: Cancel,
}
