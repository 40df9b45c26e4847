//! The facts about a call by command and by program: rules ask the same of many commands.

use std::collections::HashMap;

use tenter_protocol::facts::CallFacts as CallTextFacts;

/// Maximum number of commands with the same text and other facts that a command is compared with.
const MAX_COMPARED: usize = 16;

/// The places of facts in their lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIndex {
    /// For each command, its paths.
    pub(crate) paths_of: Vec<Vec<usize>>,
    /// The paths without a command.
    pub(crate) other_paths: Vec<usize>,
    /// For each command, the flows into it.
    pub(crate) flows_into: Vec<Vec<usize>>,
    /// For each command, the programs in other languages that it runs.
    pub(crate) code_of: Vec<Vec<usize>>,
    /// For each command, the statements of SQL that it runs.
    pub(crate) sql_of: Vec<Vec<usize>>,
    /// The commands with a program of this name.
    programs: HashMap<String, Vec<usize>>,
    /// The commands whose programs are not known, without those that equal an earlier one: rules say the same about them.
    unknown_programs: Vec<usize>,
}

impl CallIndex {
    pub(crate) fn new(facts: &CallTextFacts) -> Self {
        let count = facts.commands.len();
        let mut index = Self {
            flows_into: places(count, facts.flows.iter().map(|flow| flow.into)),
            code_of: places(count, facts.code.iter().map(|code| code.command)),
            sql_of: places(count, facts.sql.iter().map(|sql| sql.command)),
            paths_of: vec![Vec::new(); count],
            ..Self::default()
        };
        for (place, path) in facts.paths.iter().enumerate() {
            match path.command.and_then(|command| index.paths_of.get_mut(command)) {
                Some(paths) => paths.push(place),
                None => index.other_paths.push(place),
            }
        }
        let mut unknown: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, command) in facts.commands.iter().enumerate() {
            if command.is_program_certain() {
                index.programs.entry(command.program.clone()).or_default().push(place);
                continue;
            }
            let earlier = unknown.entry(&command.text).or_default();
            let is_same = |other: &usize| facts.commands.get(*other) == Some(command);
            if index.has_own_facts(place) || !earlier.iter().any(is_same) {
                index.unknown_programs.push(place);
                if earlier.len() < MAX_COMPARED && !index.has_own_facts(place) {
                    earlier.push(place);
                }
            }
        }
        index
    }

    /// Returns whether the command has more facts than its words.
    fn has_own_facts(&self, command: usize) -> bool {
        let lists = [&self.paths_of, &self.flows_into, &self.code_of, &self.sql_of];
        lists.iter().any(|list| list.get(command).is_some_and(|own| !own.is_empty()))
    }

    /// Returns the commands whose program is one of these or is not known, in their order.
    pub(crate) fn commands_with(&self, programs: &[String]) -> Vec<usize> {
        let lists = programs.iter().filter_map(|program| self.programs.get(program));
        let mut commands: Vec<usize> = lists.flatten().copied().collect();
        commands.extend(&self.unknown_programs);
        commands.sort_unstable();
        commands
    }
}

/// For each command, the places of the facts that have it.
fn places(count: usize, commands: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); count];
    for (place, command) in commands.enumerate() {
        if let Some(own) = places.get_mut(command) {
            own.push(place);
        }
    }
    places
}
