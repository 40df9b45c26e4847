//! Makes a tree of pieces; `expressions` reads what stands in one action. An action that makes no sense is told and left out; a
//! block whose beginning makes none is still a block, so that its `end` belongs to it.

mod expressions;

use std::ops::Range;
use std::vec;

use self::expressions::{Misfit, Reader};
use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage, Variable};
use super::findings::{Findings, LIMIT, SYNTAX};
use super::functions;
use super::lexer::{Action, Piece, Token, TokenKind};
use super::value::Value;
use super::{DEEPEST, Dialect, Uses};

/// The tree of `pieces`, and which values it speaks of.
pub(super) fn parse(
    pieces: Vec<Piece>,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> (Vec<Node>, Uses) {
    let mut parser = Parser::new(pieces, dialect, findings);
    let mut nodes = Vec::new();
    while let Ok((more, ending)) = parser.list(0) {
        nodes.extend(more);
        let (Ending::End(at) | Ending::Else(Action { at, .. })) = ending else { break };
        let help = "every `{{end}}` and `{{else}}` belongs to an `if`, a `with` or a `range`";
        parser.findings.error(SYNTAX, &at, "there is no block here to go with this", help);
    }
    (nodes, parser.uses)
}

/// What a condition without braces is.
pub(super) fn condition(
    action: &Action,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> Option<Pipeline> {
    Parser::new(Vec::new(), dialect, findings).pipeline_of(action, &action.tokens)
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
    dialect: Dialect,
    findings: &'a mut Findings<'f>,
    uses: Uses,
}

impl<'a, 'f> Parser<'a, 'f> {
    fn new(pieces: Vec<Piece>, dialect: Dialect, findings: &'a mut Findings<'f>) -> Self {
        Self { pieces: pieces.into_iter(), dialect, findings, uses: Uses::default() }
    }

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
        self.findings.error(SYNTAX, &action.at, message, functions::help(word, self.dialect));
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
        let (dialect, uses) = (self.dialect, &mut self.uses);
        let end = end..action.at.end;
        let mut reader = Reader { tokens, next: 0, end, depth: 0, dialect, uses };
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
    let kind = OperandKind::Literal(Value::text(""));
    let operand = Operand { at: at.clone(), kind, parts: Vec::new() };
    Pipeline { at: at.clone(), first: Stage::Value(operand), rest: Vec::new() }
}
