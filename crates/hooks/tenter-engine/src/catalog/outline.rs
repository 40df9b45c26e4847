//! The outline of a hook that does not run: its events and matcher, and what it requests.

use tenter_protocol::EventName;
use tenter_protocol::manifest::{Extensions, HttpEndpoint};
use tenter_protocol::runtime::Service;

use super::policy::OwnPolicy;
use crate::hook::{HookKind, HookOptions, RuntimeHook};
use crate::matcher::Matcher;

/// The known parts of a hook that cannot run.
#[derive(Debug, Clone, Default)]
pub(super) struct HookOutline {
    /// True if the file is probably meant to be a hook.
    pub(super) is_hook: bool,
    /// Its events, if they are known.
    pub(super) events: Option<Vec<EventName>>,
    /// Its matcher.
    pub(super) matcher: Option<Matcher>,
    /// Its own policy.
    pub(super) own: OwnPolicy,
}

/// The requests of a manifest, which the user sees before the hook is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Requested {
    /// Withheld environment variables (R40).
    pub(super) env: Vec<String>,
    /// Services (S2).
    pub(super) services: Vec<Service>,
    /// The server that payloads are sent to (S3).
    pub(super) endpoint: Option<HttpEndpoint>,
    /// True if it runs confined (F11).
    pub(super) is_pure: bool,
}

impl Requested {
    pub(super) fn by(extensions: &Extensions) -> Self {
        Self {
            env: extensions.env.clone(),
            services: extensions.services.clone(),
            endpoint: extensions.endpoint.clone(),
            is_pure: extensions.is_pure,
        }
    }

    pub(super) fn by_hook(
        (kind, options): (&HookKind, &HookOptions),
        runtime: Option<&RuntimeHook>,
    ) -> Self {
        if matches!(kind, HookKind::Executable) {
            return Self::default();
        }
        let services = runtime.map(|runtime| runtime.services.clone()).unwrap_or_default();
        Self {
            env: options.env.clone(),
            services,
            endpoint: kind.endpoint().cloned(),
            is_pure: options.is_pure,
        }
    }
}
