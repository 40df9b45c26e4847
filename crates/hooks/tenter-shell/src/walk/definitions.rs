//! Functions and aliases: read where they are called, or at the end if they are not.

use std::rc::Rc;

use crate::field::Field;
use crate::reader::{Alias, Context, Definition, NodeResult, Reader};
use crate::scope::Keep;
use crate::syntax::tree::Node;

impl Reader<'_> {
    pub(super) fn define(&mut self, name: &str, body: &Rc<Node>, context: &Context) -> NodeResult {
        self.calls.add(name, body);
        let definition =
            Definition { body: Rc::clone(body), context: context.clone(), is_called: false };
        if let Some(shadowed) = self.functions.insert(name.to_owned(), definition)
            && !shadowed.is_called
        {
            self.read_uncalled(&shadowed);
        }
        NodeResult { succeeds: Some(true), ..NodeResult::default() }
    }

    /// Reads the body of a function, as it runs with these arguments. `None` if there is no such function.
    pub(super) fn call(
        &mut self,
        name: &str,
        args: &[Field],
        context: &Context,
    ) -> Option<NodeResult> {
        let definition = self.functions.get_mut(name)?;
        definition.is_called = true;
        let definition = definition.clone();
        // The second call of a function inside itself has other arguments; more calls show nothing new.
        let is_recursive = self.active.iter().filter(|active| active.as_str() == name).count() >= 2;
        let inner = context.inside("function").filter(|_| !is_recursive);
        let Some(mut inner) = inner else { return Some(NodeResult::default()) };
        inner.heredocs = definition.context.heredocs;
        self.scope.open_call(Some(args.to_vec()));
        self.active.push(name.to_owned());
        let outcome = self.node(&definition.body, &inner);
        self.active.pop();
        self.scope.close(Keep::All);
        Some(outcome)
    }

    /// Reads the functions and aliases that were never called: they may be called later, or from elsewhere.
    pub(crate) fn uncalled(&mut self) {
        // Reading one can define more.
        for _ in 0..4 {
            let functions: Vec<Definition> = self
                .functions
                .values_mut()
                .filter(|definition| !definition.is_called)
                .map(|definition| {
                    definition.is_called = true;
                    definition.clone()
                })
                .collect();
            for definition in &functions {
                self.read_uncalled(definition);
            }
            self.uncalled_aliases();
        }
    }

    fn read_uncalled(&mut self, definition: &Definition) {
        let Some(mut inner) = definition.context.inside("function") else {
            self.reach_limit();
            return;
        };
        inner.stdin = None;
        self.scope.open_call(None);
        self.node(&definition.body, &inner);
        self.scope.close(Keep::Nothing);
    }

    pub(super) fn define_alias(&mut self, name: &str, text: Field, context: &Context) {
        let alias = Alias { text, context: context.clone(), is_called: false };
        self.aliases.insert(name.to_owned(), alias);
    }

    /// Reads the text of an alias with the arguments of its call. `None` if there is no such alias.
    pub(super) fn call_alias(
        &mut self,
        name: &str,
        args: &[Field],
        context: &Context,
    ) -> Option<NodeResult> {
        if context.via.last().is_some_and(|via| via == "alias") {
            return None;
        }
        let alias = self.aliases.get_mut(name)?;
        alias.is_called = true;
        let mut text = alias.text.clone();
        for arg in args {
            text.push(&Field::known(" "));
            text.push(&super::scripts::quote(arg));
        }
        Some(self.script(&text, "alias", context))
    }

    fn uncalled_aliases(&mut self) {
        let mut names: Vec<String> = self
            .aliases
            .iter()
            .filter(|(_, alias)| !alias.is_called)
            .map(|(name, _)| name.clone())
            .collect();
        names.sort();
        for name in names {
            let Some(alias) = self.aliases.get_mut(&name) else { continue };
            alias.is_called = true;
            let (text, context) = (alias.text.clone(), alias.context.clone());
            self.script(&text, "alias", &context);
        }
    }
}
