//! The user's own permission rules of a host, for calls that hooks rewrite (R87).
//!
//! Hosts apply a hook's rewrite before they look at their rules, so that a rule for the call as the model made it has no effect.
//! `calls` is a call as rules see it; the other modules read the rules of one host each.

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

use tenter_engine::matcher::Matcher;
use tenter_protocol::manifest::MatcherText;

use crate::rule_matcher::{self, CommandPattern, RuleMatcher};
use calls::Part;
pub(crate) use calls::SeenCall;
pub(crate) use places::Places;

/// Reads the rules of a host.
pub(crate) type Reader = fn(&Places) -> UserRules;

/// What becomes of the user's own permission rules of a host when a hook rewrites a call.
#[derive(Debug, Clone, Copy)]
pub struct RuleCheck {
    /// Which calls the host itself compares with them.
    pub checks: Checks,
    /// Where the rules are and what of them Tenter cannot read, as a sentence; empty if there are none about inputs.
    pub where_read: &'static str,
    /// Reads them.
    pub(crate) read: Reader,
}

/// Which calls a host compares with the user's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// The call as hooks rewrote it: Tenter checks the one that the model made.
    Rewritten,
    /// The call that the model made: Tenter checks the rewritten one.
    Original,
    /// Not measured: Tenter checks both.
    Unknown,
    /// Both, because the model makes the rewritten call itself.
    Both,
    /// Not measured; Tenter does not read the rules, and the model makes the rewritten call itself.
    Unread,
    /// It has no rules about inputs.
    Neither,
}

impl RuleCheck {
    /// A host without rules about the inputs of calls.
    pub(crate) const NONE: Self = Self { checks: Checks::Neither, where_read: "", read: none };

    /// A host that does not apply rewrites, and of which no more is known.
    pub(crate) const UNREAD: Self = Self { checks: Checks::Unread, where_read: "", read: none };

    /// A host that compares both calls with its rules.
    pub(crate) const BOTH: Self = Self { checks: Checks::Both, where_read: "", read: none };

    /// What users must know, as sentences.
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
                    "{host} compares the rewritten call with its rules when the model makes it. Tenter does not read its rules: one about the call as the model first made it may have no effect on the rewritten one."
                )];
            }
            Checks::Neither => {
                return vec![format!(
                    "{host} has no rules of yours about the inputs of calls that a rewrite could hide."
                )];
            }
        };
        vec![what, self.where_read.to_owned()]
    }
}

fn none(_: &Places) -> UserRules {
    UserRules::strictest(Vec::new())
}

/// What a rule does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    Allow,
    Ask,
    Deny,
}

impl Effect {
    /// Reads the words of the hosts.
    fn of_word(word: &str) -> Option<Self> {
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
    shown: String,
    condition: Box<Condition>,
}

/// The calls that a rule is about.
#[derive(Debug, Clone)]
enum Condition {
    /// Shell calls with a command that matches: alone, or anywhere in a text of which not every command is known.
    Command { whole: Box<Matcher>, anywhere: Box<Matcher> },
    /// Calls that match.
    Call(Matcher),
    /// Calls that match, and shell calls with a command that touches such a file.
    CallOrFile(Matcher),
    /// It cannot be read: perhaps every call of the tools that match.
    Unknown(Matcher),
}

/// Which of several matching rules counts.
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
    /// Rules of which the strictest that matches counts.
    fn strictest(rules: Vec<UserRule>) -> Self {
        Self { rules, precedence: Precedence::Strictest }
    }

    /// Rules of which the last that matches counts.
    fn last(rules: Vec<UserRule>) -> Self {
        Self { rules, precedence: Precedence::Last }
    }

    /// The strictest rule that applies to a part of the call. A rule that cannot be read counts where it may apply.
    pub(crate) fn strictest_of(&self, call: &SeenCall) -> Option<&UserRule> {
        let parts = call.parts();
        let deciding = parts.iter().filter_map(|part| self.deciding(part));
        deciding.filter(|rule| rule.effect > Effect::Allow).max_by_key(|rule| rule.effect)
    }

    /// Whether the host itself is certain to ask about the call, or to deny it.
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
    /// What it does.
    pub(crate) fn effect(&self) -> Effect {
        self.effect
    }

    /// The rule and its file, and that it is not understood, if it is not.
    pub(crate) fn describe(&self) -> String {
        match *self.condition {
            Condition::Unknown(_) => format!("{}, which Tenter cannot read", self.shown),
            _ => self.shown.clone(),
        }
    }

    fn applies_to(&self, part: &Part) -> bool {
        // An expression whose search is aborted may be about the call.
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

/// Makes rules: `file` is where they are.
struct RuleMaker<'f> {
    file: &'f str,
}

impl<'f> RuleMaker<'f> {
    fn new(file: &'f str) -> Self {
        Self { file }
    }

    fn shown(&self, text: &str) -> String {
        format!("`{text}` of {}", self.file)
    }

    /// A rule in the form of Claude Code, such as `Bash(git push:*)`.
    fn claude(&self, effect: Effect, text: &str) -> UserRule {
        let text = text.trim();
        if let Some(command) = rule_matcher::command_of(text) {
            return self.command(effect, text, CommandPattern::of_rule(command));
        }
        let Ok(RuleMatcher { tool, pattern, .. }) = rule_matcher::matcher(text) else {
            let tool = text.split('(').next().unwrap_or_default();
            let known = tool.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            return self.unknown(text, (known && !tool.is_empty()).then_some(tool));
        };
        let matcher = Matcher::new(&MatcherText { tool: Some(tool), pattern });
        UserRule {
            effect,
            shown: self.shown(text),
            condition: Box::new(Condition::CallOrFile(matcher)),
        }
    }

    /// A rule about shell commands.
    fn command(&self, effect: Effect, text: &str, pattern: CommandPattern) -> UserRule {
        let matcher = |pattern| Matcher::new(&MatcherText { tool: None, pattern: Some(pattern) });
        let (whole, anywhere) = (matcher(pattern.whole), matcher(pattern.anywhere));
        UserRule {
            effect,
            shown: self.shown(text),
            condition: Box::new(Condition::Command {
                whole: Box::new(whole),
                anywhere: Box::new(anywhere),
            }),
        }
    }

    /// A rule about calls of the tools whose name matches an expression, with a text of the input that matches another one.
    fn calls(
        &self,
        effect: Effect,
        text: &str,
        tool: Option<String>,
        pattern: Option<String>,
    ) -> UserRule {
        let matcher = Matcher::new(&MatcherText { tool, pattern });
        UserRule { effect, shown: self.shown(text), condition: Box::new(Condition::Call(matcher)) }
    }

    /// A rule that is not understood: it may be about calls of tools that match, or of any tool.
    fn unknown(&self, text: &str, tool: Option<&str>) -> UserRule {
        let tool = tool.map(|tool| format!("^(?:{tool})$"));
        let matcher = Matcher::new(&MatcherText { tool, pattern: None });
        let condition = Box::new(Condition::Unknown(matcher));
        UserRule { effect: Effect::Ask, shown: self.shown(text), condition }
    }
}

/// A rule that stands for a file whose rules cannot be read.
fn unreadable(file: &Path, why: &str) -> UserRule {
    let matcher = Matcher::new(&MatcherText { tool: None, pattern: None });
    let shown = format!("a rule of {} ({why})", file.display());
    UserRule { effect: Effect::Ask, shown, condition: Box::new(Condition::Unknown(matcher)) }
}
