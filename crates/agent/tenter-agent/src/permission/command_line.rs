//! A command line in the terms of rules: every command that it runs, and every file that it writes by redirection.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::destination;
use tenter_engine::inspect::is_git_directory;
use tenter_protocol::facts::{CallFacts, Command, FlowRole, Location, PathOp};
use tenter_shell::{Class, KnownUse, PlainCommand, UseKind, has_plain_scripts, plain};

use super::git_settings;
use crate::tools::Workspace;

/// Programs that read the settings of a repository, which can name programs to run.
const USE_REPOSITORY: [&str; 8] =
    ["git", "gh", "glab", "hub", "jj", "lazygit", "pre-commit", "tig"];
/// Options of git that set programs to run, or lead to another repository. A rule allows them only if it names them.
const NAMED_ONLY: [&str; 9] = *tenter_base::words!(
    "-c --attr-source --bare --config-env --exec-path --git-dir --namespace --super-prefix
     --work-tree"
);
/// Files that redirections may write without a rule, besides `/dev/null`.
const STREAMS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];

/// A command line whose effects are all known.
pub(super) struct CommandLine {
    /// Every command, including those that other commands run; not `cd` within the accessible directories.
    pub(super) commands: Vec<RunCommand>,
    /// The real paths of the files that it writes by redirection.
    pub(super) writes: Vec<PathBuf>,
}

/// A command that runs.
pub(super) struct RunCommand {
    pub(super) program: String,
    pub(super) args: Vec<Arg>,
    /// The real path of the program, if it is called by a path.
    path: Option<PathBuf>,
    /// It runs other commands, or another command runs it.
    pub(super) is_nested: bool,
    /// It is an interpreter, uses the network, or deletes or moves files.
    pub(super) is_powerful: bool,
    /// The real working directory.
    pub(super) cwd: PathBuf,
    /// Its effect, if that is known and everything that it reads is accessible.
    pub(super) effect: Option<KnownUse>,
    /// Indices of the arguments that a rule has to name.
    named_only: Vec<usize>,
}

/// An argument of a command.
pub(super) struct Arg {
    pub(super) text: String,
    /// The shell replaces it by the files that it matches.
    pub(super) is_pattern: bool,
}

impl RunCommand {
    /// Returns whether a rule names this program: by name, or by a path that is relative to `project`.
    pub(super) fn is_program(&self, rule_program: &str, project: &Path) -> bool {
        match &self.path {
            None => self.program == rule_program,
            Some(path) => {
                rule_program.contains('/')
                    && destination(&project.join(rule_program)).is_ok_and(|real| real == *path)
            }
        }
    }

    /// Returns whether a rule names all arguments that it must name; `is_named` says so for the argument at an index.
    pub(super) fn is_named_by(&self, is_named: impl Fn(usize) -> bool) -> bool {
        self.named_only.iter().all(|index| is_named(*index))
    }

    /// Returns whether it is called by a path.
    pub(super) fn has_path(&self) -> bool {
        self.path.is_some()
    }
}

