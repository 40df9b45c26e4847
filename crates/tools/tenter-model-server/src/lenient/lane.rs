//! Conversations beside the main one, and how their requests are recognized.

use crate::reading::{Reading, Role};
use crate::reply::ModelReply;

/// A conversation of its own: a subagent, a compaction.
#[must_use]
#[derive(Debug, Clone)]
pub struct Lane {
    name: String,
    when: Match,
    turns: Vec<ModelReply>,
    after: ModelReply,
    counted: bool,
}

impl Lane {
    /// Creates a lane with these turns for the requests that match `when`. After the last turn, every reply is `Done.`.
    pub fn new(name: &str, when: Match, turns: impl IntoIterator<Item = ModelReply>) -> Self {
        Self {
            name: name.to_owned(),
            when,
            turns: turns.into_iter().collect(),
            after: ModelReply::text("Done."),
            counted: false,
        }
    }

    /// Sets the reply after the last turn.
    pub fn after(mut self, reply: ModelReply) -> Self {
        self.after = reply;
        self
    }

    /// Selects turns by their order: each request takes the next one. Needed where the conversation in the requests becomes
    /// shorter, as after a compaction; a retried request then takes the next turn as well.
    pub fn select_by_order(mut self) -> Self {
        self.counted = true;
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_counted(&self) -> bool {
        self.counted
    }

    pub(super) fn push(&mut self, reply: ModelReply) {
        self.turns.push(reply);
    }

    pub(super) fn reply(&self, turn: usize) -> ModelReply {
        self.turns.get(turn).unwrap_or(&self.after).clone()
    }

    pub(super) fn matches(&self, path: &str, model: &str, reading: &Reading) -> bool {
        self.when.matches(path, model, reading)
    }
}

/// Conditions on a request, all of which must hold. Texts are searched for a part. Without conditions, every request matches.
#[must_use]
#[derive(Debug, Clone, Default)]
pub struct Match {
    first_user: Option<String>,
    last_user: Option<String>,
    any_text: Option<String>,
    system: Option<String>,
    model: Option<String>,
    path: Option<String>,
    tools: Option<bool>,
}

impl Match {
    /// Selects requests whose first user message contains `text`.
    pub fn first_user(mut self, text: &str) -> Self {
        self.first_user = Some(text.to_owned());
        self
    }

    /// Selects requests whose last user message contains `text`.
    pub fn last_user(mut self, text: &str) -> Self {
        self.last_user = Some(text.to_owned());
        self
    }

    /// Returns a message, a tool result or the system prompt contains `text`.
    pub fn any_text(mut self, text: &str) -> Self {
        self.any_text = Some(text.to_owned());
        self
    }

    /// Returns the system prompt, or a later message of the system, contains `text`.
    pub fn system(mut self, text: &str) -> Self {
        self.system = Some(text.to_owned());
        self
    }

    /// Selects requests whose model has `text` in its name.
    pub fn model(mut self, text: &str) -> Self {
        self.model = Some(text.to_owned());
        self
    }

    /// Selects requests whose path contains `text`.
    pub fn path(mut self, text: &str) -> Self {
        self.path = Some(text.to_owned());
        self
    }

    /// Returns the request offers tools, or none.
    pub fn tools(mut self, has_tools: bool) -> Self {
        self.tools = Some(has_tools);
        self
    }

    fn matches(&self, path: &str, model: &str, reading: &Reading) -> bool {
        let user = || reading.texts(Role::User);
        let mut all = reading.messages.iter().map(|message| message.text.as_str());
        contains(self.first_user.as_ref(), user().take(1))
            && contains(self.last_user.as_ref(), user().next_back())
            && contains(self.any_text.as_ref(), &mut all)
            && contains(self.system.as_ref(), reading.texts(Role::System))
            && contains(self.model.as_ref(), [model])
            && contains(self.path.as_ref(), [path])
            && self.tools.is_none_or(|has_tools| has_tools != reading.tools.is_empty())
    }
}

/// Returns true if one of the texts contains the part, or there is no part.
fn contains<'t>(part: Option<&String>, texts: impl IntoIterator<Item = &'t str>) -> bool {
    part.is_none_or(|part| texts.into_iter().any(|text| text.contains(part)))
}
