//! Names in messages: "did you mean", lists of the known names, and what is counted.

use std::fmt::Display;

/// Maximum number of edits between a name and the name that was probably meant.
const MAX_EDITS: usize = 3;
/// Number of letters of a name for each edit: short names must match more closely.
const LETTERS_PER_EDIT: usize = 3;
/// Maximum number of letters compared; no known name is longer.
const MAX_LETTERS: usize = 64;

/// Returns the candidate that was probably meant by `word`: the first that `word` begins, such as `claude` of `claude-code`, or else the
/// first with the fewest edits, if few letters differ.
pub fn nearest<C: AsRef<str>>(word: &str, candidates: impl IntoIterator<Item = C>) -> Option<C> {
    let letters = fold(word);
    let rank = |candidate: &C| {
        let edits = strsim::osa_distance(&letters, &fold(candidate.as_ref()));
        (!begins(word, candidate.as_ref()), edits)
    };
    let candidates = candidates.into_iter().map(|candidate| (rank(&candidate), candidate));
    let ((differs, edits), best) = candidates.min_by_key(|(rank, _)| *rank)?;
    (!differs || edits <= allowed_edits(best.as_ref())).then_some(best)
}

/// Returns whether `word` is `name`, or few of its letters differ.
pub fn resembles(word: &str, name: &str) -> bool {
    edits(word, name) <= allowed_edits(name)
}

fn allowed_edits(name: &str) -> usize {
    (name.chars().count() / LETTERS_PER_EDIT).clamp(1, MAX_EDITS)
}

/// Returns whether `word` is the first of several words of `name`, which `-` and `_` separate.
fn begins(word: &str, name: &str) -> bool {
    let rest = name.strip_prefix(word).filter(|_| !word.is_empty());
    rest.is_some_and(|rest| rest.starts_with(['-', '_']))
}

/// Returns the number of edits between two names: letters inserted, removed, replaced, or swapped with their neighbour.
/// Case, `-` and `_` do not count.
pub fn edits(one: &str, other: &str) -> usize {
    strsim::osa_distance(&fold(one), &fold(other))
}

/// Returns a help line for `word`, which is none of `names`: the nearest of them, or else `otherwise`.
pub fn did_you_mean(word: &str, names: &[&str], otherwise: impl FnOnce() -> String) -> String {
    nearest(word, names).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// Returns the names as a list in a sentence: `` `a`, `b` or `c` ``.
pub fn or_list(names: &[&str]) -> String {
    let names_in_quotes: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names_in_quotes.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Returns a number and what it counts: `1 call`, `2 calls`.
pub fn format_count<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    several: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { several };
    format!("{count} {noun}")
}

/// Returns `text` with a capital letter.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn fold(word: &str) -> String {
    let letters = word.chars().filter(|letter| !matches!(letter, '-' | '_'));
    letters.take(MAX_LETTERS).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_name_and_no_distant_one() {
        let events = ["before_tool", "after_tool", "before_agent"];
        assert_eq!(nearest("before_toll", events), Some("before_tool"));
        assert_eq!(nearest("BeforeTool", events), Some("before_tool"));
        assert_eq!(nearest("befroe-tool", events), Some("before_tool"));
        assert_eq!(nearest("on_save", events), None);
        assert_eq!(nearest("claude", ["codex", "claude-code"]), Some("claude-code"));
        assert_eq!(nearest("cla", ["codex", "claude-code"]), None);
        assert_eq!(nearest("", events), None);
        assert_eq!(nearest("x", [""; 0]), None);
        assert_eq!(nearest("auditlog", ["guard", "audit-log"]), Some("audit-log"));
        assert_eq!(nearest("gaurd", ["guard", "audit-log"]), Some("guard"));
        assert_eq!(nearest("xy", ["guard", "audit-log"]), None);
    }

    #[test]
    fn a_list_of_names_ends_with_or() {
        assert_eq!(or_list(&["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(or_list(&["a"]), "`a`");
        assert_eq!(or_list(&[]), "");
    }

    #[test]
    fn edits_ignore_case_and_separators() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("Audit_Log", "auditlog"), 0);
    }
}
