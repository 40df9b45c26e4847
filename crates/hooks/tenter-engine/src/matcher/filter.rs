//! Rules out many matchers at once: one pass over the texts of an input finds which literals of their patterns are in it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use tenter_protocol::Object;

use super::literals::Literals;
use super::texts;

/// Maximum number of literals that are counted in one input. With more of them, no matcher is ruled out: literals that overlap
/// would take more time than they save.
const MOST_FOUND: usize = 100_000;

/// Finds out which of a list of matchers may find something in an input.
#[derive(Debug)]
pub(crate) struct PatternFilter {
    automaton: AhoCorasick,
    /// For each literal, the matchers that need it or another one.
    needed_by: Vec<Vec<usize>>,
    /// The matchers that can be ruled out.
    is_filtered: Vec<bool>,
}

impl PatternFilter {
    /// Creates the filter of the matchers whose patterns need these literals, by their place in the list. A matcher of which none
    /// are known is never ruled out. `None` if no matcher can be.
    pub(crate) fn new<'m>(matchers: impl Iterator<Item = Option<&'m Literals>>) -> Option<Self> {
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        let mut is_filtered = Vec::new();
        for (place, literals) in matchers.enumerate() {
            is_filtered.push(literals.is_some());
            for literal in literals.into_iter().flat_map(Literals::iter) {
                places.entry(literal).or_default().push(place);
            }
        }
        if places.is_empty() {
            return None;
        }
        let (literals, needed_by): (Vec<&[u8]>, Vec<_>) = places.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(literals)
            .ok()?;
        Some(Self { automaton, needed_by, is_filtered })
    }

    /// Returns, for each matcher, whether its pattern may match a text of `input`.
    pub(crate) fn possible(&self, input: &Object) -> Vec<bool> {
        let mut possible: Vec<bool> =
            self.is_filtered.iter().map(|is_filtered| !is_filtered).collect();
        let mut is_seen = vec![false; self.needed_by.len()];
        let mut budget = MOST_FOUND;
        for (_, text) in texts::in_input(input) {
            for place in self.automaton.find_overlapping_iter(&*text) {
                let Some(still_left) = budget.checked_sub(1) else {
                    return vec![true; possible.len()];
                };
                budget = still_left;
                let literal = place.pattern().as_usize();
                if !std::mem::replace(&mut is_seen[literal], true) {
                    self.needed_by[literal].iter().for_each(|place| possible[*place] = true);
                }
            }
        }
        possible
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use tenter_protocol::manifest::MatcherText;

    use super::*;
    use crate::matcher::Matcher;

    fn matcher(pattern: &str) -> Matcher {
        Matcher::new(&MatcherText { tool: None, pattern: Some(pattern.to_owned()) })
    }

    fn filter(matchers: &[Matcher]) -> PatternFilter {
        PatternFilter::new(matchers.iter().map(Matcher::literals)).unwrap()
    }

    fn possible(patterns: &[&str], command: &str) -> Vec<bool> {
        let matchers: Vec<_> = patterns.iter().map(|pattern| matcher(pattern)).collect();
        filter(&matchers).possible(json!({"command": command}).as_object().unwrap())
    }

    #[test]
    fn matchers_without_their_literals_are_ruled_out() {
        let patterns = [r"rm\s+-rf", "sudo |doas ", r"\w+", "(rm", "(?i)DROP table"];
        assert_eq!(possible(&patterns, "ls"), [false, false, true, true, false]);
        assert_eq!(possible(&patterns, "doas x -rf"), [true, true, true, true, false]);
        assert_eq!(possible(&patterns, "drop TABLE a"), [false, false, true, true, true]);
    }

    #[test]
    fn a_hook_without_a_matcher_is_never_ruled_out() {
        let sudo = matcher("sudo ");
        let filter = PatternFilter::new([None, sudo.literals()].into_iter()).unwrap();
        assert_eq!(filter.possible(&Object::new()), [true, false]);
    }

    #[test]
    fn too_many_literals_rule_out_nothing() {
        assert_eq!(possible(&["aa", "a", "b"], &"a".repeat(MOST_FOUND)), [true, true, true]);
    }

    proptest! {
        #[test]
        fn no_matcher_that_matches_is_ruled_out(
            patterns in proptest::collection::vec(r"\^?(ab|b+|[a-c]|é|\{|.)(\||\*|\?|)(ab|c|\\n)?\$?", 0..8),
            input in proptest::collection::btree_map("[abc]{1,2}", "[abcé\n\"]{0,4}", 0..4),
        ) {
            let matchers: Vec<_> = patterns.iter().map(|pattern| matcher(pattern)).collect();
            let filter = PatternFilter::new(matchers.iter().map(Matcher::literals));
            let input: Object = input.into_iter().map(|(key, text)| (key, text.into())).collect();
            let possible = filter.map_or_else(|| vec![true; matchers.len()], |filter| filter.possible(&input));
            for (place, matcher) in matchers.iter().enumerate() {
                let unfiltered = matcher.pattern.as_ref().map(|pattern| {
                    texts::in_input(&input).map(|(_, text)| pattern.find_compiled(&text)).any(|result| result != Ok(None))
                });
                prop_assert!(possible[place] || unfiltered == Some(false), "{}", patterns[place]);
                let is_found = matcher.finds(&input).unwrap_or(true);
                prop_assert_eq!(Some(is_found), unfiltered, "{}", patterns[place]);
            }
        }
    }
}
