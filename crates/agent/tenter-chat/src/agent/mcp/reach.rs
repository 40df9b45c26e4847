//! Finds the files of the project that the command of a server can run, from the facts of `tenter-shell` about it.
//!
//! A file that a word names is included whatever the word means; a directory only where a program runs its content. Where a program
//! decides by itself what it runs, as `make` does, the answer is that this is not known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::{real_path, search_path, untrusted_file};
use tenter_engine::inspect::Environment;
use tenter_shell::{Command, Facts, Location, PathOp, PathPlace, Surroundings, Uncertain};

use super::programs::{self, Kind, Runner, without_version};

/// The command of a server.
pub(super) struct ServerCommand<'a> {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// The variables that its settings add.
    pub(super) own_variables: Vec<(String, String)>,
    /// All its variables.
    pub(super) variables: &'a Environment,
    /// Its working directory.
    pub(super) cwd: PathBuf,
    /// The project's root.
    pub(super) project: &'a Path,
    /// The user's home directory.
    pub(super) home: &'a Path,
}

/// The files of a project that a command can run. They need not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// Files that words name. Directories among them do not count.
    pub(super) mentions: BTreeSet<PathBuf>,
    /// Scripts, and directories that are run or searched for what is run.
    pub(super) run: BTreeSet<PathBuf>,
    /// Directories in which Python looks for modules.
    pub(super) modules: BTreeSet<PathBuf>,
    /// A word that may run any file of the project.
    pub(super) unknown: Option<String>,
}

impl Reach {
    /// Returns the files that `command` can run.
    pub(super) fn new(command: &ServerCommand) -> Self {
        let facts = facts(command);
        let mut reader = CommandReader { command, reach: Self::default() };
        if facts.unparsed || facts.over_limit {
            reader.unknown("a part of the command that cannot be read");
        }
        if !facts.code.is_empty() {
            reader.unknown("code in the command");
        }
        command.words.iter().for_each(|word| reader.name(&command.cwd, word));
        command
            .own_variables
            .iter()
            .for_each(|(name, value)| reader.variable(&command.cwd, name, value));
        reader.paths(&facts);
        facts.commands.iter().for_each(|command| reader.command(command));
        reader.reach
    }
}

fn facts(command: &ServerCommand) -> Facts {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let variables = command
        .variables
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    // A shell sets it to its working directory.
    let variables = variables.filter(|(name, _)| name != "PWD" && name != "OLDPWD");
    let variables = variables.chain(text(&command.cwd).map(|cwd| ("PWD".to_owned(), cwd)));
    let surroundings = Surroundings {
        cwd: text(&command.cwd),
        project: text(command.project).into_iter().collect(),
        home: text(command.home),
        variables: variables.collect(),
        ..Surroundings::default()
    };
    let in_quotes = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let line: Vec<String> = command.words.iter().map(in_quotes).collect();
    tenter_shell::read(&line.join(" "), &surroundings)
}

struct CommandReader<'a> {
    command: &'a ServerCommand<'a>,
    reach: Reach,
}

