//! The syntax tree of a template. Only blocks and parentheses make it deeper; a long pipeline does not.

use std::ops::Range;

use super::functions::Function;
use super::value::Value;

/// A part of a template.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Literal text.
    Text(Range<usize>),
    /// An expression whose value is written.
    Output(Pipeline),
    /// `$name := …`, or `$name = …` for an existing variable.
    Set {
        variable: Variable,
        declares: bool,
        value: Pipeline,
    },
    /// `if`, with all its `else if` branches.
    If {
        branches: Vec<Branch>,
        otherwise: Vec<Node>,
    },
    With {
        branch: Branch,
        otherwise: Vec<Node>,
    },
    Range {
        index: Option<Variable>,
        branch: Branch,
        otherwise: Vec<Node>,
    },
}

/// A variable name, which begins with `$`.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) at: Range<usize>,
    pub(super) name: String,
}

/// The head of a block, which is a condition or a list, and its body.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// The variable that holds the value inside the block.
    pub(super) variable: Option<Variable>,
    pub(super) head: Pipeline,
    pub(super) body: Vec<Node>,
}

/// `first | second | …`: each value is the last argument of the next call.
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

/// An operand: `.usage.input_tokens` is a dot with two parts.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) at: Range<usize>,
    pub(super) kind: OperandKind,
    /// The path of fields inside the value; empty for the value itself.
    pub(super) parts: Vec<Part>,
}

/// A named field of a value.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) at: Range<usize>,
    pub(super) name: String,
}

/// The kind of an operand.
#[derive(Debug, Clone)]
pub(super) enum OperandKind {
    Literal(Value<'static>),
    /// `.`
    Dot,
    /// `$name`; the name is empty for `$`.
    Variable(String),
    /// `( … )`
    Group(Box<Pipeline>),
}
