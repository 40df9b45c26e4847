//! Makes a tree of pieces. An action that makes no sense is told and left out; a block whose beginning makes none is still a
//! block, so that its `end` belongs to it.

use std::ops::Range;
use std::vec;

use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage, Variable};
use super::findings::{Findings, LIMIT, SYNTAX};
use super::functions::{self, Function};
use super::lexer::{Action, Piece, Token, TokenKind};
use super::value::Value;
use super::{DEEPEST, Uses};

/// The tree of `pieces`, and which arguments it speaks of.
pub(super) fn parse(pieces: Vec<Piece>, findings: &mut Findings<'_>) -> (Vec<Node>, Uses) {
    let mut parser = Parser { pieces: pieces.into_iter(), findings, uses: Uses::default() };
    let mut nodes = Vec::new();
    while let Ok((more, ending)) = parser.list(0) {
        nodes.extend(more);
        let (Ending::End(at) | Ending::Else(Action { at, .. })) = ending else { break };
        let help = "every `{{end}}` and `{{else}}` belongs to an `if`, a `with` or a `range`";
        parser.findings.error(SYNTAX, &at, "there is no block here to go with this", help);
    }
    (nodes, parser.uses)
}

/// The rest is not worth reading; the findings say why.
struct Stop;

/// What a list of nodes ends with.
enum Ending {
    End(Range<usize>),
    Else(Action),
    File,
}

struct Parser<'a, 'f> {
    pieces: vec::IntoIter<Piece>,
    findings: &'a mut Findings<'f>,
    uses: Uses,
}

