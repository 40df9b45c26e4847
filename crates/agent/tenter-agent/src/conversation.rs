//! A conversation in memory: its messages, its token usage, and what has not been saved yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_protocol::Message;
use tenter_protocol::event::{TurnUsage, Usage};

use crate::model::{estimate_tokens, request_bytes};
use crate::store::{
    ChangeKind, Exchange, ExchangeUsage, HistoryChange, HistoryEntry, NewConversation, Origin,
    Store, StoreError, StoredConversation,
};

/// The usage of one model response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseUsage<'m> {
    /// Token counts.
    pub(crate) turn: TurnUsage,
    /// Cost in US dollars, if the model's prices are known.
    pub(crate) cost_usd: Option<f64>,
    /// Size of the model's context window, in tokens.
    pub(crate) window: u64,
    /// The counts are estimates, because the provider gave none.
    pub(crate) estimated: bool,
    /// The model, as passed to `--model`.
    pub(crate) model: &'m str,
}

/// Tokens and cost of one or several responses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    /// Token counts.
    pub(crate) turn: TurnUsage,
    /// Cost in US dollars, as far as prices are known.
    pub(crate) cost_usd: Option<f64>,
}

impl Spent {
    /// Returns the total usage of a conversation.
    pub(crate) fn total(usage: &Usage) -> Self {
        let turn = TurnUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            ..TurnUsage::default()
        };
        Self { turn, cost_usd: usage.cost_usd }
    }

    /// Adds further usage.
    pub(crate) fn add(&mut self, other: Self) {
        let (sum, turn) = (&mut self.turn, other.turn);
        sum.input_tokens = sum.input_tokens.saturating_add(turn.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(turn.output_tokens);
        sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(turn.cached_input_tokens);
        sum.cache_write_tokens = sum.cache_write_tokens.saturating_add(turn.cache_write_tokens);
        self.cost_usd = sum_of_known(self.cost_usd, other.cost_usd);
    }
}

/// Returns the sum of the known costs.
fn sum_of_known(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(|one, other| one + other)
}

/// A history that replaces the current one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryReplacement<'r> {
    /// The kind of change.
    pub(crate) kind: ChangeKind,
    /// The hook or recipe that requested it, or `user`.
    pub(crate) by: &'r str,
    /// The reason, if one was given.
    pub(crate) reason: Option<&'r str>,
    /// The complete new history.
    pub(crate) messages: &'r [Message],
}

impl HistoryReplacement<'_> {
    /// Returns the origin of the messages that are new.
    fn origin(&self) -> Origin {
        match self.kind {
            ChangeKind::Compact => Origin::Recipe(self.by.to_owned()),
            ChangeKind::Mutate | ChangeKind::Restore => Origin::Mutation(self.by.to_owned()),
        }
    }
}

/// A conversation.
#[derive(Default)]
pub struct Conversation {
    id: String,
    parent: Option<String>,
    /// The recipe that it was started with.
    recipe: Option<String>,
    project: PathBuf,
    model: String,
    messages: Arc<Vec<Message>>,
    /// The size of the messages in a request, in bytes.
    request_bytes: u64,
    /// The origin of each message.
    origins: Vec<Origin>,
    /// The sequence number of the next entry; 0 until something is saved.
    next: u64,
    turns: u64,
    usage: Usage,
    /// The number of messages that `usage.current_context_window` includes.
    sent_count: usize,
    unsaved_entries: Vec<HistoryEntry>,
    unsaved_usage: Option<Spent>,
    /// Consecutive failures of callbacks (R33), by recipe name.
    callback_failures: BTreeMap<String, u32>,
    /// Another process continued or deleted it, so that nothing more can be saved.
    lost: bool,
}

impl Conversation {
    /// Creates a conversation. `parent` is the conversation that starts it, for a subagent (R51).
    pub fn new(id: String, parent: Option<String>, project: &Path, model: &str) -> Self {
        Self { id, parent, project: project.to_owned(), model: model.to_owned(), ..Self::default() }
    }

    /// Sets the recipe that the conversation is stored with; has no effect on a resumed conversation.
    #[must_use]
    pub fn begun_for(mut self, recipe: &str) -> Self {
        if self.messages.is_empty() {
            self.recipe = Some(recipe.to_owned());
        }
        self
    }

    /// Continues a conversation loaded from the store.
    pub fn resumed(conversation: StoredConversation) -> Self {
        let entries = conversation.entries.into_iter().map(|entry| entry.entry);
        let (messages, origins): (Vec<Message>, Vec<Origin>) =
            entries.map(|entry| (entry.message, entry.origin)).unzip();
        let mut usage = conversation.summary.usage;
        let last_answer = origins.iter().rposition(|origin| *origin == Origin::Model);
        let mut count = last_answer.map_or(0, |index| index + 1);
        if usage.current_context_window == 0 || last_answer.is_none() {
            // No model has seen this history yet: it was replaced after the last response.
            usage.current_context_window = estimate(&messages);
            usage.estimated = true;
            count = messages.len();
        }
        Self {
            id: conversation.summary.id,
            parent: conversation.summary.parent,
            recipe: conversation.summary.recipe,
            project: conversation.summary.project,
            model: conversation.summary.model,
            request_bytes: request_bytes(&messages),
            messages: Arc::new(messages),
            origins,
            next: conversation.next,
            turns: conversation.turns,
            usage,
            sent_count: count,
            callback_failures: conversation.callback_failures,
            ..Self::default()
        }
    }

