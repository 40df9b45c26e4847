//! Gates of rules: the parts of a rule that are quick to check. A call that does not pass a rule's gate does not fit the rule, not even
//! perhaps. Gates are kept between processes, so that a rule is read and compiled only for calls that pass its gate.

use std::collections::BTreeSet;
use std::iter;

use serde::{Deserialize, Serialize};
use tenter_base::AgentState;
use tenter_protocol::manifest::rule::{Conditions, PathCondition, Rule};
use tenter_shell::{Command, PathOp};

use super::path::{Places, may_contain_matches, may_replace_files};
use super::required_texts::{
    ANY, RequiredTexts, beginning, flag_name, is_beginning, operand_part, required,
};
use super::texts::Texts;
use super::words::operand;
use crate::call_index::CallIndex;
use crate::facts::CallFacts;
use crate::pattern::{LetterPairs, WILDCARDS, address_contains, name_bit};

/// Maximum number of commands and paths of a call that gates check one by one. Of more of them, only groups are checked.
const MAX_CHECKED: usize = 64;

/// A necessary condition of the rules of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GroupGate<'a> {
    /// True if the rules apply to commands, not to a path or to the call as a whole.
    has_command: bool,
    /// The programs. Without any, and without beginnings, every program passes.
    #[serde(borrow)]
    programs: Texts<'a>,
    /// The beginnings of names of programs.
    #[serde(borrow)]
    starts: Texts<'a>,
    /// True if a command whose program is not known does not fit, not even perhaps.
    needs_program: bool,
    /// The facts that the call must have.
    needs: Vec<Need>,
    /// The operations on a path, one of which the call must have; every one passes if there are none. `None` if the rules apply to no path.
    ops: Option<Vec<PathOp>>,
}

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

/// A necessary condition of a rule, besides the condition of its group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RuleGate<'a> {
    /// The subcommands. Without any, every command passes.
    #[serde(borrow)]
    subcommands: Texts<'a>,
    /// The names of options, one of which the command must have, as in [`beginning`]. Without any, every command passes.
    #[serde(borrow)]
    flags: Texts<'a>,
    /// The operands, one of which the command must have; `*x` is every operand that contains `x`. Without any, every command passes.
    #[serde(borrow)]
    operands: Texts<'a>,
    /// One of these states must hold, if there are any.
    agent: Vec<AgentState>,
    path: Option<PathGate<'a>>,
}

/// A necessary condition of a condition on a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PathGate<'a> {
    /// The operations. Without any, every one passes.
    op: Vec<PathOp>,
    recursive: Option<bool>,
    places: Places,
    /// Texts, one of which is in every path that fits one of the patterns; `=/tmp` is only that path. Without any, every path passes.
    #[serde(borrow)]
    parts: Texts<'a>,
    /// Texts, one of which or of `parts` is in every directory that contains only paths that fit.
    #[serde(borrow)]
    heads: Texts<'a>,
    /// Directories, one of which is in every path that fits, or is it. Without any, every path passes.
    #[serde(borrow)]
    covers: Texts<'a>,
}

/// Returns bits of operations with the one of another operation.
pub(super) fn with_op(bits: u16, op: PathOp) -> u16 {
    bits | 1 << op as u16
}

/// Checks whether a call has more commands and paths than are checked one by one.
pub(super) fn is_long(call: &CallFacts) -> bool {
    call.facts.call.commands.len() + call.facts.call.paths.len() > MAX_CHECKED
}

