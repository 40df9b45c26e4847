//! Renders a conversation as text for a model that reads it, for instance a recipe that summarises.
//!
//! Text works with every provider, contains no tool call that needs a result, and can be shortened: tool results first,
//! since what mattered in them was usually mentioned later; then messages in the middle. The store has the full text.

use tenter_base::excerpt;
use tenter_protocol::{Block, Message, Role};

/// Maximum size of a tool's input or result, in bytes, split between its beginning and its end.
const MAX_TOOL_TEXT: usize = 2000;

/// Renders the conversation in about `budget` bytes: the first message and as many of the last ones as fit. Each message
/// is limited to a quarter of the budget.
pub(crate) fn transcript(messages: &[Message], budget: usize) -> String {
    let part = |message: &Message| excerpt::ends(&part(message), budget / 4).into_owned();
    let Some((first, rest)) = messages.split_first() else { return String::new() };
    let first = part(first);
    let mut remaining = budget.saturating_sub(first.len());
    let rest: Vec<String> = rest.iter().map(part).collect();
    let count = rest.iter().rev().take_while(|part| take(&mut remaining, part.len())).count();
    let (earlier, last) = rest.split_at(rest.len() - count);
    let note = (!earlier.is_empty()).then(|| format!("[… {} messages omitted …]", earlier.len()));
    let parts = std::iter::once(first).chain(note).chain(last.iter().cloned());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// Subtracts `size` from the budget; returns whether it was sufficient.
fn take(budget: &mut usize, size: usize) -> bool {
    match budget.checked_sub(size) {
        Some(rest) => {
            *budget = rest;
            true
        }
        None => false,
    }
}

fn part(message: &Message) -> String {
    let who = match message.role {
        Role::User => "## User",
        Role::Assistant => "## Assistant",
    };
    let blocks = message.blocks.iter().filter_map(block_text);
    std::iter::once(who.to_owned()).chain(blocks).collect::<Vec<_>>().join("\n\n")
}

/// Returns the text of a block. Reasoning is omitted: its conclusion follows it.
fn block_text(block: &Block) -> Option<String> {
    match block {
        Block::Reasoning { .. } => None,
        Block::Text { text } => Some(text.clone()),
        Block::Image(_) | Block::ToolUse(_) | Block::ToolResult { .. } => {
            Some(excerpt::ends(&block.content(), MAX_TOOL_TEXT).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use tenter_protocol::ToolCall;

    #[test]
    fn tool_results_are_shortened_and_reasoning_is_omitted() {
        let input = json!({"command": "x".repeat(5000)}).as_object().unwrap().clone();
        let call = ToolCall { id: "1".into(), name: "bash".into(), input };
        let thought = Block::Reasoning { text: "secretly".into() };
        let blocks = vec![thought, Block::text("Looking."), Block::ToolUse(call)];
        let text =
            transcript(&[Message::user("go"), Message::new(Role::Assistant, blocks)], 100_000);
        assert!(text.starts_with("## User\n\ngo\n\n## Assistant\n\nLooking.\n\nUsing tool bash:"));
        assert!(text.contains("bytes omitted") && !text.contains("secretly"), "{text}");
    }

    #[test]
    fn a_long_last_message_is_cut_and_does_not_crowd_out_the_rest() {
        let messages =
            [Message::user("first"), Message::user("before"), Message::user("z".repeat(9000))];
        let text = transcript(&messages, 4000);
        assert!(
            text.contains("first") && text.contains("before") && text.contains("zzz"),
            "{text}"
        );
        assert!(text.len() < 1200, "{}", text.len());
    }

    #[test]
    fn the_first_and_the_last_messages_are_kept() {
        let messages: Vec<Message> = (0..100)
            .map(|number| Message::user(format!("message {number} {}", "y".repeat(90))))
            .collect();
        let text = transcript(&messages, 2000);
        assert!(text.contains("message 0 ") && text.contains("message 99 "), "{text}");
        assert!(text.contains("messages omitted") && !text.contains("message 50 "), "{text}");
    }

    proptest! {
        #[test]
        fn the_budget_is_respected(texts in prop::collection::vec(".{0,200}", 0..30), budget in 200..5000usize) {
            let messages: Vec<Message> = texts.into_iter().map(Message::user).collect();
            // The notes on omissions, and the breaks between messages, are not counted.
            prop_assert!(transcript(&messages, budget).len() <= budget + 40 + 40 * messages.len());
        }
    }
}
