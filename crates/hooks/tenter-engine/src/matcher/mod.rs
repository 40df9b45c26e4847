//! Matchers: which tool calls a manifest hook applies to (R19, R20, R21).
//!
//! Both parts are unanchored, case-sensitive searches. `tool` is tried on every name that the tool has, `pattern` on
//! every text of the input and on the whole input as JSON. A search that cannot be completed is neither a match nor a
//! mismatch: it is an error, for which a hook runs unless it can only allow or change (R42).
//!
//! Only tool calls are matched: events without one have nothing to match.

mod advice;
mod braces;
mod explanation;
mod expression;
mod filter;
mod literals;
mod rules;
mod texts;
mod words;

use std::fmt;

use serde::{Deserialize, Serialize};
use tenter_protocol::manifest::MatcherText;
use tenter_protocol::patch::Patch;
use tenter_protocol::tool_names::ToolNames;
use tenter_protocol::{Object, ToolCall, claude_code};
use thiserror::Error;

pub use advice::{check_pattern, check_tool};
pub use explanation::{Explanation, MatchResult, Search};
pub use rules::{HookRules, RuleExplanation, check_examples};
pub(crate) use rules::{RuleFit, RuleGates, RuleMatch, path_fits};

use expression::Expression;

pub(crate) use filter::PatternFilter;
pub(crate) use literals::Literals;

/// A compiled matcher. Without parts it matches every call.
///
/// Expressions are compiled when a text contains the literals that they need, since an agent loads many matchers and uses few.
/// A matcher is serialised with these literals, so that one that is read again rules calls out without parsing its expressions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Matcher {
    tool: Option<Expression>,
    pattern: Option<Expression>,
    /// The names that the agent's tools go by.
    #[serde(skip)]
    names: ToolNames,
    /// True if `tool` is only tried on the names that Claude Code has for a tool.
    only_claude_code: bool,
}

/// Returns what the names of a call's tool depend on: a patch that may add a file also has the names of `file_write`, and an unknown tool
/// has the names of a similar one.
pub(crate) fn tool_key(call: &ToolCall) -> String {
    let adds_file = Patch::from_input(&call.input).is_some_and(|patch| patch.may_add_file());
    let mark = if adds_file { "+" } else { "" };
    let similar = ToolNames::default().similar_tool(call).unwrap_or_default();
    format!("{mark}{similar}:{}", call.name)
}

/// A call that a matcher matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match<'c> {
    /// The name of the tool that matched; its own name if `tool` is not set (R20).
    pub tool_name: &'c str,
}

/// A part of a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The expression for the tool's name.
    Tool,
    /// The expression for the tool's input.
    Pattern,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "matcher.tool",
            Self::Pattern => "matcher.pattern",
        })
    }
}

/// An error of a part of a matcher: it is not a regular expression, or a search with it could not be completed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{part}: {message}")]
pub struct MatcherError {
    /// The part.
    pub part: Part,
    /// The error message.
    pub message: String,
}

impl Matcher {
    /// Creates the matcher of a manifest. Its errors were reported by [`check_tool`] and [`check_pattern`] when the manifest was
    /// read, or are reported by the first search.
    pub fn new(text: &MatcherText) -> Self {
        let expression = |text: &Option<String>| text.as_deref().map(Expression::new);
        let (tool, pattern) = (expression(&text.tool), expression(&text.pattern));
        Self { tool, pattern, names: ToolNames::default(), only_claude_code: false }
    }

    /// Returns the same matcher, whose `tool` is only tried on the names that Claude Code has for a tool.
    #[must_use]
    pub(crate) fn with_claude_code_names(self) -> Self {
        Self { only_claude_code: true, ..self }
    }

    /// Returns the expressions as written.
    pub fn text(&self) -> MatcherText {
        let text_of_part =
            |part: &Option<Expression>| part.as_ref().map(|part| part.as_str().to_owned());
        MatcherText { tool: text_of_part(&self.tool), pattern: text_of_part(&self.pattern) }
    }