impl CommandReader<'_> {
    fn unknown(&mut self, what: &str) {
        self.reach.unknown.get_or_insert_with(|| what.to_owned());
    }

    /// Returns the path as one of the project: as written, or where its symlinks lead.
    fn in_project(&self, path: &Path) -> Option<PathBuf> {
        let project = self.command.project;
        let has_parents = path.components().any(|part| part.as_os_str() == "..");
        if path.starts_with(project) && !has_parents {
            return Some(path.components().collect());
        }
        real_path(path).ok().filter(|real| real.starts_with(project))
    }

    fn add_named(&mut self, path: &Path) {
        self.reach.mentions.extend(self.in_project(path));
    }

    /// Adds what is run. The project as a whole can be anything.
    fn add_run(&mut self, path: &Path) {
        match self.in_project(path) {
            Some(path) if path == self.command.project => {
                self.unknown("a word for the project as a whole");
            }
            Some(path) => {
                self.reach.run.insert(path);
            }
            None => {}
        }
    }

    /// Adds a file of every directory from `directory` up to the project's root.
    fn add_above(&mut self, directory: &Path, add: impl Fn(&mut Self, &Path)) {
        let project = self.command.project;
        let within: Vec<PathBuf> = directory
            .ancestors()
            .take_while(|above| above.starts_with(project))
            .map(Path::to_owned)
            .collect();
        for above in &within {
            add(self, above);
        }
    }

    /// Adds the files that parts of a word name.
    fn name(&mut self, directory: &Path, word: &str) {
        pieces(word).for_each(|piece| self.add_named(&directory.join(piece)));
    }

    /// Adds what parts of a word name, directories too.
    fn run(&mut self, directory: &Path, word: &str) {
        pieces(word).for_each(|piece| self.add_run(&directory.join(piece)));
    }

    fn variable(&mut self, directory: &Path, name: &str, value: &str) {
        self.name(directory, value);
        if programs::is_searched(name) {
            self.run(directory, value);
        }
    }

    fn paths(&mut self, facts: &Facts) {
        for path in facts.paths.iter().filter(|path| path.place != PathPlace::Remote) {
            let is_run = matches!(path.op, PathOp::Execute | PathOp::List);
            if !is_run && path.op != PathOp::Read {
                continue;
            }
            if !path.certain {
                self.unknown(&path.given);
                continue;
            }
            let whole = path.joined.as_deref().unwrap_or(&path.path);
            match (path.glob, is_run) {
                (true, _) => self.add_run(&without_pattern(whole)),
                (false, true) => self.add_run(Path::new(whole)),
                (false, false) => self.add_named(Path::new(whole)),
            }
        }
    }

    fn command(&mut self, command: &Command) {
        if command.location != Location::Local {
            return;
        }
        if !command.is_program_certain() || command.uncertain.contains(&Uncertain::Cwd) {
            return self.unknown(&command.program);
        }
        let own = self.command.cwd.clone();
        let directory = command.cwd.as_ref().map_or(own, PathBuf::from);
        command.args.iter().for_each(|arg| self.name(&directory, arg));
        let assigned = command.args.iter().filter_map(|arg| assignment(arg));
        let set = command.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        set.chain(assigned).for_each(|(name, value)| self.variable(&directory, name, value));
        if command.path.is_none() {
            self.look_up(&command.program, &directory);
        }
        self.kind(command, &directory);
    }

    /// Adds a program of `PATH` if that leads into the project; programs that search it may also follow its relative entries.
    fn look_up(&mut self, program: &str, directory: &Path) {
        let variables = self.command.variables;
        if let Some(file) = search_path::program(program, variables) {
            self.add_run(&file);
        }
        let entries = std::env::split_paths(search_path::path_variable(variables));
        for entry in entries.filter(|entry| entry.is_relative()) {
            self.add_named(&directory.join(entry).join(program));
        }
    }

    fn kind(&mut self, command: &Command, directory: &Path) {
        let runner = command.via.last().and_then(|via| Runner::from_program(via));
        if let Some(runner) = runner {
            self.add_package(runner, directory, command.path.as_ref().unwrap_or(&command.program));
        }
        match programs::kind(command) {
            Kind::Plain => {}
            Kind::Shell => self.run_flags(command, directory),
            Kind::Interpreter => self.run_arguments(command, directory),
            Kind::JavaScript => self.javascript(command, directory),
            Kind::Bun => self.bun(command, directory),
            Kind::Python => self.python(command, directory),
            Kind::Packages(runner) => self.packages(runner, command, directory),
            Kind::Container => self.container(command, directory),
            Kind::Other if command.via.last().is_some_and(|via| programs::is_python(via)) => {
                self.add_module(directory, &command.program);
            }
            Kind::Other if self.is_server(command, directory, runner.is_some()) => {}
            Kind::Other | Kind::Build => self.unknown(&command.program),
        }
    }

    /// Checks whether a program that is not known is a file of the project, which is added elsewhere, or by its name a server. Its
    /// arguments are its own affair.
    fn is_server(&self, command: &Command, directory: &Path, is_package: bool) -> bool {
        let path = command.path.as_deref();
        // `@scope/name` is a package, `./name` a directory.
        let is_file = |path: &&str| !is_package || path.starts_with(['.', '/']);
        let own = path.filter(is_file).map(|path| directory.join(path));
        own.is_some_and(|own| self.in_project(&own).is_some())
            || programs::is_server_name(path.unwrap_or(&command.program))
    }

    /// Notes the arguments of an interpreter up to its program: options and the program itself. The first operand may be a
    /// subcommand.
    fn run_arguments(&mut self, command: &Command, directory: &Path) {
        let is_file = |index: &&usize| {
            command.args.get(**index).is_some_and(|word| directory.join(word).exists())
        };
        let program = command.operand_args.iter().find(is_file);
        self.run_until(program.map_or(command.args.len(), |index| index + 1), command, directory);
    }

    /// Notes the arguments before one of them.
    fn run_until(&mut self, end: usize, command: &Command, directory: &Path) {
        let is_before =
            |uncertain: &Uncertain| matches!(uncertain, Uncertain::Arg(index) if *index < end);
        if command.uncertain.iter().any(is_before) {
            self.unknown(&command.program);
        }
        for arg in command.args.iter().take(end) {
            self.run(directory, arg);
            // `java package.Class` and `lua -l directory.module`.
            let top = arg.split('.').next().filter(|top| !top.is_empty() && *top != arg);
            if let Some(top) = top {
                self.run(directory, top);
            }
        }
    }

    /// Notes the values of a shell's options. What its script does is a fact of its own.
    fn run_flags(&mut self, command: &Command, directory: &Path) {
        let values = command.flags.iter().filter_map(|flag| flag.split_once('='));
        values.for_each(|(_, value)| self.run(directory, value));
    }

    fn python(&mut self, command: &Command, directory: &Path) {
        // A module is a fact of its own, and what follows is for it.
        if command.flags.iter().any(|flag| flag.starts_with("-m")) {
            return;
        }
        self.run_arguments(command, directory);
        let script = command.operands.first().map(|script| directory.join(script));
        let directory = script.as_deref().map_or(Some(directory), Path::parent);
        self.reach.modules.extend(directory.and_then(|directory| self.in_project(directory)));
    }

    fn javascript(&mut self, command: &Command, directory: &Path) {
        self.run_arguments(command, directory);
        self.add_settings(Runner::JavaScript, directory);
        self.add_installed_by_options(command, directory);
    }

    /// Notes a runner's options up to the name of the package; the options of `uv tool run` are operands.
    fn packages(&mut self, runner: Runner, command: &Command, directory: &Path) {
        let first = command.operand_args.first().map_or(command.args.len(), |first| first + 1);
        let is_nested = command.subcommand.as_deref() == Some("tool");
        self.run_until(if is_nested { command.args.len() } else { first }, command, directory);
        self.add_settings(runner, directory);
        self.add_installed_by_options(command, directory);
    }

    /// Adds the packages that `--require name`, `--import name` and `--package name` load.
    fn add_installed_by_options(&mut self, command: &Command, directory: &Path) {
        let end = command.operand_args.first().copied().unwrap_or(command.args.len());
        for arg in command.args.iter().take(end) {
            pieces(arg).for_each(|piece| self.add_installed(directory, piece));
        }
    }

    /// Notes what `bun` runs: with `FILE` or `run FILE` a file, with `run NAME` what `package.json` says.
    fn bun(&mut self, command: &Command, directory: &Path) {
        self.javascript(command, directory);
        let mut operands = command.operands.iter().map(String::as_str);
        match operands.find(|word| *word != "run") {
            Some(file) if directory.join(file).exists() => self.add_run(&directory.join(file)),
            _ => self.unknown(&command.program),
        }
    }

    /// Adds the files that decide what a package runner runs.
    fn add_settings(&mut self, runner: Runner, directory: &Path) {
        self.add_above(directory, |reader, above| {
            runner.files().iter().for_each(|name| reader.add_named(&above.join(name)));
            runner.directories().iter().for_each(|name| reader.add_run(&above.join(name)));
        });
    }

    /// Adds what is installed in the project of a package that is run.
    fn add_package(&mut self, runner: Runner, directory: &Path, package: &str) {
        let package = without_version(package);
        self.add_installed(directory, package);
        self.add_above(directory, |reader, above| {
            let program = above.join("node_modules/.bin").join(package);
            reader.add_named(&program);
            if runner == Runner::JavaScript && is_own_package(above, package) {
                reader.unknown(package);
            }
        });
    }

    /// Adds a package of `node_modules`.
    fn add_installed(&mut self, directory: &Path, name: &str) {
        let Some(package) = package_of(name) else { return };
        self.add_above(directory, |reader, above| {
            reader.add_run(&above.join("node_modules").join(&package));
        });
    }

    /// Adds a module that Python finds from its working directory. An installed one may run anything, unless it is a server.
    fn add_module(&mut self, directory: &Path, name: &str) {
        let top = name.split('.').next().unwrap_or(name);
        self.reach.modules.extend(self.in_project(directory));
        self.add_run(&directory.join(top));
        let is_own = directory.join(top).exists() || directory.join(format!("{top}.py")).exists();
        if !is_own && !programs::is_server_name(name) {
            self.unknown(name);
        }
    }

    /// Adds directories that a container gets, and what they contain if it may run that.
    fn container(&mut self, command: &Command, directory: &Path) {
        if !matches!(command.subcommand.as_deref(), Some("run" | "create")) {
            return;
        }
        let mounts = command.flags.iter().filter_map(|flag| flag.split_once('='));
        let mounts: Vec<&str> = mounts
            .filter(|(flag, _)| matches!(*flag, "-v" | "--volume" | "--mount"))
            .map(|(_, value)| value)
            .collect();
        // The image decides what runs without a command, and the project is data for it.
        let may_run = match command.operands.as_slice() {
            [image, word, ..] => programs::may_run_files(image, word),
            _ => false,
        };
        for piece in mounts.iter().flat_map(|mount| pieces(mount)) {
            let path = directory.join(piece);
            if may_run || self.in_project(&path).as_deref() != Some(self.command.project) {
                self.add_run(&path);
            }
        }
    }
}

