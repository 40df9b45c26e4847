//! Warns about the loss when a conversation continues with another provider: its reasoning, which only the provider that signed it
//! accepts. Texts, calls, results and images are kept.

use tenter_agent::store::StoredConversation;
use tenter_protocol::{Block, Diagnostic, Severity};

/// Returns a warning about the reasoning in `conversation` that the model named `model` will not receive; `None` if it receives all of
/// it.
pub(super) fn lost_reasoning(conversation: &StoredConversation, model: &str) -> Option<Diagnostic> {
    if provider(&conversation.summary.model) == provider(model) {
        return None;
    }
    let messages = conversation.entries.iter().map(|entry| &entry.entry.message);
    let with_reasoning = messages.filter(|message| {
        message.blocks.iter().any(|block| matches!(block, Block::Reasoning { .. }))
    });
    let count = with_reasoning.count();
    (count > 0).then(|| {
        let plural = if count == 1 { "" } else { "s" };
        let message = format!(
            "this conversation used {}: {model} does not receive the reasoning of {count} message{plural}",
            conversation.summary.model
        );
        Diagnostic::new("reasoning-not-carried-over", Severity::Warning, message)
    })
}

fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}
