//! The state of reading a text: facts, variables, functions, files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::facts::{Facts, FlowSource, Location, Stdin};
use crate::field::Field;
use crate::forkbomb::CallGraph;
use crate::limits::{MAX_COMMANDS, MAX_DEPTH, MAX_EXPANDED, MAX_STEPS};
use crate::scope::ShellScope;
use crate::surroundings::Surroundings;
use crate::syntax::tree::{HereDoc, Node};

/// Reads a tree and keeps the facts.
pub(crate) struct Reader<'a> {
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) facts: Facts,
    /// A script that a command runs is not plain.
    pub(crate) has_odd_script: bool,
    pub(crate) scope: ShellScope,
    pub(crate) functions: BTreeMap<String, Definition>,
    pub(crate) calls: CallGraph,
    /// Arrays in the arguments of the current command: `declare x=(a b)`.
    pub(crate) array_arguments: Vec<Vec<Field>>,
    /// Number of bytes of texts on the standard input in the facts.
    pub(crate) stdin_bytes: usize,
    /// Number of paths that are patterns or not known.
    pub(crate) open_paths: usize,
    /// The functions and files whose commands are being read.
    pub(crate) active: Vec<String>,
    pub(crate) aliases: BTreeMap<String, Alias>,
    /// Files that the text writes, by their absolute paths.
    pub(crate) files: BTreeMap<String, WrittenFile>,
    /// Links that the text makes: their paths, and those to which they lead.
    pub(crate) links: Vec<(String, String)>,
    /// Commands whose output runs, and whose arguments were read for it.
    pub(crate) printing: HashSet<usize>,
    /// Files whose variables the shell has read.
    pub(crate) sourced: Vec<Field>,
    /// Commands that rewrite a text that is known, in a way that is not.
    pub(crate) rewriting: HashSet<usize>,
    /// Commands whose output is too long to be read.
    pub(crate) cut: HashSet<usize>,
    /// Directories into which a command unpacks or downloads files with unknown names.
    pub(crate) unpacked: Vec<(String, WrittenFile)>,
    /// Pipes that `mkfifo` made, and the commands that read from them.
    pub(crate) fifos: HashMap<String, Vec<(usize, crate::facts::FlowRole)>>,
    /// Open descriptors, by their number or the name of their variable.
    pub(crate) descriptors: BTreeMap<String, Rc<Input>>,
    /// Files that are open for writing, by their descriptor's number or the name of its variable.
    pub(crate) opened_files: HashMap<String, Field>,
    /// Substitutions with an unknown output, as written, and the commands that write it.
    pub(crate) unknown_outputs: HashMap<String, Vec<FlowSource>>,
    /// Open descriptors that commands in `>(…)` read.
    pub(crate) outputs: HashMap<String, Vec<usize>>,
    /// `>(…)` as written, and the commands that receive the data.
    pub(crate) process_outputs: Vec<(String, Vec<usize>)>,
    /// For each command, `true` if it runs its standard input.
    pub(crate) runs_stdin: Vec<bool>,
    steps: usize,
    expanded: usize,
}

/// A function.
#[derive(Clone)]
pub(crate) struct Definition {
    pub(crate) body: Rc<Node>,
    pub(crate) context: Context,
    pub(crate) is_called: bool,
}

/// An alias.
#[derive(Clone)]
pub(crate) struct Alias {
    pub(crate) text: Field,
    pub(crate) context: Context,
    pub(crate) is_called: bool,
}

/// A file that a command of the text writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenFile {
    pub(crate) sources: Vec<FlowSource>,
    /// The content, if it is known.
    pub(crate) text: Option<Field>,
}

/// Data on a command's standard input or another descriptor.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) stdin: Stdin,
    pub(crate) sources: Vec<FlowSource>,
    /// The data, as far as it is known.
    pub(crate) text: Option<Field>,
}

/// The surroundings of a command.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) via: Vec<String>,
    pub(crate) location: Location,
    pub(crate) stdin: Option<Rc<Input>>,
    pub(crate) depth: usize,
    /// The text is the result of an expansion: what is unknown in it was read before.
    pub(crate) is_reparsed: bool,
    pub(crate) heredocs: Rc<Vec<HereDoc>>,
}

