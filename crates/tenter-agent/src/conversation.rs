//! A conversation as a session holds it: its messages, its token figures, and what of it is not saved yet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_protocol::Message;
use tenter_protocol::event::{TurnUsage, Usage};

use crate::model::estimate_tokens;
use crate::store::{
    ChangeKind, Entry, Exchange, ExchangeUsage, HistoryChange, NewConversation, Origin, Store,
    StoreError, StoredConversation,
};

/// A conversation.
pub struct Conversation {
    id: String,
    parent: Option<String>,
    project: PathBuf,
    model: String,
    messages: Arc<Vec<Message>>,
    /// The sequence number of the next entry; 0 as long as nothing is saved.
    next: u64,
    turns: u64,
    usage: Usage,
    unsaved: Vec<Entry>,
    unsaved_usage: Option<ExchangeUsage>,
    /// Whether another process was faster: what is stored is no longer this conversation.
    lost: bool,
}

impl Conversation {
    /// A conversation that begins. `parent` is the conversation that starts it, for a subagent (R51).
    pub fn new(id: String, parent: Option<String>, project: &Path, model: &str) -> Self {
        Self {
            id,
            parent,
            project: project.to_owned(),
            model: model.to_owned(),
            messages: Arc::default(),
            next: 0,
            turns: 0,
            usage: Usage::default(),
            unsaved: Vec::new(),
            unsaved_usage: None,
            lost: false,
        }
    }

    /// A conversation that goes on.
    pub fn resumed(stored: StoredConversation) -> Self {
        let messages: Vec<Message> =
            stored.entries.into_iter().map(|stored| stored.entry.message).collect();
        let mut usage = stored.summary.usage;
        if usage.current_context_window == 0 {
            // No model has seen this history yet: it was replaced after the last exchange.
            usage.current_context_window = estimate(&messages);
            usage.estimated = true;
        }
        Self {
            id: stored.summary.id,
            parent: stored.summary.parent,
            project: stored.summary.project,
            model: stored.summary.model,
            messages: Arc::new(messages),
            next: stored.next,
            turns: stored.turns,
            usage,
            unsaved: Vec::new(),
            unsaved_usage: None,
            lost: false,
        }
    }

    /// A conversation that goes on in another store: nothing of it is there yet, so the next save brings all of it.
    pub fn detached(stored: StoredConversation) -> Self {
        let unsaved = stored.entries.iter().map(|stored| stored.entry.clone()).collect();
        Self { next: 0, unsaved, ..Self::resumed(stored) }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The conversation that started it, for a subagent.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Its messages, in order.
    pub fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.messages)
    }

    /// Its token figures.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Model responses over its whole life (R6).
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Adds a message, to be saved with the next [`save`](Self::save).
    pub(crate) fn push(&mut self, message: Message, origin: Origin) {
        if message.is_empty() {
            return; // a model that says nothing leaves nothing to keep
        }
        Arc::make_mut(&mut self.messages).push(message.clone());
        self.unsaved.push(Entry { message, origin });
    }

    /// Counts a model response.
    pub(crate) fn add_response(&mut self, turn: TurnUsage, window: u64, estimated: bool) {
        self.turns += 1;
        self.usage.input_tokens += turn.input_tokens;
        self.usage.output_tokens += turn.output_tokens;
        self.usage.current_context_window = turn.input_tokens + turn.output_tokens;
        self.usage.max_context_window = window;
        self.usage.estimated = estimated;
        self.usage.turn = turn;
        // A response that says nothing is saved with the next one that does.
        let waiting = self.unsaved_usage.unwrap_or_default();
        self.unsaved_usage = Some(ExchangeUsage {
            input_tokens: waiting.input_tokens + turn.input_tokens,
            output_tokens: waiting.output_tokens + turn.output_tokens,
            context_window: self.usage.current_context_window,
            max_context_window: window,
            estimated,
        });
    }

    /// Counts what subagents used (R58). The store knows it from their own conversations.
    pub(crate) fn add_subagent_usage(&mut self, used: TurnUsage) {
        self.usage.input_tokens += used.input_tokens;
        self.usage.output_tokens += used.output_tokens;
    }

    /// Saves what was added since the last time, whole or not at all. With nothing to save it does nothing.
    pub(crate) fn save(&mut self, store: &Store, at: &str) -> Result<(), StoreError> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let exchange = Exchange {
            conversation_id: &self.id,
            expected_next: self.next,
            entries: &self.unsaved,
            usage: self.unsaved_usage,
            at,
        };
        let saved = if self.next == 0 {
            store.begin(&self.as_new(at), &exchange)
        } else {
            store.append(&exchange)
        };
        self.lost |= matches!(saved, Err(StoreError::ChangedElsewhere { .. }));
        self.next = saved?;
        self.unsaved.clear();
        self.unsaved_usage = None;
        Ok(())
    }

    fn as_new<'a>(&'a self, at: &'a str) -> NewConversation<'a> {
        NewConversation {
            project: &self.project,
            model: &self.model,
            parent: self.parent.as_deref(),
            recipe: None,
            created_at: at,
        }
    }

    /// Puts another history in the place of this one. The store keeps the old one (R32).
    pub(crate) fn replace(
        &mut self,
        store: &Store,
        by: &str,
        messages: Vec<Message>,
        at: &str,
    ) -> Result<(), StoreError> {
        self.save(store, at)?;
        let origin = Origin::Mutation(by.to_owned());
        let entries: Vec<Entry> = messages
            .iter()
            .map(|message| Entry { message: message.clone(), origin: origin.clone() })
            .collect();
        self.next = store.replace_history(&HistoryChange {
            conversation_id: &self.id,
            expected_next: self.next,
            kind: ChangeKind::Mutate,
            by,
            reason: None,
            entries: &entries,
            at,
        })?;
        self.usage.current_context_window =
            messages.iter().map(|message| estimate_tokens(&message.content())).sum();
        self.usage.estimated = true;
        self.messages = Arc::new(messages);
        Ok(())
    }

    /// Records how a session ended; for a conversation that was never saved, or that another process has gone on with, there
    /// is nothing to record.
    pub(crate) fn set_status(
        &self,
        store: &Store,
        status: &str,
        at: &str,
    ) -> Result<(), StoreError> {
        if self.next == 0 || self.lost { Ok(()) } else { store.set_status(&self.id, status, at) }
    }
}

/// About how many tokens a history has.
fn estimate(messages: &[Message]) -> u64 {
    messages.iter().map(|message| estimate_tokens(&message.content())).sum()
}
