//! Builds the tree; `expressions` parses the content of one action. An invalid action is reported and left out. A block with an
//! invalid head is still a block, so that its `end` is matched.

mod expressions;

use std::ops::Range;
use std::vec;

use self::expressions::{Reader, SyntaxError};
use super::ast::{Branch, Node, Operand, OperandKind, Pipeline, Stage, Variable};
use super::findings::{Findings, LIMIT, SYNTAX};
use super::lexer::{Action, Piece, Token, TokenKind};
use super::value::Value;
use super::{Dialect, MAX_DEPTH, Uses, functions};

/// Parses `pieces`. Returns the tree and the values that it uses.
pub(super) fn parse(
    pieces: Vec<Piece>,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> (Vec<Node>, Uses) {
    let mut parser = Parser::new(pieces, dialect, findings);
    let mut nodes = Vec::new();
    while let Ok((more, ending)) = parser.list(0) {
        nodes.extend(more);
        let (ListEnd::End(at) | ListEnd::Else(Action { at, .. })) = ending else { break };
        let help = "`{{end}}` and `{{else}}` belong to an `if`, a `with` or a `range`";
        parser.findings.error(SYNTAX, &at, "there is no open block here", help);
    }
    (nodes, parser.uses)
}

/// Parses a condition without braces.
pub(super) fn condition(
    action: &Action,
    dialect: Dialect,
    findings: &mut Findings<'_>,
) -> Option<Pipeline> {
    Parser::new(Vec::new(), dialect, findings).pipeline_of(action, &action.tokens)
}

/// Parsing ends early; the reason is already reported.
struct Aborted;

/// The end of a list of nodes.
enum ListEnd {
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

    /// Parses the nodes up to the end of the enclosing block.
    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, ListEnd), Aborted> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            if self.findings.is_full() {
                return Err(Aborted);
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
                    self.must_be_alone(&action);
                    return Ok((nodes, ListEnd::End(action.at)));
                }
                "else" => return Ok((nodes, ListEnd::Else(action))),
                "if" | "with" | "range" => nodes.push(self.block(action, depth + 1)?),
                // Not supported, but their `end` must not end another block.
                "define" | "block" => {
                    self.unsupported(&action);
                    self.otherwise(&action, depth + 1)?;
                }
                _ => nodes.extend(self.statement(&action)),
            }
        }
        Ok((nodes, ListEnd::File))
    }

    fn must_be_alone(&mut self, action: &Action) {
        if let Some(more) = action.tokens.get(1).filter(|_| !action.broken) {
            let message = format!("nothing can follow `{}` here", keyword(action));
            self.findings.error(SYNTAX, &more.at, message, "remove it");
        }
    }

    fn unsupported(&mut self, action: &Action) {
        let word = keyword(action);
        let message = format!("`{word}` is not supported");
        self.findings.error(SYNTAX, &action.at, message, functions::help(word, self.dialect));
    }

    fn block(&mut self, action: Action, depth: usize) -> Result<Node, Aborted> {
        if depth > MAX_DEPTH {
            let message = format!("blocks are nested more than {MAX_DEPTH} deep");
            self.findings.error(LIMIT, &action.at, message, "use fewer nested blocks");
            return Err(Aborted);
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

    fn condition(&mut self, opening: Action, depth: usize) -> Result<Node, Aborted> {
        let opened_at = opening.at.clone();
        let mut branches = Vec::new();
        let mut next = (opening, 1);
        loop {
            let (action, words) = next;
            let (_, variable, head) = self.head(&action, words, false);
            let (body, ending) = self.list(depth)?;
            branches.push(Branch { variable, head, body });
            let otherwise = match ending {
                ListEnd::Else(action) if second_word(&action) == "if" => {
                    next = (action, 2);
                    continue;
                }
                ListEnd::Else(action) => {
                    self.must_be_alone(&action);
                    self.rest_of_block(&opened_at, "if", depth)?
                }
                ListEnd::End(_) => Vec::new(),
                ListEnd::File => return Err(self.unclosed(&opened_at, "if")),
            };
            return Ok(Node::If { branches, otherwise });
        }
    }

    fn loop_or_with(
        &mut self,
        action: &Action,
        is_loop: bool,
        depth: usize,
    ) -> Result<(Option<Variable>, Branch, Vec<Node>), Aborted> {
        let (index, variable, head) = self.head(action, 1, is_loop);
        let (body, ending) = self.list(depth)?;
        let otherwise = match ending {
            ListEnd::Else(other) => {
                self.must_be_alone(&other);
                self.rest_of_block(&action.at, keyword(action), depth)?
            }
            ListEnd::End(_) => Vec::new(),
            ListEnd::File => return Err(self.unclosed(&action.at, keyword(action))),
        };
        Ok((index, Branch { variable, head, body }, otherwise))
    }

    fn otherwise(&mut self, action: &Action, depth: usize) -> Result<Vec<Node>, Aborted> {
        if depth > MAX_DEPTH {
            return Err(Aborted);
        }
        self.rest_of_block(&action.at, keyword(action), depth)
    }

    /// Parses the nodes between `else` and `end`.
    fn rest_of_block(
        &mut self,
        opening: &Range<usize>,
        word: &str,
        depth: usize,
    ) -> Result<Vec<Node>, Aborted> {
        let mut nodes = Vec::new();
        loop {
            let (more, ending) = self.list(depth)?;
            nodes.extend(more);
            match ending {
                ListEnd::End(_) => return Ok(nodes),
                ListEnd::File => return Err(self.unclosed(opening, word)),
                ListEnd::Else(action) => {
                    let help = "`else` must be the last part of a block";
                    self.findings.error(
                        SYNTAX,
                        &action.at,
                        "the block already has an `else`",
                        help,
                    );
                }
            }
        }
    }

    fn unclosed(&mut self, opening: &Range<usize>, word: &str) -> Aborted {
        let message = format!("the `{word}` that begins here has no end");
        self.findings.error(SYNTAX, opening, message, "close it with `{{end}}`");
        Aborted
    }

    /// Parses the head of a block after `words` keywords: up to two variables in a loop, else up to one, and a pipeline.
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
        let head = self.pipeline_of(action, rest).unwrap_or_else(|| placeholder(&action.at));
        (index, variable, head)
    }

    /// Parses an action that is not a block.
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

    /// Parses `tokens`, which are part of the action, as a pipeline.
    fn pipeline_of(&mut self, action: &Action, tokens: &[Token]) -> Option<Pipeline> {
        if action.broken {
            return None;
        }
        let end = action.at.end.saturating_sub(2);
        let (dialect, uses) = (self.dialect, &mut self.uses);
        let end = end..action.at.end;
        let mut reader = Reader { tokens, next: 0, end, depth: 0, dialect, uses };
        let result = reader.pipeline().and_then(|pipeline| reader.finished().map(|()| pipeline));
        match result {
            Ok(pipeline) => Some(pipeline),
            Err(SyntaxError { id, at, message, help }) => {
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

/// Returns a placeholder for an invalid pipeline. It is never rendered, because the template has an error.
fn placeholder(at: &Range<usize>) -> Pipeline {
    let kind = OperandKind::Literal(Value::text(""));
    let operand = Operand { at: at.clone(), kind, parts: Vec::new() };
    Pipeline { at: at.clone(), first: Stage::Value(operand), rest: Vec::new() }
}
