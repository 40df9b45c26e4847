//! The gates of a hook's rules, in groups with the same programs: a call reads only the groups that it passes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenter_base::Packed;
use tenter_protocol::manifest::rule::Rule;

use super::gate::{GroupGate, RuleGate, is_long};
use crate::facts::CallFacts;

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
        for group in self.groups.iter().filter(|group| has_commands || !group.gate.has_command()) {
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
