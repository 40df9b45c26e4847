//! The gates of a hook's rules, in groups with the same programs: a call reads only the groups that it passes.

use serde::{Deserialize, Deserializer, Serialize};
use tenter_base::PackedList;
use tenter_protocol::manifest::rule::Rule;

use super::gate::{GroupGate, RuleGate, is_long, with_op};
use crate::facts::CallFacts;
use crate::pattern::name_bit;

/// The gates of the rules of a hook.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RuleGates<'a> {
    /// The groups, each a [`PackedGroup`]. Without a list, a call passes every gate.
    #[serde(borrow)]
    groups: Option<PackedList<'a>>,
    /// Number of rules.
    count: usize,
    /// True if what was not read of a call needs no rule but one, which applies then.
    is_only_for_read: bool,
}

/// A group that most calls need not read.
#[derive(Debug, Serialize, Deserialize)]
struct PackedGroup<'a> {
    /// The bits of the programs, one of which a call must have, if that is necessary and they are known.
    programs: Option<u64>,
    /// The bits of the operations on a path, one of which a call must have, if the rules apply to paths.
    ops: Option<u16>,
    /// One [`GateGroup`].
    #[serde(borrow)]
    group: PackedList<'a>,
}

/// The gates of rules with the same necessary condition.
#[derive(Debug, Serialize, Deserialize)]
struct GateGroup<'a> {
    #[serde(borrow)]
    gate: GroupGate<'a>,
    /// The rules, each a [`PlacedGate`].
    #[serde(borrow)]
    rules: PackedList<'a>,
}

/// The place of a rule, and its gate.
type PlacedGate<'a> = (usize, RuleGate<'a>);

impl RuleGates<'static> {
    /// Returns the gates of `rules`.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let rows = rules.iter().enumerate();
        let rows = rows.map(|(place, rule)| (GroupGate::new(rule), (place, RuleGate::new(rule))));
        let is_only_for_read = rules.iter().any(|rule| rule.conditions.over_limit == Some(true));
        Self { groups: pack(rows), count: rules.len(), is_only_for_read }
    }

    /// Reads gates that borrow nothing.
    pub(super) fn owned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let RuleGates { groups, count, is_only_for_read } = RuleGates::deserialize(deserializer)?;
        Ok(Self { groups: groups.map(PackedList::into_owned), count, is_only_for_read })
    }
}

impl RuleGates<'_> {
    /// Returns the number of rules.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the places of the rules whose gates a call passes, in their order.
    pub(super) fn open(&self, call: &CallFacts) -> Vec<usize> {
        let is_read = !call.facts.call.over_limit || self.is_only_for_read;
        let open = self.groups.as_ref().filter(|_| is_read).and_then(|groups| open(groups, call));
        let mut open = open.unwrap_or_else(|| (0..self.count).collect());
        open.sort_unstable();
        open
    }

    /// Returns whether a call passes one of the gates.
    pub(crate) fn admit(&self, call: &CallFacts) -> bool {
        !self.open(call).is_empty()
    }

    /// Returns each of the gates once; the gates of commands only if `has_commands`.
    pub(crate) fn distinct(&self, has_commands: bool) -> RuleGates<'static> {
        let groups = self.groups.as_ref().and_then(|groups| distinct(groups, has_commands));
        RuleGates { groups, ..*self }
    }
}

/// Returns the places of the rules whose gates a call passes; `None` if the gates cannot be read.
fn open(groups: &PackedList<'_>, call: &CallFacts) -> Option<Vec<usize>> {
    let mut open = Vec::new();
    let programs = program_bits(call);
    let ops = call.facts.call.paths.iter().map(|path| path.op).fold(0, with_op);
    for group in groups.iter() {
        let packed: PackedGroup<'_> = group?;
        let has_program = packed.programs.is_none_or(|bits| bits & programs != 0);
        if !has_program || packed.ops.is_some_and(|bits| bits & ops == 0) {
            continue;
        }
        let GateGroup { gate: group, rules } = packed.group()?;
        if !group.admits(call) {
            continue;
        }
        for rule in rules.iter() {
            let (place, gate): PlacedGate<'_> = rule?;
            if is_long(call) || gate.admits(call, &group) {
                open.push(place);
            }
        }
    }
    Some(open)
}

/// Returns the bits of a call's programs, all of them if a program is not known.
fn program_bits(call: &CallFacts) -> u64 {
    let commands = call.facts.call.commands.iter();
    commands.fold(0, |bits, command| {
        bits | if command.is_program_certain() { name_bit(&command.program) } else { u64::MAX }
    })
}

fn distinct(groups: &PackedList<'_>, has_commands: bool) -> Option<PackedList<'static>> {
    let groups: Option<Vec<PackedGroup<'_>>> = groups.iter().collect();
    let mut distinct: Vec<(GroupGate<'_>, PlacedGate<'_>)> = Vec::new();
    let groups = groups?;
    let groups: Option<Vec<GateGroup<'_>>> = groups.iter().map(PackedGroup::group).collect();
    let groups = groups?;
    for group in groups.iter().filter(|group| has_commands || !group.gate.has_command()) {
        for rule in group.rules.iter() {
            let (place, gate): PlacedGate<'_> = rule?;
            if !distinct.iter().any(|(other, (_, one))| (other, one) == (&group.gate, &gate)) {
                distinct.push((group.gate.clone(), (place, gate)));
            }
        }
    }
    pack(distinct)
}

impl PackedGroup<'_> {
    fn new(gate: GroupGate<'_>, rules: Vec<PlacedGate<'_>>) -> Option<Self> {
        let (programs, ops) = (gate.program_bits(), gate.op_bits());
        let group = GateGroup { gate, rules: PackedList::new(rules).ok()? };
        Some(Self { programs, ops, group: PackedList::new([group]).ok()? })
    }

    fn group(&self) -> Option<GateGroup<'_>> {
        self.group.iter().next()?
    }
}

/// Packs gates of rules in groups; `None` if they have no compact form.
fn pack<'a>(
    rows: impl IntoIterator<Item = (GroupGate<'a>, PlacedGate<'a>)>,
) -> Option<PackedList<'static>> {
    let mut groups: Vec<(GroupGate<'_>, Vec<PlacedGate<'_>>)> = Vec::new();
    for (gate, rule) in rows {
        match groups.iter_mut().find(|(other, _)| *other == gate) {
            Some((_, rules)) => rules.push(rule),
            None => groups.push((gate, vec![rule])),
        }
    }
    let groups = groups.into_iter().map(|(gate, rules)| PackedGroup::new(gate, rules));
    PackedList::new(groups.collect::<Option<Vec<_>>>()?).ok()
}
