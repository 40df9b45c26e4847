//! A conversation as a session holds it: its messages, its token figures, and what of it is not saved yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_protocol::Message;
use tenter_protocol::event::{TurnUsage, Usage};

use crate::model::estimate_tokens;
use crate::store::{
    ChangeKind, Entry, Exchange, ExchangeUsage, HistoryChange, NewConversation, Origin, Store,
    StoreError, StoredConversation,
};

/// What a model response took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchanged<'m> {
    /// Tokens.
    pub(crate) turn: TurnUsage,
    /// US dollars, where the model's prices are known.
    pub(crate) cost_usd: Option<f64>,
    /// Tokens that the model can hold.
    pub(crate) window: u64,
    /// Whether the tokens were estimated because the provider gave none.
    pub(crate) estimated: bool,
    /// The model, as `--model` would name it.
    pub(crate) model: &'m str,
}

/// Tokens and dollars together, of one response or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    /// Tokens.
    pub(crate) turn: TurnUsage,
    /// US dollars, as far as prices are known.
    pub(crate) cost_usd: Option<f64>,
}

impl Spent {
    /// All that a conversation has spent.
    pub(crate) fn of(usage: &Usage) -> Self {
        let turn = TurnUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            ..TurnUsage::default()
        };
        Self { turn, cost_usd: usage.cost_usd }
    }

    /// Adds what else was spent.
    pub(crate) fn add(&mut self, other: Self) {
        let (sum, turn) = (&mut self.turn, other.turn);
        sum.input_tokens = sum.input_tokens.saturating_add(turn.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(turn.output_tokens);
        sum.cached_input_tokens = sum.cached_input_tokens.saturating_add(turn.cached_input_tokens);
        sum.cache_write_tokens = sum.cache_write_tokens.saturating_add(turn.cache_write_tokens);
        self.cost_usd = sum_of_known(self.cost_usd, other.cost_usd);
    }
}

/// What is known of two costs.
fn sum_of_known(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(|one, other| one + other)
}

/// A history that shall take the place of the present one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'r> {
    /// What kind of change it is.
    pub(crate) kind: ChangeKind,
    /// Who wants it: a hook, a recipe, or `user`.
    pub(crate) by: &'r str,
    /// Why, if that is known.
    pub(crate) reason: Option<&'r str>,
    /// The new history, whole.
    pub(crate) messages: &'r [Message],
}

impl Replacement<'_> {
    /// Where those of its messages come from that were not said before.
    fn origin(&self) -> Origin {
        match self.kind {
            ChangeKind::Compact => Origin::Recipe(self.by.to_owned()),
            ChangeKind::Mutate | ChangeKind::Restore => Origin::Mutation(self.by.to_owned()),
        }
    }
}

/// A conversation.
pub struct Conversation {
    id: String,
    parent: Option<String>,
    /// The recipe that it began with.
    recipe: Option<String>,
    project: PathBuf,
    model: String,
    messages: Arc<Vec<Message>>,
    /// Where each of the messages comes from.
    origins: Vec<Origin>,
    /// The sequence number of the next entry; 0 as long as nothing is saved.
    next: u64,
    turns: u64,
    usage: Usage,
    /// How many of the messages the present context window counts.
    counted: usize,
    unsaved: Vec<Entry>,
    unsaved_usage: Option<Spent>,
    /// How often the callback of a recipe has failed in a row (R33), by the recipe's name.
    callback_failures: BTreeMap<String, u32>,
    /// Whether another process went on with it or deleted it: what is stored is no longer this conversation.
    lost: bool,
}

impl Conversation {
    /// A conversation that begins. `parent` is the conversation that starts it, for a subagent (R51).
    pub fn new(id: String, parent: Option<String>, project: &Path, model: &str) -> Self {
        Self {
            id,
            parent,
            recipe: None,
            project: project.to_owned(),
            model: model.to_owned(),
            messages: Arc::default(),
            origins: Vec::new(),
            next: 0,
            turns: 0,
            usage: Usage::default(),
            counted: 0,
            unsaved: Vec::new(),
            unsaved_usage: None,
            callback_failures: BTreeMap::new(),
            lost: false,
        }
    }

    /// The same conversation, which the store remembers as begun for this recipe; one that goes on began as it did.
    #[must_use]
    pub fn begun_for(mut self, recipe: &str) -> Self {
        if self.messages.is_empty() {
            self.recipe = Some(recipe.to_owned());
        }
        self
    }

