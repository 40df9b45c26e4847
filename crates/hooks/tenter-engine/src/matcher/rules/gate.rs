//! Gates of rules: the parts of a rule that are quick to check. A call that does not pass a rule's gate does not fit the rule, not even
//! perhaps. Gates are kept between processes, so that a rule is read and compiled only for calls that pass its gate.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenter_base::AgentState;
use tenter_protocol::manifest::rule::{Conditions, PathCondition, Rule};
use tenter_shell::{Command, PathOp};

use super::path::{Places, may_contain_matches};
use crate::call_index::CallIndex;
use crate::facts::CallFacts;
use crate::pattern::WILDCARDS;

/// Maximum number of commands and paths of a call that gates check one by one. Of more of them, they check the programs.
const MAX_CHECKED: usize = 64;
/// Minimum length of a text that says enough about a path.
const MIN_PART: usize = 4;
/// The end of a program's name of which only the beginning is known.
const ANY_END: char = '*';

/// A necessary condition of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RuleGate {
    /// True if the rule applies to commands, not to a path or to the call as a whole.
    #[serde(skip_serializing_if = "is_default")]
    has_command: bool,
    /// The programs; `mkfs*` is every program whose name begins so. Without any, every program passes.
    #[serde(skip_serializing_if = "is_default")]
    programs: Vec<String>,
    /// True if a command whose program is not known does not fit, not even perhaps.
    #[serde(skip_serializing_if = "is_default")]
    needs_program: bool,
    /// True if what was not read of a call needs no rule but one, which applies then.
    #[serde(skip_serializing_if = "is_default")]
    is_only_for_read: bool,
    /// The subcommands. Without any, every command passes.
    #[serde(skip_serializing_if = "is_default")]
    subcommands: Vec<String>,
    /// The facts that the call must have.
    #[serde(skip_serializing_if = "is_default")]
    needs: Vec<Need>,
    /// One of these states must hold, if there are any.
    #[serde(skip_serializing_if = "is_default")]
    agent: Vec<AgentState>,
    #[serde(skip_serializing_if = "is_default")]
    path: Option<PathGate>,
}

/// The gates of the rules of a hook, in their order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RuleGates(#[serde(with = "shared")] Arc<[RuleGate]>);

/// A fact that a rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Need {
    Forkbomb(bool),
    Unparsed(bool),
    OverLimit(bool),
    Code,
    Flow,
    Sql,
    /// The command is run by another one.
    Via,
    /// A variable is set for the command.
    Variable,
}

/// A necessary condition of a condition on a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct PathGate {
    #[serde(skip_serializing_if = "is_default")]
    op: Vec<PathOp>,
    #[serde(skip_serializing_if = "is_default")]
    recursive: Option<bool>,
    #[serde(skip_serializing_if = "is_default")]
    places: Places,
    /// Texts, one of which is in every path that fits one of the patterns. Without any, every path passes.
    #[serde(skip_serializing_if = "is_default")]
    parts: Vec<String>,
    /// Texts, one of which or of `parts` is in every directory that contains only paths that fit.
    #[serde(skip_serializing_if = "is_default")]
    heads: Vec<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl RuleGates {
    /// Returns the gates of `rules`.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let is_only_for_read = rules.iter().any(|rule| rule.conditions.over_limit == Some(true));
        let gate = |rule| RuleGate { is_only_for_read, ..RuleGate::new(rule) };
        Self(rules.iter().map(gate).collect())
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, RuleGate> {
        self.0.iter()
    }

    /// Returns each of the gates once; the gates of commands only if `has_commands`.
    pub(crate) fn distinct(&self, has_commands: bool) -> Self {
        let mut distinct: Vec<RuleGate> = Vec::new();
        for gate in self.iter().filter(|gate| has_commands || !gate.has_command) {
            if !distinct.contains(gate) {
                distinct.push(gate.clone());
            }
        }
        Self(distinct.into())
    }
}

impl RuleGate {
    /// Returns the gate of a rule.
    fn new(rule: &Rule) -> Self {
        let conditions = &rule.conditions;
        let Conditions { program, subcommand, agent, path, .. } = conditions;
        let is_literal = |text: &String| !text.contains(WILDCARDS);
        let programs = program.iter().map(|text| beginning(text)).collect();
        let subcommands =
            if subcommand.iter().all(is_literal) { subcommand.clone() } else { Vec::new() };
        Self {
            has_command: conditions.is_about_command(),
            programs,
            needs_program: needs_program(rule),
            is_only_for_read: false,
            subcommands,
            needs: needs(conditions),
            agent: agent.clone(),
            path: path.as_ref().map(PathGate::new),
        }
    }

