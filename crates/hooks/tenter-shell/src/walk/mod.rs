//! Reads a tree: every command in it, in every branch.

mod builtins;
mod call;
mod chains;
mod definitions;
mod dialogs;
mod emit;
mod evaluated;
mod find;
mod input;
mod interpreters;
mod links;
mod output;
mod patches;
mod recipes;
mod redirections;
mod run;
mod scripts;
mod sed;
mod simple;
mod sql;
mod targets;
mod touch;
mod transform;
mod variables;
mod windows;
mod wrappers;
mod xargs;

use std::rc::Rc;

use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::scope::Keep;
use crate::syntax::tree::{Branch, List, Node, Redirection, Word};

/// Maximum number of words of `for` for which the body is read with each.
const LOOP_WORDS: usize = 24;

/// The descriptor that the commands of `coproc` read, in the array with their name.
const COPROC_INPUT: &str = "[1]";

impl Reader<'_> {
    pub(crate) fn node(&mut self, node: &Node, context: &Context) -> NodeResult {
        if !self.step() {
            return NodeResult::default();
        }
        match node {
            Node::Simple(simple) => self.simple(simple, context),
            Node::Pipeline(stages) => self.pipeline(stages, context),
            Node::Not(node) => {
                let outcome = self.node(node, context);
                NodeResult { succeeds: outcome.succeeds.map(|succeeds| !succeeds), ..outcome }
            }
            Node::Subshell(list) => {
                self.scope.open();
                let outcome = self.list(list, context);
                self.scope.close(Keep::Nothing);
                outcome
            }
            Node::Group(list) => self.list(list, context),
            Node::If(branches) => self.branches(branches, context),
            Node::Loop { condition, body } => self.condition_loop(condition, body, context),
            Node::For { name, words, body } => self.word_loop(name, words, body, context),
            Node::Case { subject, arms } => {
                self.single(subject, context);
                self.branches(arms, context)
            }
            Node::Function { name, body } => self.define(name, body, context),
            Node::Test(words) => {
                let words: Vec<Field> =
                    words.iter().map(|word| self.single(word, context)).collect();
                self.tested(&words, context);
                NodeResult::default()
            }
            Node::Coproc(body) => self.coproc(body, context),
            Node::Redirected(body, redirections) => {
                self.walk_redirected(body, redirections, context)
            }
        }
    }

    /// Stages run in subshells, each with the output of the one before.
    fn pipeline(&mut self, stages: &[Node], context: &Context) -> NodeResult {
        let mut context = context.clone();
        let mut last = NodeResult::default();
        for (index, stage) in stages.iter().enumerate() {
            if index > 0 {
                context.stdin = Some(Rc::new(last.into_input()));
            }
            self.scope.open();
            last = self.node(stage, &context);
            self.scope.close(Keep::Nothing);
        }
        last
    }

    /// Branches of which at most one runs.
    fn branches(&mut self, branches: &[Branch], context: &Context) -> NodeResult {
        let mut outcome = NodeResult::default();
        for (index, branch) in branches.iter().enumerate() {
            self.scope.open();
            outcome.commands.extend(self.list(&branch.condition, context).commands);
            for pattern in &branch.patterns {
                self.single(pattern, context);
            }
            let inner = self.list(&branch.body, context);
            outcome.commands.extend(inner.commands);
            outcome.text =
                self.joined_output(outcome.text, inner.text, index == 0, &outcome.commands);
            self.scope.close(Keep::Uncertain);
        }
        NodeResult { text: in_part(outcome.text), ..outcome }
    }

    fn condition_loop(&mut self, condition: &List, body: &List, context: &Context) -> NodeResult {
        self.facts.forkbomb |= crate::forkbomb::is_endless(condition, body);
        self.scope.open();
        let mut outcome = self.list(condition, context);
        let inner = self.list(body, context);
        outcome.commands.extend(inner.commands);
        self.scope.close(Keep::Uncertain);
        NodeResult { commands: outcome.commands, text: in_part(inner.text), succeeds: None }
    }

    fn word_loop(
        &mut self,
        name: &str,
        words: &[Word],
        body: &List,
        context: &Context,
    ) -> NodeResult {
        self.facts.forkbomb |= crate::forkbomb::is_endless_for(name, words, body);
        let mut values: Vec<Field> =
            words.iter().flat_map(|word| self.fields(word, context)).collect();
        if values.len() > LOOP_WORDS || values.is_empty() {
            let mut unknown = Field::unknown(format!("${name}"));
            for value in &values {
                crate::field::add_sources(&mut unknown.sources, &value.sources);
            }
            // Names of files in the directory show nothing that one of them does not.
            values.retain(|value| !is_name(value));
            if values.len() > LOOP_WORDS {
                self.reach_limit();
                values.truncate(LOOP_WORDS);
            }
            values.push(unknown);
        }
        let mut outcome = NodeResult::default();
        for (index, value) in values.into_iter().enumerate() {
            self.scope.open();
            // A pattern stands for the files that it matches.
            self.scope.set(name, Some(value));
            let inner = self.list(body, context);
            outcome.commands.extend(inner.commands);
            outcome.text =
                self.joined_output(outcome.text, inner.text, index == 0, &outcome.commands);
            self.scope.close(Keep::Uncertain);
        }
        NodeResult { text: in_part(outcome.text), ..outcome }
    }

    fn coproc(&mut self, body: &Rc<Node>, context: &Context) -> NodeResult {
        let Some(inner) = context.inside("coproc") else {
            self.reach_limit();
            return NodeResult::default();
        };
        self.scope.open();
        let outcome = self.node(body, &inner.with_stdin(None));
        self.scope.close(Keep::Nothing);
        // `>&${COPROC[1]}` writes into it.
        self.outputs.insert(COPROC_INPUT.to_owned(), outcome.commands);
        NodeResult::default()
    }

    fn walk_redirected(
        &mut self,
        body: &Node,
        redirections: &[Redirection],
        context: &Context,
    ) -> NodeResult {
        let redirected = self.redirections(redirections, context);
        let inner = match redirected.stdin.clone() {
            Some(stdin) => context.with_stdin(Some(stdin)),
            None => context.clone(),
        };
        let outcome = self.node(body, &inner);
        self.connect_block(&redirected, outcome)
    }
}

/// Checks whether a word can hardly be anything but the name of something that is not dangerous by itself.
fn is_name(word: &Field) -> bool {
    let text = word.text.as_str();
    word.is_certain
        && !text.starts_with(['/', '~', '-', '.', '+', ':'])
        && !text.contains([' ', '=', '*', '?', '['])
        && !text.contains("..")
        && crate::tables::find(text).is_none()
}

/// Returns the output of commands that may run or not, or several times.
fn in_part(text: Option<Field>) -> Option<Field> {
    text.map(|text| Field { is_partial: true, ..text })
}