/// The result of reading a part of the tree, for the parts that follow.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeResult {
    /// The commands that write to the standard output.
    pub(crate) commands: Vec<usize>,
    /// The output, if it is known.
    pub(crate) text: Option<Field>,
    /// Success or failure, if that is known.
    pub(crate) succeeds: Option<bool>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(surroundings: &'a Surroundings) -> Self {
        Self {
            surroundings,
            facts: Facts::default(),
            has_odd_script: false,
            scope: ShellScope::new(surroundings.cwd.clone()),
            functions: BTreeMap::new(),
            calls: CallGraph::default(),
            array_arguments: Vec::new(),
            stdin_bytes: 0,
            open_paths: 0,
            active: Vec::new(),
            aliases: BTreeMap::new(),
            files: BTreeMap::new(),
            links: Vec::new(),
            printing: HashSet::new(),
            sourced: Vec::new(),
            rewriting: HashSet::new(),
            cut: HashSet::new(),
            unpacked: Vec::new(),
            fifos: HashMap::new(),
            descriptors: BTreeMap::new(),
            opened_files: HashMap::new(),
            unknown_outputs: HashMap::new(),
            outputs: HashMap::new(),
            process_outputs: Vec::new(),
            runs_stdin: Vec::new(),
            steps: 0,
            expanded: 0,
        }
    }

    /// Keeps that a part of a script was not read.
    pub(crate) fn keep_broken(&mut self, script: &crate::syntax::tree::Script) {
        self.facts.unparsed |= script.is_broken;
        self.facts.over_limit |= script.is_limited;
    }

    /// Keeps that a limit was reached.
    pub(crate) fn reach_limit(&mut self) {
        self.facts.unparsed = true;
        self.facts.over_limit = true;
    }

    /// Counts a step. `false` at the limit.
    pub(crate) fn step(&mut self) -> bool {
        self.steps += 1;
        let is_within = self.steps <= MAX_STEPS && self.facts.commands.len() < MAX_COMMANDS;
        if !is_within {
            self.reach_limit();
        }
        is_within
    }

    /// Counts bytes that an expansion made. `false` at the limit.
    pub(crate) fn expand_by(&mut self, bytes: usize) -> bool {
        self.expanded = self.expanded.saturating_add(bytes);
        let is_within = self.expanded <= MAX_EXPANDED;
        if !is_within {
            self.reach_limit();
        }
        is_within
    }

    /// Returns the working directory of a command.
    pub(crate) fn cwd(&self, context: &Context) -> Option<String> {
        match context.location {
            Location::Local => self.scope.cwd().map(str::to_owned),
            Location::Remote | Location::Container => None,
        }
    }
}

impl Context {
    pub(crate) fn new(heredocs: Vec<HereDoc>) -> Self {
        Self {
            via: Vec::new(),
            location: Location::Local,
            stdin: None,
            depth: 0,
            is_reparsed: false,
            heredocs: Rc::new(heredocs),
        }
    }

    /// Returns the context of what a wrapper or a construct runs, if the nesting is within the limit.
    pub(crate) fn inside(&self, via: &str) -> Option<Self> {
        let mut inner = self.deeper()?;
        inner.via.push(via.to_owned());
        Some(inner)
    }

    /// Returns the context of a text in a text, if the nesting is within the limit.
    pub(crate) fn deeper(&self) -> Option<Self> {
        (self.depth < MAX_DEPTH).then(|| Self { depth: self.depth + 1, ..self.clone() })
    }

    /// Returns this context with another standard input.
    pub(crate) fn with_stdin(&self, stdin: Option<Rc<Input>>) -> Self {
        Self { stdin, ..self.clone() }
    }

    /// Returns this context with the here-documents of another text.
    pub(crate) fn with_heredocs(mut self, heredocs: Vec<HereDoc>) -> Self {
        self.heredocs = Rc::new(heredocs);
        self
    }
}

impl Input {
    pub(crate) fn from_text(text: Field) -> Self {
        Self {
            stdin: Stdin::Text(text.text.clone()),
            sources: text.sources.clone(),
            text: Some(text),
        }
    }
}

impl NodeResult {
    /// Returns the data of a pipe.
    pub(crate) fn into_input(self) -> Input {
        let sources = self.commands.iter().map(|index| FlowSource::Command(*index)).collect();
        Input { stdin: Stdin::Commands(self.commands), sources, text: self.text }
    }
}
