//! How a matcher comes to its answer, for a person who wonders why a hook runs or does not.

use std::ops::Range;

use serde::Serialize;
use tenter_base::excerpt;
use tenter_protocol::{Object, tool_names};

use super::expression::Expression;
use super::texts;

/// Characters that are shown of what an expression found.
const SHOWN: usize = 80;

/// What became of each part of a matcher; `None` where the matcher lacks the part and any call will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// On the tool's name.
    pub tool: Option<Finding>,
    /// On the tool's input.
    pub pattern: Option<Finding>,
}

/// What became of one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The expression as it was written.
    pub expression: String,
    /// What became of it.
    pub search: Search,
}

/// What became of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// It was found.
    Found {
        /// In which text: a name of the tool, or a way into the input such as `edits[0].path`.
        place: String,
        /// What was found, its beginning where it is long.
        text: String,
    },
    /// It was not found.
    NotFound {
        /// The texts that were searched.
        tried: Vec<String>,
    },
    /// It was given up.
    GivenUp {
        /// Why.
        reason: String,
    },
}

impl Explanation {
    /// Whether the matcher is about the call.
    pub fn is_match(&self) -> bool {
        let found = |part: &Finding| matches!(part.search, Search::Found { .. });
        self.tool.iter().chain(&self.pattern).all(found)
    }
}

pub(super) fn of_tool(tool: &Expression, name: &str) -> Finding {
    search(tool, tool_names::spellings(name).map(|name| (name, name)))
}

pub(super) fn of_pattern(pattern: &Expression, input: &Object) -> Finding {
    search(pattern, texts::of(input))
}

/// Searches one text after the other until something is found.
fn search(
    expression: &Expression,
    texts: impl Iterator<Item = (impl ToString, impl AsRef<str>)>,
) -> Finding {
    let mut tried = Vec::new();
    for (place, text) in texts {
        let place = place.to_string();
        match expression.find(text.as_ref()) {
            Ok(Some(range)) => {
                let text = shown(text.as_ref(), range);
                return Finding::new(expression, Search::Found { place, text });
            }
            Ok(None) => tried.push(place),
            Err(reason) => return Finding::new(expression, Search::GivenUp { reason }),
        }
    }
    Finding::new(expression, Search::NotFound { tried })
}

impl Finding {
    fn new(expression: &Expression, search: Search) -> Self {
        Self { expression: expression.as_str().to_owned(), search }
    }
}

fn shown(text: &str, range: Range<usize>) -> String {
    let found = text.get(range).unwrap_or_default();
    excerpt::chars(found, SHOWN).into_owned()
}
