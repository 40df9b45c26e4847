//! The rules of `metadata.match`: the commands and paths that a hook applies to, and the decision about a call that fits.

use serde::{Deserialize, Serialize};
use tenter_base::AgentState;
use tenter_shell::{Class, FlowRole, Language, Location, PathOp, PathPlace};

use crate::EventName;
use crate::confinement::Confinement;
use crate::lifecycle::Power;
use crate::manifest::actions_at;

/// One rule. A call fits if one of its commands and paths fits all conditions and none of the exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// The name, for messages and the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The conditions that a call must fit.
    #[serde(rename = "if")]
    pub conditions: Conditions,
    /// The conditions that it must not fit. Where an exception fits words that the rule applies to, it covers only these words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Conditions>,
    /// The decision about a call that fits. Without it, the hook runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RuleDecision>,
    /// The decision about a call that may or may not fit.
    pub uncertain: UncertainPolicy,
    /// Commands that the rule stops, and commands that no rule of the hook stops. For checks; the cache does not keep them.
    #[serde(skip)]
    pub examples: Examples,
}

impl Rule {
    /// Returns the name, or its place in the list of the hook's rules.
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
    /// With the verdict confine: the confinement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confine: Option<Confinement>,
}

/// The decisions that a rule can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleVerdict {
    /// Denies the call.
    Deny,
    /// Asks the user.
    Ask,
    /// Runs the call with fewer rights.
    Confine,
}

impl RuleVerdict {
    /// Every verdict with its word in manifests.
    pub const WORDS: [(&'static str, Self); 3] =
        [("deny", Self::Deny), ("ask", Self::Ask), ("confine", Self::Confine)];

    /// Returns the word in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Confine => "confine",
        }
    }

    /// Returns true if a hook may decide this at `event`.
    pub fn is_possible_at(self, event: EventName) -> bool {
        match self {
            Self::Confine => event.may(Power::Ask),
            Self::Ask | Self::Deny => actions_at(event).contains(&self.as_str()),
        }
    }
}

/// The decision about a call that may or may not fit, for example because a variable in it is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UncertainPolicy {
    /// It is denied.
    Deny,
    /// The user is asked.
    Ask,
    /// It runs with fewer rights.
    Confine,
    /// It does not fit.
    #[default]
    Ignore,
}

impl UncertainPolicy {
    /// Every policy with its word in manifests.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("deny", Self::Deny),
        ("ask", Self::Ask),
        ("confine", Self::Confine),
        ("ignore", Self::Ignore),
    ];

    /// Returns the decision about a call that may or may not fit.
    pub fn verdict(self) -> Option<RuleVerdict> {
        match self {
            Self::Deny => Some(RuleVerdict::Deny),
            Self::Ask => Some(RuleVerdict::Ask),
            Self::Confine => Some(RuleVerdict::Confine),
            Self::Ignore => None,
        }
    }
}

/// Examples of a rule: shell commands.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examples {
    /// Commands that the rule stops.
    pub stopped: Vec<String>,
    /// Commands that no rule of the hook stops.
    pub passed: Vec<String>,
}

/// Conditions on one command and one of its paths. All that are set must hold.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// The base name of the program: patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
    /// The subcommand, such as `push`: patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subcommand: Vec<String>,
    /// The arguments that are no options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operands: Option<Operands>,
    /// The options of the command: names, or `name=pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<Words>,
    /// One of these variables is set for the command: `NAME` or `NAME=pattern`.
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
    /// A statement of SQL that the command runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<SqlCondition>,
    /// The program or construct that runs the command, such as `sudo`: patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// The machine on which the command runs.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub location: Vec<Location>,
    /// `true` if the text is a fork bomb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forkbomb: Option<bool>,
    /// `true` if a part of the text could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unparsed: Option<bool>,
    /// A state of the agent's process, such as running as root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub agent: Vec<AgentState>,
    /// `true` if the text is too long or too deeply nested to be read to its end, or waits for input that hooks do not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_limit: Option<bool>,
}

impl Conditions {
    /// Returns true if no condition is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if one of them applies to a command.
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

/// Conditions on a list of words. All that are set must hold.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Words {
    /// One of these patterns fits a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// Each of these patterns fits a word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// None of these patterns fits a word. A word that also fits `any` or `all` is only left out; in an exception, it counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<String>,
}

/// Conditions on operands.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Operands {
    /// Conditions on their words.
    #[serde(flatten)]
    pub words: Words,
    /// The number of operands.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<(usize, usize)>,
    /// Only operands after `--` count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub after_dashes: bool,
}

/// Conditions on one path.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PathCondition {
    /// The operation on the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub op: Vec<PathOp>,
    /// The path fits one of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub glob: Vec<String>,
    /// The path fits none of these patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// The path is one of these directories or contains it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
    /// The place of the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<PathPlace>,
    /// Places where the path is not; it is on this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<PathPlace>,
    /// `true` if everything below the path is included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// Conditions on data that reaches a command.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCondition {
    /// The kind of command that the data comes from. A connection is `network`.
    pub from: Vec<Class>,
    /// The kind of command that receives the data; any kind if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub into: Vec<Class>,
    /// The use of the data by the receiving command; any use if empty.
    #[serde(default, rename = "as", skip_serializing_if = "Vec::is_empty")]
    pub role: Vec<FlowRole>,
}

/// Conditions on one statement of SQL.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SqlCondition {
    /// Its first words in lower case, without `from`, `if exists` and the like: patterns such as `drop table *`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statement: Vec<String>,
    /// `true` if it has a `where` that is not always true.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub has_where: Option<bool>,
}

/// Conditions on a program in another language.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCondition {
    /// The language of a program that is given inline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub language: Vec<Language>,
    /// `true` if it runs a command that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<bool>,
    /// Its text contains one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}
