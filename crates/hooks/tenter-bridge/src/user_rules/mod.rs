//! The user's own permission rules of a host, for calls that hooks rewrite (R87).
//!
//! Hosts apply a hook's rewrite before they apply their rules, so that a rule for the call as the model made it has no effect. `calls`
//! contains the parts of a call to which rules apply; the other modules read the rules of one host each.

mod calls;
mod claude_code;
mod codex;
mod command_line;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod opencode;
mod places;
mod vibe;

use std::path::Path;

use tenter_engine::inspect::Matcher;
use tenter_protocol::manifest::MatcherText;

use crate::rule_matcher::{self, CommandPattern, RuleMatcher};
use calls::Part;
pub(crate) use calls::SeenCall;
pub(crate) use codex::codex_rules;
pub(crate) use gemini::invalid_rule as invalid_gemini_rule;
pub(crate) use places::Places;

/// Reads the rules of a host.
pub(crate) type Reader = fn(&Places) -> UserRules;

/// The check of the user's own permission rules of a host when a hook rewrites a call.
#[derive(Debug, Clone, Copy)]
pub struct RuleCheck {
    /// The calls that the host itself compares with the rules.
    pub checks: Checks,
    /// A sentence about the places of the rules and the parts that Tenter cannot read; empty if no rule applies to inputs.
    pub where_read: &'static str,
    /// Reads them.
    pub(crate) read: Reader,
}

/// The calls that a host compares with the user's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// The call as hooks rewrote it. Tenter checks the original call.
    Rewritten,
    /// The original call. Tenter checks the rewritten call.
    Original,
    /// Not measured: Tenter checks both.
    Unknown,
    /// Both, because the model makes the rewritten call itself.
    Both,
    /// Not measured; Tenter does not read the rules, and the model makes the rewritten call itself.
    Unread,
    /// The host has no rules for inputs.
    Neither,
}

impl RuleCheck {
    /// The check for a host without rules for inputs.
    pub(crate) const NONE: Self = Self { checks: Checks::Neither, where_read: "", read: none };

    /// The check for a host that does not apply rewrites, where nothing else was measured.
    pub(crate) const UNREAD: Self = Self { checks: Checks::Unread, where_read: "", read: none };

    /// The check for a host that compares both calls with its rules.
    pub(crate) const BOTH: Self = Self { checks: Checks::Both, where_read: "", read: none };

    /// Returns remarks for users, as sentences.
    pub fn sentences(&self, host: &str) -> Vec<String> {
        let what = match self.checks {
            Checks::Rewritten => format!(
                "{host} compares a call that a hook rewrites with its rules only as it was rewritten. Tenter compares the call as the model made it with your rules, and denies it or asks you where they do."
            ),
            Checks::Original => format!(
                "{host} compares a call that a hook rewrites with its rules only as the model made it. Tenter compares the rewritten call with your rules, and denies it or asks you where they do."
            ),
            Checks::Unknown => format!(
                "It is not measured which call {host} compares with its rules when a hook rewrites one. Tenter compares both with your rules, and denies the call or asks you where they do."
            ),
            Checks::Both => {
                return vec![format!(
                    "{host} compares the call as the model made it with its rules before hooks run, and the rewritten one when the model makes it."
                )];
            }
            Checks::Unread => {
                return vec![format!(
                    "{host} compares the rewritten call with its rules when the model makes it. Tenter does not read its rules: a rule for the call as the model first made it may have no effect on the rewritten one."
                )];
            }
            Checks::Neither => {
                return vec![format!(
                    "{host} has no rules of yours for the inputs of calls that a rewrite could hide."
                )];
            }
        };
        vec![what, self.where_read.to_owned()]
    }
}

fn none(_: &Places) -> UserRules {
    UserRules::strictest(Vec::new())
}

/// The effect of a rule on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    Allow,
    Ask,
    Deny,
}

impl Effect {
    /// Reads the words of the hosts.
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" | "prompt" | "ask_user" => Some(Self::Ask),
            "deny" | "forbidden" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// A rule of the user.
#[derive(Debug, Clone)]
pub(crate) struct UserRule {
    effect: Effect,
    /// The rule and its file, for messages.
    text: String,
    condition: Box<Condition>,
}

/// The calls to which a rule applies.
#[derive(Debug, Clone)]
enum Condition {
    /// Shell calls with a command that matches: alone, or anywhere in a text with unknown commands.
    Command { whole: Box<Matcher>, anywhere: Box<Matcher> },
    /// Calls that match.
    Call(Matcher),
    /// Calls that match, and shell calls with a command that touches such a file.
    CallOrFile(Matcher),
    /// The rule cannot be read: it may apply to every call of the tools that match.
    Unknown(Matcher),
}

/// The choice among several matching rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    Strictest,
    Last,
}

/// The rules of the user, in the order in which the host reads them.
#[derive(Debug, Clone)]
pub(crate) struct UserRules {
    rules: Vec<UserRule>,
    precedence: Precedence,
}

impl UserRules {
    /// Creates rules of which the strictest that matches counts.
    fn strictest(rules: Vec<UserRule>) -> Self {
        Self { rules, precedence: Precedence::Strictest }
    }

    /// Creates rules of which the last that matches counts.
    fn last(rules: Vec<UserRule>) -> Self {
        Self { rules, precedence: Precedence::Last }
    }

