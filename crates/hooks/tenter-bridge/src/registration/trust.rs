//! The hashes by which Codex recognises the handlers that its user trusts (B41).
//!
//! A hash applies to one handler at one position: Codex runs no handler that was changed or moved.

use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};
use tenter_base::{hex, real_path};

use super::entry::Handler;
use super::toml::TrustEntry;

/// The timeout of a handler that has none, in seconds.
const DEFAULT_TIMEOUT: u64 = 600;

/// Returns the trust in handlers of `file`. The host resolves symlinks in the directory, but not the file itself.
pub(super) fn entries(file: &Path, handlers: &[Handler]) -> Vec<TrustEntry> {
    let directory = file.parent().and_then(|directory| real_path(directory).ok());
    let name = file.file_name().unwrap_or_default();
    let file = directory.map_or_else(|| file.to_owned(), |directory| directory.join(name));
    handlers.iter().map(|handler| entry(&file, handler)).collect()
}

fn entry(file: &Path, Handler { event, group, index, value, .. }: &Handler) -> TrustEntry {
    let event = snake_case(event);
    // The members are in the order of their keys, as the host writes them.
    let hashed = json!({
        "event_name": event,
        "hooks": [{
            "async": false,
            "command": value.get("command"),
            "timeout": value.get("timeout").cloned().unwrap_or_else(|| DEFAULT_TIMEOUT.into()),
            "type": "command",
        }],
    });
    let hash = Sha256::digest(hashed.to_string().as_bytes());
    TrustEntry {
        key: format!("{}:{event}:{group}:{index}", file.display()),
        hash: format!("sha256:{}", hex(&hash)),
    }
}

/// Turns `PreToolUse` into `pre_tool_use`.
fn snake_case(event: &str) -> String {
    let mut snake = String::new();
    for character in event.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_hosts() {
        let value = json!({"type": "command", "command": "true"});
        let handler = Handler {
            event: "PreToolUse".to_owned(),
            group: 1,
            index: 0,
            value,
            is_unconditional: true,
        };
        let entry = entry(Path::new("/home/ada/.codex/hooks.json"), &handler);
        assert_eq!(entry.key, "/home/ada/.codex/hooks.json:pre_tool_use:1:0");
        let text = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"true","timeout":600,"type":"command"}]}"#;
        assert_eq!(entry.hash, format!("sha256:{}", hex(&Sha256::digest(text))));
    }
}