impl Parser<'_, '_> {
    /// The nodes up to the end of the block that they are in.
    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, Ending), Stop> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            if self.findings.are_enough() {
                return Err(Stop);
            }
            let action = match piece {
                Piece::Text(at) => {
                    nodes.push(Node::Text(at));
                    continue;
                }
                Piece::Action(action) => action,
            };
            match keyword(&action) {
                "end" => {
                    self.stands_alone(&action);
                    return Ok((nodes, Ending::End(action.at)));
                }
                "else" => return Ok((nodes, Ending::Else(action))),
                "if" | "with" | "range" => nodes.push(self.block(action, depth + 1)?),
                // They are refused, but what belongs to them must not end another block.
                "define" | "block" => {
                    self.refuse(&action);
                    self.otherwise(&action, depth + 1)?;
                }
                _ => nodes.extend(self.statement(&action)),
            }
        }
        Ok((nodes, Ending::File))
    }

    fn stands_alone(&mut self, action: &Action) {
        if let Some(more) = action.tokens.get(1).filter(|_| !action.broken) {
            let message = format!("nothing can follow `{}` here", keyword(action));
            self.findings.error(SYNTAX, &more.at, message, "remove it");
        }
    }

    fn refuse(&mut self, action: &Action) {
        let word = keyword(action);
        let message = format!("there is no `{word}`");
        self.findings.error(SYNTAX, &action.at, message, functions::help(word));
    }

    fn block(&mut self, action: Action, depth: usize) -> Result<Node, Stop> {
        if depth > DEEPEST {
            let message = format!("this is the {depth}th block inside of another");
            self.findings.error(LIMIT, &action.at, message, format!("{DEEPEST} are the most"));
            return Err(Stop);
        }
        match keyword(&action) {
            "if" => self.condition(action, depth),
            "with" => {
                let (_, branch, otherwise) = self.loop_or_with(&action, false, depth)?;
                Ok(Node::With { branch, otherwise })
            }
            _ => {
                let (index, branch, otherwise) = self.loop_or_with(&action, true, depth)?;
                Ok(Node::Range { index, branch, otherwise })
            }
        }
    }

    fn condition(&mut self, opening: Action, depth: usize) -> Result<Node, Stop> {
        let opened_at = opening.at.clone();
        let mut branches = Vec::new();
        let mut next = (opening, 1);
        loop {
            let (action, words) = next;
            let (_, variable, head) = self.head(&action, words, false);
            let (body, ending) = self.list(depth)?;
            branches.push(Branch { variable, head, body });
            let otherwise = match ending {
                Ending::Else(action) if second_word(&action) == "if" => {
                    next = (action, 2);
                    continue;
                }
                Ending::Else(action) => {
                    self.stands_alone(&action);
                    self.rest_of_block(&opened_at, "if", depth)?
                }
                Ending::End(_) => Vec::new(),
                Ending::File => return Err(self.unclosed(&opened_at, "if")),
            };
            return Ok(Node::If { branches, otherwise });
        }
    }

    fn loop_or_with(
        &mut self,
        action: &Action,
        is_loop: bool,
        depth: usize,
    ) -> Result<(Option<Variable>, Branch, Vec<Node>), Stop> {
        let (index, variable, head) = self.head(action, 1, is_loop);
        let (body, ending) = self.list(depth)?;
        let otherwise = match ending {
            Ending::Else(other) => {
                self.stands_alone(&other);
                self.rest_of_block(&action.at, keyword(action), depth)?
            }
            Ending::End(_) => Vec::new(),
            Ending::File => return Err(self.unclosed(&action.at, keyword(action))),
        };
        Ok((index, Branch { variable, head, body }, otherwise))
    }

    fn otherwise(&mut self, action: &Action, depth: usize) -> Result<Vec<Node>, Stop> {
        if depth > DEEPEST {
            return Err(Stop);
        }
        self.rest_of_block(&action.at, keyword(action), depth)
    }

    /// What stands between `else` and `end`.
    fn rest_of_block(
        &mut self,
        opening: &Range<usize>,
        word: &str,
        depth: usize,
    ) -> Result<Vec<Node>, Stop> {
        let mut nodes = Vec::new();
        loop {
            let (more, ending) = self.list(depth)?;
            nodes.extend(more);
            match ending {
                Ending::End(_) => return Ok(nodes),
                Ending::File => return Err(self.unclosed(opening, word)),
                Ending::Else(action) => {
                    let help = "`else` is the last part of a block";
                    self.findings.error(
                        SYNTAX,
                        &action.at,
                        "the block has an `else` already",
                        help,
                    );
                }
            }
        }
    }

    fn unclosed(&mut self, opening: &Range<usize>, word: &str) -> Stop {
        let message = format!("the `{word}` that begins here has no end");
        self.findings.error(SYNTAX, opening, message, "close it with `{{end}}`");
        Stop
    }

    /// What follows the first `words` words of a block's action: in a loop up to two variables, elsewhere one, and a value.
    fn head(
        &mut self,
        action: &Action,
        words: usize,
        is_loop: bool,
    ) -> (Option<Variable>, Option<Variable>, Pipeline) {
        let tokens = &action.tokens[words.min(action.tokens.len())..];
        let (index, variable, rest) = match tokens {
            [first, comma, second, declare, rest @ ..]
                if is_loop
                    && comma.kind == TokenKind::Comma
                    && declare.kind == TokenKind::Declare =>
            {
                (variable(first), variable(second), rest)
            }
            [first, declare, rest @ ..] if declare.kind == TokenKind::Declare => {
                (None, variable(first), rest)
            }
            tokens => (None, None, tokens),
        };
        let head = self.pipeline_of(action, rest).unwrap_or_else(|| nothing(&action.at));
        (index, variable, head)
    }

    /// An action that is no block.
    fn statement(&mut self, action: &Action) -> Option<Node> {
        let set = match action.tokens.as_slice() {
            [first, sign, rest @ ..]
                if matches!(sign.kind, TokenKind::Declare | TokenKind::Assign) =>
            {
                variable(first).map(|variable| (variable, sign.kind == TokenKind::Declare, rest))
            }
            _ => None,
        };
        match set {
            Some((variable, declares, rest)) => {
                let value = self.pipeline_of(action, rest)?;
                Some(Node::Set { variable, declares, value })
            }
            None => self.pipeline_of(action, &action.tokens).map(Node::Output),
        }
    }

    /// The pipeline that `tokens`, a part of the action, are.
    fn pipeline_of(&mut self, action: &Action, tokens: &[Token]) -> Option<Pipeline> {
        if action.broken {
            return None;
        }
        let end = action.at.end.saturating_sub(2);
        let mut reader =
            Reader { tokens, next: 0, end: end..action.at.end, depth: 0, uses: &mut self.uses };
        let read = reader.pipeline().and_then(|pipeline| reader.finished().map(|()| pipeline));
        match read {
            Ok(pipeline) => Some(pipeline),
            Err(Misfit { id, at, message, help }) => {
                self.findings.error(id, &at, message, help);
                None
            }
        }
    }
}

