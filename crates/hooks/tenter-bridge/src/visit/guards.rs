//! Guards of a session: if a trusted hook of the project is changed or removed while a session runs, the actions that it guards are denied
//! (R73, R75, B27). Each event discovers the hooks again, so the session records which hooks guard it.

use std::sync::Arc;

use tenter_engine::FailMode;
use tenter_engine::inspect::{Catalog, Hook, ListedHook, Matcher, Status};
use tenter_protocol::EventName;

use super::Visit;
use crate::occurrence::Detail;
use crate::reply::HostVerdict;
use crate::state::Guard;
use crate::tool_call;

/// Returns the hooks that guard a session from now on, by name.
pub(super) fn guards(catalog: &Catalog) -> Vec<Guard> {
    let guards = catalog.hooks().iter().filter(|hook| is_guard(hook));
    let mut guards: Vec<Guard> = guards.map(|hook| guard(hook)).collect();
    guards.sort_by(|one, other| one.name.cmp(&other.name));
    guards
}

impl Visit<'_> {
    /// Denies an action that a hook guarded which no longer runs. Returns whether it does.
    pub(super) fn lacks_guard(&mut self) -> bool {
        if !self.configuration.enabled || self.is_ruled_out {
            return false;
        }
        if self.cannot_know_guards() {
            return true;
        }
        self.remember_new_guards();
        // A setting that cannot be read is not a decision of the user.
        let is_readable = self.warnings.is_empty();
        let catalog = self.engine.catalog();
        let lost_guard = self.session.get().guards.iter().find(|guard| {
            let is_intended = is_readable && is_by_user(&catalog, guard);
            !is_active(&catalog, &guard.name) && !is_intended && self.applies(guard)
        });
        let why = match lost_guard {
            Some(guard) => format!(
                "hook {}: it guards this session, and it was changed or removed. The user can look at it with `tenter trust` in a terminal",
                super::plain(&guard.name)
            ),
            None if self.session.get().has_more_guards => {
                "more hooks guard this session than can be remembered".to_owned()
            }
            None => return false,
        };
        self.reply.verdict = Some(HostVerdict::Deny(why));
        true
    }

    /// Denies an action that a fail-closed hook guards, if the other guards of the session cannot be read (R83). Returns whether it does.
    fn cannot_know_guards(&mut self) -> bool {
        let Some(why) = self.session.unreadable() else { return false };
        let catalog = self.engine.catalog();
        let is_closed = |hook: &&Arc<Hook>| {
            hook.policy.fail == FailMode::Closed
                && !hook.policy.asynchronous
                && self.applies(&guard(hook))
        };
        let hook = catalog.hooks().iter().find(is_closed).map(|hook| hook.name.as_str());
        let lost_hook = || catalog.lost().iter().find(|hook| hook.fail_closed);
        let name = hook.or_else(|| lost_hook().map(|hook| hook.name.as_str()));
        let by = match name {
            Some(name) => format!("hook {}: it fails closed", super::plain(name)),
            None if self.configuration.policies.default.fail == FailMode::Closed => {
                "hooks fail closed".to_owned()
            }
            None => return false,
        };
        let why = super::plain(why);
        self.reply.verdict = Some(HostVerdict::Deny(format!(
            "{by}, and what guards this session cannot be read: {why}. The user can remove the file, or start a new session"
        )));
        true
    }

    /// Records hooks that the user trusted during the session: they guard it, too.
    fn remember_new_guards(&mut self) {
        let earlier = &self.session.get().guards;
        let mut new = guards(&self.engine.catalog());
        new.retain(|guard| !earlier.contains(guard));
        if !new.is_empty() {
            self.session.update(|state| {
                state.guards.retain(|old| new.iter().all(|guard| guard.name != old.name));
                state.guards.extend(new);
                state.guards.sort_by(|one, other| one.name.cmp(&other.name));
            });
        }
    }

    /// Returns whether a guard applies to the action that follows the event.
    fn applies(&self, guard: &Guard) -> bool {
        let subscribes = |event: EventName| guard.events.iter().any(|name| name == event.as_str());
        match &self.occurrence.detail {
            Detail::Prompt { .. } => subscribes(EventName::BeforeAgent),
            Detail::PreCompact(_) => subscribes(EventName::PreCompact),
            Detail::BeforeTool(call) => {
                let call = tool_call::canonical(self.visitor.host, call);
                let sees = [EventName::BeforeTool, EventName::AfterTool].map(subscribes);
                let matcher = Matcher::new(&guard.matcher);
                sees.contains(&true) && !matches!(matcher.matches(&call), Ok(None))
            }
            _ => false,
        }
    }
}

fn is_guard(hook: &Hook) -> bool {
    hook.layer.needs_trust() && !hook.policy.asynchronous
}

fn guard(hook: &Hook) -> Guard {
    let events = hook.subscriptions.iter().map(|subscription| subscription.event.as_str());
    Guard {
        name: hook.name.clone(),
        events: events.map(str::to_owned).collect(),
        matcher: hook.options.matcher.as_ref().map(Matcher::text).unwrap_or_default(),
    }
}

fn is_active(catalog: &Catalog, name: &str) -> bool {
    catalog.hooks().iter().any(|hook| hook.name == name && is_guard(hook))
}

/// Returns whether the user decided that the hook does not run: it is disabled in the user's own `hooks.toml`, or no longer trusted.
fn is_by_user(catalog: &Catalog, guard: &Guard) -> bool {
    let is_lost = catalog.lost().iter().any(|hook| hook.name == guard.name);
    let is_named = |hook: &&ListedHook| hook.name == guard.name && hook.layer.needs_trust();
    catalog.listing().iter().filter(is_named).any(|hook| match hook.status {
        Status::SwitchedOff { .. } => !is_lost,
        Status::NotTrusted { has_changed } => !has_changed,
        _ => false,
    })
}
