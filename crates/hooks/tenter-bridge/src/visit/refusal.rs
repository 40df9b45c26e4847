//! Answers to events that nothing can look at.

use std::sync::Arc;

use tenter_engine::hook::FailMode;
use tenter_engine::layout::project_root;
use tenter_protocol::{EventName, Scope};

use super::{Visited, Visitor};
use crate::payload::PayloadError;
use crate::reply::Reply;

impl Visitor {
    /// Denies what is about to happen: nothing can look at it, for this reason.
    pub fn refuse(&self, why: String) -> Visited {
        let reply = self.event.moment.deniable().map(|_| Reply::deny(&why));
        let answer = reply.and_then(|reply| (self.host.answer)(self.event, &reply));
        Visited { answer, warnings: vec![why], after: None }
    }

    /// Answers a payload that cannot be read (B25).
    pub(super) fn unreadable(&self, error: &PayloadError) -> Visited {
        let project = project_root(&self.cwd, &self.directories.home);
        let (configuration, _) = Self::configuration(&self.settings(&project));
        let scope = Scope::new(self.host.id, self.cwd.clone());
        let loader = self.loader(&project, &configuration, Arc::default());
        let (engine, _) = loader.load();
        let warning = format!("{} {}: {error}", self.host.name, self.event.name);
        let event = self.event.moment.deniable();
        engine.session(scope).notice(event.unwrap_or(EventName::SessionStart), &warning);
        let event = event.filter(|_| configuration.enabled);
        let guard = event.and_then(|event| {
            let catalog = engine.catalog();
            let hooks = catalog.hooks_for(event).iter();
            hooks
                .filter(|hook| hook.policy.fail == FailMode::Closed)
                .map(|hook| hook.name.clone())
                .next()
        });
        let reply = guard.map(|hook| {
            Reply::deny(format!("hook {hook}: it fails closed and could not look at this: {error}"))
        });
        let answer = reply.and_then(|reply| (self.host.answer)(self.event, &reply));
        Visited { answer, warnings: vec![warning], after: None }
    }
}
