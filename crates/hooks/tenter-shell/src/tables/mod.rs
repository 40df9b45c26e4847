//! Tables of programs: options, paths, and other programs that they run (C6).
//!
//! One row is one program, or one of its subcommands (`git push`). To add a program, add a row, and a command with its facts to
//! `tests/programs.txt`: a test fails for a row without an example.

mod archives;
mod databases;
mod file_changes;
mod file_reads;
mod git;
mod interpreters;
mod languages;
mod network;
mod packages;
mod rows;
mod runners;
mod shell;
mod system;
pub(crate) mod uses;
pub(crate) mod variables;

use crate::facts::{Class, Language};
use crate::globs;

/// A row of the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// The name, with the name of a subcommand after a blank.
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    /// The options, separated by blanks: `-f`, `--file=` with a value, `--color?` with a value in the same argument only.
    pub(crate) options: &'static str,
    /// The first operand is a subcommand, after the options above. A subcommand can have subcommands of its own.
    pub(crate) has_subcommands: bool,
    /// A word that can be before the subcommand: `docker container run` is `docker run`.
    pub(crate) prefix: &'static str,
    /// The options whose value is the working directory.
    pub(crate) directory: &'static str,
    /// The arguments that are paths: see [`PathRule`](crate::paths::PathRule).
    pub(crate) paths: &'static [&'static str],
    /// The options with which the paths are touched recursively, or `always`.
    pub(crate) recursive: &'static str,
    pub(crate) runs: &'static [Run],
    /// The classes of the program, each with its condition: `if -d --decode`.
    pub(crate) classes: &'static [(Class, &'static str)],
    pub(crate) interpreter: Option<Interpreter>,
}

/// The arguments that give an interpreter its program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interpreter {
    /// `None` for a shell.
    pub(crate) language: Option<Language>,
    /// The argument that is a program.
    pub(crate) inline: Inline,
    /// The options whose value names the program.
    pub(crate) module: &'static str,
    /// The options with which the operands and the standard input are no program.
    pub(crate) no_program: &'static str,
    /// The options with which the standard input is the program although there are operands; `*` if it always is,
    /// [`NO_FILES`] if neither that nor an operand ever is.
    pub(crate) stdin: &'static str,
}

/// See [`Interpreter::stdin`].
pub(crate) const NO_FILES: &str = "none";

