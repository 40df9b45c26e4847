//! The gates of a hook's rules, in groups with the same programs: a call reads only the groups that it passes.

use serde::{Deserialize, Serialize};
use tenter_base::PackedList;
use tenter_protocol::manifest::rule::Rule;

use super::gate::{GroupGate, RuleGate, is_long};
use crate::facts::CallFacts;

/// The gates of the rules of a hook.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RuleGates {
    /// The groups, each a [`GateGroup`]. Without a list, a call passes every gate.
    #[serde(deserialize_with = "PackedList::owned")]
    groups: Option<PackedList<'static>>,
    /// Number of rules.
    count: usize,
    /// True if what was not read of a call needs no rule but one, which applies then.
    is_only_for_read: bool,
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

impl RuleGates {
    /// Returns the gates of `rules`.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let rows = rules.iter().enumerate();
        let rows = rows.map(|(place, rule)| (GroupGate::new(rule), (place, RuleGate::new(rule))));
        let is_only_for_read = rules.iter().any(|rule| rule.conditions.over_limit == Some(true));
        Self { groups: pack(rows), count: rules.len(), is_only_for_read }
    }

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
    pub(crate) fn distinct(&self, has_commands: bool) -> Self {
        let groups = self.groups.as_ref().and_then(|groups| distinct(groups, has_commands));
        Self { groups, ..*self }
    }
}

/// Returns the places of the rules whose gates a call passes; `None` if the gates cannot be read.
fn open(groups: &PackedList<'_>, call: &CallFacts) -> Option<Vec<usize>> {
    let mut open = Vec::new();
    for group in groups.iter() {
        let GateGroup { gate: group, rules } = group?;
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

fn distinct(groups: &PackedList<'_>, has_commands: bool) -> Option<PackedList<'static>> {
    let groups: Option<Vec<GateGroup<'_>>> = groups.iter().collect();
    let groups = groups?;
    let mut distinct: Vec<(GroupGate<'_>, PlacedGate<'_>)> = Vec::new();
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
    let groups: Result<Vec<_>, _> = groups
        .into_iter()
        .map(|(gate, rules)| Ok(GateGroup { gate, rules: PackedList::new(rules)? }))
        .collect();
    groups.and_then(PackedList::new).ok()
}
