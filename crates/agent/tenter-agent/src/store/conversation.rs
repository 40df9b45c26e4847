//! The types that the store saves and returns, without SQL.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use tenter_protocol::Message;
use tenter_protocol::event::{TurnUsage, Usage};

/// The properties of a conversation before its first exchange.
#[derive(Debug, Clone, Copy)]
pub struct NewConversation<'a> {
    /// The project root.
    pub project: &'a Path,
    /// The model, as passed to `--model`.
    pub model: &'a str,
    /// The parent conversation: present exactly for subagents (R51). It need not be stored (yet).
    pub parent: Option<&'a str>,
    /// The recipe that the agent was started with.
    pub recipe: Option<&'a str>,
    /// RFC 3339 in UTC with `Z`.
    pub created_at: &'a str,
}

/// Messages that are saved in one transaction.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The conversation's id.
    pub conversation_id: &'a str,
    /// The sequence number that the caller expects for the first entry; 0 starts a conversation.
    pub expected_next: u64,
    /// At least one. Every tool call is answered by the entry right after it.
    pub entries: &'a [HistoryEntry],
    /// The usage, if a model was called.
    pub usage: Option<ExchangeUsage<'a>>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// A new history that replaces the current one (R32).
#[derive(Debug, Clone, Copy)]
pub struct HistoryChange<'a> {
    /// The conversation's id.
    pub conversation_id: &'a str,
    /// The sequence number that the caller expects for the first entry.
    pub expected_next: u64,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The name of the hook that made it, or `user`.
    pub by: &'a str,
    /// The reason, if known.
    pub reason: Option<&'a str>,
    /// The complete new history, under the rules of [`Exchange::entries`].
    pub entries: &'a [HistoryEntry],
    /// The usage of producing it, if any.
    pub usage: Option<ExchangeUsage<'a>>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// A message with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The message.
    pub message: Message,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a message (R36). Names are names of hooks and recipes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    User,
    /// The model.
    Model,
    /// The tools.
    Tools,
    /// A hook's follow-up or context.
    Hook(String),
    /// A hook that replaced the history.
    Mutation(String),
    /// A recipe: its prompt, or the summary that it produced.
    Recipe(String),
}

impl Origin {
    /// Parses the form that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "user" => Some(Self::User),
            None if text == "model" => Some(Self::Model),
            None if text == "tools" => Some(Self::Tools),
            Some(("hook", name)) => Some(Self::Hook(name.to_owned())),
            Some(("mutation", name)) => Some(Self::Mutation(name.to_owned())),
            Some(("recipe", name)) => Some(Self::Recipe(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Model => f.write_str("model"),
            Self::Tools => f.write_str("tools"),
            Self::Hook(name) => write!(f, "hook:{name}"),
            Self::Mutation(name) => write!(f, "mutation:{name}"),
            Self::Recipe(name) => write!(f, "recipe:{name}"),
        }
    }
}

/// The usage of one exchange with a model. Counts are tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExchangeUsage<'a> {
    /// The model, as passed to `--model`. It becomes the conversation's model.
    pub model: &'a str,
    /// The tokens sent and received.
    pub turn: TurnUsage,
    /// The cost in US dollars, if the model's prices are known.
    pub cost_usd: Option<f64>,
    /// The size of the exchange, as counted by the provider.
    pub context_window: u64,
    /// The size of the model's context window.
    pub max_context_window: u64,
    /// Some count is an estimate, because the provider gave none.
    pub estimated: bool,
}

/// The kind of a change of history (R36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A hook replaced it.
    Mutate,
    /// A summary replaced it.
    Compact,
    /// An earlier history was restored.
    Restore,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Mutate, Self::Compact, Self::Restore];

    /// Returns the name in the store and in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mutate => "mutate",
            Self::Compact => "compact",
            Self::Restore => "restore",
        }
    }
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its number, counted from 0 over all epochs of the conversation.
    pub sequence: u64,
    /// When it was saved: RFC 3339 in UTC with `Z`.
    pub at: String,
    /// The message with its origin.
    pub entry: HistoryEntry,
}