/// Returns the parts of a word that can be paths: it can be an option with a value, a list, or text for a shell.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "=:,;@'\"`()<>|&".contains(c);
    let attached = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = attached.and_then(|rest| rest.get(1..));
    let after = word.split_once('=').map(|(_, value)| value);
    let whole = [Some(word), attached, after].into_iter().flatten();
    whole.chain(word.split(is_between)).filter(|piece| !piece.is_empty() && !piece.starts_with('-'))
}

/// Returns the name and value of an argument that sets a variable.
fn assignment(arg: &str) -> Option<(&str, &str)> {
    let (name, value) = arg.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, value))
}

/// Returns the directory above the first part of a path that is a pattern.
fn without_pattern(path: &str) -> PathBuf {
    let is_plain = |part: &std::path::Component| {
        !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{'])
    };
    Path::new(path).components().take_while(is_plain).collect()
}

/// Returns the package of a module's name: its first part, or the first two.
fn package_of(name: &str) -> Option<PathBuf> {
    if name.starts_with(['.', '/']) {
        return None;
    }
    let count = if name.starts_with('@') { 2 } else { 1 };
    Some(Path::new(name).components().take(count).collect())
}

/// Checks whether the `package.json` in a directory belongs to the package itself, or has a program of this name.
fn is_own_package(directory: &Path, package: &str) -> bool {
    let Ok(text) = untrusted_file::read_to_string(&directory.join("package.json")) else {
        return false;
    };
    let Ok(json) = serde_json::from_str::<Value>(&text) else { return true };
    json["name"] == package || json["bin"].get(package).is_some()
}