    /// Continues a conversation in another store: the next save writes all of it.
    pub fn detached(conversation: StoredConversation) -> Self {
        let unsaved = conversation.entries.iter().map(|entry| entry.entry.clone()).collect();
        Self { next: 0, unsaved_entries: unsaved, ..Self::resumed(conversation) }
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the parent conversation, for a subagent.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Returns the model of its last response, or the one it was started with, as passed to `--model`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the messages, in order.
    pub fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.messages)
    }

    /// Returns the token usage.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Returns the number of model responses since the conversation began (R6).
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Adds a message, to be saved by the next [`save`](Self::save).
    pub(crate) fn push(&mut self, message: Message, origin: Origin) {
        if message.is_empty() {
            return; // an empty response is not kept
        }
        self.request_bytes += request_bytes(std::slice::from_ref(&message));
        Arc::make_mut(&mut self.messages).push(message.clone());
        if origin == Origin::Model {
            self.sent_count = self.messages.len(); // including this response
        }
        self.origins.push(origin.clone());
        self.unsaved_entries.push(HistoryEntry { message, origin });
    }

    /// Adds the usage of a model response.
    pub(crate) fn add_response(&mut self, exchanged: &ResponseUsage) {
        let ResponseUsage { turn, cost_usd, window, estimated, model } = *exchanged;
        let usage = Spent { turn, cost_usd };
        self.turns += 1;
        if self.model != model {
            model.clone_into(&mut self.model);
        }
        self.count(usage);
        self.usage.current_context_window = turn.input_tokens.saturating_add(turn.output_tokens);
        self.sent_count = self.messages.len();
        self.usage.max_context_window = window;
        self.usage.estimated = estimated;
        self.usage.turn = turn;
        // The usage of an empty response is saved with the next message.
        self.unsaved_usage.get_or_insert_default().add(usage);
    }

    /// Adds the usage of a side recipe, which is stored nowhere else.
    pub(crate) fn add_side_usage(&mut self, usage: Spent) {
        self.count(usage);
        self.unsaved_usage.get_or_insert_default().add(usage);
    }

    /// Returns the last message of the user.
    pub(crate) fn last_request(&self) -> Option<&Message> {
        let index = self.origins.iter().rposition(|origin| *origin == Origin::User)?;
        self.messages.get(index)
    }

    /// Returns the size of all messages in a request, in bytes. It is counted as messages are added: a sum over all messages for each
    /// response would make long conversations slow.
    pub(crate) fn request_bytes(&self) -> u64 {
        self.request_bytes
    }

    /// Estimates the tokens of the next request, rather too high than too low: the tokens counted by the provider, and 1.5
    /// times the estimate for later messages.
    pub(crate) fn expected_tokens(&self) -> u64 {
        let uncounted = estimate(&self.messages[self.sent_count..]);
        self.usage.current_context_window.saturating_add(uncounted).saturating_add(uncounted / 2)
    }

    /// Returns the average number of bytes per token in this conversation, as far as it is known; from 2 to 4.
    pub(crate) fn bytes_per_token(&self) -> u64 {
        let messages = &self.messages[..self.sent_count];
        let bytes: usize = messages.iter().map(|message| message.content().len()).sum();
        let tokens = self.usage.current_context_window;
        (bytes as u64).checked_div(tokens).unwrap_or(3).clamp(2, 4)
    }

    /// Adds the usage of subagents (R58). The store has it in their own conversations.
    pub(crate) fn add_subagent_usage(&mut self, usage: Spent) {
        self.count(usage);
    }

    fn count(&mut self, spend: Spent) {
        let usage = &mut self.usage;
        usage.input_tokens = usage.input_tokens.saturating_add(spend.turn.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(spend.turn.output_tokens);
        usage.cost_usd = sum_of_known(usage.cost_usd, spend.cost_usd);
    }

    /// Saves what was added since the last save, in one transaction. Does nothing if there is nothing to save.
    pub(crate) fn save(&mut self, store: &Store, at: &str) -> Result<(), StoreError> {
        if self.unsaved_entries.is_empty() {
            return self.save_usage(store);
        }
        let exchange = Exchange {
            conversation_id: &self.id,
            expected_next: self.next,
            entries: &self.unsaved_entries,
            usage: self.unsaved_usage.map(|usage| self.exchange_usage(usage)),
            at,
        };
        let result = if self.next == 0 {
            store.begin(&self.as_new(at), &exchange)
        } else {
            store.append(&exchange)
        };
        self.next = self.unless_lost(result)?;
        self.unsaved_entries.clear();
        self.unsaved_usage = None;
        Ok(())
    }

    /// Saves usage that belongs to no message.
    fn save_usage(&mut self, store: &Store) -> Result<(), StoreError> {
        let Some(usage) = self.unsaved_usage.filter(|_| self.next > 0) else { return Ok(()) };
        let result = store.spend(&self.id, self.next, &self.exchange_usage(usage));
        self.unless_lost(result.map(|()| self.next))?;
        self.unsaved_usage = None;
        Ok(())
    }

    /// Returns whether another process continued or deleted the conversation, so that nothing more can be saved.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Marks the conversation as lost if the store reports that another process changed it.
    fn unless_lost(&mut self, result: Result<u64, StoreError>) -> Result<u64, StoreError> {
        self.lost |=
            matches!(result, Err(StoreError::ChangedElsewhere { .. } | StoreError::Deleted { .. }));
        result
    }

    fn exchange_usage(&self, usage: Spent) -> ExchangeUsage<'_> {
        ExchangeUsage {
            model: &self.model,
            turn: usage.turn,
            cost_usd: usage.cost_usd,
            context_window: self.usage.current_context_window,
            max_context_window: self.usage.max_context_window,
            estimated: self.usage.estimated,
        }
    }

    fn as_new<'a>(&'a self, at: &'a str) -> NewConversation<'a> {
        NewConversation {
            project: &self.project,
            model: &self.model,
            parent: self.parent.as_deref(),
            recipe: self.recipe.as_deref(),
            created_at: at,
        }
    }

    /// Replaces the history; the store keeps the old one (R32). Messages that are kept retain their origin and their
    /// native form.
    pub(crate) fn replace(
        &mut self,
        store: &Store,
        replacement: &HistoryReplacement,
        at: &str,
    ) -> Result<(), StoreError> {
        self.save(store, at)?;
        let entries = self.entries_of(replacement);
        let context_window = estimate(replacement.messages);
        let result = store.replace_history(&HistoryChange {
            conversation_id: &self.id,
            expected_next: self.next,
            kind: replacement.kind,
            by: replacement.by,
            reason: replacement.reason,
            entries: &entries,
            usage: self.unsaved_usage.map(|usage| ExchangeUsage {
                context_window,
                estimated: true,
                ..self.exchange_usage(usage)
            }),
            at,
        });
        self.next = self.unless_lost(result)?;
        self.unsaved_usage = None;
        let (messages, origins): (Vec<Message>, Vec<Origin>) =
            entries.into_iter().map(|entry| (entry.message, entry.origin)).unzip();
        self.usage.current_context_window = context_window;
        self.usage.estimated = true;
        self.sent_count = messages.len();
        self.request_bytes = request_bytes(&messages);
        self.messages = Arc::new(messages);
        self.origins = origins;
        Ok(())
    }

    /// Returns the messages of the new history; each message of the old one is reused at most once.
    fn entries_of(&self, replacement: &HistoryReplacement) -> Vec<HistoryEntry> {
        let mut is_reused = vec![false; self.messages.len()];
        // Kept messages are usually in order, so the search starts after the previous match.
        let mut behind = 0;
        let entry = |message: &Message| {
            let is_equal = |index: &usize| {
                let old = &self.messages[*index];
                !is_reused[*index] && old.role == message.role && old.blocks == message.blocks
            };
            let Some(index) = (behind..is_reused.len()).chain(0..behind).find(is_equal) else {
                return HistoryEntry { message: message.clone(), origin: replacement.origin() };
            };
            is_reused[index] = true;
            behind = index + 1;
            let message = self.messages[index].clone();
            HistoryEntry { message, origin: self.origins[index].clone() }
        };
        replacement.messages.iter().map(entry).collect()
    }

    /// Returns the consecutive failures of a recipe's callback.
    pub(crate) fn callback_failures(&self, recipe: &str) -> u32 {
        self.callback_failures.get(recipe).copied().unwrap_or(0)
    }

    /// Returns the recipes whose callback has failed, with the number of consecutive failures.
    pub(crate) fn failed_callbacks(&self) -> impl Iterator<Item = (&str, u32)> {
        self.callback_failures.iter().map(|(recipe, failures)| (recipe.as_str(), *failures))
    }

    /// Stores the consecutive failures of a recipe's callback, so that later processes see them.
    pub(crate) fn set_callback_failures(
        &mut self,
        store: &Store,
        recipe: &str,
        failures: u32,
    ) -> Result<(), StoreError> {
        if failures == self.callback_failures(recipe) {
            return Ok(());
        }
        if failures > 0 {
            self.callback_failures.insert(recipe.to_owned(), failures);
        } else {
            self.callback_failures.remove(recipe);
        }
        if self.next == 0 || self.lost {
            return Ok(());
        }
        store.set_callback_failures(&self.id, recipe, failures)
    }

    /// Records how a session ended. Does nothing for a conversation that was never saved or is lost.
    pub(crate) fn set_status(
        &self,
        store: &Store,
        status: &str,
        at: &str,
    ) -> Result<(), StoreError> {
        if self.next == 0 || self.lost { Ok(()) } else { store.set_status(&self.id, status, at) }
    }
}

/// Estimates the tokens of a history.
fn estimate(messages: &[Message]) -> u64 {
    messages.iter().map(|message| estimate_tokens(&message.content())).sum()
}

#[cfg(test)]
mod tests;