    /// A conversation that goes on.
    pub fn resumed(stored: StoredConversation) -> Self {
        let entries = stored.entries.into_iter().map(|stored| stored.entry);
        let (messages, origins): (Vec<Message>, Vec<Origin>) =
            entries.map(|entry| (entry.message, entry.origin)).unzip();
        let mut usage = stored.summary.usage;
        let answered = origins.iter().rposition(|origin| *origin == Origin::Model);
        let mut counted = answered.map_or(0, |index| index + 1);
        if usage.current_context_window == 0 || answered.is_none() {
            // No model has seen this history yet: it was replaced after the last exchange.
            usage.current_context_window = estimate(&messages);
            usage.estimated = true;
            counted = messages.len();
        }
        Self {
            id: stored.summary.id,
            parent: stored.summary.parent,
            recipe: stored.summary.recipe,
            project: stored.summary.project,
            model: stored.summary.model,
            messages: Arc::new(messages),
            origins,
            next: stored.next,
            turns: stored.turns,
            usage,
            counted,
            unsaved: Vec::new(),
            unsaved_usage: None,
            callback_failures: stored.callback_failures,
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

    /// The model of its last response, or that which it began with, as `--model` would name it.
    pub fn model(&self) -> &str {
        &self.model
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
        if origin == Origin::Model {
            self.counted = self.messages.len(); // with the response that it is
        }
        self.origins.push(origin.clone());
        self.unsaved.push(Entry { message, origin });
    }

    /// Counts a model response.
    pub(crate) fn add_response(&mut self, exchanged: &Exchanged) {
        let Exchanged { turn, cost_usd, window, estimated, model } = *exchanged;
        let spent = Spent { turn, cost_usd };
        self.turns += 1;
        if self.model != model {
            model.clone_into(&mut self.model);
        }
        self.count(spent);
        self.usage.current_context_window = turn.input_tokens.saturating_add(turn.output_tokens);
        self.counted = self.messages.len();
        self.usage.max_context_window = window;
        self.usage.estimated = estimated;
        self.usage.turn = turn;
        // A response that says nothing is saved with the next one that does.
        self.unsaved_usage.get_or_insert_default().add(spent);
    }

    /// Counts what a recipe beside the conversation used; it is nowhere else.
    pub(crate) fn add_side_usage(&mut self, spent: Spent) {
        self.count(spent);
        self.unsaved_usage.get_or_insert_default().add(spent);
    }

    /// The last message of the person's.
    pub(crate) fn last_request(&self) -> Option<&Message> {
        let index = self.origins.iter().rposition(|origin| *origin == Origin::User)?;
        self.messages.get(index)
    }

    /// About how many tokens the next request has, rather too many than too few: those that were counted, and half as much
    /// again as what came after them seems to have.
    pub(crate) fn expected_tokens(&self) -> u64 {
        let uncounted = estimate(&self.messages[self.counted..]);
        self.usage.current_context_window.saturating_add(uncounted).saturating_add(uncounted / 2)
    }

    /// How many bytes of this conversation's text a token stands for, as far as that is known: from 2 to 4.
    pub(crate) fn bytes_per_token(&self) -> u64 {
        let counted = &self.messages[..self.counted];
        let bytes: usize = counted.iter().map(|message| message.content().len()).sum();
        let tokens = self.usage.current_context_window;
        (bytes as u64).checked_div(tokens).unwrap_or(3).clamp(2, 4)
    }

    /// Counts what subagents used (R58). The store knows it from their own conversations.
    pub(crate) fn add_subagent_usage(&mut self, spent: Spent) {
        self.count(spent);
    }

    fn count(&mut self, spent: Spent) {
        let usage = &mut self.usage;
        usage.input_tokens = usage.input_tokens.saturating_add(spent.turn.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(spent.turn.output_tokens);
        usage.cost_usd = sum_of_known(usage.cost_usd, spent.cost_usd);
    }

    /// Saves what was added since the last time, whole or not at all. With nothing to save it does nothing.
    pub(crate) fn save(&mut self, store: &Store, at: &str) -> Result<(), StoreError> {
        if self.unsaved.is_empty() {
            return self.save_usage(store);
        }
        let exchange = Exchange {
            conversation_id: &self.id,
            expected_next: self.next,
            entries: &self.unsaved,
            usage: self.unsaved_usage.map(|spent| self.exchange_usage(spent)),
            at,
        };
        let saved = if self.next == 0 {
            store.begin(&self.as_new(at), &exchange)
        } else {
            store.append(&exchange)
        };
        self.next = self.unless_lost(saved)?;
        self.unsaved.clear();
        self.unsaved_usage = None;
        Ok(())
    }

    /// Saves what was spent on nothing that could be saved.
    fn save_usage(&mut self, store: &Store) -> Result<(), StoreError> {
        let Some(spent) = self.unsaved_usage.filter(|_| self.next > 0) else { return Ok(()) };
        let saved = store.spend(&self.id, self.next, &self.exchange_usage(spent));
        self.unless_lost(saved.map(|()| self.next))?;
        self.unsaved_usage = None;
        Ok(())
    }

    /// Whether another process went on with it or deleted it, so that nothing more of it can be saved.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Remembers it when the store says that the conversation is no longer this process's to go on with.
    fn unless_lost(&mut self, saved: Result<u64, StoreError>) -> Result<u64, StoreError> {
        self.lost |=
            matches!(saved, Err(StoreError::ChangedElsewhere { .. } | StoreError::Deleted { .. }));
        saved
    }

    fn exchange_usage(&self, spent: Spent) -> ExchangeUsage<'_> {
        ExchangeUsage {
            model: &self.model,
            turn: spent.turn,
            cost_usd: spent.cost_usd,
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

    /// Puts another history in the place of this one. The store keeps the old one (R32). What was said before keeps its
    /// origin and what the provider wants back of it.
    pub(crate) fn replace(
        &mut self,
        store: &Store,
        replacement: &Replacement,
        at: &str,
    ) -> Result<(), StoreError> {
        self.save(store, at)?;
        let entries = self.entries_of(replacement);
        let context_window = estimate(replacement.messages);
        let replaced = store.replace_history(&HistoryChange {
            conversation_id: &self.id,
            expected_next: self.next,
            kind: replacement.kind,
            by: replacement.by,
            reason: replacement.reason,
            entries: &entries,
            usage: self.unsaved_usage.map(|spent| ExchangeUsage {
                context_window,
                estimated: true,
                ..self.exchange_usage(spent)
            }),
            at,
        });
        self.next = self.unless_lost(replaced)?;
        self.unsaved_usage = None;
        let (messages, origins): (Vec<Message>, Vec<Origin>) =
            entries.into_iter().map(|entry| (entry.message, entry.origin)).unzip();
        self.usage.current_context_window = context_window;
        self.usage.estimated = true;
        self.counted = messages.len();
        self.messages = Arc::new(messages);
        self.origins = origins;
        Ok(())
    }

    /// The new history's messages: those that were said before as they were, each at most once.
    fn entries_of(&self, replacement: &Replacement) -> Vec<Entry> {
        let mut kept = vec![false; self.messages.len()];
        // Messages that stay mostly stay in their order, so each is looked for behind the one before it first.
        let mut behind = 0;
        let entry = |message: &Message| {
            let says_the_same = |index: &usize| {
                let old = &self.messages[*index];
                !kept[*index] && old.role == message.role && old.blocks == message.blocks
            };
            let Some(index) = (behind..kept.len()).chain(0..behind).find(says_the_same) else {
                return Entry { message: message.clone(), origin: replacement.origin() };
            };
            kept[index] = true;
            behind = index + 1;
            let message = self.messages[index].clone();
            Entry { message, origin: self.origins[index].clone() }
        };
        replacement.messages.iter().map(entry).collect()
    }

    /// How often the callback of a recipe has failed in a row.
    pub(crate) fn callback_failures(&self, recipe: &str) -> u32 {
        self.callback_failures.get(recipe).copied().unwrap_or(0)
    }

    /// The recipes whose callback has failed, and how often in a row.
    pub(crate) fn failed_callbacks(&self) -> impl Iterator<Item = (&str, u32)> {
        self.callback_failures.iter().map(|(recipe, failures)| (recipe.as_str(), *failures))
    }

    /// Remembers how often the callback of a recipe has failed in a row, also for the next process.
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

#[cfg(test)]
mod tests;
