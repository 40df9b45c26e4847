//! What is lost when a conversation goes on with another provider. Texts, calls, results and pictures go along; what a
//! provider signed means nothing to anybody else.

use tenter_agent::store::StoredConversation;
use tenter_protocol::{Block, Diagnostic, Severity};

/// Says what the model named `model` will not be shown of a conversation that another one had; nothing where it will be
/// shown all of it.
pub(crate) fn lost(stored: &StoredConversation, model: &str) -> Option<Diagnostic> {
    if provider(&stored.summary.model) == provider(model) {
        return None;
    }
    let messages = stored.entries.iter().map(|stored| &stored.entry.message);
    let thoughtful = messages.filter(|message| {
        message.blocks.iter().any(|block| matches!(block, Block::Reasoning { .. }))
    });
    let count = thoughtful.count();
    (count > 0).then(|| {
        let plural = if count == 1 { "" } else { "s" };
        let message = format!(
            "the conversation was had with {}: the reasoning of {count} message{plural} stays behind, {model} is not shown it",
            stored.summary.model
        );
        Diagnostic::new("reasoning-not-carried-over", Severity::Warning, message)
    })
}

fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}