impl GroupGate<'_> {
    pub(super) fn new(rule: &Rule) -> Self {
        let conditions = &rule.conditions;
        let (starts, programs): (Vec<String>, Vec<String>) = conditions
            .program
            .iter()
            .map(|text| beginning(text))
            .partition(|text| text.ends_with(ANY));
        let starts: Vec<&str> = starts.iter().map(|text| text.trim_end_matches(ANY)).collect();
        let texts = Texts::new(programs).zip(Texts::new(&starts));
        let (programs, starts) = texts.filter(|_| !starts.contains(&"")).unwrap_or_default();
        Self {
            has_command: conditions.is_about_command(),
            programs,
            starts,
            needs_program: needs_program(rule),
            needs: needs(conditions),
            ops: conditions.path.as_ref().map(|path| path.op.clone()),
        }
    }

    pub(super) fn has_command(&self) -> bool {
        self.has_command
    }

    /// Returns the bits of the programs, if a command needs one of them or a program that is not known.
    pub(super) fn program_bits(&self) -> Option<u64> {
        let are_known = self.has_command && !self.programs.is_empty() && self.starts.is_empty();
        are_known.then(|| self.programs.iter().fold(0, |bits, name| bits | name_bit(name)))
    }

    /// Returns the bits of the operations, one of which a path of the call must have, if the rules apply to paths.
    pub(super) fn op_bits(&self) -> Option<u16> {
        let ops = self.ops.as_ref()?;
        Some(if ops.is_empty() { u16::MAX } else { ops.iter().copied().fold(0, with_op) })
    }

    /// Returns whether the call may fit one of the rules.
    pub(super) fn admits(&self, call: &CallFacts) -> bool {
        let facts = &call.facts.call;
        let is_long = is_long(call);
        let has_op = |ops: &Vec<PathOp>| {
            let is_one = |op: &PathOp| ops.is_empty() || ops.contains(op);
            if is_long {
                call.index().ops.iter().any(is_one)
            } else {
                facts.paths.iter().any(|path| is_one(&path.op))
            }
        };
        let has_program = || {
            if is_long {
                self.admits_programs(call.index())
            } else {
                facts.commands.iter().any(|command| self.admits_command(command))
            }
        };
        self.needs.iter().all(|need| need.is_met(call))
            && self.ops.as_ref().is_none_or(has_op)
            && (!self.has_command || has_program())
    }

    /// Returns whether a command has one of the programs, or one that is not known.
    fn admits_programs(&self, index: &CallIndex) -> bool {
        self.has_no_programs()
            || (!self.needs_program && !index.unknown_programs().is_empty())
            || self.programs.iter().any(|name| !index.commands_of(name).is_empty())
            || self.starts.iter().any(|start| index.programs_from(start).next().is_some())
    }

    fn admits_command(&self, command: &Command) -> bool {
        self.has_no_programs()
            || (!self.needs_program && !command.is_program_certain())
            || self.programs.contains(&command.program)
            || self.starts.iter().any(|start| command.program.starts_with(start))
    }

    fn has_no_programs(&self) -> bool {
        self.programs.is_empty() && self.starts.is_empty()
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

impl RuleGate<'_> {
    /// Returns the gate of a rule.
    pub(super) fn new(rule: &Rule) -> Self {
        let Conditions { subcommand, flags, operands, agent, path, .. } = &rule.conditions;
        let is_literal = |text: &String| !text.contains(WILDCARDS);
        let subcommands = Some(subcommand).filter(|all| all.iter().all(is_literal));
        Self {
            subcommands: subcommands.and_then(Texts::new).unwrap_or_default(),
            flags: required(flags.as_ref(), flag_name),
            operands: required(operands.as_ref().map(|operands| &operands.words), operand_part),
            agent: agent.clone(),
            path: path.as_ref().map(PathGate::new),
        }
    }

    /// Returns whether a call that passes the gate of the group may fit the rule.
    pub(super) fn admits(&self, call: &CallFacts, group: &GroupGate<'_>) -> bool {
        let facts = &call.facts.call;
        if !self.agent.is_empty() && !self.agent.iter().any(|state| call.agent.contains(state)) {
            return false;
        }
        let admits =
            |command: &Command| group.admits_command(command) && self.admits_command(command);
        match &self.path {
            None => !group.has_command() || facts.commands.iter().any(admits),
            Some(path) => facts.paths.iter().enumerate().any(|(index, fact)| {
                let command = || facts.commands.get(fact.command?);
                (!group.has_command() || command().is_some_and(admits)) && path.admits(call, index)
            }),
        }
    }

    fn admits_command(&self, command: &Command) -> bool {
        (self.subcommands.is_empty() || self.admits_subcommand(command))
            && (self.flags.is_empty() || self.admits_flags(command))
            && (self.operands.is_empty() || self.admits_operands(command))
    }

    fn admits_flags(&self, command: &Command) -> bool {
        let is_flag = |flag: &String| {
            let name = flag.split_once('=').map_or(flag.as_str(), |(name, _)| name);
            name.contains(['$', '`']) || self.flags.iter().any(|text| is_beginning(text, name))
        };
        command.may_have_more_flags() || command.flags.iter().any(is_flag)
    }

    fn admits_operands(&self, command: &Command) -> bool {
        let is_operand = |operand: &str| {
            self.operands.iter().any(|text| match text.strip_prefix(ANY) {
                Some(part) => operand.contains(part) || address_contains(operand, part),
                None => operand == text || address_contains(operand, text),
            })
        };
        let mut places = 0..command.operands.len();
        places.any(|place| {
            let text = operand(command, place);
            !text.is_certain || text.is_glob || is_operand(text.value)
        })
    }

    fn admits_subcommand(&self, command: &Command) -> bool {
        let Some(subcommand) = &command.subcommand else { return false };
        let place = command.args.iter().position(|arg| arg == subcommand);
        let is_certain = place.is_none_or(|place| command.is_arg_certain(place));
        !is_certain || self.subcommands.contains(subcommand)
    }
}

