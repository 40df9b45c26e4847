//! The user's own permission rules of the host, for calls that hooks rewrite: a host compares one of the two calls with its rules, and this
//! module compares the other one (R87).

use tenter_engine::inspect::CallSurroundings;
use tenter_protocol::{Object, ToolCall};

use super::Visit;
use crate::host::InputRewrite;
use crate::reply::HostVerdict;
use crate::user_rules::{Checks, Effect, Places, SeenCall};

impl Visit<'_> {
    /// Denies a call that hooks rewrite, or asks the user about it, if a rule of the user does so and the rewrite hides it.
    pub(super) fn keep_user_rules(&mut self, before: &ToolCall, after: &Object) {
        let Some((effect, why)) = self.hidden_rule(before, after) else { return };
        // Some hosts apply a rewrite only to calls that hooks allow, for which they do not ask the user.
        let needs_allow = matches!(self.visitor.host.input_rewrite, InputRewrite::WithAllow { .. });
        let asks = self.can_ask() && !needs_allow;
        self.reply.verdict = Some(match effect {
            Effect::Ask if asks => HostVerdict::Ask(why),
            Effect::Ask => HostVerdict::Deny(format!(
                "{why}. The user has to decide, and Tenter cannot ask in {}",
                self.visitor.host.name
            )),
            _ => HostVerdict::Deny(why),
        });
    }

    fn hidden_rule(&self, before: &ToolCall, after: &Object) -> Option<(Effect, String)> {
        let visitor = self.visitor;
        let checks = visitor.host.user_rules.checks;
        let (checks_original, checks_rewritten) = match checks {
            Checks::Both | Checks::Unread | Checks::Neither => return None,
            Checks::Rewritten => (true, false),
            Checks::Original => (false, true),
            Checks::Unknown => (true, true),
        };
        let rules = (visitor.host.user_rules.read)(&Places {
            home: &visitor.directories.home,
            config_home: &visitor.directories.config_home,
            project: self.engine.project(),
            cwd: &self.occurrence.cwd,
            vars: &visitor.vars,
        });
        let surroundings = CallSurroundings::new(self.engine.project());
        let surroundings = surroundings.with_directories(&visitor.directories);
        let read = |call: &ToolCall| SeenCall::new(call, &surroundings, &self.occurrence.cwd);
        let original = read(before);
        let rewrite = read(&ToolCall { input: after.clone(), ..before.clone() });
        let calls = [(checks_original, &original), (checks_rewritten, &rewrite)];
        let calls = calls.into_iter().filter(|(is_checked, _)| *is_checked);
        let matching = calls.filter_map(|(_, call)| rules.strictest_for(call));
        let rule = matching.max_by_key(|rule| rule.effect())?;
        let asks_anyway = checks == Checks::Rewritten && rules.is_stopped(&rewrite);
        if rule.effect() == Effect::Ask && asks_anyway {
            return None;
        }
        let effect = if rule.effect() == Effect::Deny { "denies" } else { "asks about" };
        let why = format!(
            "a hook rewrote this call, which hides it from the user's permission rules: {} {effect} it",
            rule.describe()
        );
        Some((rule.effect(), super::plain(&why)))
    }
}
