//! What goes into the store and what comes out of it, free of any SQL.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use tenter_protocol::Message;
use tenter_protocol::event::{TurnUsage, Usage};

/// What is known of a conversation before its first exchange.
#[derive(Debug, Clone, Copy)]
pub struct NewConversation<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// The model, as `--model` would name it.
    pub model: &'a str,
    /// The conversation that starts this one: present exactly for subagents (R51). It need not be stored (yet).
    pub parent: Option<&'a str>,
    /// The recipe that the agent is started with.
    pub recipe: Option<&'a str>,
    /// RFC 3339 in UTC with `Z`.
    pub created_at: &'a str,
}

/// Messages that are saved together or not at all.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The conversation's id.
    pub conversation_id: &'a str,
    /// The sequence number that the first entry will get, as far as the caller knows; 0 begins a conversation.
    pub expected_next: u64,
    /// At least one. Every tool call is answered by the entry right after it.
    pub entries: &'a [Entry],
    /// What the exchange cost, if a model was asked.
    pub usage: Option<ExchangeUsage<'a>>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// A new history in the place of the present one (R32).
#[derive(Debug, Clone, Copy)]
pub struct HistoryChange<'a> {
    /// The conversation's id.
    pub conversation_id: &'a str,
    /// The sequence number that the first entry will get, as far as the caller knows.
    pub expected_next: u64,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// Who makes it: a hook's name, or `user`.
    pub by: &'a str,
    /// Why, if that is known.
    pub reason: Option<&'a str>,
    /// The new history, whole, under the rules of [`Exchange::entries`].
    pub entries: &'a [Entry],
    /// What it took to come to it, where it took anything.
    pub usage: Option<ExchangeUsage<'a>>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// A message and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The message.
    pub message: Message,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a message comes from (R36). Names are those of hooks and recipes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The person.
    User,
    /// The model.
    Model,
    /// The tools.
    Tools,
    /// A hook's follow-up or context.
    Hook(String),
    /// A hook that replaced the history.
    Mutation(String),
    /// A recipe: what it asks, or the summary that it made.
    Recipe(String),
}

impl Origin {
    /// The origin that [`Display`](fmt::Display) writes as `text`.
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

/// What one exchange with a model took. Counts are tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExchangeUsage<'a> {
    /// The model, as `--model` would name it. From now on it is the conversation's.
    pub model: &'a str,
    /// What was sent and received.
    pub turn: TurnUsage,
    /// What it cost, in US dollars, where the model's prices are known.
    pub cost_usd: Option<f64>,
    /// The size of the exchange, as the provider counted it.
    pub context_window: u64,
    /// What the model can hold.
    pub max_context_window: u64,
    /// Whether any figure was estimated because the provider gave none.
    pub estimated: bool,
}

/// Why a history was replaced (R36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A hook wrote another one.
    Mutate,
    /// A summary took its place.
    Compact,
    /// An earlier one was put back.
    Restore,
}

impl ChangeKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Mutate, Self::Compact, Self::Restore];

    /// The word for it in the store and in listings.
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
    /// Its number, counted over all epochs of the conversation from 0.
    pub sequence: u64,
    /// When it was saved: RFC 3339 in UTC with `Z`.
    pub at: String,
    /// The message and where it comes from.
    pub entry: Entry,
}

/// A history that a conversation has, or had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Its number, from 0; the highest is the present history.
    pub number: u64,
    /// What began it; absent for the first.
    pub change: Option<Change>,
    /// Its messages, in order.
    pub entries: Vec<StoredEntry>,
}

/// A change of history, as it was recorded (R36).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What kind of change it was.
    pub kind: ChangeKind,
    /// Who made it: a hook's name, or `user`.
    pub by: String,
    /// Why, if that was known.
    pub reason: Option<String>,
    /// When: RFC 3339 in UTC with `Z`.
    pub at: String,
}

/// A conversation as it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredConversation {
    /// What a listing says of it.
    pub summary: Summary,
    /// The present history.
    pub entries: Vec<StoredEntry>,
    /// The sequence number of the next entry.
    pub next: u64,
    /// Model responses over the whole conversation (R6).
    pub turns: u64,
    /// How often the callback of a recipe has failed in a row (R33), by the recipe's name.
    pub callback_failures: BTreeMap<String, u32>,
}

/// What a listing says of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// When it began: RFC 3339 in UTC with `Z`.
    pub created_at: String,
    /// When it was last saved to: RFC 3339 in UTC with `Z`.
    pub updated_at: String,
    /// The project's folder.
    pub project: PathBuf,
    /// The model of its last exchange, or that which it began with.
    pub model: String,
    /// The conversation that started it: present exactly for subagents (R51).
    pub parent: Option<String>,
    /// The conversation that it is a copy of, if it was forked. That one may be gone.
    pub forked_from: Option<String>,
    /// The recipe that it began with.
    pub recipe: Option<String>,
    /// Messages of the present history.
    pub message_count: u64,
    /// The first thing that the person said, on one line of at most 80 characters.
    pub preview: String,
    /// Token figures and costs: cumulative ones with subagents included (R58), and those of its own last exchange. The
    /// cost is that of the exchanges whose cost is known, and absent where there is none. The present
    /// context window is 0 where the history was replaced since, because nobody has counted the new one.
    pub usage: Usage,
    /// How its last session ended, or `forked` where there was none yet; absent while one runs, and after one was killed.
    pub status: Option<String>,
}

/// Which conversations to list.
#[derive(Debug, Clone, Copy)]
pub struct ListQuery<'a> {
    /// Only those of this project.
    pub project: Option<&'a Path>,
    /// At most so many.
    pub limit: usize,
    /// Whether subagents' conversations count.
    pub include_subagents: bool,
}

/// Which conversations to search, and for what.
#[derive(Debug, Clone, Copy)]
pub struct SearchQuery<'a> {
    /// What one message must say: all of these words. The last may be the beginning of one.
    pub words: &'a str,
    /// Where to look.
    pub among: ListQuery<'a>,
}

/// A conversation that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What a listing says of it.
    pub summary: Summary,
    /// The words around the best hit, on one line; hits stand between `«` and `»`.
    pub snippet: String,
}

/// A new conversation that begins as another one did.
#[derive(Debug, Clone, Copy)]
pub struct Fork<'a> {
    /// The id of the one that is there.
    pub source: &'a str,
    /// The id of the new one.
    pub id: &'a str,
    /// How many messages of the present history are taken; all where absent.
    pub messages: Option<u64>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

/// The wish to put an earlier history back.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    /// The conversation's id.
    pub id: &'a str,
    /// Which epoch's; that before the last change where absent.
    pub epoch: Option<u64>,
    /// RFC 3339 in UTC with `Z`.
    pub at: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_reads_back_whatever_the_name() {
        let named = |name: &str| {
            [Origin::Hook(name.into()), Origin::Mutation(name.into()), Origin::Recipe(name.into())]
        };
        let plain = [Origin::User, Origin::Model, Origin::Tools];
        for origin in
            plain.into_iter().chain(named("org/repo/guard")).chain(named("a:b")).chain(named(""))
        {
            assert_eq!(Origin::parse(&origin.to_string()), Some(origin));
        }
        assert_eq!(Origin::parse("users"), None);
        assert_eq!(Origin::parse("oracle:x"), None);
    }
}
