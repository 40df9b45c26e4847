//! The facts: what a text would run, and what that would touch (C1).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

/// The facts about a text: what a shell would run, and what that would touch.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// The commands that a shell would run, read without running them. Only for a shell tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// The paths that the tool or its commands touch, resolved. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Path>,
    /// Programs in other languages that the commands contain. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<Code>,
    /// Data that goes from one command to another. Only if there is any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// The statements of SQL that clients of databases run.
    #[serde(skip)]
    pub sql: Vec<SqlStatement>,
    /// `true` if the commands start copies of themselves without an end. Only if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub forkbomb: bool,
    /// `true` if a part of the commands could not be read: bash would reject it, or it exceeds a limit. Only if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub unparsed: bool,
    /// The text exceeds a limit: commands that were not read may follow.
    #[serde(skip)]
    pub over_limit: bool,
}

/// A command that the text would run. A wrapper such as `sudo` is a command of its own, before the command that it runs.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Command {
    /// The program's base name, without `.exe`.
    pub program: String,
    /// The program as written. Only if that contains a slash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first operand after the global options, such as `push` for `git`. Only for programs that have subcommands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// The options: bundles split, abbreviations completed, values after `=`. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The arguments that are no options, without the subcommand. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<String>,
    /// All words after the program. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables that the text sets for this command, or exports before it. Only if there are any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The absolute working directory. Only if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The programs and constructs that run the command, outermost first: wrappers such as `sudo`, interpreters such as `bash`, and
    /// `substitution`, `process`, `function`, `alias`, `coproc`. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
    /// The source of its input: the indices of `commands`, a `text`, or a `file`. Only if it is not inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin_from: Option<Stdin>,
    /// Its own redirections, not of wrappers and blocks around the command. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<Redirect>,
    /// The command as written.
    pub text: String,
    /// The machine or container that it runs on: `local`, `remote` (as with `ssh`), or `container` (as with `docker exec`).
    #[serde(rename = "where")]
    pub location: Location,
    /// The parts of the command that are not known before it runs: `program`, `cwd`, and indices of `args`. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub uncertain: Vec<Uncertain>,
    /// For each of `flags`, the index of its argument in `args`.
    #[serde(skip)]
    pub flag_args: Vec<usize>,
    /// For each of `operands`, the index of its argument in `args`.
    #[serde(skip)]
    pub operand_args: Vec<usize>,
    /// Number of `operands` before `--`, if there is one.
    #[serde(skip)]
    pub dashes: Option<usize>,
    /// Indices of the arguments with unquoted `*`, `?` or `[`, in increasing order.
    #[serde(skip)]
    pub globs: Vec<usize>,
    /// The classes of the program, for flows.
    #[serde(skip)]
    pub classes: Vec<Class>,
}

impl Command {
    /// Checks whether the program is known.
    pub fn is_program_certain(&self) -> bool {
        !self.uncertain.contains(&Uncertain::Program)
    }

    /// Checks whether the argument with this index is known. It can still be a pattern.
    pub fn is_arg_certain(&self, index: usize) -> bool {
        let is_before = |uncertain: &Uncertain| match uncertain {
            Uncertain::Program | Uncertain::Cwd => true,
            Uncertain::Arg(other) => *other < index,
        };
        // The arguments are the last, in increasing order.
        let place = self.uncertain.partition_point(is_before);
        self.uncertain.get(place) != Some(&Uncertain::Arg(index))
    }

    /// Checks whether an argument that is not known could be an option. A name of a branch never begins with `-`, and what a variable such as
    /// `$BRANCH` contains is one.
    pub fn may_have_more_flags(&self) -> bool {
        const VARIABLES: [&str; 6] = ["branch", "commit", "ref", "remote", "tag", "version"];
        const BRANCHES: [&str; 3] = [
            "git branch --show-current",
            "git rev-parse --abbrev-ref HEAD",
            "git symbolic-ref --short HEAD",
        ];
        let is_branch = |arg: &String| {
            let inner = arg.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
            let inner = inner.or_else(|| arg.strip_prefix('`')?.strip_suffix('`'));
            let variable = arg.trim_matches(['$', '{', '}']).to_ascii_lowercase();
            inner.is_some_and(|command| BRANCHES.contains(&command.trim()))
                || VARIABLES.iter().any(|name| variable.ends_with(name))
        };
        let unknown = self.uncertain.iter().filter_map(|uncertain| match uncertain {
            Uncertain::Arg(index) => self.args.get(*index),
            _ => None,
        });
        unknown.into_iter().any(|arg| arg.starts_with(['$', '`', '-']) && !is_branch(arg))
    }
}

