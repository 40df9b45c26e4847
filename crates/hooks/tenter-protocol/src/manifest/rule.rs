//! The rules of `metadata.match`: which commands and paths a hook is about, and what happens to a call that fits.

use serde::{Deserialize, Serialize};
use tenter_base::AgentState;
use tenter_shell::{Class, FlowRole, Language, Location, PathOp, PathPlace};

use crate::EventName;
use crate::manifest::actions_at;

/// One rule. A call fits if one of its commands and paths fits all conditions and none of the exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// The name, for messages and the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a call must fit.
    #[serde(rename = "if")]
    pub conditions: Conditions,
    /// What it must not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Conditions>,
    /// What happens to a call that fits. Without it, the hook runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RuleDecision>,
    /// What happens to a call that fits perhaps.
    pub uncertain: UncertainPolicy,
    /// Commands that the rule stops, and commands that no rule of the hook stops. For checks; the cache does not keep them.
    #[serde(skip)]
    pub examples: Examples,
}

impl Rule {
    /// The name, or its place in the list of the hook's rules.
    pub fn label(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("rule {}", index + 1))
    }
}

/// A decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDecision {
    /// The decision.
    pub verdict: RuleVerdict,
    /// The reason, for the model and the user.
    pub reason: String,
}

/// The decisions that a rule can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleVerdict {
    /// Denies the call.
    Deny,
    /// Asks the user.
    Ask,
}

impl RuleVerdict {
    /// Every verdict with its word in manifests.
    pub const WORDS: [(&'static str, Self); 2] = [("deny", Self::Deny), ("ask", Self::Ask)];

    /// The word in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }

    /// Whether a hook may decide this at `event`.
    pub fn is_possible_at(self, event: EventName) -> bool {
        actions_at(event).contains(&self.as_str())
    }
}

/// What happens to a call of which it is not known whether it fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UncertainPolicy {
    /// It is denied.
    Deny,
    /// The user is asked.
    Ask,
    /// It does not fit.
    #[default]
    Ignore,
}

impl UncertainPolicy {
    /// Every policy with its word in manifests.
    pub const WORDS: [(&'static str, Self); 3] =
        [("deny", Self::Deny), ("ask", Self::Ask), ("ignore", Self::Ignore)];

    /// The decision about a call that fits perhaps.
    pub fn verdict(self) -> Option<RuleVerdict> {
        match self {
            Self::Deny => Some(RuleVerdict::Deny),
            Self::Ask => Some(RuleVerdict::Ask),
            Self::Ignore => None,
        }
    }
}

/// Examples of a rule: shell commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examples {
    /// Commands that the rule stops.
    pub stopped: Vec<String>,
    /// Commands that no rule of the hook stops.
    pub passed: Vec<String>,
}

/// Conditions on one command and one of its paths. All that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// The program's base name: any of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
    /// The subcommand: any of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subcommand: Vec<String>,
    /// The arguments that are no options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operands: Option<Operands>,
    /// The options: names, or `name=pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<Words>,
    /// Variables that are set for the command: any of these, `NAME` or `NAME=pattern`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// A path that the command, or the tool, touches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathCondition>,
    /// Data that reaches the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowCondition>,
    /// A program in another language that the command runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeCondition>,
    /// What runs the command: any of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// Where the command runs: any of these.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub location: Vec<Location>,
    /// Whether the text is a fork bomb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forkbomb: Option<bool>,
    /// Whether a part of the text was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unparsed: Option<bool>,
    /// What is special about the agent's process: any of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<AgentState>,
    /// Whether the text is too long or too deeply nested to be read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_limit: Option<bool>,
}

impl Conditions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether one of them is about a command.
    pub fn is_about_command(&self) -> bool {
        let own = Self {
            path: None,
            forkbomb: None,
            unparsed: None,
            over_limit: None,
            agent: Vec::new(),
            ..self.clone()
        };
        !own.is_empty()
    }
}

/// Which of a list of words are there. All that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Words {
    /// At least one of these patterns fits a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// Each of these patterns fits a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// None of these patterns fits a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
}

/// Conditions on operands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operands {
    /// Which of them are there.
    #[serde(flatten)]
    pub words: Words,
    /// Minimum and maximum number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<(usize, usize)>,
    /// Only operands after `--` are looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_dashes: bool,
}

/// Conditions on one path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PathCondition {
    /// What happens to it: any of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub op: Vec<PathOp>,
    /// It fits one of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub glob: Vec<String>,
    /// It fits none of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// It is one of these directories, or contains it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// It is in one of these places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<PathPlace>,
    /// It is in none of these places, and on this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<PathPlace>,
    /// Whether everything below it is included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// Conditions on data that reaches a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCondition {
    /// What the sending command does: any of these. A connection is `network`.
    pub from: Vec<Class>,
    /// What the receiving command does: any of these; anything if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub into: Vec<Class>,
    /// What the receiving command does with the data: any of these; anything if empty.
    #[serde(default, rename = "as", skip_serializing_if = "Vec::is_empty")]
    pub role: Vec<FlowRole>,
}

/// Conditions on a program in another language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCondition {
    /// The language: any of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub language: Vec<Language>,
    /// Whether it runs a command that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<bool>,
    /// Its text contains one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}
