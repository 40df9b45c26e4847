//! Explains why a rule fits a call or does not.

use serde::Serialize;

use super::{CompiledRule, HookRules};
use crate::facts::CallFacts;
use crate::pattern::Truth;

/// The reason why one rule fits a call or does not: by the command and path that fit best.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleExplanation {
    /// The rule's name, or its place in the list.
    pub rule: String,
    /// True if the call fits.
    pub fits: Truth,
    /// The effect of the rule on the call: `deny`, `ask`, `run` or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
    /// The command that fits best, or the path of a tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The path that fits best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if each condition holds for them.
    pub conditions: Vec<ConditionResult>,
    /// True if an exception applies.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub excepted: bool,
}

/// The result of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ConditionResult {
    /// Its name in manifests.
    pub condition: &'static str,
    /// True if it holds.
    pub holds: Truth,
}

impl HookRules {
    /// Explains each rule for a call.
    pub(crate) fn explain(&self, call: &CallFacts) -> Vec<RuleExplanation> {
        let rules = (0..self.rules.count()).filter_map(|index| Some((index, self.rule(index)?)));
        rules.map(|(index, rule)| rule.explain(index, call)).collect()
    }
}

impl CompiledRule {
    fn explain(&self, index: usize, call: &CallFacts) -> RuleExplanation {
        let results = |subject| {
            let parts = self.conditions.parts(call, subject).into_iter();
            let parts = parts.map(|(condition, holds)| ConditionResult { condition, holds });
            parts.collect::<Vec<_>>()
        };
        // The first condition that does not hold says most if the others before it hold.
        let nearness = |results: &Vec<ConditionResult>| {
            results.iter().take_while(|result| result.holds != Truth::No).count()
        };
        let (strength, subject) = self.best(call);
        let subject = if strength.truth == Truth::No {
            let subjects = self.subjects(call);
            subjects.max_by_key(|subject| nearness(&results(*subject))).unwrap_or_default()
        } else {
            subject
        };
        let conditions = results(subject);
        let holds = conditions.iter().all(|result| result.holds != Truth::No);
        let path = subject.path.and_then(|path| call.facts.call.paths.get(path));
        RuleExplanation {
            rule: self.rule.label(index),
            fits: strength.truth,
            effect: self.rank(strength).map(super::Rank::as_str),
            command: call.text_of(subject),
            path: path.map(|path| path.path.clone()),
            excepted: strength.truth == Truth::No && holds && !conditions.is_empty(),
            conditions,
        }
    }
}

impl super::Rank {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Confine => "confine",
            Self::Run => "run",
            Self::Deny => "deny",
        }
    }
}
