//! The context of an event request: the event, and the services that the hook may request meanwhile.

use std::path::Path;
use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::runtime::{Id, RawJson, ServiceError, ServiceRequest};
use tenter_protocol::{EventName, Scope};

use crate::hook::Hook;
use crate::services::Services;

/// Provides the services of an engine.
pub(crate) trait ServiceProvider: Send + Sync {
    /// The project root.
    fn project(&self) -> &Path;

    /// Answers a request of `hook` `at` an event; the flag says whether it belongs to an open event request. `cancel` is set when that ends.
    ///
    /// # Errors
    /// The hook may not use the service, or the service failed.
    fn provide(
        &self,
        hook: &Hook,
        at: (&EventCaller, bool),
        request: &ServiceRequest,
        cancel: &Cancel,
    ) -> Result<RawJson, ServiceError>;
}

/// The event of a request.
pub(crate) struct EventCaller {
    pub(crate) event: EventName,
    pub(crate) scope: Scope,
    /// The services of the embedding program.
    pub(crate) services: Option<Arc<dyn Services>>,
}

/// A request of the hook's that is not answered yet.
#[derive(Debug)]
pub(super) struct OpenService {
    pub(super) id: Id,
    /// The event request that it belongs to.
    pub(super) request: Option<u64>,
    pub(super) cancel: Cancel,
}
