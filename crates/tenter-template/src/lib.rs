//! The language of recipes' texts and of hooks without code: the part of Go's templates that they use (R53).
//!
//! A [`Template`] is read once, every mistake told with its place, and filled in with the values that come in: a recipe's
//! arguments, or an event's payload. A [`Condition`] is what may stand after `if`, for itself.
//!
//! ```
//! use tenter_template::{Condition, Dialect, File, Inputs, NoShell, Template};
//!
//! let payload = serde_json::json!({"tool_name": "bash", "tool_input": {"command": "ls"}});
//! let inputs = Inputs { values: &payload, declared: &[] };
//! let text = "{{.tool_name}} runs {{.tool_input.command}}";
//! let template = Template::parse(File::of("HOOK.md", text), Dialect::Hook).unwrap();
//! assert_eq!(template.render(&inputs, &NoShell).unwrap().text, "bash runs ls");
//!
//! let condition = Condition::parse(File::of("HOOK.md", "eq .tool_name \"bash\"")).unwrap();
//! assert!(condition.holds(&payload).unwrap());
//! ```
//!
//! `lexer` cuts a text into pieces, `parser` makes the tree of `ast` from them, `render` walks it, `functions` knows what can
//! be called, `programs` lists what it starts, `paths` what it asks for. Every finding has its place, and one mistake does not hide the next.
//!
//! It starts nothing itself: whoever renders hands in a [`Shell`]. It refuses to go on without end: blocks and parentheses
//! have a greatest depth, lists a greatest length, and a rendering a greatest output and a greatest number of steps.

mod ast;
mod findings;
mod functions;
mod lexer;
mod parser;
mod paths;
mod programs;
mod render;
mod value;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde_json::Value;
use tenter_protocol::Diagnostic;

use self::ast::{Node, Pipeline};
use self::findings::Findings;

pub use self::findings::MISSING;
pub use self::paths::Path;

/// Blocks in blocks, and parentheses in parentheses, at most.
pub const DEEPEST: usize = 100;
/// Items that `range` goes through at most.
pub const LONGEST_RANGE: usize = 10_000;
/// Bytes of a rendered text at most.
pub const LONGEST_OUTPUT: usize = 4 << 20;

/// Runs the programs that a template asks for.
pub trait Shell {
    /// Runs `program` with exactly these arguments; no shell reads them.
    fn run(&self, program: &str, args: &[String]) -> CommandOutput;
}

/// Starts nothing: for what may not ask for it.
#[derive(Debug, Clone, Copy)]
pub struct NoShell;

impl Shell for NoShell {
    fn run(&self, _program: &str, _args: &[String]) -> CommandOutput {
        let failure = Some("was not started: nothing may be started here".to_owned());
        CommandOutput { text: String::new(), failure }
    }
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// What it wrote to stdout, without the line ends at its end.
    pub text: String,
    /// How it failed, if it did, as the end of a sentence that begins with the command: "failed with exit code 1".
    pub failure: Option<String>,
}

/// What a template is written for. It decides what may stand in it, and how findings speak of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A recipe: its values are arguments, which are text and have no parts, and it may start programs.
    Recipe,
    /// A hook without code: its values are an event's payload, of any depth, and it starts nothing.
    Hook,
}

impl Dialect {
    fn starts_programs(self) -> bool {
        self == Self::Recipe
    }

    fn has_parts(self) -> bool {
        self == Self::Hook
    }

    /// What a value is called.
    fn value(self) -> &'static str {
        match self {
            Self::Recipe => "an argument",
            Self::Hook => "a field",
        }
    }

    /// Where to read on.
    fn guide(self) -> &'static str {
        match self {
            Self::Recipe => "see docs/recipes.md",
            Self::Hook => "see docs/manifest-hooks.md",
        }
    }
}

/// A file, and where in it the template begins. Places count from the file's beginning.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path, for findings.
    pub path: PathBuf,
    /// All of its text.
    pub text: String,
    /// Where the template begins, in bytes.
    pub body: usize,
}

impl File {
    /// A text that is a template from its beginning.
    pub fn of(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), body: 0 }
    }
}

/// A template that was understood.
#[derive(Debug, Clone)]
pub struct Template {
    file: File,
    dialect: Dialect,
    nodes: Vec<Node>,
    uses: Uses,
}

/// A condition over an event's payload that was understood.
#[derive(Debug, Clone)]
pub struct Condition {
    file: File,
    value: Pipeline,
}

/// Which values a template speaks of.
#[derive(Debug, Clone, Default)]
struct Uses {
    /// Those that it names.
    names: Vec<String>,
    /// Whether it uses the whole of them, so that it may be about any.
    all: bool,
}

/// What a template is rendered with.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The values: a recipe's arguments, or an event's payload; an object.
    pub values: &'a Value,
    /// The names of the arguments that the recipe declares. To ask whether another was given is worth a warning.
    pub declared: &'a [&'a str],
}

/// A rendered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// What is worth knowing although there is a text: commands that failed, arguments that mean nothing.
    pub warnings: Vec<Diagnostic>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the file.
    pub fn parse(file: File, dialect: Dialect) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Findings::new(&file);
        let pieces = lexer::pieces(&file, &mut findings);
        let (nodes, uses) = parser::parse(pieces, dialect, &mut findings);
        let found = findings.into_diagnostics();
        if found.is_empty() { Ok(Self { file, dialect, nodes, uses }) } else { Err(found) }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.file.text[self.file.body..]
    }

    /// Whether it has a use for a value of this name.
    pub fn uses(&self, name: &str) -> bool {
        self.uses.all || self.uses.names.iter().any(|used| used == name)
    }

    /// The command lines that it starts, each once.
    pub fn programs(&self) -> Vec<String> {
        programs::programs(&self.nodes)
    }

    /// The values that it asks for, from the beginning of the payload.
    pub fn paths(&self) -> Vec<Path> {
        paths::in_template(&self.nodes)
    }

    /// The text with everything filled in.
    ///
    /// # Errors
    /// Everything that keeps it from being filled in. After the first of it no program is started any more.
    pub fn render(
        &self,
        inputs: &Inputs<'_>,
        shell: &dyn Shell,
    ) -> Result<Rendered, Vec<Diagnostic>> {
        render::render(&self.file, self.dialect, &self.nodes, inputs, shell)
    }
}

impl Condition {
    /// Reads a condition: what may stand between `{{if` and `}}`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: File) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Findings::new(&file);
        let action = lexer::condition(&file, &mut findings);
        let value = parser::condition(&action, Dialect::Hook, &mut findings);
        match value {
            Some(value) => Ok(Self { file, value }),
            None => Err(findings.into_diagnostics()),
        }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.file.text[self.file.body..]
    }

    /// The values that it asks for, from the beginning of the payload.
    pub fn paths(&self) -> Vec<Path> {
        paths::in_condition(&self.value)
    }

    /// Whether it holds: what is missing, empty, zero, null or `false` does not.
    ///
    /// # Errors
    /// Everything that keeps it from being told.
    pub fn holds(&self, payload: &Value) -> Result<bool, Vec<Diagnostic>> {
        let inputs = Inputs { values: payload, declared: &[] };
        render::holds(&self.file, &self.value, &inputs)
    }
}