    /// Returns whether the call may fit the rule.
    pub(crate) fn admits(&self, call: &CallFacts) -> bool {
        let facts = &call.facts.call;
        if facts.over_limit && !self.is_only_for_read {
            return true;
        }
        let has_state = || self.agent.iter().any(|state| call.agent.contains(state));
        if !self.needs.iter().all(|need| need.is_met(call))
            || !(self.agent.is_empty() || has_state())
        {
            return false;
        }
        if facts.commands.len() + facts.paths.len() > MAX_CHECKED {
            let has_op = |path: &PathGate| call.index().ops.iter().any(|op| path.has_op(*op));
            return self.path.as_ref().is_none_or(has_op)
                && (!self.has_command || self.admits_programs(call.index()));
        }
        match (self.has_command, &self.path) {
            (false, None) => true,
            (true, None) => facts.commands.iter().any(|command| self.admits_command(command)),
            (has_command, Some(path)) => facts.paths.iter().enumerate().any(|(index, fact)| {
                let command = || facts.commands.get(fact.command?);
                let is_by_command =
                    || command().is_some_and(|command| self.admits_command(command));
                (!has_command || is_by_command()) && path.admits(call, index)
            }),
        }
    }

    /// Returns whether a command has one of the programs, or one that is not known.
    fn admits_programs(&self, index: &CallIndex) -> bool {
        let is_there = |text: &String| match text.strip_suffix(ANY_END) {
            Some(start) => index.programs_from(start).next().is_some(),
            None => !index.commands_of(text).is_empty(),
        };
        self.programs.is_empty()
            || (!self.needs_program && !index.unknown_programs().is_empty())
            || self.programs.iter().any(is_there)
    }

    fn admits_command(&self, command: &Command) -> bool {
        let is_program = |text: &String| match text.strip_suffix(ANY_END) {
            Some(start) => command.program.starts_with(start),
            None => command.program == *text,
        };
        let has_program = self.programs.is_empty()
            || (!self.needs_program && !command.is_program_certain())
            || self.programs.iter().any(is_program);
        has_program && (self.subcommands.is_empty() || self.admits_subcommand(command))
    }

    fn admits_subcommand(&self, command: &Command) -> bool {
        let Some(subcommand) = &command.subcommand else { return false };
        let place = command.args.iter().position(|arg| arg == subcommand);
        let is_certain = place.is_none_or(|place| command.is_arg_certain(place));
        !is_certain || self.subcommands.contains(subcommand)
    }
}

impl Need {
    fn is_met(self, call: &CallFacts) -> bool {
        let facts = &call.facts.call;
        match self {
            Self::Forkbomb(expected) => facts.forkbomb == expected,
            Self::Unparsed(expected) => facts.unparsed == expected,
            Self::OverLimit(expected) => facts.over_limit == expected,
            Self::Code => !facts.code.is_empty(),
            Self::Flow => !facts.flows.is_empty(),
            Self::Sql => !facts.sql.is_empty(),
            Self::Via => facts.commands.iter().any(|command| !command.via.is_empty()),
            Self::Variable => facts.commands.iter().any(|command| !command.env.is_empty()),
        }
    }
}

/// Returns whether a rule ignores commands whose programs are not known: it names programs, and what fits only perhaps does not count.
pub(super) fn needs_program(rule: &Rule) -> bool {
    let fits_every_program = |text: &String| text.chars().all(|letter| letter == '*');
    let programs = &rule.conditions.program;
    rule.uncertain.verdict().is_none()
        && !programs.is_empty()
        && !programs.iter().any(fits_every_program)
}

/// Returns the facts without which no call fits the conditions.
fn needs(conditions: &Conditions) -> Vec<Need> {
    let Conditions { forkbomb, unparsed, over_limit, code, flow, sql, via, env, .. } = conditions;
    let needs = [
        forkbomb.map(Need::Forkbomb),
        unparsed.map(Need::Unparsed),
        over_limit.map(Need::OverLimit),
        code.as_ref().map(|_| Need::Code),
        flow.as_ref().map(|_| Need::Flow),
        sql.as_ref().map(|_| Need::Sql),
        (!via.is_empty()).then_some(Need::Via),
        (!env.is_empty()).then_some(Need::Variable),
    ];
    needs.into_iter().flatten().collect()
}

impl PathGate {
    fn new(condition: &PathCondition) -> Self {
        let PathCondition { op, glob, recursive, .. } = condition;
        let required: Option<Vec<RequiredTexts>> =
            glob.iter().map(|text| RequiredTexts::new(text)).collect();
        let required = required.unwrap_or_default().into_iter();
        let (parts, heads): (BTreeSet<String>, BTreeSet<String>) =
            required.map(|texts| (texts.part, texts.head)).unzip();
        let heads = heads.difference(&parts).cloned().collect();
        let (op, recursive, places) = (op.clone(), *recursive, Places::new(condition));
        Self { op, recursive, places, parts: parts.into_iter().collect(), heads }
    }

    fn has_op(&self, op: PathOp) -> bool {
        self.op.is_empty() || self.op.contains(&op)
    }

