//! What is known about a hook that cannot run: enough to know what it would have had to see.

use tenter_protocol::EventName;

use super::policy::OwnPolicy;
use crate::matcher::Matcher;

/// What is known about a hook that cannot run.
#[derive(Debug, Clone, Default)]
pub(super) struct HookOutline {
    /// Whether the file is probably meant to be a hook.
    pub(super) is_hook: bool,
    /// Its events, if they are known.
    pub(super) events: Option<Vec<EventName>>,
    /// Its matcher.
    pub(super) matcher: Option<Matcher>,
    /// Its own policy.
    pub(super) own: OwnPolicy,
}