    /// Tries these names of tools from now on.
    pub(crate) fn set_names(&mut self, names: &ToolNames) {
        self.names = names.clone();
    }

    /// Returns whether the matcher matches `call`, and by which name of the tool.
    ///
    /// # Errors
    /// A search that was aborted, or a part that is not a valid expression.
    pub fn matches<'c>(&'c self, call: &'c ToolCall) -> Result<Option<Match<'c>>, MatcherError> {
        let Some(tool_name) = self.tool_name(call)? else { return Ok(None) };
        Ok(self.finds(&call.input)?.then_some(Match { tool_name }))
    }

    /// Explains the result for `call`. Both parts are tried, even if the first one decides.
    pub fn explain(&self, call: &ToolCall) -> Explanation {
        Explanation {
            tool: self
                .tool
                .as_ref()
                .map(|tool| explanation::match_tool(tool, self.spellings(call))),
            pattern: self
                .pattern
                .as_ref()
                .map(|pattern| explanation::match_pattern(pattern, &call.input)),
        }
    }

    /// Returns the first name of the tool that the matcher's `tool` matches; its own name if the matcher has no such part.
    ///
    /// # Errors
    /// As [`matches`](Self::matches).
    pub(crate) fn tool_name<'c>(
        &'c self,
        call: &'c ToolCall,
    ) -> Result<Option<&'c str>, MatcherError> {
        let Some(tool) = &self.tool else { return Ok(Some(&call.name)) };
        first_found(self.spellings(call).map(|name| (name, Part::Tool.search(tool, name))))
    }

    /// Returns whether the matcher's `tool` matches this text, whatever it is the name of. A search that is aborted counts as a match.
    pub(crate) fn matches_name(&self, name: &str) -> bool {
        self.tool.as_ref().is_none_or(|tool| Part::Tool.search(tool, name) != Ok(false))
    }

    /// Returns the names of the call's tool on which `tool` is tried.
    fn spellings<'c>(&'c self, call: &'c ToolCall) -> Box<dyn Iterator<Item = &'c str> + 'c> {
        if !self.only_claude_code {
            return Box::new(self.names.spellings_of(call));
        }
        let standard = self.names.standard(&call.name);
        let writes = self.names.adds_file(call).then_some("file_write");
        let others = writes.into_iter().chain(self.names.similar_tool(call));
        let others = others.flat_map(claude_code::tools::names);
        Box::new(claude_code::tools::names(standard).chain(others))
    }

    /// Returns the literals that the matcher's `pattern` needs, if any are known.
    pub(crate) fn literals(&self) -> Option<&Literals> {
        self.pattern.as_ref()?.literals()
    }

    /// Returns whether the matcher's `pattern` matches any text of the input.
    ///
    /// # Errors
    /// As [`matches`](Self::matches).
    pub(crate) fn finds(&self, input: &Object) -> Result<bool, MatcherError> {
        let Some(pattern) = &self.pattern else { return Ok(true) };
        let results =
            texts::in_input(input).map(|(_, text)| ((), Part::Pattern.search(pattern, &text)));
        first_found(results).map(|result| result.is_some())
    }
}

/// Returns the first text in which a search found something, whatever became of the searches before it.
///
/// # Errors
/// The first error, if no search found anything.
fn first_found<T>(
    searches: impl Iterator<Item = (T, Result<bool, MatcherError>)>,
) -> Result<Option<T>, MatcherError> {
    let mut first_error = None;
    for (text, search) in searches {
        match search {
            Ok(true) => return Ok(Some(text)),
            Ok(false) => {}
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    first_error.map_or(Ok(None), Err)
}

impl Part {
    fn search(self, expression: &Expression, text: &str) -> Result<bool, MatcherError> {
        let result = expression.find(text);
        result.map(|range| range.is_some()).map_err(|message| MatcherError { part: self, message })
    }
}

#[cfg(test)]
mod tests;
