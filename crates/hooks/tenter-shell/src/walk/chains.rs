//! Lists: what of a chain with `&&` and `||` certainly runs.

use crate::field::Field;
use crate::reader::{Context, NodeResult, Reader};
use crate::scope::Keep;
use crate::syntax::tree::{List, Separator};

/// A layer for commands of a chain that may not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainLayer {
    None,
    Open(Keep),
}

impl Reader<'_> {
    pub(crate) fn list(&mut self, list: &List, context: &Context) -> NodeResult {
        let mut all = NodeResult { succeeds: Some(true), ..NodeResult::default() };
        let mut before = Separator::Next;
        let mut layer = ChainLayer::None;
        let mut is_first = true;
        for statement in list {
            layer = self.chain(layer, before, all.succeeds);
            // `false && x`: what does not run does not change how the chain continues.
            let is_skipped = before == Separator::And && all.succeeds == Some(false);
            let is_background = statement.then == Separator::Background;
            if is_background {
                self.scope.open();
            }
            let outcome = self.node(&statement.node, context);
            if is_background {
                self.scope.close(Keep::Nothing);
            }
            all.succeeds = match (is_background, is_skipped) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => outcome.succeeds,
            };
            all.commands.extend(outcome.commands);
            all.text = self.joined_output(all.text, outcome.text, is_first, &all.commands);
            before = statement.then;
            is_first = false;
        }
        self.close_chain(layer);
        all
    }

    /// Opens and closes the layer of a chain before its next command.
    fn chain(
        &mut self,
        layer: ChainLayer,
        before: Separator,
        succeeds: Option<bool>,
    ) -> ChainLayer {
        match (before, succeeds, layer) {
            (Separator::Next | Separator::Background, ..) => {
                self.close_chain(layer);
                ChainLayer::None
            }
            (Separator::And, Some(false), layer) => self.reopen(layer, Keep::Nothing),
            (Separator::Or, Some(false), layer @ ChainLayer::Open(Keep::Nothing)) => {
                self.close_chain(layer);
                ChainLayer::None
            }
            (Separator::And, None, ChainLayer::None) => self.reopen(layer, Keep::Variables),
            (Separator::And, _, layer) | (Separator::Or, Some(false), layer) => layer,
            (Separator::Or, ..) => self.reopen(layer, Keep::Uncertain),
        }
    }

    fn reopen(&mut self, layer: ChainLayer, keep: Keep) -> ChainLayer {
        self.close_chain(layer);
        self.scope.open();
        ChainLayer::Open(keep)
    }

    fn close_chain(&mut self, layer: ChainLayer) {
        if let ChainLayer::Open(keep) = layer {
            self.scope.close(keep);
        }
    }

    /// Joins the output of commands one after the other, as far as it is known.
    pub(super) fn joined_output(
        &mut self,
        before: Option<Field>,
        next: Option<Field>,
        is_first: bool,
        commands: &[usize],
    ) -> Option<Field> {
        if is_first {
            return next;
        }
        let is_known = before.is_some() && next.is_some();
        let mut text = before.unwrap_or_default();
        text.is_partial |= !is_known;
        text.push(&next.unwrap_or_default());
        let text = (is_known || !text.text.is_empty()).then_some(text);
        self.within_limit(text, commands)
    }
}
