//! The tree of a text.

/// A parsed text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: List,
    /// The here-documents, to which redirections refer.
    pub(crate) heredocs: Vec<HereDoc>,
    /// Something was not read as bash would read it.
    pub(crate) is_broken: bool,
    /// It exceeds a limit: a part of it was not read.
    pub(crate) is_limited: bool,
    /// Number of bytes that were looked at.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test of linear time reads it"))]
    pub(crate) work: usize,
}

/// Commands, one after the other.
pub(crate) type List = Vec<Statement>;

/// A command in a list, and what follows it.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) node: Node,
    pub(crate) then: Separator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `;`, a new line, or the end.
    Next,
    And,
    Or,
    Background,
}

#[derive(Debug)]
pub(crate) enum Node {
    Simple(Simple),
    Pipeline(Vec<Node>),
    Subshell(List),
    Group(List),
    /// The condition and then each branch with its own condition.
    If(Vec<Branch>),
    Loop {
        condition: List,
        body: List,
    },
    For {
        name: String,
        words: Vec<Word>,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<Branch>,
    },
    Function {
        name: String,
        body: std::rc::Rc<Node>,
    },
    /// `[[ … ]]`, `(( … ))`: only the substitutions in the words run.
    Test(Vec<Word>),
    Coproc(std::rc::Rc<Node>),
    /// `! …`.
    Not(Box<Node>),
    Redirected(Box<Node>, Vec<Redirection>),
}

/// A part of `if` or `case`: what is tested, and what then runs.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) condition: List,
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
}

/// A simple command.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<Redirection>,
    /// The command as written.
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue,
}

#[derive(Debug)]
pub(crate) enum AssignedValue {
    Word(Word),
    Array(Vec<Word>),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirection {
    /// The file descriptor before the operator, as written: a number or `{name}`.
    pub(crate) fd: String,
    pub(crate) op: RedirectionOp,
    pub(crate) target: Target,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Word(std::rc::Rc<Word>),
    /// The index of a here-document, if it was within the limit.
    HereDoc(Option<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectionOp {
    Read,
    Write,
    Clobber,
    Append,
    ReadWrite,
    HereDoc,
    HereString,
    DuplicateIn,
    DuplicateOut,
    WriteBoth,
    AppendBoth,
}

impl RedirectionOp {
    /// Returns the operator as written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Write => ">",
            Self::Clobber => ">|",
            Self::Append => ">>",
            Self::ReadWrite => "<>",
            Self::HereDoc => "<<",
            Self::HereString => "<<<",
            Self::DuplicateIn => "<&",
            Self::DuplicateOut => ">&",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
        }
    }
}

/// The body of a here-document.
#[derive(Debug, Default, Clone)]
pub(crate) struct HereDoc {
    pub(crate) delimiter: String,
    pub(crate) is_literal: bool,
    pub(crate) strips_tabs: bool,
    pub(crate) body: String,
}

/// A word, before expansion.
#[derive(Debug, Default, Clone)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Text without quotes, in which `*`, `{` and a leading `~` have a meaning.
    Plain(String),
    /// Text in quotes or after a backslash.
    Quoted(String),
    Parameter(Box<Parameter>),
    Command(Box<Substitution>),
    /// `<(…)`, or `>(…)` if `is_output`.
    Process {
        list: std::rc::Rc<List>,
        raw: String,
        is_output: bool,
    },
    /// `$((…))`, with the substitutions in it.
    Arithmetic {
        raw: String,
        parts: Vec<Part>,
    },
    /// The elements of an array that is assigned in an argument: `declare x=(a b)`.
    Array(Vec<Word>),
}

/// `$(…)` or `` `…` ``.
#[derive(Debug, Clone)]
pub(crate) struct Substitution {
    pub(crate) script: std::rc::Rc<SubstitutionBody>,
    pub(crate) raw: String,
    pub(crate) is_quoted: bool,
}

#[derive(Debug)]
pub(crate) enum SubstitutionBody {
    /// `$(…)`: its here-documents belong to the script around it.
    Inline(List),
    /// `` `…` ``: a text of its own, because its escapes are removed first.
    Own(Script),
}

/// `$name` or `${…}`.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) change: ParameterChange,
    pub(crate) raw: String,
    pub(crate) is_quoted: bool,
}

/// The change that `${…}` makes to the value.
#[derive(Debug, Clone)]
pub(crate) enum ParameterChange {
    None,
    /// `-`, `=`, `+`, `?` with a word; `colon` counts an empty value as none.
    Default {
        kind: char,
        colon: bool,
        word: Word,
    },
    /// `#`, `##`, `%`, `%%` with a pattern.
    Strip {
        kind: char,
        is_longest: bool,
        pattern: Word,
    },
    /// `${!name}`.
    Indirect,
    /// Anything else, with the substitutions in it.
    Other(Vec<Part>),
}

impl Word {
    /// Returns the text of a word without quotes and expansions.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word that consists of text only.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Plain(more) | Part::Quoted(more) => text.push_str(more),
                _ => return None,
            }
        }
        Some(text)
    }
}