/// The argument of an interpreter that is a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inline {
    /// The values of these options.
    Values(&'static str),
    /// The first operand, with these options: `sh -c`.
    OperandWith(&'static str),
    /// The values of these options, or the first operand.
    ValuesOrOperand(&'static str),
}

/// The form of a program's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Options and operands in any order, long options can be abbreviated.
    Gnu,
    /// Options end at the first operand.
    Posix,
    /// Long options with a single dash: `java -jar`.
    Single,
    /// As [`Single`](Self::Single), in any case. An abbreviation is the first option that begins with it.
    Caseless,
    /// As [`Single`](Self::Single), with commands in `-exec … ;`.
    Find,
    /// As [`Gnu`](Self::Gnu); permissions can begin with a dash: `chmod -x file`.
    Mode,
    /// `key=value`: `dd of=…`.
    Keys,
    /// The first argument is letters without a dash: `tar xzf`.
    Dashless,
}

/// A command or script that a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// The operands from this one on are a command.
    Words(usize),
    /// As [`Words`](Self::Words), without any of these options.
    Unless(&'static str, usize),
    /// As [`Words`](Self::Words), after assignments: `env A=b command`.
    Environment,
    /// The arguments after `--` are a command.
    AfterDashes,
    /// The arguments after one of these options are a command.
    AfterFlag(&'static str),
    /// The operands from this one on are a command, if the first operand is this word.
    After(&'static str, usize),
    /// The arguments after this word and its options, joined, are a script, if the word is the first operand.
    AfterScript(&'static str),
    /// The operands from this one on, joined, are a script.
    Script(usize),
    /// Each operand is a script.
    Each,
    /// The values of these options are scripts.
    Option(&'static str),
    /// The rest of a value of these options is a script, if it starts with this key in any case.
    Keyed(&'static str, &'static str),
    /// The rest of an operand that starts with this prefix is a script; after a dot, what follows a name and `=`.
    Prefixed(&'static str),
    /// `-c alias.name=…` of git.
    GitAlias,
    /// The operands from this one on, joined, are a script on another machine.
    Remote(usize),
    /// The values of these options are scripts on another machine.
    OptionRemote(&'static str),
    /// The texts after this key in the values of these options are scripts on another machine: `commands=["ls"]`.
    ListRemote(&'static str, &'static str),
    /// The first operand is a package, whose program runs with the arguments after `--`, or with the other operands: `nixpkgs#git`,
    /// `npm:rimraf`.
    Package,
    /// The value of this option is a program, or the option starts a shell; the operands from this one on are its arguments.
    Entry(&'static str, usize),
    /// The operands from this one on are a command in a container.
    Container(usize),
    /// The arguments after `--` are a command in a container.
    AfterDashesContainer,
    /// The commands in a file that the program reads: a makefile, or the scripts of a package.
    Recipes(&'static RecipeFiles),
    /// Commands that transfer files: the values of the first options, the files that the second ones name, and the standard input.
    Transfers(&'static str, &'static str),
    /// Commands of an editor: the values of these options, operands after `+`, and the standard input.
    Edits(&'static str),
    /// Commands of a debugger: the values of these options, and the standard input.
    Debugs(&'static str),
    /// Each line of the standard input is the arguments of the program, if it has no operands.
    InputLines,
    /// SQL.
    Sql(SqlClient),
}

/// The files whose commands a program runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecipeFiles {
    /// The options whose values name the files.
    pub(crate) options: &'static str,
    /// The options whose values are such a text.
    pub(crate) inline: &'static str,
    /// The files that are read without such an option. With none, the operands are the files.
    pub(crate) names: &'static [&'static str],
    pub(crate) form: Form,
}

/// The form of a file with commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Commands follow a tab, or the `;` of a rule.
    Make,
    /// Commands are indented.
    Indented,
    /// Commands are items and values.
    Yaml,
    /// Commands are in the scripts of `package.json`.
    Package,
    /// Commands are values after `:` or `=`, and indented lines.
    Values,
    /// Commands are texts in quotes that begin with the name of a program.
    Quoted,
    /// Commands follow `COMMAND`.
    Cmake,
    /// Commands follow `RUN`, and run in a container.
    Dockerfile,
    /// Services are containers.
    Compose,
    /// The whole file is a script.
    Script,
    Code(Language),
}

/// The arguments of a client of a database that are SQL. Without any, it reads its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqlClient {
    /// The options whose values are SQL.
    pub(crate) options: &'static str,
    /// The number of operands before those that are SQL.
    pub(crate) operands: usize,
    /// The options whose values are files with SQL.
    pub(crate) files: &'static str,
}

/// A program without options, to build rows from.
pub(crate) const GNU: Program = Program {
    name: "",
    style: Style::Gnu,
    options: "",
    has_subcommands: false,
    prefix: "",
    directory: "",
    paths: &[],
    recursive: "",
    runs: &[],
    classes: &[],
    interpreter: None,
};

/// A program that runs the command in its operands.
pub(crate) const WRAPPER: Program = GNU.style(Style::Posix).runs(&[Run::Words(0)]);

/// Other names of programs.
const ALIASES: [(&str, &str); 65] = [
    ("elinks", "lynx"),
    ("links", "lynx"),
    ("GET", "lwp-request"),
    ("django-admin", "manage.py"),
    ("flyctl", "fly"),
    ("batcat", "bat"),
    ("elvish", "fish"),
    ("fakechroot", "fakeroot"),
    ("ipython", "python"),
    ("nu", "fish"),
    ("pico", "nano"),
    ("proxychains", "proxychains4"),
    ("torify", "torsocks"),
    ("unexpand", "expand"),
    ("view", "vim"),
    ("xonsh", "fish"),
    ("gtar", "tar"),
    ("k", "kubectl"),
    ("kubecolor", "kubectl"),
    ("mariadb", "mysql"),
    ("mariadb-dump", "mysqldump"),
    ("nerdctl", "docker"),
    ("oc", "kubectl"),
    ("podman-compose", "docker-compose"),
    ("tofu", "terraform"),
    ("valkey-cli", "redis-cli"),
    ("applypatch", "apply_patch"),
    ("mongo", "mongosh"),
    ("grm", "rm"),
    ("gsed", "sed"),
    ("gfind", "find"),
    ("konsole", "xterm"),
    ("alacritty", "xterm"),
    ("presto", "trino"),
    ("hive", "beeline"),
    ("spark-sql", "beeline"),
    ("iex", "elixir"),
    ("bb", "clojure"),
    ("irb", "ruby"),
    ("runghc", "ghc"),
    ("inv", "invoke"),
    ("curlie", "curl"),
    ("wipe", "srm"),
    ("rip", "trash"),
    ("gomi", "trash"),
    ("trash-cli", "trash"),
    ("gvfs-trash", "trash"),
    ("radare2", "r2"),
    ("axel", "aria2c"),
    ("ri", "rm"),
    ("del", "rm"),
    ("erase", "rm"),
    ("get-content", "cat"),
    ("out-string", "cat"),
    ("invoke-restmethod", "iwr"),
    ("invoke-webrequest", "iwr"),
    ("irm", "iwr"),
    ("start-bitstransfer", "iwr"),
    ("remove-item", "rm"),
    ("set-content", "tee"),
    ("add-content", "tee"),
    ("clear-content", "tee"),
    ("out-file", "tee"),
    ("move-item", "mv"),
    ("copy-item", "cp"),
];

/// Images of containers that run the program with their name.
pub(crate) const IMAGES: [&str; 9] =
    ["ansible", "aws", "curl", "git", "helm", "kubectl", "pulumi", "rclone", "terraform"];

/// Programs that no table has, with text about commands in their operands.
pub(crate) const SPEAKING: [&str; 22] = *tenter_base::words!(
    "apropos cheat claude codex complete cowsay cz explain figlet gemini help howdoi info jj jrnl
     man notify-send say tldr todo type wall"
);

/// Programs of packages, which `pnpm` and `yarn` also run without a word such as `exec`.
pub(crate) const OF_PACKAGES: [&str; 23] = *tenter_base::words!(
    "cdk changeset del-cli drizzle-kit eas firebase gh-pages knex lerna netlify node np prisma
     release-it rimraf semantic-release sequelize sequelize-cli shx surge typeorm vercel wrangler"
);

/// All tables.
static TABLES: &[&[Program]] = &[
    databases::PROGRAMS,
    shell::PROGRAMS,
    file_changes::PROGRAMS,
    file_reads::PROGRAMS,
    git::PROGRAMS,
    network::PROGRAMS,
    archives::PROGRAMS,
    system::PROGRAMS,
    interpreters::PROGRAMS,
    languages::PROGRAMS,
    packages::PROGRAMS,
    runners::PROGRAMS,
];

/// Returns the programs, and their subcommands after a blank, that the tables describe.
pub fn known_programs() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|table| table.iter()).map(|row| row.name)
}

/// Number of rows.
const ROWS: usize = {
    let (mut rows, mut table) = (0, 0);
    while table < TABLES.len() {
        rows += TABLES[table].len();
        table += 1;
    }
    rows
};

/// The place of a row: its table, and its index there.
type RowPlace = (u16, u16);

/// The places of the rows, sorted by name when this program is compiled, so that no call pays for it.
static INDEX: [RowPlace; ROWS] = {
    let mut places = [(0, 0); ROWS];
    let (mut count, mut table) = (0, 0_u16);
    while (table as usize) < TABLES.len() {
        let mut row = 0_u16;
        while (row as usize) < TABLES[table as usize].len() {
            insert(&mut places, count, (table, row));
            count += 1;
            row += 1;
        }
        table += 1;
    }
    places
};

/// Inserts a place into the first `count` places, which are sorted.
const fn insert(rows: &mut [RowPlace; ROWS], count: usize, place: RowPlace) {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_less(row(rows[middle]).name, row(place).name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let mut at = count;
    while at > low {
        rows[at] = rows[at - 1];
        at -= 1;
    }
    rows[low] = place;
}

const fn row((table, row): RowPlace) -> &'static Program {
    &TABLES[table as usize][row as usize]
}

const fn is_less(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at < other.len() && (at == one.len() || one[at] < other[at])
}

/// Returns the row with this name.
fn named(name: &str) -> Option<&'static Program> {
    let place = INDEX.binary_search_by(|place| row(*place).name.cmp(name)).ok()?;
    INDEX.get(place).map(|place| row(*place))
}

/// Finds the row of a program or of its family: `python3.11` → `python`, `mkfs.ext4` → `mkfs`, `Stop-Computer` → `stop-computer`.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    let unversioned =
        || name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let family = || name.split_once('.').map_or(name, |(family, _)| family);
    let alias = || ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    program(name)
        .or_else(|| program(alias()?.1))
        .or_else(|| program(unversioned()))
        .or_else(|| program(family()))
        .or_else(|| program(&name.to_ascii_lowercase()))
}

/// Returns the name of a program as rules spell it: PowerShell and its commands have names in any case.
pub(crate) fn spelling(name: String, row: Option<&Program>) -> String {
    let is_caseless = row.is_some_and(|row| row.style == Style::Caseless);
    if is_caseless { name.to_ascii_lowercase() } else { name }
}

/// Returns the row of a program that is often in paths, and fits a pattern: `c?t`, `b*sh`.
pub(crate) fn fitting(pattern: &str) -> Option<&'static Program> {
    const PROGRAMS: [&str; 16] = [
        "awk", "base64", "bash", "cat", "chmod", "cp", "curl", "dd", "git", "head", "mv", "perl",
        "python", "rm", "sh", "tail",
    ];
    let is_pattern = pattern.contains(['?', '*', '[']) && pattern.contains(char::is_alphabetic);
    let name = PROGRAMS.iter().find(|name| is_pattern && globs::fits(pattern, name))?;
    program(name)
}

/// Returns the row of a program with exactly this name.
fn program(name: &str) -> Option<&'static Program> {
    named(name).filter(|row| !row.name.contains(' '))
}

/// Returns the row of a subcommand's subcommand: `docker compose exec`.
pub(crate) fn nested(subcommand: &Program, name: &str) -> Option<&'static Program> {
    named(&format!("{} {name}", subcommand.name))
}

/// Returns the row of a program's subcommand.
pub(crate) fn subcommand(program: &str, subcommand: &str) -> Option<&'static Program> {
    named(&format!("{program} {subcommand}"))
}

#[cfg(test)]
mod tests;
