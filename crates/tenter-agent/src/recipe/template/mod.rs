//! The language of recipes' texts: the part of Go's templates that recipes use (R53).
//!
//! `lexer` cuts a text into pieces, `parser` makes the tree of `ast` from them, `render` walks it, `functions` knows what can
//! be called. Every finding has its place, and one mistake does not hide the next.
//!
//! It starts nothing itself: whoever renders hands in a [`Shell`]. It refuses to go on without end: blocks and parentheses
//! have a greatest depth, lists a greatest length, and a rendering a greatest output and a greatest number of steps.

mod ast;
mod findings;
mod functions;
mod lexer;
mod parser;
mod render;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tenter_protocol::Diagnostic;

use self::ast::Node;
use self::findings::Findings;

pub use self::findings::MISSING;

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

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// What it wrote to stdout, without the line ends at its end.
    pub text: String,
    /// How it failed, if it did, as the end of a sentence that begins with the command: "failed with exit code 1".
    pub failure: Option<String>,
}

/// A file, and where in it the template begins. Places count from the file's beginning.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) body: usize,
}

/// A template that was understood.
#[derive(Debug, Clone)]
pub(super) struct Template {
    file: File,
    nodes: Vec<Node>,
    uses: Uses,
}

/// Which arguments a template speaks of.
#[derive(Debug, Clone, Default)]
pub(super) struct Uses {
    /// Those that it names.
    pub(super) names: Vec<String>,
    /// Whether it uses the whole of them, so that it may be about any.
    pub(super) all: bool,
}

/// What a template is rendered with.
#[derive(Debug, Clone)]
pub(super) struct Inputs<'a> {
    /// The arguments' values.
    pub(super) values: BTreeMap<&'a str, &'a str>,
    /// The names of the arguments that the recipe declares.
    pub(super) declared: Vec<&'a str>,
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
    pub(super) fn parse(file: File) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Findings::new(&file);
        let pieces = lexer::pieces(&file, &mut findings);
        let (nodes, uses) = parser::parse(pieces, &mut findings);
        let found = findings.into_diagnostics();
        if found.is_empty() { Ok(Self { file, nodes, uses }) } else { Err(found) }
    }

    /// The text as it was written.
    pub(super) fn text(&self) -> &str {
        &self.file.text[self.file.body..]
    }

    /// Whether it has a use for an argument of this name.
    pub(super) fn uses(&self, name: &str) -> bool {
        self.uses.all || self.uses.names.iter().any(|used| used == name)
    }

    /// The text with everything filled in.
    ///
    /// # Errors
    /// Everything that keeps it from being filled in. After the first of it no program is started any more.
    pub(super) fn render(
        &self,
        inputs: &Inputs<'_>,
        shell: &dyn Shell,
    ) -> Result<Rendered, Vec<Diagnostic>> {
        render::render(&self.file, &self.nodes, inputs, shell)
    }
}
