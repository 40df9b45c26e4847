//! The names by which the model calls tools of servers: `mcp__server__tool`, as hooks of other agents expect them.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The prefix of the names of all servers' tools.
pub(crate) const PREFIX: &str = "mcp__";
/// Maximum length of a tool's name: providers accept no more.
const MAX_NAME: usize = 64;
/// Number of hash digits at the end of a name that was changed.
const HASH_DIGITS: usize = 8;

/// Returns the prefix of the names of a server's tools.
pub(crate) fn prefix(server: &str) -> String {
    format!("{PREFIX}{server}__")
}

/// Returns the names for `tools`, which are the server's own names without repetitions, in order. Names are unique, consist of
/// letters, digits, `-` and `_`, and depend only on the server's own names, not on their order.
pub(crate) fn for_tools(server: &str, tools: &[&str]) -> Vec<String> {
    let plain: Vec<String> = tools.iter().map(|tool| plain(server, tool)).collect();
    let is_ambiguous = |name: &String| plain.iter().filter(|other| *other == name).count() > 1;
    tools
        .iter()
        .zip(&plain)
        .map(|(tool, name)| {
            let is_own = name.strip_prefix(&prefix(server)) == Some(*tool);
            let is_taken = !is_own && is_ambiguous(name);
            if name.len() > MAX_NAME || is_taken { hash(name, tool) } else { name.clone() }
        })
        .collect()
}

fn plain(server: &str, tool: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let tool: String = tool.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    prefix(server) + &tool
}

/// Returns the beginning of a name and a hash of the server's own name of the tool.
fn hash(name: &str, tool: &str) -> String {
    let digest = Sha256::digest(tool);
    let hash = digest.iter().take(HASH_DIGITS / 2).fold(String::new(), |mut hash, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
        hash
    });
    let length = name.len().min(MAX_NAME - HASH_DIGITS - 1);
    format!("{}_{hash}", &name[..length])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn usual_names_stay() {
        assert_eq!(
            for_tools("git", &["git_status", "log-1"]),
            ["mcp__git__git_status", "mcp__git__log-1"]
        );
    }

    #[test]
    fn other_characters_and_long_names_are_replaced() {
        let long = "x".repeat(100);
        let names = for_tools("s", &["a.b/c", "ä", &long]);
        assert_eq!(names[..2], ["mcp__s__a_b_c", "mcp__s___"]);
        assert_eq!(names[2].len(), MAX_NAME);
        assert!(names[2].starts_with("mcp__s__xxx"));
    }

    #[test]
    fn collisions_are_resolved_in_any_order() {
        let mut tools = vec!["a.b", "a_b", "a/b"];
        let names = for_tools("s", &tools);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(names[1], "mcp__s__a_b");
        tools.reverse();
        let mut reversed = for_tools("s", &tools);
        reversed.reverse();
        assert_eq!(names, reversed);
    }

    #[test]
    fn long_names_that_begin_alike_differ() {
        let (one, two) = (format!("{}1", "x".repeat(90)), format!("{}2", "x".repeat(90)));
        let names = for_tools("s", &[&one, &two]);
        assert_ne!(names[0], names[1]);
    }
}
