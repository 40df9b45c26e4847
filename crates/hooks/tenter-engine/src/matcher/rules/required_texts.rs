//! Texts that a pattern requires: a name or a path that has none of them does not fit.

use tenter_protocol::manifest::rule::Words;

use super::texts::Texts;
use crate::pattern::WILDCARDS;

/// Minimum length of a text that says enough about a path.
const MIN_PART: usize = 4;
/// Stands for any text at the end of a name of which only the beginning is known, and around a part of an operand.
pub(super) const ANY: char = '*';

/// Returns the name that fits a pattern, or the beginning of all names that do: `git` → `git`, `mkfs.?xt` → `mkfs.*`.
pub(super) fn beginning(pattern: &str) -> String {
    match pattern.find(WILDCARDS) {
        None => pattern.to_owned(),
        Some(at) => format!("{}{ANY}", &pattern[..at]),
    }
}

/// Checks whether a name fits a text of [`beginning`].
pub(super) fn is_beginning(text: &str, name: &str) -> bool {
    text.strip_suffix(ANY).map_or(text == name, |start| name.starts_with(start))
}

/// Returns what a condition on options or operands requires, one text for each of its patterns; nothing if `text` finds none for one.
pub(super) fn required(
    words: Option<&Words>,
    text: impl Fn(&str) -> Option<String>,
) -> Texts<'static> {
    let Some(Words { any, all, .. }) = words else { return Texts::default() };
    if any.is_empty() {
        let longest = all.iter().filter_map(|pattern| text(pattern)).max_by_key(String::len);
        return longest.and_then(|longest| Texts::new([longest])).unwrap_or_default();
    }
    let texts: Option<Vec<String>> = any.iter().map(|pattern| text(pattern)).collect();
    texts.and_then(Texts::new).unwrap_or_default()
}

/// Returns the name of an option, or the beginning of the names, that fits a pattern: `-c=gc.*` → `-c`.
pub(super) fn flag_name(pattern: &str) -> Option<String> {
    let name = pattern.split_once('=').filter(|(name, _)| !name.is_empty());
    let name = beginning(name.map_or(pattern, |(name, _)| name));
    (name.trim_end_matches(ANY).len() > 1).then_some(name)
}

/// Returns the operand that fits a pattern, or a part of each that does: `*.delete_all*` → `*.delete_all`.
pub(super) fn operand_part(pattern: &str) -> Option<String> {
    if !pattern.contains(WILDCARDS) {
        return Some(pattern.to_owned()).filter(|text| !text.is_empty());
    }
    // Letters in `[…]` are no part of the text.
    let (start, end) = match (pattern.find('['), pattern.rfind(']')) {
        (Some(open), Some(close)) if open < close => (&pattern[..open], &pattern[close + 1..]),
        _ => (pattern, ""),
    };
    let runs = [start, end].into_iter().flat_map(|part| part.split(['*', '?']));
    let part = runs.filter(|run| !run.is_empty()).max_by_key(|run| run.len())?;
    Some(format!("{ANY}{part}"))
}

/// Texts that a pattern requires: `**/.ssh/id_*` → `.ssh`, `/etc/shadow` → `shadow` and `/etc`, `~/*.pem` → `.pem`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequiredTexts {
    /// A text that is in every path that fits the pattern.
    pub(super) part: String,
    /// A text that is in every directory below the home directory or the project that contains only paths that fit.
    pub(super) head: String,
}

