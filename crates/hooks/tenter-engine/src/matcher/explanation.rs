//! Explains the result of a matcher to a user who wonders why a hook runs or does not.

use std::ops::Range;

use serde::Serialize;
use tenter_base::excerpt;
use tenter_protocol::Object;

use super::expression::Expression;
use super::texts;

/// Maximum number of characters shown of what an expression matched.
const SHOWN: usize = 80;

/// The result of each part of a matcher; `None` if the matcher does not have the part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The result for the tool's name.
    pub tool: Option<MatchResult>,
    /// The result for the tool's input.
    pub pattern: Option<MatchResult>,
}

/// The result of one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchResult {
    /// The expression as written.
    pub expression: String,
    /// The result.
    pub search: Search,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// It matched.
    Found {
        /// The text that matched: a name of the tool, or a path in the input such as `edits[0].path`.
        place: String,
        /// The matched text, truncated if it is long.
        text: String,
    },
    /// It did not match.
    NotFound {
        /// The texts that were searched.
        tried: Vec<String>,
    },
    /// It was aborted.
    GivenUp {
        /// The reason.
        reason: String,
    },
}

impl Explanation {
    /// Returns whether the matcher matches the call.
    pub fn is_match(&self) -> bool {
        let is_found = |part: &MatchResult| matches!(part.search, Search::Found { .. });
        self.tool.iter().chain(&self.pattern).all(is_found)
    }
}

pub(super) fn match_tool<'n>(
    tool: &Expression,
    names: impl Iterator<Item = &'n str>,
) -> MatchResult {
    search(tool, names.map(|name| (name, name)))
}

pub(super) fn match_pattern(pattern: &Expression, input: &Object) -> MatchResult {
    search(pattern, texts::in_input(input))
}

/// Searches the texts in order until one matches.
fn search(
    expression: &Expression,
    texts: impl Iterator<Item = (impl ToString, impl AsRef<str>)>,
) -> MatchResult {
    let (mut tried, mut given_up) = (Vec::new(), None);
    for (place, text) in texts {
        let place = place.to_string();
        match expression.find(text.as_ref()) {
            Ok(Some(range)) => {
                let text = shown(text.as_ref(), range);
                return MatchResult::new(expression, Search::Found { place, text });
            }
            Ok(None) => tried.push(place),
            Err(reason) => {
                given_up.get_or_insert(reason);
            }
        }
    }
    let not_found = || Search::NotFound { tried };
    MatchResult::new(
        expression,
        given_up.map_or_else(not_found, |reason| Search::GivenUp { reason }),
    )
}

impl MatchResult {
    fn new(expression: &Expression, search: Search) -> Self {
        Self { expression: expression.as_str().to_owned(), search }
    }
}

fn shown(text: &str, range: Range<usize>) -> String {
    let match_text = text.get(range).unwrap_or_default();
    excerpt::chars(match_text, SHOWN).into_owned()
}
