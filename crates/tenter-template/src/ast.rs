//! A template as a tree. It is as deep as blocks and parentheses are, never as deep as a pipeline is long.

use std::ops::Range;

use super::functions::Function;
use super::value::Value;

/// A part of a template.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Text that stands for itself.
    Text(Range<usize>),
    /// A value to be shown.
    Output(Pipeline),
    /// `$name := …`, or `$name = …` where it is there already.
    Set { variable: Variable, declares: bool, value: Pipeline },
    /// `if`, with its `else if`s.
    If { branches: Vec<Branch>, otherwise: Vec<Node> },
    /// `with`.
    With { branch: Branch, otherwise: Vec<Node> },
    /// `range`.
    Range { index: Option<Variable>, branch: Branch, otherwise: Vec<Node> },
}

/// A name that begins with `$`, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) at: Range<usize>,
    pub(super) name: String,
}

/// A condition, or a list, and what is done with it.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// What the value is called inside.
    pub(super) variable: Option<Variable>,
    pub(super) head: Pipeline,
    pub(super) body: Vec<Node>,
}

/// `first | second | …`: each value is the last argument of the next.
#[derive(Debug, Clone)]
pub(super) struct Pipeline {
    pub(super) at: Range<usize>,
    pub(super) first: Stage,
    pub(super) rest: Vec<Stage>,
}

/// A value or a call.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    Value(Operand),
    Call { at: Range<usize>, function: Function, arguments: Vec<Operand> },
}

/// Something that has a value, and where it stands: `.usage.input_tokens` are two parts of a dot.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) at: Range<usize>,
    pub(super) kind: OperandKind,
    /// Which part of it is meant, and which part of that; all of it, where there are none.
    pub(super) parts: Vec<Part>,
}

/// A part of a value, by its name.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) at: Range<usize>,
    pub(super) name: String,
}

/// What has a value.
#[derive(Debug, Clone)]
pub(super) enum OperandKind {
    Literal(Value<'static>),
    /// `.`
    Dot,
    /// `$name`; of `$` the name is empty.
    Variable(String),
    /// `( … )`
    Group(Box<Pipeline>),
}
