//! Finds restrictions of a recipe where they have no effect: below another key, or outside the front matter. A recipe must not run
//! without restrictions that it was meant to have (R70).

use std::ops::Range;

use tenter_base::resembles;
use tenter_protocol::front_matter::Node;

/// The keys of restrictions that no other word resembles.
const KEYS: [&str; 2] = ["allowed_tools", "allowed_commands"];
/// The key of a restriction that resembles others, such as `config`.
const CONFINE: &str = "confine";
/// The fences of code blocks.
const CODE_FENCES: [&str; 2] = ["```", "~~~"];

/// Returns whether `key` is a restriction or resembles one.
pub(super) fn is_near(key: &str) -> bool {
    is_clear(key) || resembles(key, CONFINE)
}

/// Returns whether `key` is a restriction or resembles one so much that it is not another word.
fn is_clear(key: &str) -> bool {
    key == CONFINE || KEYS.iter().any(|name| resembles(key, name))
}

/// Returns whether a value has a restriction as a key, at any depth.
pub(super) fn is_below(value: &Node) -> bool {
    let items = value.as_list().unwrap_or_default();
    let fields = value.as_mapping().unwrap_or_default();
    items.iter().any(is_below)
        || fields.iter().any(|field| is_clear(&field.key) || is_below(&field.value))
}

/// Returns the lines of `text` outside its front matter that look like a restriction, each with its key. `body` is where the text
/// after the front matter begins; 0 means no front matter, so that code blocks and indented lines count too.
pub(super) fn stray(text: &str, body: usize) -> Vec<(Range<usize>, &str)> {
    let mut restrictions = Vec::new();
    let mut in_code = false;
    let mut start = body;
    for line in text.get(body..).unwrap_or_default().split_inclusive('\n') {
        let is_fence = CODE_FENCES.iter().any(|fence| line.trim_start().starts_with(fence));
        in_code ^= is_fence;
        let is_text = body != 0 && (in_code || line.starts_with(char::is_whitespace));
        let content = line.trim_end();
        if let Some(key) = key(content).filter(|_| !is_text) {
            restrictions.push((start..start + content.len(), key));
        }
        start += line.len();
    }
    restrictions
}

/// Returns the restriction that a line sets.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let (key, _) = line.split_once([':', '='])?;
    let key = key.trim().trim_matches(['"', '\'']);
    // "Allowed tools: …" is prose.
    (is_clear(key) && !key.contains(char::is_whitespace)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, body: usize) -> Vec<&str> {
        stray(text, body).into_iter().map(|(_, key)| key).collect()
    }

    #[test]
    fn finds_restrictions_everywhere_in_a_file_without_front_matter() {
        for line in [
            "allowed_tools: []",
            " allowed-tools: []",
            "\"allowed_tools\" : []",
            "allowed_commands = []",
            "confine: pure",
        ] {
            assert_eq!(keys(&format!("# Title\n```yaml\n{line}\n```\n"), 0).len(), 1, "{line}");
        }
        assert!(keys("the allowed_tools of it\nallowed: x\nAllowed tools: grep\nConfirm: it\nConfig: x\n", 0).is_empty());
    }

    #[test]
    fn ignores_code_blocks_and_prose_below_the_front_matter() {
        let text = "---\n---\n```yaml\nallowed_tools: []\n```\n  allowed_tools: []\nallowed_commands: []\n";
        assert_eq!(keys(text, 8), ["allowed_commands"]);
        let (place, _) = &stray(text, 8)[0];
        assert_eq!(&text[place.clone()], "allowed_commands: []");
    }
}
