//! The template language of recipes and static hooks: a subset of Go's templates (R53).
//!
//! A [`Template`] is parsed once, with all errors and their positions, and rendered with values: the arguments of a recipe, or the
//! payload of an event. A [`Condition`] is a single expression, as it may follow `if`.
//!
//! ```
//! use tenter_template::{Condition, Dialect, TemplateFile, Inputs, NoShell, Template};
//!
//! let payload = serde_json::json!({"tool_name": "bash", "tool_input": {"command": "ls"}});
//! let inputs = Inputs { values: &payload, declared_arguments: &[] };
//! let text = "{{.tool_name}} runs {{.tool_input.command}}";
//! let template = Template::parse(TemplateFile::new("HOOK.md", text), Dialect::Hook).unwrap();
//! assert_eq!(template.render(&inputs, &NoShell).unwrap().text, "bash runs ls");
//!
//! let condition = Condition::parse(TemplateFile::new("HOOK.md", "eq .tool_name \"bash\"")).unwrap();
//! assert!(condition.holds(&payload).unwrap());
//! ```
//!
//! `lexer` splits a text into pieces, `parser` builds the tree of `ast` from them, and `render` walks it. `functions` has the
//! functions, `programs` lists the programs that a template runs, and `paths` the values that it reads. Every diagnostic has a
//! position, and one error does not hide the next.
//!
//! The crate starts no programs: the caller passes in a [`Shell`]. Depth, range length, output size and number of steps are
//! limited.

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
pub use self::paths::FieldPath;

/// Maximum depth of nested blocks, and of nested parentheses.
pub const MAX_DEPTH: usize = 100;
/// Maximum number of items of a `range`.
pub const MAX_RANGE_ITEMS: usize = 10_000;
/// Maximum size of a rendered text in bytes.
pub const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// Runs the programs of a template.
pub trait Shell {
    /// Runs `program` with exactly these arguments, without a shell.
    fn run(&self, program: &str, args: &[String]) -> CommandOutput;
}

/// A [`Shell`] that runs nothing, for templates that must not run programs.
#[derive(Debug, Clone, Copy)]
pub struct NoShell;

impl Shell for NoShell {
    fn run(&self, _program: &str, _args: &[String]) -> CommandOutput {
        let failure = Some("was not started: programs are not allowed here".to_owned());
        CommandOutput { text: String::new(), failure }
    }
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// Its stdout, without trailing newlines.
    pub text: String,
    /// The reason of the failure, as the end of a sentence that begins with the command: "failed with exit code 1". `None`
    /// if it succeeded.
    pub failure: Option<String>,
}

/// The purpose of a template. It determines which constructs are allowed, and the terms used in diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A recipe. Its values are arguments, which are plain text, and it may run programs.
    Recipe,
    /// A static hook. Its values are the payload of an event, of any depth, and it cannot run programs.
    Hook,
}

impl Dialect {
    fn starts_programs(self) -> bool {
        self == Self::Recipe
    }

    fn has_parts(self) -> bool {
        self == Self::Hook
    }

    /// Returns the term for a value in diagnostics.
    fn value(self) -> &'static str {
        match self {
            Self::Recipe => "an argument",
            Self::Hook => "a field",
        }
    }

    /// Returns the documentation page to refer to.
    fn guide(self) -> &'static str {
        match self {
            Self::Recipe => "see docs/recipes.md",
            Self::Hook => "see docs/manifest-hooks.md",
        }
    }
}

/// A file that contains a template. Positions in diagnostics are relative to the start of the file.
#[derive(Debug, Clone)]
pub struct TemplateFile {
    /// The path, for diagnostics.
    pub path: PathBuf,
    /// The whole text of the file.
    pub text: String,
    /// The byte offset at which the template begins.
    pub body: usize,
}

impl TemplateFile {
    /// Creates a file that is a template from its start.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), body: 0 }
    }
}

/// A parsed template.
#[derive(Debug, Clone)]
pub struct Template {
    file: TemplateFile,
    dialect: Dialect,
    nodes: Vec<Node>,
    uses: Uses,
}

/// A parsed condition over the payload of an event.
#[derive(Debug, Clone)]
pub struct Condition {
    file: TemplateFile,
    value: Pipeline,
}

/// The values that a template uses.
#[derive(Debug, Clone, Default)]
struct Uses {
    /// The values that it names.
    names: Vec<String>,
    /// True if it uses all values as a whole.
    all: bool,
}

/// The values that a template is rendered with.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The arguments of a recipe, or the payload of an event; an object.
    pub values: &'a Value,
    /// The names of the arguments that the recipe declares. A condition on any other missing argument causes a warning.
    pub declared_arguments: &'a [&'a str],
}

/// A rendered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Failed commands and undeclared arguments.
    pub warnings: Vec<Diagnostic>,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// All syntax errors, in the order of the file.
    pub fn parse(file: TemplateFile, dialect: Dialect) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Findings::new(&file);
        let pieces = lexer::pieces(&file, &mut findings);
        let (nodes, uses) = parser::parse(pieces, dialect, &mut findings);
        let diagnostics = findings.into_diagnostics();
        if diagnostics.is_empty() {
            Ok(Self { file, dialect, nodes, uses })
        } else {
            Err(diagnostics)
        }
    }

    /// Returns the source text.
    pub fn text(&self) -> &str {
        &self.file.text[self.file.body..]
    }

    /// Returns true if it uses the value of this name.
    pub fn uses(&self, name: &str) -> bool {
        self.uses.all || self.uses.names.iter().any(|name_in_use| name_in_use == name)
    }

    /// Returns the command lines that it may run, without duplicates.
    pub fn programs(&self) -> Vec<String> {
        programs::programs(&self.nodes)
    }

    /// Returns the fields that it reads, as paths from the root of the payload.
    pub fn paths(&self) -> Vec<FieldPath> {
        paths::in_template(&self.nodes)
    }

    /// Renders the template.
    ///
    /// # Errors
    /// All errors, such as missing arguments. No program is run after the first error.
    pub fn render(
        &self,
        inputs: &Inputs<'_>,
        shell: &dyn Shell,
    ) -> Result<Rendered, Vec<Diagnostic>> {
        render::render(&self.file, self.dialect, &self.nodes, inputs, shell)
    }
}

impl Condition {
    /// Parses a condition: an expression as it may be between `{{if` and `}}`.
    ///
    /// # Errors
    /// All syntax errors.
    pub fn parse(file: TemplateFile) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Findings::new(&file);
        let action = lexer::condition(&file, &mut findings);
        let value = parser::condition(&action, Dialect::Hook, &mut findings);
        match value {
            Some(value) => Ok(Self { file, value }),
            None => Err(findings.into_diagnostics()),
        }
    }

    /// Returns the source text.
    pub fn text(&self) -> &str {
        &self.file.text[self.file.body..]
    }

    /// Returns the fields that it reads, as paths from the root of the payload.
    pub fn paths(&self) -> Vec<FieldPath> {
        paths::in_condition(&self.value)
    }

    /// Returns true if the condition holds. Missing and empty values, zero, null and `false` are false.
    ///
    /// # Errors
    /// The expression cannot be evaluated, for instance because a compared field is missing.
    pub fn holds(&self, payload: &Value) -> Result<bool, Vec<Diagnostic>> {
        let inputs = Inputs { values: payload, declared_arguments: &[] };
        render::holds(&self.file, &self.value, &inputs)
    }
}
