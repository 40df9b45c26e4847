//! The facts about a call by command and by program: rules ask the same of many commands.

use std::collections::HashMap;

use tenter_protocol::facts::CallFacts as CallTextFacts;

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
    /// The commands with a program of this name, if all programs are known.
    programs: Option<HashMap<String, Vec<usize>>>,
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
        if facts.commands.iter().all(tenter_protocol::facts::Command::is_program_certain) {
            let mut programs: HashMap<String, Vec<usize>> = HashMap::new();
            for (place, command) in facts.commands.iter().enumerate() {
                programs.entry(command.program.clone()).or_default().push(place);
            }
            index.programs = Some(programs);
        }
        index
    }

    /// The commands with one of these programs, in their order. `None` if a program is not known.
    pub(crate) fn commands_with(&self, programs: &[String]) -> Option<Vec<usize>> {
        let own = self.programs.as_ref()?;
        let lists = programs.iter().filter_map(|program| own.get(program));
        let mut commands: Vec<usize> = lists.flatten().copied().collect();
        commands.sort_unstable();
        Some(commands)
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
