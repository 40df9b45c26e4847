//! The gates of a hook's rules, in groups with the same programs: a call reads only the groups that it passes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenter_base::Packed;
use tenter_protocol::manifest::rule::{Conditions, Rule};
use tenter_shell::{Command, PathOp};

use super::gate::{ANY, RuleGate, beginning};
use super::texts::Texts;
use crate::call_index::CallIndex;
use crate::facts::CallFacts;

/// Maximum number of commands and paths of a call that gates check one by one. Of more of them, only groups are checked.
const MAX_CHECKED: usize = 64;

/// The gates of the rules of a hook.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RuleGates {
    #[serde(with = "shared")]
    groups: Arc<[GateGroup]>,
    /// Number of rules.
    count: usize,
    /// True if what was not read of a call needs no rule but one, which applies then.
    is_only_for_read: bool,
}

/// The gates of rules with the same necessary condition.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct GateGroup {
    gate: GroupGate,
    /// The places of the rules, and their gates.
    rules: Packed<Vec<(usize, RuleGate)>>,
}

/// A necessary condition of the rules of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GroupGate {
    /// True if the rules apply to commands, not to a path or to the call as a whole.
    has_command: bool,
    /// The programs. Without any, and without beginnings, every program passes.
    programs: Texts,
    /// The beginnings of names of programs.
    starts: Texts,
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

impl RuleGates {
    /// Returns the gates of `rules`.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let rows = rules.iter().enumerate();
        let rows = rows.map(|(place, rule)| (GroupGate::new(rule), (place, RuleGate::new(rule))));
        let is_only_for_read = rules.iter().any(|rule| rule.conditions.over_limit == Some(true));
        Self { groups: grouped(rows), count: rules.len(), is_only_for_read }
    }

    /// Returns the number of rules.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the places of the rules whose gates a call passes, in their order.
    pub(super) fn open(&self, call: &CallFacts) -> Vec<usize> {
        if call.facts.call.over_limit && !self.is_only_for_read {
            return (0..self.count).collect();
        }
        let open: Option<Vec<Vec<usize>>> =
            self.groups.iter().map(|group| group.open(call)).collect();
        let Some(open) = open else { return (0..self.count).collect() };
        let mut open = open.concat();
        open.sort_unstable();
        open
    }

    /// Returns whether a call passes one of the gates.
    pub(crate) fn admit(&self, call: &CallFacts) -> bool {
        !self.open(call).is_empty()
    }

    /// Returns each of the gates once; the gates of commands only if `has_commands`.
    pub(crate) fn distinct(&self, has_commands: bool) -> Self {
        let mut distinct: Vec<(GroupGate, (usize, RuleGate))> = Vec::new();
        for group in self.groups.iter().filter(|group| has_commands || !group.gate.has_command) {
            let Some(rules) = group.rules.get() else { return self.clone() };
            for (place, gate) in rules {
                if !distinct.iter().any(|(other, (_, one))| (other, one) == (&group.gate, gate)) {
                    distinct.push((group.gate.clone(), (*place, gate.clone())));
                }
            }
        }
        Self { groups: grouped(distinct), ..self.clone() }
    }
}

/// Groups gates of rules.
fn grouped(rows: impl IntoIterator<Item = (GroupGate, (usize, RuleGate))>) -> Arc<[GateGroup]> {
    let mut groups: Vec<(GroupGate, Vec<(usize, RuleGate)>)> = Vec::new();
    for (gate, rule) in rows {
        match groups.iter_mut().find(|(other, _)| *other == gate) {
            Some((_, rules)) => rules.push(rule),
            None => groups.push((gate, vec![rule])),
        }
    }
    groups
        .iter()
        .map(|(gate, rules)| GateGroup { gate: gate.clone(), rules: Packed::new(rules) })
        .collect()
}

impl GateGroup {
    /// Returns the places of the rules whose gates a call passes; `None` if the gates cannot be read.
    fn open(&self, call: &CallFacts) -> Option<Vec<usize>> {
        if !self.gate.admits(call) {
            return Some(Vec::new());
        }
        let is_long = is_long(call);
        let open =
            self.rules.get()?.iter().filter(|(_, gate)| is_long || gate.admits(call, &self.gate));
        Some(open.map(|(place, _)| *place).collect())
    }
}

/// Checks whether a call has more commands and paths than are checked one by one.
fn is_long(call: &CallFacts) -> bool {
    call.facts.call.commands.len() + call.facts.call.paths.len() > MAX_CHECKED
}

impl GroupGate {
    fn new(rule: &Rule) -> Self {
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

    /// Returns whether the call may fit one of the rules.
    fn admits(&self, call: &CallFacts) -> bool {
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

    pub(super) fn admits_command(&self, command: &Command) -> bool {
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

/// Reads and writes lists that several hooks share.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        list: &Arc<[T]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[T]>, D::Error> {
        Vec::deserialize(deserializer).map(Arc::from)
    }
}