impl PathGate<'_> {
    fn new(condition: &PathCondition) -> Self {
        let PathCondition { op, glob, recursive, covers, .. } = condition;
        let required_texts: Option<Vec<RequiredTexts>> =
            glob.iter().map(|text| RequiredTexts::new(text)).collect();
        let required_texts = required_texts.unwrap_or_default().into_iter();
        let (parts, heads): (BTreeSet<String>, BTreeSet<String>) =
            required_texts.map(|texts| (texts.part, texts.head)).unzip();
        let texts = Texts::new(&parts).zip(Texts::new(heads.difference(&parts)));
        let (parts, heads) = texts.unwrap_or_default();
        let (op, recursive, places) = (op.clone(), *recursive, Places::new(condition));
        let covers = Texts::new(covers).unwrap_or_default();
        Self { op, recursive, places, parts, heads, covers }
    }

    fn admits(&self, call: &CallFacts, index: usize) -> bool {
        let facts = &call.facts.call;
        let Some(fact) = facts.paths.get(index) else { return false };
        if !(self.op.is_empty() || self.op.contains(&fact.op))
            || self.recursive.is_some_and(|recursive| recursive != fact.recursive)
        {
            return false;
        }
        if self.places.exclude(fact) {
            return false;
        }
        // A path that stands for many can be one that fits.
        if fact.glob || !fact.certain {
            return true;
        }
        let text = call.path_texts.get(index).filter(|text| **text != fact.path);
        let texts: Vec<&String> = iter::once(&fact.path).chain(text).collect();
        let may_cover = |text: &&String| self.may_cover(text, call);
        let is_directory = may_contain_matches(fact) || may_replace_files(fact);
        let has_part = |text: &&String| self.has_part(text, is_directory, call);
        (self.covers.is_empty() || texts.iter().any(may_cover))
            && (self.parts.is_empty() || texts.iter().any(has_part))
    }

    fn may_cover(&self, path: &str, call: &CallFacts) -> bool {
        let path = path.trim_end_matches('/');
        let home = call.home.as_deref().unwrap_or("~");
        let is_in = |base: &str, tail: &str| match path.strip_prefix(base) {
            Some(rest) => tail.starts_with(rest.trim_start_matches('/')),
            None => base.starts_with(path),
        };
        self.covers.iter().any(|target| match (target, target.strip_prefix("~/")) {
            ("~", _) => is_in(home, ""),
            (".", _) => is_in(&call.project, ""),
            (_, Some(tail)) => is_in(home, tail),
            _ if target.starts_with('/') => target.starts_with(path),
            _ => is_in(&call.project, target.trim_start_matches("./")),
        })
    }

    fn has_part(&self, path: &str, is_directory: bool, call: &CallFacts) -> bool {
        let pairs = LetterPairs::new(path);
        let has = |part: &str| match part.strip_prefix('=') {
            Some(whole) => path.trim_end_matches('/') == whole,
            None => pairs.contain(LetterPairs::new(part)) && path.contains(part),
        };
        let is_around = || is_above_everything(path, call) || self.heads.iter().any(has);
        self.parts.iter().any(has) || (is_directory && is_around())
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
