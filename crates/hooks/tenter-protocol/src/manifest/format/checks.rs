//! What the caller checks: values in languages that this crate does not implement.

use crate::manifest::rule::Rule;
use crate::{Diagnostic, EventName};

/// What is wrong with a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What is wrong, in one sentence without its full stop.
    pub message: String,
    /// What to write instead, in the imperative.
    pub help: String,
}

/// Checks a regular expression: an error if it cannot be used, advice if it is worth a warning.
pub type CheckPattern<'a> = &'a dyn Fn(&str) -> Result<Option<Advice>, Advice>;

/// Checks a template against the payload of an event. Returns everything that is wrong with it, with spans in its own text. A
/// diagnostic that is not an error is about a field that the payload cannot have.
pub type CheckTemplate<'a> = &'a dyn Fn(EventName, TemplateKind, &str) -> Vec<Diagnostic>;

/// Checks an example of the rule with this index: whether it is stopped, or passes, as it should. Returns what is wrong.
pub type CheckExample<'a> = &'a dyn Fn(&[Rule], usize, &str, bool) -> Option<String>;

/// The language of a template in a static hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// Text with values to fill in.
    Text,
    /// A condition.
    Condition,
}

/// The checks for patterns and templates.
#[derive(Clone, Copy)]
pub struct Checks<'a> {
    /// For a matcher's `tool`.
    pub tool: CheckPattern<'a>,
    /// For a matcher's `pattern`.
    pub pattern: CheckPattern<'a>,
    /// For the texts of a static hook.
    pub template: CheckTemplate<'a>,
    /// For the examples of a rule; only called under strict rules.
    pub example: CheckExample<'a>,
    /// Whether a variable contains a model key, according to its name (R80).
    pub is_model_key: fn(&str) -> bool,
}