/// One history of a conversation, current or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Its number, from 0; the highest is the current history.
    pub number: u64,
    /// The change that started it; absent for the first.
    pub change: Option<RecordedChange>,
    /// Its messages, in order.
    pub entries: Vec<StoredEntry>,
}

/// A recorded change of history (R36).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The name of the hook that made it, or `user`.
    pub by: String,
    /// The reason, if it was known.
    pub reason: Option<String>,
    /// When: RFC 3339 in UTC with `Z`.
    pub at: String,
}

/// A conversation to be resumed.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredConversation {
    /// Its summary.
    pub summary: Summary,
    /// The current history.
    pub entries: Vec<StoredEntry>,
    /// The sequence number of the next entry.
    pub next: u64,
    /// Model responses over the whole conversation (R6).
    pub turns: u64,
    /// Consecutive failures of callbacks (R33), by recipe name.
    pub callback_failures: BTreeMap<String, u32>,
}

/// A conversation as shown in a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The id.
    pub id: String,
    /// When it was created: RFC 3339 in UTC with `Z`.
    pub created_at: String,
    /// When it was last saved: RFC 3339 in UTC with `Z`.
    pub updated_at: String,
    /// The project root.
    pub project: PathBuf,
    /// The model of its last exchange, or the one it was created with.
    pub model: String,
    /// The parent conversation: present exactly for subagents (R51).
    pub parent: Option<String>,
    /// The conversation that it was forked from, if any. It may have been deleted.
    pub forked_from: Option<String>,
    /// The recipe that it was started with.
    pub recipe: Option<String>,
    /// Number of messages in the current history.
    pub message_count: u64,
    /// The beginning of the user's first message, on one line of at most 80 characters.
    pub preview: String,
    /// Token usage and costs: cumulative counts including subagents (R58), and the counts of its own last exchange. The cost
    /// is the sum of the known costs, and absent if none is known. The context window is 0 if the history was replaced
    /// since, because the new one has not been counted.
    pub usage: Usage,
    /// The status of its last session, or `forked` if there was none yet; absent while one runs, and after one was killed.
    pub status: Option<String>,
}

/// A selection of conversations to list.
#[derive(Debug, Clone, Copy)]
pub struct ListQuery<'a> {
    /// Only the conversations of this project.
    pub project: Option<&'a Path>,
    /// Maximum number of conversations.
    pub limit: usize,
    /// Includes the conversations of subagents.
    pub include_subagents: bool,
}

/// A search for words in conversations.
#[derive(Debug, Clone, Copy)]
pub struct SearchQuery<'a> {
    /// The words that one message must contain, all of them. The last may be a prefix.
    pub words: &'a str,
    /// The conversations to search.
    pub among: ListQuery<'a>,
}

/// A conversation that matches a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Its summary.
    pub summary: Summary,
    /// The words around the best match, on one line; matches are marked with `«` and `»`.
    pub snippet: String,
}

/// A request to copy a conversation into a new one.
#[derive(Debug, Clone, Copy)]
pub struct Fork<'a> {
    /// The id of the existing conversation.
    pub source: &'a str,
    /// The id of the new conversation.
    pub id: &'a str,
    /// The number of messages of the current history to copy; all if absent.
    pub messages: Option<u64>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// A request to restore an earlier history.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    /// The conversation's id.
    pub id: &'a str,
    /// The epoch to restore; the one before the last change if absent.
    pub epoch: Option<u64>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_round_trip_with_any_name() {
        let with_name = |name: &str| {
            [Origin::Hook(name.into()), Origin::Mutation(name.into()), Origin::Recipe(name.into())]
        };
        let plain = [Origin::User, Origin::Model, Origin::Tools];
        for origin in plain
            .into_iter()
            .chain(with_name("org/repo/guard"))
            .chain(with_name("a:b"))
            .chain(with_name(""))
        {
            assert_eq!(Origin::parse(&origin.to_string()), Some(origin));
        }
        assert_eq!(Origin::parse("users"), None);
        assert_eq!(Origin::parse("oracle:x"), None);
    }
}
