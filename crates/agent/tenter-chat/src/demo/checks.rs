//! Checks the claims of the demo afterwards, against the files and the stored conversation.

use std::fs;

use tenter_agent::store::{Origin, StoredConversation};
use tenter_protocol::{Block, ToolResult};

use super::scratch::Scratch;

/// The beginning of the key in `settings.env`; no other text of the demo holds it.
const KEY: &str = "AKIA";

/// A claim, and whether it holds.
#[derive(Debug)]
pub(super) struct DemoCheck {
    /// A word that names the claim.
    pub(super) name: &'static str,
    /// The claim.
    pub(super) text: String,
    /// True if it holds.
    pub(super) holds: bool,
}

/// Checks every claim. Without a conversation none holds.
pub(super) fn checks(
    scratch: &Scratch,
    conversation: Option<&StoredConversation>,
    audit_lines: usize,
) -> Vec<DemoCheck> {
    let evidence = DemoEvidence::new(conversation);
    let project = scratch.project();
    let holds = |path: &str, text: &str| {
        fs::read_to_string(project.join(path)).is_ok_and(|content| content.contains(text))
    };
    let check = |name, text: &str, holds| DemoCheck { name, text: text.to_owned(), holds };
    vec![
        check(
            "blocked",
            "build/ is still there: rm -rf never ran",
            evidence.results.iter().any(|result| result.is_blocked())
                && project.join("build/shop.tar").exists(),
        ),
        check(
            "rewritten",
            "nothing was deployed: a dry run ran instead",
            evidence.result_says("dry run") && !project.join("deployed.txt").exists(),
        ),
        check(
            "redacted",
            "the key is still in settings.env, and nowhere in what the model received",
            holds("settings.env", KEY)
                && evidence.result_says("[removed")
                && !evidence.text.contains(KEY),
        ),
        check(
            "audited",
            &format!("audit.jsonl has {audit_lines} lines, one per tool call"),
            audit_lines > 0 && audit_lines == evidence.results.len(),
        ),
        check(
            "continued",
            "price.sh is fixed: the agent continued because ./check.sh failed",
            evidence.followed_up && holds("price.sh", "$1 * $2"),
        ),
    ]
}

/// The evidence in the stored conversation.
#[derive(Default)]
struct DemoEvidence<'c> {
    results: Vec<&'c ToolResult>,
    text: String,
    followed_up: bool,
}

impl<'c> DemoEvidence<'c> {
    fn new(conversation: Option<&'c StoredConversation>) -> Self {
        let mut evidence = Self::default();
        for entry in conversation.iter().flat_map(|conversation| &conversation.entries) {
            let message = &entry.entry.message;
            evidence.followed_up |= matches!(entry.entry.origin, Origin::Hook(_));
            evidence.text.push_str(&message.content());
            evidence.results.extend(message.blocks.iter().filter_map(|block| match block {
                Block::ToolResult { result, .. } => Some(result),
                _ => None,
            }));
        }
        evidence
    }

    fn result_says(&self, words: &str) -> bool {
        self.results.iter().any(|result| result.text().contains(words))
    }
}
