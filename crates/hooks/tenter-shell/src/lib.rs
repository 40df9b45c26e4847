//! Reads shell commands as bash would, without running them (C1–C5).
//!
//! [`read`] returns the commands that a text would run, in every branch, script and substitution, with their options sorted,
//! and the paths that they would touch. Nothing is executed, and no file is looked at: directories and variables come in as
//! [`Surroundings`].
//!
//! ```
//! use tenter_shell::{PathOp, Surroundings, read};
//!
//! let surroundings = Surroundings {
//!     cwd: Some("/home/ann/app".to_owned()),
//!     project: vec!["/home/ann/app".to_owned()],
//!     home: Some("/home/ann".to_owned()),
//!     ..Surroundings::default()
//! };
//! let facts = read("cd build && sudo rm -fr \"$HOME\"/old", &surroundings);
//! let rm = &facts.commands[2];
//! assert_eq!((rm.program.as_str(), rm.via.as_slice()), ("rm", &["sudo".to_owned()][..]));
//! assert_eq!(rm.flags, ["-f", "-r"]);
//! assert_eq!(facts.paths[0].path, "/home/ann/old");
//! assert_eq!(facts.paths[0].op, PathOp::Delete);
//! assert!(facts.paths[0].recursive && !facts.paths[0].inside_project);
//!
//! // Data is not a command.
//! let facts = read("git commit -m 'rm -rf /'", &surroundings);
//! assert_eq!(facts.commands.len(), 1);
//! ```
//!
//! `syntax` makes a tree of a text, `expand` expands words, `walk` visits every command, and `tables` has what is known about
//! programs. All limits are counts: the same text always gives the same facts.

mod cmd;
mod code;
mod escapes;
mod evaluation;
mod expand;
mod facts;
mod field;
mod flags;
mod forkbomb;
mod globs;
pub mod limits;
mod locate;
mod paths;
mod plain;
mod powershell;
mod reader;
mod scope;
mod sql;
mod sql_files;
mod sql_tokens;
mod surroundings;
mod syntax;
mod tables;
mod uses;
mod walk;

pub use facts::{
    Class, Code, Command, Facts, Flow, FlowRole, FlowSource, Language, Location, Path, PathOp,
    PathPlace, Redirect, SqlStatement, Stdin, Uncertain,
};
pub use globs::selecting;
pub use plain::{PlainCommand, PlainWord, plain, plain_words};
pub use surroundings::Surroundings;
pub use tables::known_programs;
pub use uses::{KnownUse, UseKind};

use reader::{Context, Reader};

/// Reads the facts about a text in the language of bash.
pub fn read(text: &str, surroundings: &Surroundings) -> Facts {
    let mut reader = Reader::new(surroundings);
    reader.text(text);
    reader.facts
}

/// Reads a text for PowerShell as `pwsh -Command TEXT`, as far as it has the commands of other shells.
pub fn read_powershell(text: &str, surroundings: &Surroundings) -> Facts {
    let text = format!("pwsh -Command {}", escapes::quoted(text));
    Facts { unparsed: true, ..read(&text, surroundings) }
}

/// Checks whether all scripts that the commands of a text run are [`plain`], such as the script of `bash -c`.
pub fn has_plain_scripts(text: &str) -> bool {
    let surroundings = Surroundings::default();
    let mut reader = Reader::new(&surroundings);
    reader.text(text);
    !reader.has_odd_script
}

impl Reader<'_> {
    fn text(&mut self, text: &str) {
        let script = syntax::parse(text, 0);
        self.keep_broken(&script);
        self.list(&script.commands, &Context::new(script.heredocs));
        self.uncalled();
        if self.scope.is_limited() {
            self.reach_limit();
        }
        self.facts.forkbomb |= self.calls.has_bomb();
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
