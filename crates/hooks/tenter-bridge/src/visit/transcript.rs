//! The transcript of the host's own format, for hooks that read messages and token counts (B12).

use std::path::Path;
use std::sync::Arc;

use tenter_protocol::EventName;
use tenter_protocol::event::{StopAttempt, Turn};

use super::Visit;
use crate::transcript;

/// The fields of payloads that a transcript provides.
const FIELDS: [&str; 2] = ["usage", "messages"];

impl Visit<'_> {
    /// Reads the transcript if a hook of this event reads the history. Without it, payloads lack its fields.
    pub(super) fn read_transcript(&mut self, path: Option<&Path>) {
        let host = self.visitor.host;
        self.transcript_path = path.map(Path::to_owned);
        let Some(path) = path.filter(|_| self.reads_history()) else { return };
        let agent = self.agent_id().unwrap_or_default();
        let record = self.session.get().work.transcripts.get(&agent).cloned();
        let transcript = transcript::read(host, path, record.as_ref());
        let Ok((transcript, start)) = transcript else { return };
        let needs_record = record.is_some() || start.is_later();
        if needs_record && record.as_ref() != Some(&start) {
            self.session.update(|state| state.work.transcripts.insert(agent, start));
        }
        let is_provided = |field: &String| match field.as_str() {
            "usage" => transcript.usage.is_some(),
            name => FIELDS.contains(&name),
        };
        Arc::make_mut(&mut self.host_facts).unknown.retain(|field| !is_provided(field));
        self.transcript = Some(transcript);
    }

    fn reads_history(&self) -> bool {
        let events = self.occurrence.detail.events().iter();
        let mut events =
            events.filter(|event| matches!(event, EventName::AfterTurn | EventName::BeforeStop));
        let catalog = self.engine.catalog();
        events.any(|event| catalog.hooks_for(*event).iter().any(|hook| !hook.options.light_payload))
    }

    /// Returns a model response, of which the host reports only the text.
    pub(super) fn turn(&self, tools_used: bool, response: &str) -> Turn {
        let transcript = self.transcript.as_ref();
        Turn {
            turn_number: None,
            session_turn: None,
            tools_used,
            usage: transcript.and_then(|transcript| transcript.usage),
            messages: transcript.map(|transcript| Arc::clone(&transcript.messages)),
            ..Turn::new(0, response)
        }
    }

    /// Returns the event of an agent of the host before it stops.
    pub(super) fn stop_attempt(&self, response: &str) -> StopAttempt {
        let transcript = self.transcript.as_ref();
        StopAttempt {
            step_count: None,
            usage: transcript.and_then(|transcript| transcript.usage),
            messages: transcript.map(|transcript| Arc::clone(&transcript.messages)),
            ..StopAttempt::new(response)
        }
    }
}