/// A part of a command that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncertain {
    /// The program.
    Program,
    /// The working directory.
    Cwd,
    /// An index into `args`.
    Arg(usize),
}

impl Serialize for Uncertain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Program => serializer.serialize_str("program"),
            Self::Cwd => serializer.serialize_str("cwd"),
            Self::Arg(index) => index.serialize(serializer),
        }
    }
}

/// The source of a command's standard input.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// The output of commands, by their indices.
    Commands(Vec<usize>),
    /// A here-document or here-string, as far as it is known.
    Text(String),
    /// A file, as written.
    File(String),
}

/// A redirection.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// The file descriptor: `2`, `{name}`. Only if it is written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fd: String,
    /// The operator, such as `>`.
    pub op: &'static str,
    /// The file, the descriptor, the delimiter of a here-document, or the text of a here-string.
    pub target: String,
}

/// The machine or container on which a command would run.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// On this machine.
    #[default]
    Local,
    /// On another machine, as with `ssh`.
    Remote,
    /// In a container, as with `docker exec`.
    Container,
}

/// A path that a command would touch.
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the payload")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Path {
    /// The absolute path, without symlinks and `..`.
    pub path: String,
    /// The path as written.
    pub given: String,
    /// The operation on it: `read`, `write`, `create`, `delete`, `move`, `execute`, `link`, `mode` (permissions or owner), or `list`
    /// (search a directory). File tools write files that they create.
    pub op: PathOp,
    /// `true` if everything below the path is included. Only if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub recursive: bool,
    /// The place: in the `project`, a `temp` directory, the `home` directory, elsewhere (`system`), a `device`, or on a `remote`
    /// machine.
    pub place: PathPlace,
    /// `true` if it is in the project.
    pub inside_project: bool,
    /// The index of the command in `commands`. Only for a path of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<usize>,
    /// `true` if the path is known and could be resolved.
    pub certain: bool,
    /// `true` if the path is a pattern, and the files that it matches are touched. Only if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub glob: bool,
    /// The absolute path with its `..`, if it has any. A symlink before `..` leads elsewhere than `path` does.
    #[serde(skip)]
    pub joined: Option<String>,
    /// The name of the file in it that is written instead, if it is a directory: `a` for `cp a b`.
    #[serde(skip)]
    pub inner: Option<String>,
}

/// An operation on a path.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathOp {
    /// Its content is read.
    Read,
    /// The file may exist before.
    Write,
    /// A directory or a new file.
    Create,
    /// It is deleted.
    Delete,
    /// It is moved or renamed.
    Move,
    /// It is run.
    Execute,
    /// A link to it is made.
    Link,
    /// Permissions, owner or attributes.
    Mode,
    /// The names in a directory, or a search in its files.
    List,
}

impl PathOp {
    /// Checks whether it can change the file at the path, or another through it.
    pub fn changes(self) -> bool {
        !matches!(self, Self::Read | Self::Execute | Self::List)
    }
}

/// The kind of directory that a path is in. The first that fits counts.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathPlace {
    /// On another machine or in a container.
    Remote,
    /// `/dev`.
    Device,
    /// A directory of the project.
    Project,
    /// A directory for temporary files.
    Temp,
    /// The user's home directory.
    Home,
    /// Any other directory.
    System,
}

/// A program in another language that the text contains.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Code {
    /// The language.
    pub language: Language,
    /// The program.
    pub text: String,
    /// `true` if it runs a command that cannot be read. Only if `true`.
    #[serde(skip_serializing_if = "is_false")]
    pub dynamic: bool,
    /// The index of the interpreter in `commands`.
    pub command: usize,
}

