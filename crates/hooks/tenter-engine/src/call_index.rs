//! The facts about a call by command and by program: rules ask the same of many commands.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

use tenter_protocol::facts::{CallFacts as CallTextFacts, Path as PathFact, PathOp, PathPlace};

use crate::pattern::{PathText, Text};

/// Maximum number of commands with the same text and other facts that a command is compared with.
const MAX_COMPARED: usize = 16;

/// The places of facts in their lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIndex {
    /// For each command, its paths.
    pub(crate) paths_of: Vec<Vec<usize>>,
    /// The paths without a command.
    pub(crate) other_paths: Vec<usize>,
    /// Every path, without those that equal an earlier one but for their commands.
    pub(crate) distinct_paths: Vec<usize>,
    /// The operations on paths.
    pub(crate) ops: Vec<PathOp>,
    /// For each path, its text with symlinks resolved, and before that if it is another one.
    pub(crate) path_texts: Vec<(PathText, Option<PathText>)>,
    /// For each command, the flows into it.
    pub(crate) flows_into: Vec<Vec<usize>>,
    /// For each command, the programs in other languages that it runs.
    pub(crate) code_of: Vec<Vec<usize>>,
    /// For each command, the statements of SQL that it runs.
    pub(crate) sql_of: Vec<Vec<usize>>,
    /// For each name of a program, its commands.
    programs: BTreeMap<String, Vec<usize>>,
    /// The commands whose programs are not known.
    unknown_programs: Vec<usize>,
    /// Every command, without those that equal an earlier one: rules say the same about them. The lists by program have no others.
    distinct: Vec<usize>,
}

/// The directories that patterns are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bases<'c> {
    pub(crate) home: &'c str,
    pub(crate) project: &'c str,
}

impl CallIndex {
    /// Creates the index of facts; `path_texts` are their paths before symlinks are resolved.
    pub(crate) fn new(facts: &CallTextFacts, path_texts: &[String], bases: Bases<'_>) -> Self {
        let count = facts.commands.len();
        let mut index = Self {
            flows_into: places(count, facts.flows.iter().map(|flow| flow.into)),
            code_of: places(count, facts.code.iter().map(|code| code.command)),
            sql_of: places(count, facts.sql.iter().map(|sql| sql.command)),
            paths_of: vec![Vec::new(); count],
            distinct_paths: distinct_paths(&facts.paths, path_texts),
            path_texts: bases.path_texts(&facts.paths, path_texts),
            ..Self::default()
        };
        for (place, path) in facts.paths.iter().enumerate() {
            if !index.ops.contains(&path.op) {
                index.ops.push(path.op);
            }
            match path.command.and_then(|command| index.paths_of.get_mut(command)) {
                Some(paths) => paths.push(place),
                None => index.other_paths.push(place),
            }
        }
        let mut same_text: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, command) in facts.commands.iter().enumerate() {
            let earlier = same_text.entry(&command.text).or_default();
            let has_own_facts = index.has_own_facts(place);
            let is_same = |other: &usize| facts.commands.get(*other) == Some(command);
            if !has_own_facts && earlier.iter().any(is_same) {
                continue;
            }
            if !has_own_facts && earlier.len() < MAX_COMPARED {
                earlier.push(place);
            }
            index.distinct.push(place);
            if command.is_program_certain() {
                index.programs.entry(command.program.clone()).or_default().push(place);
            } else {
                index.unknown_programs.push(place);
            }
        }
        index
    }

    /// Returns whether the command has more facts than its words.
    fn has_own_facts(&self, command: usize) -> bool {
        let lists = [&self.paths_of, &self.flows_into, &self.code_of, &self.sql_of];
        lists.iter().any(|list| list.get(command).is_some_and(|own| !own.is_empty()))
    }

    /// Returns each different command.
    pub(crate) fn distinct(&self) -> &[usize] {
        &self.distinct
    }

    /// Returns the commands whose programs are not known.
    pub(crate) fn unknown_programs(&self) -> &[usize] {
        &self.unknown_programs
    }

    /// Returns the commands of a program.
    pub(crate) fn commands_of(&self, program: &str) -> &[usize] {
        self.programs.get(program).map_or(&[], Vec::as_slice)
    }

    /// Returns the programs whose names begin with a text, and their commands.
    pub(crate) fn programs_from<'i>(
        &'i self,
        start: &'i str,
    ) -> impl Iterator<Item = (&'i String, &'i Vec<usize>)> {
        let from = (Bound::Included(start), Bound::Unbounded);
        self.programs.range::<str, _>(from).take_while(move |(name, _)| name.starts_with(start))
    }
}

impl Bases<'_> {
    fn path_texts(
        self,
        paths: &[PathFact],
        path_texts: &[String],
    ) -> Vec<(PathText, Option<PathText>)> {
        let texts = paths.iter().enumerate().map(|(place, fact)| {
            let text = |value| {
                let text = Text { value, is_certain: fact.certain, is_glob: fact.glob };
                PathText::new(text, self.home, self.project)
            };
            let other = path_texts.get(place).filter(|text| **text != fact.path);
            (text(&fact.path), other.map(|other| text(other)))
        });
        texts.collect()
    }
}

/// Returns the paths without those that equal an earlier one.
fn distinct_paths(paths: &[PathFact], path_texts: &[String]) -> Vec<usize> {
    let mut keys: HashSet<(&str, Option<&String>, PathOp, [bool; 4])> = HashSet::new();
    let is_new = |place: &usize| {
        let path = &paths[*place];
        let states = [path.recursive, path.certain, path.glob, path.place == PathPlace::Remote];
        keys.insert((&path.path, path_texts.get(*place), path.op, states))
    };
    (0..paths.len()).filter(is_new).collect()
}

/// Returns, for each command, the places of the facts that have it.
fn places(count: usize, commands: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut places = vec![Vec::new(); count];
    for (place, command) in commands.enumerate() {
        if let Some(own) = places.get_mut(command) {
            own.push(place);
        }
    }
    places
}
