//! One run of a hook: the event, and the payload that the hook reads.

use std::borrow::Cow;

use serde_json::Value;
use tenter_protocol::executable::{self, Subscription};
use tenter_protocol::facts::Facts;
use tenter_protocol::{EventRef, Object, Reply, json, manifest};

use super::RunFailure;
use crate::facts::LazyFacts;
use crate::hook::Hook;

/// One run of a hook.
#[derive(Clone, Copy)]
pub(crate) struct Job<'r> {
    pub(crate) hook: &'r Hook,
    /// The event in the hook's own spelling.
    pub(crate) subscription: Subscription,
    /// The event, including the changes of earlier hooks.
    pub(crate) event: EventRef<'r>,
    pub(crate) input: Input<'r>,
    /// The facts about the event's tool call.
    pub(crate) facts: &'r LazyFacts,
    /// The decision of the hook's rules; with one, the hook does not run.
    pub(crate) decision: Option<&'r Reply>,
}

/// The source of the payload.
#[derive(Clone, Copy)]
pub(crate) enum Input<'r> {
    /// The payload of the event.
    Event {
        /// The tool's name in the spelling that the hook's matcher matched (R20); its own name if no matcher applies.
        tool_name: Option<&'r str>,
    },
    /// A given payload, for a test.
    Payload(&'r Object),
}

impl Job<'_> {
    /// Returns the payloads, each as a process reads it from stdin. There is one, unless the script is written for Claude Code:
    /// for such a script, a patch of several files is several events, and some events are none.
    pub(super) fn payload_texts(&self) -> Result<Vec<String>, RunFailure> {
        match (self.input, &self.hook.options.claude_code) {
            (Input::Event { .. }, Some(native)) => {
                let payloads = self.with_event(|event| native.payloads(event));
                Ok(payloads.iter().map(json::to_line).collect())
            }
            _ => self.payload_text().map(|text| vec![text]),
        }
    }

    /// Returns the payload as a process reads it from stdin; the first one if there are several.
    pub(crate) fn payload_text(&self) -> Result<String, RunFailure> {
        let spelling = self.subscription.spelling;
        let options = &self.hook.options;
        let text = match (self.input, &options.claude_code) {
            (Input::Payload(payload), _) => Some(json::to_line(payload)),
            (Input::Event { .. }, _) if self.hook.is_executable() => {
                self.with_event(|event| executable::payload(event, spelling, self.facts()))
            }
            (Input::Event { .. }, Some(native)) => {
                self.with_event(|event| native.payloads(event)).first().map(json::to_line)
            }
            (Input::Event { tool_name }, None) => Some(self.with_event(|event| {
                let (facts, light) = (self.facts(), options.light_payload);
                manifest::payload(event, spelling, tool_name, facts, light).to_line()
            })),
        };
        text.ok_or(RunFailure::NoPayload(self.subscription.event.as_str()))
    }

    /// Returns the payload as the condition and the templates of a static hook read it.
    pub(super) fn payload_value(&self) -> Value {
        let (spelling, light) = (self.subscription.spelling, self.hook.options.light_payload);
        match self.input {
            Input::Payload(payload) => Value::Object(payload.clone()),
            Input::Event { tool_name } => self.with_event(|event| {
                manifest::payload(event, spelling, tool_name, self.facts(), light).to_value()
            }),
        }
    }

    fn facts(&self) -> &Facts {
        &self.facts.for_hook(self.event, self.hook.outer.as_deref()).facts
    }

    /// Builds a payload from the event. A recipe of the hook's own plugin has the name that the plugin uses (R68).
    fn with_event<T>(&self, build: impl FnOnce(EventRef<'_>) -> T) -> T {
        let EventRef { scope, body } = self.event;
        let plugin_scope = self.hook.plugin().and_then(|plugin| scope.for_plugin(plugin));
        let scope = plugin_scope.map_or(Cow::Borrowed(scope), Cow::Owned);
        build(EventRef { scope: &scope, body })
    }
}