fn keyword(action: &Action) -> &str {
    word(action.tokens.first())
}

fn second_word(action: &Action) -> &str {
    word(action.tokens.get(1))
}

fn word(token: Option<&Token>) -> &str {
    match token {
        Some(Token { kind: TokenKind::Word(word), .. }) => word,
        _ => "",
    }
}

fn variable(token: &Token) -> Option<Variable> {
    match &token.kind {
        TokenKind::Variable(name) if !name.is_empty() => {
            Some(Variable { at: token.at.clone(), name: name.clone() })
        }
        _ => None,
    }
}

/// A stand-in for what could not be read: with a finding there is no template, so that nobody renders it.
fn nothing(at: &Range<usize>) -> Pipeline {
    let operand = Operand { at: at.clone(), kind: OperandKind::Literal(Value::text("")) };
    Pipeline { at: at.clone(), first: Stage::Value(operand), rest: Vec::new() }
}

/// What is wrong with an action, and what would be right.
struct Misfit {
    id: &'static str,
    at: Range<usize>,
    message: String,
    help: String,
}

fn misfit(at: &Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Misfit {
    Misfit { id: SYNTAX, at: at.clone(), message: message.into(), help: help.into() }
}

/// Reads the tokens of one action.
struct Reader<'t, 'u> {
    tokens: &'t [Token],
    next: usize,
    /// Where the action ends, for what is missing there.
    end: Range<usize>,
    /// How many parentheses are open.
    depth: usize,
    uses: &'u mut Uses,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, kind: &TokenKind) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == *kind);
        self.next += usize::from(found);
        found
    }

    fn here(&self) -> Range<usize> {
        self.peek().map_or_else(|| self.end.clone(), |token| token.at.clone())
    }

    fn finished(&self) -> Result<(), Misfit> {
        let Some(token) = self.peek() else { return Ok(()) };
        Err(match token.kind {
            TokenKind::Close => misfit(&token.at, "this parenthesis closes nothing", "remove it"),
            TokenKind::Declare | TokenKind::Assign => {
                misfit(&token.at, "only a variable can be set", "write `{{$name := …}}`")
            }
            _ => misfit(
                &token.at,
                "this is one value too many",
                "call a function with several values, or write two actions",
            ),
        })
    }

    fn pipeline(&mut self) -> Result<Pipeline, Misfit> {
        let start = self.here().start;
        let first = self.stage(0)?;
        let mut rest = Vec::new();
        while self.take(&TokenKind::Pipe) {
            rest.push(self.stage(1)?);
        }
        let end = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        Ok(Pipeline { at: start..end.map_or(start, |last| last.at.end), first, rest })
    }

    /// A value, or a call with so many values that come from the stage before.
    fn stage(&mut self, piped: usize) -> Result<Stage, Misfit> {
        let Some(Token { at, kind: TokenKind::Word(name) }) =
            self.peek().filter(|token| !is_boolean(token))
        else {
            let at = self.here();
            let operand = self.operand()?;
            if piped > 0 {
                return Err(misfit(
                    &at,
                    "a value cannot take the value before it",
                    "after `|` stands a function",
                ));
            }
            return Ok(Stage::Value(operand));
        };
        self.next += 1;
        let function = function(name, at)?;
        let mut arguments = Vec::new();
        while self.begins_operand() {
            arguments.push(self.operand()?);
        }
        match function.misfit(arguments.len() + piped) {
            None => Ok(Stage::Call { at: at.clone(), function, arguments }),
            Some((message, help)) => Err(misfit(at, message, help)),
        }
    }

    fn begins_operand(&self) -> bool {
        use TokenKind::{Assign, Close, Comma, Declare, Pipe};
        self.peek()
            .is_some_and(|token| !matches!(token.kind, Assign | Close | Comma | Declare | Pipe))
    }

    fn operand(&mut self) -> Result<Operand, Misfit> {
        let at = self.here();
        let Some(token) = self.peek() else {
            return Err(misfit(
                &at,
                "a value is missing here",
                "write an argument, `{{.name}}`, or a function",
            ));
        };
        self.next += 1;
        let kind = match &token.kind {
            TokenKind::Word(word) if is_boolean(token) => {
                OperandKind::Literal(Value::Boolean(word == "true"))
            }
            // A function without values of its own is no operand: only the table's help is of use.
            TokenKind::Word(word) => {
                function(word, &at)?;
                return Err(misfit(
                    &at,
                    format!("`{word}` needs parentheses here"),
                    format!("write `({word} …)`"),
                ));
            }
            TokenKind::Text(text) => OperandKind::Literal(Value::text(text)),
            TokenKind::Number(number) => OperandKind::Literal(Value::Number(*number)),
            TokenKind::Dot => {
                self.uses.all = true;
                OperandKind::Dot
            }
            TokenKind::Field(name) => self.field(None, name),
            TokenKind::Variable(name) => self.variable(name, &at),
            TokenKind::Open => self.group(&at)?,
            _ => {
                return Err(misfit(
                    &at,
                    "a value is missing before this",
                    "write an argument, `{{.name}}`, or a function",
                ));
            }
        };
        let at = at.start..self.tokens[self.next - 1].at.end;
        self.refuse_part(at.end)?;
        Ok(Operand { at, kind })
    }

    fn field(&mut self, of: Option<String>, name: &str) -> OperandKind {
        if !self.uses.names.iter().any(|used| used == name) {
            self.uses.names.push(name.to_owned());
        }
        OperandKind::Field { of, name: name.to_owned() }
    }

    /// `$name`, or `$name.field` where a field follows without a space.
    fn variable(&mut self, name: &str, at: &Range<usize>) -> OperandKind {
        if let Some(Token { at: next, kind: TokenKind::Field(field) }) = self.peek()
            && next.start == at.end
        {
            self.next += 1;
            return self.field(Some(name.to_owned()), field);
        }
        self.uses.all |= name.is_empty();
        OperandKind::Variable(name.to_owned())
    }

    fn group(&mut self, open: &Range<usize>) -> Result<OperandKind, Misfit> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("this is the {}th parenthesis inside of another", self.depth);
            let help = format!("{DEEPEST} are the most");
            return Err(Misfit { id: LIMIT, ..misfit(open, message, help) });
        }
        let pipeline = self.pipeline()?;
        if !self.take(&TokenKind::Close) {
            return Err(misfit(open, "this parenthesis is not closed", "close it with `)`"));
        }
        self.depth -= 1;
        Ok(OperandKind::Group(Box::new(pipeline)))
    }

    /// `.a.b`: there are no arguments in arguments.
    fn refuse_part(&self, end: usize) -> Result<(), Misfit> {
        match self.peek() {
            Some(Token { at, kind: TokenKind::Field(_) }) if at.start == end => Err(misfit(
                at,
                "an argument is text and has no parts",
                "put a space before it if it is a value of its own",
            )),
            _ => Ok(()),
        }
    }
}

fn is_boolean(token: &Token) -> bool {
    matches!(&token.kind, TokenKind::Word(word) if word == "true" || word == "false")
}

fn function(name: &str, at: &Range<usize>) -> Result<Function, Misfit> {
    Function::named(name)
        .ok_or_else(|| misfit(at, format!("there is no function `{name}`"), functions::help(name)))
}