    fn admits(&self, call: &CallFacts, index: usize) -> bool {
        let facts = &call.facts.call;
        let Some(fact) = facts.paths.get(index) else { return false };
        if !self.has_op(fact.op)
            || self.recursive.is_some_and(|recursive| recursive != fact.recursive)
        {
            return false;
        }
        if self.places.exclude(fact) {
            return false;
        }
        // A path that stands for many can be one that has the part.
        if self.parts.is_empty() || fact.glob || !fact.certain {
            return true;
        }
        let texts = [&fact.path, call.written.get(index).unwrap_or(&fact.path)];
        let is_directory = may_contain_matches(fact);
        texts.into_iter().any(|text| {
            let has = |part: &String| text.contains(part.as_str());
            let is_around = || is_above_everything(text, call) || self.heads.iter().any(has);
            self.parts.iter().any(has) || (is_directory && is_around())
        })
    }
}

/// Returns whether a directory is the root, the home directory or one around it: paths in it need not have a part of a pattern in common
/// with it.
fn is_above_everything(directory: &str, call: &CallFacts) -> bool {
    let above = directory.trim_end_matches('/');
    let is_above = |inner: &str| {
        inner.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    call.home.as_deref().is_none_or(is_above) || is_above(&call.project)
}

/// Returns the name that fits a pattern, or the beginning of all names that do: `git` → `git`, `mkfs.?xt` → `mkfs.*`.
fn beginning(pattern: &str) -> String {
    match pattern.find(WILDCARDS) {
        None => pattern.to_owned(),
        Some(at) => format!("{}{ANY_END}", &pattern[..at]),
    }
}

/// Texts that a pattern requires: `**/.ssh/id_*` → `.ssh`, `/etc/shadow` → `shadow` and `/etc`, `~/*.pem` → `.pem`.
#[derive(Debug, PartialEq, Eq)]
struct RequiredTexts {
    /// A text that is in every path that fits the pattern.
    part: String,
    /// A text that is in every directory below the home directory or the project that contains only paths that fit.
    head: String,
}

impl RequiredTexts {
    /// Returns the texts that a pattern requires; `None` if none are known.
    fn new(pattern: &str) -> Option<Self> {
        let tail = pattern.strip_prefix("~/").unwrap_or(pattern).trim_start_matches("./");
        let text = tail.strip_prefix("**/").unwrap_or(tail);
        let start = usize::from(text.starts_with('/'));
        let end = text[start..].find('/').map_or(text.len(), |at| start + at);
        let (first, rest) = text.split_at(end);
        if pattern == "~" || text.is_empty() {
            return None;
        }
        let literal = first.find(WILDCARDS).map_or(first, |at| &first[..at]);
        // Of a single name, every letter that is no wildcard is in the path.
        let is_name = rest.is_empty() && start == 0 && !first.contains('[');
        let name_parts = first.split(WILDCARDS).filter(|part| is_name && !part.is_empty());
        let longest = name_parts.max_by_key(|part| part.len());
        if literal.len() == start {
            let part = longest?.to_owned();
            return Some(Self { head: part.clone(), part });
        }
        // A later name says more than `/etc` or a few letters.
        let is_general = start > 0 || literal.len() < MIN_PART;
        let names = rest.split('/').filter(|name| is_general && !name.contains(WILDCARDS));
        let part = names.chain(longest).max_by_key(|name| name.len());
        let part = part.filter(|name| name.len() >= MIN_PART).unwrap_or(literal);
        Some(Self { part: part.to_owned(), head: literal.to_owned() })
    }
}

/// Reads and writes lists that several hooks share.
pub(crate) mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        list: &Arc<[T]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[T]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}

#[cfg(test)]
mod tests {
    use super::RequiredTexts;

    #[test]
    fn a_pattern_requires_a_part_of_the_path() {
        for (pattern, texts) in [
            ("**/.ssh/id_*", Some((".ssh", ".ssh"))),
            ("~/.config/agents/**", Some((".config", ".config"))),
            ("/etc/shadow", Some(("shadow", "/etc"))),
            ("/etc*/shadow", Some(("shadow", "/etc"))),
            ("/home/*/.ssh/**", Some((".ssh", "/home"))),
            ("/dev/**", Some(("/dev", "/dev"))),
            ("tenter.toml", Some(("tenter.toml", "tenter.toml"))),
            ("./src/**", Some(("src", "src"))),
            ("./src/*/main.rs", Some(("main.rs", "src"))),
            ("**/*.pem", Some((".pem", ".pem"))),
            ("~/*_rsa*", Some(("_rsa", "_rsa"))),
            ("~/.*_history", Some(("_history", "."))),
            ("**/.env*", Some((".env", ".env"))),
            ("~/**/.netrc", Some((".netrc", ".netrc"))),
            ("**/[ab].pem", None),
            ("**/*/x", None),
            ("/*/x", None),
            ("/**", None),
            ("**", None),
            ("~", None),
        ] {
            let expected = texts.map(|(part, head)| (part.to_owned(), head.to_owned()));
            let required = RequiredTexts::new(pattern).map(|texts| (texts.part, texts.head));
            assert_eq!(required, expected, "{pattern}");
        }
    }
}