/// A statement that a client of a database runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlStatement {
    /// Its first words in lower case, without `from`, `if exists` and the like: `drop table users`, `delete users`.
    pub statement: String,
    /// It has a `where` that is not always true.
    pub has_where: bool,
    /// The index of the client's command.
    pub command: usize,
}

/// A language whose programs are given inline.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript.
    Node,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// AWK.
    Awk,
    /// PowerShell.
    Powershell,
    /// Any other language, in which only calls with common names are read.
    Other,
}

/// Data that goes from a command into another.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// `{"command": INDEX}`, or `network` for a connection.
    pub from: FlowSource,
    /// The index of the command that receives the data.
    pub into: usize,
    /// The use of the data: the command runs it as `code`, reads it as `data`, or has it as an `argument`.
    #[serde(rename = "as")]
    pub role: FlowRole,
}

/// The source of data.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowSource {
    /// The output of a command, or a file that it wrote before.
    Command(usize),
    /// A connection: `/dev/tcp/…`.
    Network,
}

impl FlowSource {
    /// Returns the command, if it is one.
    pub(crate) fn command(&self) -> Option<usize> {
        match self {
            Self::Command(command) => Some(*command),
            Self::Network => None,
        }
    }
}

/// The use that a command makes of data that it receives.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowRole {
    /// It runs it.
    Code,
    /// It reads it.
    Data,
    /// It has it in its arguments.
    Argument,
}

/// The effect of a program on data.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Its output comes from the network.
    Download,
    /// Its output is decoded or decrypted input.
    Decode,
    /// It sends data, or listens.
    Network,
    /// It runs programs.
    Interpreter,
    /// Its output, or the file that it writes, is its input.
    #[cfg_attr(feature = "schema", schemars(skip))]
    PassThrough,
    /// It prints environment variables.
    Environment,
    /// It writes the content of many files to its standard output.
    Archive,
    /// It writes its input as letters and digits.
    Encode,
}

impl Facts {
    /// Adds the facts about another text, which runs on its own.
    pub fn append(&mut self, other: Self) {
        let first = self.commands.len();
        let move_to = |source| match source {
            FlowSource::Command(index) => FlowSource::Command(index + first),
            FlowSource::Network => FlowSource::Network,
        };
        let command = |mut command: Command| {
            if let Some(Stdin::Commands(indices)) = &mut command.stdin_from {
                for index in indices {
                    *index += first;
                }
            }
            command
        };
        let path = |path: Path| Path { command: path.command.map(|index| index + first), ..path };
        let flow = |flow: Flow| Flow { from: move_to(flow.from), into: flow.into + first, ..flow };
        let code = |code: Code| Code { command: code.command + first, ..code };
        let sql = |sql: SqlStatement| SqlStatement { command: sql.command + first, ..sql };
        self.commands.extend(other.commands.into_iter().map(command));
        self.paths.extend(other.paths.into_iter().map(path));
        self.code.extend(other.code.into_iter().map(code));
        self.flows.extend(other.flows.into_iter().map(flow));
        self.sql.extend(other.sql.into_iter().map(sql));
        self.forkbomb |= other.forkbomb;
        self.unparsed |= other.unparsed;
        self.over_limit |= other.over_limit;
    }

    /// Returns the commands whose data reaches a command, directly or through programs that pass it on, and in which role.
    /// `flows` returns the flows into a command.
    pub fn sources_of<'f, I: Iterator<Item = &'f Flow>>(
        &self,
        command: usize,
        flows: impl Fn(usize) -> I,
    ) -> Vec<(FlowSource, FlowRole)> {
        let mut reached = Vec::new();
        let mut open: Vec<(usize, Option<FlowRole>)> = vec![(command, None)];
        while let Some((into, role)) = open.pop() {
            for flow in flows(into) {
                let source = (flow.from, role.unwrap_or(flow.role));
                if reached.contains(&source) {
                    continue;
                }
                reached.push(source);
                if let FlowSource::Command(from) = flow.from
                    && self.passes_on(from)
                {
                    open.push((from, Some(source.1)));
                }
            }
        }
        reached
    }

    fn passes_on(&self, command: usize) -> bool {
        self.commands
            .get(command)
            .is_some_and(|command| command.classes.contains(&Class::PassThrough))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