impl CommandLine {
    /// Reads a text. Returns `None` if a part of it is not known, changes the shell, or leads out of the accessible directories.
    pub(super) fn read(text: &str, facts: &CallFacts, workspace: &Workspace) -> Option<Self> {
        let plain = plain(text)?;
        let is_code = facts.flows.iter().any(|flow| flow.role == FlowRole::Code);
        let is_odd = facts.unparsed || facts.over_limit || !has_plain_scripts(text);
        if is_odd || facts.forkbomb || is_code {
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
        for (index, command) in facts.commands.iter().enumerate() {
            let cwd = known_directory(command, workspace)?;
            if !changes_directory(command, workspace) {
                let changes = facts.paths.iter().any(|path| {
                    path.command == Some(index) && matches!(path.op, PathOp::Delete | PathOp::Move)
                });
                let run = run_command(command, cwd, workspace)?;
                let is_powerful = run.is_powerful || changes;
                commands.push(RunCommand { is_nested, is_powerful, ..run });
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

    /// Returns whether all commands are known to only read files.
    pub(super) fn only_reads(&self) -> bool {
        let only_reads = |command: &RunCommand| {
            let starts_program = || {
                let repository = repository(&command.cwd).filter(|_| command.program == "git");
                repository.is_some_and(|top| !git_settings::start_no_program(top))
            };
            command.effect.is_some_and(reads_files)
                && !command.is_nested
                && !command.is_powerful
                && !starts_program()
        };
        self.writes.is_empty() && self.commands.iter().all(only_reads)
    }
}

/// Returns whether a command reads files, as `git` and programs without subcommands do, and not a service such as a cluster or the
/// system's log.
fn reads_files(known_use: KnownUse) -> bool {
    let name = known_use.name();
    let is_service = name == "journalctl" || (name.contains(' ') && !name.starts_with("git "));
    known_use.kind() == UseKind::Reads && !is_service
}

/// Returns whether the facts describe the same command as the text.
fn is_same(plain: &PlainCommand, command: &Command) -> bool {
    let program = command.path.as_deref().unwrap_or(&command.program);
    let words = std::iter::once(program).chain(command.args.iter().map(String::as_str));
    plain.words.len() == command.args.len() + 1
        && plain.words.iter().zip(words).all(|(word, text)| word.is_pattern || word.text == text)
}

/// Returns whether all files that the commands change are known and accessible, and need no consent of their own.
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

/// Returns the real working directory of a command, if everything about the command is known.
fn known_directory(command: &Command, workspace: &Workspace) -> Option<PathBuf> {
    let is_known = command.uncertain.is_empty()
        && command.env.is_empty()
        && command.location == Location::Local
        && !command.evaluates_words();
    let cwd = command.cwd.as_deref().filter(|_| is_known)?;
    let cwd = destination(Path::new(cwd)).ok().filter(|cwd| workspace.contains(cwd))?;
    let program = command.program.as_str();
    let uses_repository = USE_REPOSITORY.contains(&program) || program.starts_with("git-");
    (!uses_repository || is_own_repository(&cwd, workspace)).then_some(cwd)
}

/// Returns whether the repository that git uses in a directory is the one of the project, or of a directory that the user added.
fn is_own_repository(directory: &Path, workspace: &Workspace) -> bool {
    let target = repository(directory);
    workspace.writable_roots().iter().any(|root| repository(root) == target)
}

/// Returns the nearest directory that contains a repository or is one.
fn repository(directory: &Path) -> Option<&Path> {
    let has_repository = |directory: &&Path| {
        fs::symlink_metadata(directory.join(".git")).is_ok() || is_git_directory(directory)
    };
    directory.ancestors().find(has_repository)
}

/// Returns the known effect of a command, if everything that it reads on this machine is accessible.
fn known_use(command: &Command, cwd: &Path, workspace: &Workspace) -> Option<KnownUse> {
    let (effect, words) = KnownUse::find_for_command(command).filter(|_| command.via.is_empty())?;
    let is_accessible =
        |word: &str| destination(&cwd.join(word)).is_ok_and(|real| workspace.contains(&real));
    words.into_iter().all(is_accessible).then_some(effect)
}

/// Returns whether a command only changes the directory. The new directory is checked with the commands that follow.
fn changes_directory(command: &Command, workspace: &Workspace) -> bool {
    let [target] = command.args.as_slice() else { return false };
    let searches = workspace.env().iter().any(|(name, _)| name == "CDPATH");
    command.program == "cd"
        && command.path.is_none()
        && command.globs.is_empty()
        && !target.starts_with('-')
        && !searches
}

fn run_command(command: &Command, cwd: PathBuf, workspace: &Workspace) -> Option<RunCommand> {
    let path = command.path.as_ref().map(|path| destination(&cwd.join(path)));
    let args = command.args.iter().enumerate().map(|(index, text)| Arg {
        text: text.clone(),
        is_pattern: command.globs.contains(&index),
    });
    let is_powerful =
        |class: &Class| matches!(class, Class::Interpreter | Class::Network | Class::Download);
    Some(RunCommand {
        program: command.program.clone(),
        args: args.collect(),
        path: path.transpose().ok()?,
        is_nested: false,
        is_powerful: command.classes.iter().any(is_powerful),
        effect: known_use(command, &cwd, workspace),
        named_only: named_only(command),
        cwd,
    })
}

/// Returns the indices of the options that git has before its subcommand and that a rule has to name.
fn named_only(command: &Command) -> Vec<usize> {
    if command.program != "git" {
        return Vec::new();
    }
    // Not the first place: the subcommand can also be the value of an option before it.
    let subcommand = command.args.iter().rposition(|arg| command.subcommand.as_ref() == Some(arg));
    let is_before = |index: usize| subcommand.is_none_or(|subcommand| index < subcommand);
    let flags = command.flags.iter().zip(&command.flag_args);
    let must_name = flags.filter(|(flag, index)| {
        let name = flag.split_once('=').map_or(flag.as_str(), |(name, _)| name);
        is_before(**index) && NAMED_ONLY.contains(&name)
    });
    must_name.map(|(_, index)| *index).collect()
}
