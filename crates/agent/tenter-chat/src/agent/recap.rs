//! The end of a stored conversation: the user's last message and the answer to it.

use tenter_agent::store::{Origin, Store, StoredConversation, StoredEntry};
use tenter_protocol::Block;

/// The end of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Recap {
    /// When the conversation was last saved, as RFC 3339.
    pub at: String,
    /// The text of the user's last message.
    pub message: String,
    /// The model's last text after it; empty if there is none.
    pub answer: String,
    /// The number of tool calls after it.
    pub calls: usize,
}

impl Recap {
    /// Returns the end of this conversation; `None` if it has no message of the user. If its history was replaced after the answer, by
    /// `/compact` for instance, the answer is in an earlier history.
    pub(crate) fn new(store: &Store, conversation: &StoredConversation) -> Option<Self> {
        let present = Self::from_entries(&conversation.summary.updated_at, &conversation.entries);
        if present.as_ref().is_some_and(|recap| !recap.answer.is_empty()) {
            return present;
        }
        let histories = store.history(&conversation.summary.id).unwrap_or_default();
        let earlier = histories.iter().rev().filter_map(|history| {
            let recap = Self::from_entries(&conversation.summary.updated_at, &history.entries)?;
            Some(recap).filter(|recap| !recap.answer.is_empty())
        });
        // An earlier answer belongs to an earlier message, unless the message was kept.
        let earlier = earlier
            .take(1)
            .find(|recap| present.as_ref().is_none_or(|present| present.message == recap.message));
        earlier.or(present)
    }

    fn from_entries(at: &str, entries: &[StoredEntry]) -> Option<Self> {
        let is_of_user = |entry: &StoredEntry| entry.entry.origin == Origin::User;
        let question = entries.iter().rposition(is_of_user)?;
        let (message, after) = entries[question..].split_first()?;
        let answers = after.iter().filter(|entry| entry.entry.origin == Origin::Model);
        let answers: Vec<&[Block]> = answers.map(|entry| &*entry.entry.message.blocks).collect();
        let is_call = |block: &&Block| matches!(block, Block::ToolUse(_));
        Some(Self {
            at: at.to_owned(),
            // Text from hooks follows the user's.
            message: message.entry.message.blocks.iter().find_map(text).unwrap_or_default(),
            answer: answers.iter().rev().find_map(|blocks| all_text(blocks)).unwrap_or_default(),
            calls: answers.iter().flat_map(|blocks| blocks.iter()).filter(is_call).count(),
        })
    }
}

fn text(block: &Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(text.clone()),
        _ => None,
    }
}

/// Returns the text of a response, unless it has none.
fn all_text(blocks: &[Block]) -> Option<String> {
    let texts: Vec<String> = blocks.iter().filter_map(text).collect();
    Some(texts.join("\n\n")).filter(|text| !text.trim().is_empty())
}
