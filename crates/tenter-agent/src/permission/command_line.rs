//! A command line in the terms of rules: every command that it runs, and every file that it writes by redirection.

use std::path::{Path, PathBuf};

use tenter_base::destination;
use tenter_protocol::facts::{CallFacts, Command, FlowRole, Location, PathOp};
use tenter_shell::{Class, PlainCommand, plain};

use crate::tools::Workspace;

/// Builtins that change how the shell reads or finds the commands that follow. No rule allows them.
const CHANGES_SHELL: [&str; 26] = [
    ".",
    "alias",
    "builtin",
    "command",
    "declare",
    "enable",
    "eval",
    "exec",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "set",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "unset",
];
/// Files that redirections may write without a rule, besides `/dev/null`.
const STREAMS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];

/// A command line of which everything is known.
pub(super) struct CommandLine {
    /// Every command, including those that other commands run; not `cd` within the accessible directories.
    pub(super) commands: Vec<RunCommand>,
    /// The real paths of the files that it writes by redirection.
    pub(super) writes: Vec<PathBuf>,
}

/// A command that runs.
pub(super) struct RunCommand {
    pub(super) program: String,
    pub(super) subcommand: Option<String>,
    pub(super) args: Vec<Arg>,
    /// The real path of the program, if it is called by a path.
    path: Option<PathBuf>,
    /// Whether it runs other commands, or is run by one.
    pub(super) is_nested: bool,
    /// Whether it is an interpreter or uses the network.
    pub(super) is_powerful: bool,
}

/// An argument of a command.
pub(super) struct Arg {
    pub(super) text: String,
    /// The shell replaces it by the files that it matches.
    pub(super) is_pattern: bool,
}

impl RunCommand {
    /// Whether the program is the one that a rule names: by name, or by a path that is relative to `project`.
    pub(super) fn is_program(&self, named: &str, project: &Path) -> bool {
        match &self.path {
            None => self.program == named,
            Some(path) => {
                named.contains('/')
                    && destination(&project.join(named)).is_ok_and(|real| real == *path)
            }
        }
    }

    /// Whether it is called by a path.
    pub(super) fn has_path(&self) -> bool {
        self.path.is_some()
    }
}

impl CommandLine {
    /// Reads a text. `None` if a part of it is not known, changes the shell, or leads out of the accessible directories.
    pub(super) fn read(text: &str, facts: &CallFacts, workspace: &Workspace) -> Option<Self> {
        let plain = plain(text)?;
        let is_code = facts.flows.iter().any(|flow| flow.role == FlowRole::Code);
        if facts.unparsed || facts.over_limit || facts.forkbomb || is_code {
            return None;
        }
        let outermost: Vec<&Command> =
            facts.commands.iter().filter(|command| command.via.is_empty()).collect();
        let is_same = outermost.len() == plain.len()
            && plain.iter().zip(&outermost).all(|(plain, command)| is_same(plain, command));
        if !is_same || !changes_only_accessible(facts, workspace) {
            return None;
        }
        let is_nested = facts.commands.len() != outermost.len();
        let mut commands = Vec::new();
        for command in &facts.commands {
            let cwd = known_directory(command, workspace)?;
            if !changes_directory(command, workspace) {
                commands.push(run_command(command, &cwd, is_nested)?);
            }
        }
        let mut writes = Vec::new();
        for (plain, command) in plain.iter().zip(outermost) {
            let cwd = known_directory(command, workspace)?;
            let files = plain.writes.iter().filter(|file| !STREAMS.contains(&file.as_str()));
            for file in files {
                writes.push(destination(&cwd.join(file)).ok()?);
            }
        }
        (!commands.is_empty()).then_some(Self { commands, writes })
    }
}

/// Whether the facts have the command that is written.
fn is_same(plain: &PlainCommand, command: &Command) -> bool {
    let program = command.path.as_deref().unwrap_or(&command.program);
    let words = std::iter::once(program).chain(command.args.iter().map(String::as_str));
    plain.words.len() == command.args.len() + 1
        && plain.words.iter().zip(words).all(|(word, known)| word.is_pattern || word.text == known)
}

/// Whether everything that the commands change is known and accessible, and needs no consent of its own.
fn changes_only_accessible(facts: &CallFacts, workspace: &Workspace) -> bool {
    facts.paths.iter().all(|path| match path.op {
        PathOp::Read | PathOp::Execute | PathOp::List => true,
        PathOp::Write
        | PathOp::Create
        | PathOp::Delete
        | PathOp::Move
        | PathOp::Link
        | PathOp::Mode => {
            STREAMS.contains(&path.path.as_str())
                || (path.certain && workspace.may_change(Path::new(&path.path)))
        }
    })
}

/// The real working directory of a command of which everything is known.
fn known_directory(command: &Command, workspace: &Workspace) -> Option<PathBuf> {
    let is_known = command.uncertain.is_empty()
        && command.env.is_empty()
        && command.location == Location::Local
        && !CHANGES_SHELL.contains(&command.program.as_str());
    let cwd = command.cwd.as_deref().filter(|_| is_known)?;
    destination(Path::new(cwd)).ok().filter(|cwd| workspace.contains(cwd))
}

/// Whether a command only changes the directory. Where to is checked with the commands that follow.
fn changes_directory(command: &Command, workspace: &Workspace) -> bool {
    let [target] = command.args.as_slice() else { return false };
    let searches = workspace.env().iter().any(|(name, _)| name == "CDPATH");
    command.program == "cd"
        && command.path.is_none()
        && command.globs.is_empty()
        && !target.starts_with('-')
        && !searches
}

fn run_command(command: &Command, cwd: &Path, is_nested: bool) -> Option<RunCommand> {
    let path = command.path.as_ref().map(|path| destination(&cwd.join(path)));
    let args = command.args.iter().enumerate().map(|(index, text)| Arg {
        text: text.clone(),
        is_pattern: command.globs.contains(&index),
    });
    let is_powerful =
        |class: &Class| matches!(class, Class::Interpreter | Class::Network | Class::Download);
    Some(RunCommand {
        program: command.program.clone(),
        subcommand: command.subcommand.clone(),
        args: args.collect(),
        path: path.transpose().ok()?,
        is_nested,
        is_powerful: command.classes.iter().any(is_powerful),
    })
}
