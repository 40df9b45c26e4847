//! Registers hooks in Rust: a native hook with its events, matcher and policy.

use std::sync::Arc;
use std::time::Duration;

use tenter_protocol::EventName;
use tenter_protocol::executable::Subscription;
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::tool_names::ToolNames;

use crate::hook::{Hook, HookKind, HookOptions};
use crate::hook_policy::{FailMode, HookPolicy};
use crate::layer::Layer;
use crate::matcher::Matcher;
use crate::native::{NativeHandle, NativeHook};
use crate::trust::Fingerprint;

/// A native hook, and when it runs. It ranks as a hook of the user's; no hook shadows it.
#[derive(Clone)]
#[must_use]
pub struct NativeRegistration {
    name: String,
    events: Vec<EventName>,
    hook: NativeHandle,
    matcher: MatcherText,
    policy: HookPolicy,
}

impl NativeRegistration {
    /// Creates a hook for these events, under the name that records show.
    pub fn new(
        name: impl Into<String>,
        events: impl IntoIterator<Item = EventName>,
        hook: impl NativeHook + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            events: events.into_iter().collect(),
            hook: NativeHandle(Arc::new(hook)),
            matcher: MatcherText::default(),
            policy: HookPolicy::default(),
        }
    }

    /// Sets a regular expression for the tool's name, as `matcher.tool` of a manifest. An invalid one is a failed run.
    pub fn tool(mut self, expression: impl Into<String>) -> Self {
        self.matcher.tool = Some(expression.into());
        self
    }

    /// Sets a regular expression for the values of the tool's input, as `matcher.pattern` of a manifest.
    pub fn pattern(mut self, expression: impl Into<String>) -> Self {
        self.matcher.pattern = Some(expression.into());
        self
    }

    /// Sets the priority, from 0 to 1000: higher ones run earlier. The default is 100.
    pub fn priority(mut self, priority: u16) -> Self {
        self.policy.priority = priority;
        self
    }

    /// Sets what a failure means. The default is that the agent continues.
    pub fn fail(mut self, fail: FailMode) -> Self {
        self.policy.fail = fail;
        self
    }

    /// Sets the time after which a run is reported as too long. It is not ended. The default is 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.timeout = timeout;
        self
    }

    pub(crate) fn into_hook(self, names: &ToolNames) -> Hook {
        let has_matcher = self.matcher != MatcherText::default();
        let matcher = has_matcher.then(|| {
            let mut matcher = Matcher::new(&self.matcher);
            matcher.set_names(names);
            matcher
        });
        let spelled =
            |event: EventName| Subscription { event, spelling: event.lifecycle().manifest[0] };
        Hook {
            name: self.name,
            layer: Layer::User,
            outer: None,
            path: None,
            kind: HookKind::Native(self.hook),
            options: Box::new(HookOptions { matcher, protected: true, ..HookOptions::default() }),
            subscriptions: self.events.into_iter().map(spelled).collect(),
            fingerprint: Fingerprint("native".to_owned()),
            pin: None,
            policy: self.policy,
            env: Vec::new(),
            runtime: None,
        }
    }
}
