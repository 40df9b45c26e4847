//! A conversation as text, for a model that is to read it and not to go on with it: a recipe that summarises, for instance.
//!
//! Text goes to every provider alike, holds no call that wants an answer, and can be cut: results of tools first, since
//! whatever mattered in them was said afterwards; then what lies in the middle. Whoever needs every word asks the store.

use tenter_protocol::{Block, Message, Role};

/// Bytes of a tool's input or result that are kept, its beginning and its end.
const OF_A_TOOL: usize = 2000;

/// The conversation in at most about `budget` bytes: the first message and as many of the last ones as fit. None takes more
/// than a quarter for itself.
pub(crate) fn transcript(messages: &[Message], budget: usize) -> String {
    let part = |message: &Message| shortened(&part(message), budget / 4);
    let Some((first, rest)) = messages.split_first() else { return String::new() };
    let first = part(first);
    let mut left = budget.saturating_sub(first.len());
    let rest: Vec<String> = rest.iter().map(part).collect();
    let kept = rest.iter().rev().take_while(|part| take(&mut left, part.len())).count();
    let (dropped, kept) = rest.split_at(rest.len() - kept);
    let note = (!dropped.is_empty()).then(|| format!("[… {} messages left out …]", dropped.len()));
    let parts = std::iter::once(first).chain(note).chain(kept.iter().cloned());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// Takes `size` from what is left; says whether there was enough.
fn take(left: &mut usize, size: usize) -> bool {
    match left.checked_sub(size) {
        Some(rest) => {
            *left = rest;
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
    let said = message.blocks.iter().filter_map(said);
    std::iter::once(who.to_owned()).chain(said).collect::<Vec<_>>().join("\n\n")
}

/// Reasoning is left out: what came of it stands behind it.
fn said(block: &Block) -> Option<String> {
    match block {
        Block::Reasoning { .. } => None,
        Block::Text { text } => Some(text.clone()),
        Block::Image(_) | Block::ToolUse(_) | Block::ToolResult { .. } => {
            Some(shortened(&block.content(), OF_A_TOOL))
        }
    }
}

/// Both ends of a text that is longer than `limit` bytes.
fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use tenter_protocol::ToolCall;

    #[test]
    fn tools_are_shortened_and_reasoning_is_left_out() {
        let input = json!({"command": "x".repeat(5000)}).as_object().unwrap().clone();
        let call = ToolCall { id: "1".into(), name: "bash".into(), input };
        let thought = Block::Reasoning { text: "secretly".into() };
        let blocks = vec![thought, Block::text("Looking."), Block::ToolUse(call)];
        let text =
            transcript(&[Message::user("go"), Message::new(Role::Assistant, blocks)], 100_000);
        assert!(text.starts_with("## User\n\ngo\n\n## Assistant\n\nLooking.\n\nUsing tool bash:"));
        assert!(text.contains("bytes left out") && !text.contains("secretly"), "{text}");
    }

    #[test]
    fn a_last_message_that_is_too_long_is_cut_and_does_not_push_out_the_rest() {
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
    fn the_beginning_and_the_end_are_kept() {
        let messages: Vec<Message> = (0..100)
            .map(|number| Message::user(format!("message {number} {}", "y".repeat(90))))
            .collect();
        let text = transcript(&messages, 2000);
        assert!(text.contains("message 0 ") && text.contains("message 99 "), "{text}");
        assert!(text.contains("messages left out") && !text.contains("message 50 "), "{text}");
    }

    proptest! {
        #[test]
        fn it_keeps_to_its_budget(texts in prop::collection::vec(".{0,200}", 0..30), budget in 200..5000usize) {
            let messages: Vec<Message> = texts.into_iter().map(Message::user).collect();
            // The notes on what was left out, and the breaks between messages, come on top.
            prop_assert!(transcript(&messages, budget).len() <= budget + 40 + 40 * messages.len());
        }
    }
}