impl RequiredTexts {
    /// Returns the texts that a pattern requires; `None` if none are known.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let tail = pattern.strip_prefix("~/").unwrap_or(pattern).trim_start_matches("./");
        let text = tail.strip_prefix("**/").unwrap_or(tail);
        let start = usize::from(text.starts_with('/'));
        let end = text[start..].find('/').map_or(text.len(), |at| start + at);
        let (first, rest) = text.split_at(end);
        if pattern == "~" || text.is_empty() || text.starts_with('=') {
            return None;
        }
        if start > 0 && !text.contains(WILDCARDS) {
            return Some(Self {
                part: format!("={}", text.trim_end_matches('/')),
                head: first.to_owned(),
            });
        }
        // `[*]` is that letter.
        if let Some(letter) = first.find('[').and_then(|at| first.get(at + 1..at + 2))
            && !matches!(letter, "!" | "^" | "]")
            && first.contains(&format!("[{letter}]"))
        {
            return Some(Self { part: letter.to_owned(), head: letter.to_owned() });
        }
        let literal = first.find(WILDCARDS).map_or(first, |at| &first[..at]);
        // Of a name, every letter that is no wildcard is in the path.
        let is_name = start == 0 && !first.contains('[');
        let name_parts = first.split(WILDCARDS).filter(|part| is_name && !part.is_empty());
        let longest = name_parts.max_by_key(|part| part.len());
        let literal = if literal.len() == start { longest? } else { literal };
        // A later name says more than `/etc` or a few letters.
        let is_general = start > 0 || literal.len() < MIN_PART;
        let names = rest.split('/').filter(|name| is_general && !name.contains(WILDCARDS));
        let part = names.chain(longest).max_by_key(|name| name.len());
        let part = part.filter(|name| name.len() >= MIN_PART).unwrap_or(literal);
        Some(Self { part: part.to_owned(), head: literal.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::{RequiredTexts, flag_name, operand_part};

    #[test]
    fn a_pattern_requires_an_option_or_a_part_of_an_operand() {
        for (pattern, name) in [
            ("--no-verify", Some("--no-verify")),
            ("-c=gc.[pP]rune*", Some("-c")),
            ("--no-*", Some("--no-*")),
            ("-[fF]", None),
            ("*", None),
        ] {
            assert_eq!(flag_name(pattern).as_deref(), name, "{pattern}");
        }
        for (pattern, part) in [
            ("token", Some("token")),
            ("*.delete_all*", Some("*.delete_all")),
            ("[!@./~$]*/*", Some("*/")),
            ("a[b]cd", Some("*cd")),
            ("a[b", Some("*a[b")),
            ("a]b[c*", Some("*a]b[c")),
            ("*", None),
            ("[a]", None),
        ] {
            assert_eq!(operand_part(pattern).as_deref(), part, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_requires_a_part_of_the_path() {
        for (pattern, texts) in [
            ("**/.ssh/id_*", Some((".ssh", ".ssh"))),
            ("~/.config/agents/**", Some((".config", ".config"))),
            ("/etc/shadow", Some(("=/etc/shadow", "/etc"))),
            ("/tmp", Some(("=/tmp", "/tmp"))),
            ("/etc*/shadow", Some(("shadow", "/etc"))),
            ("/home/*/.ssh/**", Some((".ssh", "/home"))),
            ("/dev/**", Some(("/dev", "/dev"))),
            ("tenter.toml", Some(("tenter.toml", "tenter.toml"))),
            ("./src/**", Some(("src", "src"))),
            ("./src/*/main.rs", Some(("main.rs", "src"))),
            ("**/*.pem", Some((".pem", ".pem"))),
            ("~/*_rsa*", Some(("_rsa", "_rsa"))),
            ("~/.*_history", Some(("_history", "."))),
            ("**/.env*", Some((".env", ".env"))),
            ("~/**/.netrc", Some((".netrc", ".netrc"))),
            ("**/*.git/objects/**", Some((".git", ".git"))),
            ("**/[*][*]/[*].c", Some(("*", "*"))),
            ("**/[!]a]b", None),
            ("**/[ab].pem", None),
            ("**/*/x", None),
            ("/*/x", None),
            ("/**", None),
            ("**", None),
            ("~", None),
        ] {
            let expected = texts.map(|(part, head)| (part.to_owned(), head.to_owned()));
            let texts = RequiredTexts::new(pattern).map(|texts| (texts.part, texts.head));
            assert_eq!(texts, expected, "{pattern}");
        }
    }
}