    /// Returns the strictest rule that applies to a part of the call. A rule that cannot be read counts where it may apply.
    pub(crate) fn strictest_for(&self, call: &SeenCall) -> Option<&UserRule> {
        let parts = call.parts();
        let deciding = parts.iter().filter_map(|part| self.deciding(part));
        deciding.filter(|rule| rule.effect > Effect::Allow).max_by_key(|rule| rule.effect)
    }

    /// Returns whether the host itself certainly asks about the call, or denies it.
    pub(crate) fn is_stopped(&self, call: &SeenCall) -> bool {
        let parts = call.certain_parts();
        let mut deciding = parts.iter().filter_map(|part| self.deciding(part));
        deciding.any(|rule| {
            rule.effect > Effect::Allow && !matches!(*rule.condition, Condition::Unknown(_))
        })
    }

    fn deciding(&self, part: &Part) -> Option<&UserRule> {
        let mut matching = self.rules.iter().filter(|rule| rule.applies_to(part));
        match self.precedence {
            Precedence::Strictest => matching.max_by_key(|rule| rule.effect),
            Precedence::Last => matching.next_back(),
        }
    }
}

impl UserRule {
    /// Returns its effect.
    pub(crate) fn effect(&self) -> Effect {
        self.effect
    }

    /// Describes the rule and its file, with a remark if Tenter cannot read it.
    pub(crate) fn describe(&self) -> String {
        match *self.condition {
            Condition::Unknown(_) => format!("{}, which Tenter cannot read", self.text),
            _ => self.text.clone(),
        }
    }

    fn applies_to(&self, part: &Part) -> bool {
        // An expression whose search is aborted may apply to the call.
        let matches = |matcher: &Matcher, call| !matches!(matcher.matches(call), Ok(None));
        let restricts = self.effect > Effect::Allow;
        match (&*self.condition, part) {
            (Condition::Command { whole, .. }, Part::Command(call)) => matches(whole, call),
            (Condition::Command { anywhere, .. }, Part::Unknown(call)) => {
                restricts && matches(anywhere, call)
            }
            (Condition::Call(matcher) | Condition::Unknown(matcher), Part::Call(call))
            | (Condition::CallOrFile(matcher), Part::Call(call) | Part::File(call)) => {
                matches(matcher, call)
            }
            (Condition::CallOrFile(matcher), Part::Unknown(call)) => {
                restricts && matches(matcher, call)
            }
            _ => false,
        }
    }
}

/// Makes the rules of one file.
struct RuleMaker<'f> {
    file: &'f str,
}

impl<'f> RuleMaker<'f> {
    fn new(file: &'f str) -> Self {
        Self { file }
    }

    fn describe(&self, text: &str) -> String {
        format!("`{text}` of {}", self.file)
    }

    /// Makes a rule from the form of Claude Code, such as `Bash(git push:*)`.
    fn claude(&self, effect: Effect, text: &str) -> UserRule {
        let text = text.trim();
        if let Some(command) = rule_matcher::command_of(text) {
            return self.command(effect, text, CommandPattern::from_rule(command));
        }
        let Ok(RuleMatcher { tool, pattern, .. }) = rule_matcher::matcher(text) else {
            let tool = text.split('(').next().unwrap_or_default();
            let is_name = tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            return self.unknown(text, (is_name && !tool.is_empty()).then_some(tool));
        };
        let matcher = Matcher::new(&MatcherText { tool: Some(tool), pattern });
        UserRule {
            effect,
            text: self.describe(text),
            condition: Box::new(Condition::CallOrFile(matcher)),
        }
    }

    /// Makes a rule for shell commands.
    fn command(&self, effect: Effect, text: &str, pattern: CommandPattern) -> UserRule {
        let matcher = |pattern| Matcher::new(&MatcherText { tool: None, pattern: Some(pattern) });
        let (whole, anywhere) = (matcher(pattern.whole), matcher(pattern.anywhere));
        UserRule {
            effect,
            text: self.describe(text),
            condition: Box::new(Condition::Command {
                whole: Box::new(whole),
                anywhere: Box::new(anywhere),
            }),
        }
    }

    /// Makes a rule for calls of the tools whose name matches an expression, with a text of the input that matches another one.
    fn calls(
        &self,
        effect: Effect,
        text: &str,
        tool: Option<String>,
        pattern: Option<String>,
    ) -> UserRule {
        let matcher = Matcher::new(&MatcherText { tool, pattern });
        UserRule {
            effect,
            text: self.describe(text),
            condition: Box::new(Condition::Call(matcher)),
        }
    }

    /// Makes a rule that cannot be read: it may apply to calls of tools that match, or of any tool.
    fn unknown(&self, text: &str, tool: Option<&str>) -> UserRule {
        let tool = tool.map(|tool| format!("^(?:{tool})$"));
        let matcher = Matcher::new(&MatcherText { tool, pattern: None });
        let condition = Box::new(Condition::Unknown(matcher));
        UserRule { effect: Effect::Ask, text: self.describe(text), condition }
    }
}

/// Makes a rule that stands for a file whose rules cannot be read.
fn unreadable(file: &Path, why: &str) -> UserRule {
    let matcher = Matcher::new(&MatcherText { tool: None, pattern: None });
    let text = format!("a rule of {} ({why})", file.display());
    UserRule { effect: Effect::Ask, text, condition: Box::new(Condition::Unknown(matcher)) }
}
