//! Checks that the caller provides, for values in languages that this crate does not implement.

use crate::manifest::rule::Rule;
use crate::manifest::setting::HookSetting;
use crate::{Diagnostic, EventName};

/// A problem with a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The problem, in one sentence without its full stop.
    pub message: String,
    /// The remedy, in the imperative.
    pub help: String,
}

/// Checks a regular expression: an error if it cannot be used, advice if it is worth a warning.
pub type CheckPattern<'a> = &'a dyn Fn(&str) -> Result<Option<Advice>, Advice>;

/// Checks a template against the payload of an event. Returns all problems, with spans in the template's own text. A diagnostic
/// that is not an error names a field that the payload cannot have.
pub type CheckTemplate<'a> = &'a dyn Fn(EventName, TemplateKind, &str) -> Vec<Diagnostic>;

/// Checks that an example of the rule with this index is stopped, or passes, as it should. Returns the problem.
pub type CheckExample<'a> = Box<dyn Fn(usize, &str, bool) -> Option<String> + 'a>;

/// Compiles the rules of a hook once for the checks of all their examples.
pub type CompileExamples<'a> = &'a dyn for<'r> Fn(&'r [Rule]) -> CheckExample<'r>;

/// Checks the name of a ready-made hook. The error is the remedy, in the imperative.
pub type CheckReadyMade<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// Checks the user's value of a setting of the ready-made hook with this name. The error is the remedy, in the imperative.
pub type CheckSetting = fn(&str, &HookSetting) -> Result<(), String>;

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
    pub examples: CompileExamples<'a>,
    /// Returns true if a variable contains a model key, according to its name (R80).
    pub is_model_key: fn(&str) -> bool,
    /// For `metadata.ready_made`.
    pub ready_made: CheckReadyMade<'a>,
    /// For `metadata.set` of a ready-made hook.
    pub ready_made_setting: CheckSetting,
}
