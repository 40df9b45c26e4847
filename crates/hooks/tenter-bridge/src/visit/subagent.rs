//! Subagents: their start binds the host's id of a subagent to the call that started it (B48).

use tenter_protocol::event::Subagent;

use super::Visit;
use crate::state::{KnownSubagent, StateDir};

impl Visit<'_> {
    pub(super) fn subagent_start(&mut self) {
        let Some(agent) = self.occurrence.agent.clone() else { return };
        if agent.parent.is_some() {
            self.remember_root(&agent.id);
        }
        let bound = self.session.update(|state| {
            let expected = state.work.take_expected(agent.kind.as_deref())?;
            state.work.subagents.push((agent.id.clone(), expected.subagent));
            Some(expected.contexts)
        });
        self.reply.contexts.extend(bound.unwrap_or_default());
    }

    /// Records the main agent's session for a subagent, whose own subagents name it as their session.
    fn remember_root(&self, agent: &str) {
        let root = &self.occurrence.session;
        let states = StateDir::new(&self.visitor.directories.state);
        states.session(self.visitor.host.id, agent).update(|state| state.root = Some(root.clone()));
    }

    /// Returns the subagent that causes the event, and the id of the subagent that started it, if any. A subagent without a recorded start is
    /// the host's own, such as one that writes a summary (B13).
    pub(super) fn known_subagent(&self) -> Option<(Subagent, Option<String>)> {
        let KnownSubagent { name, kind, task, parent } =
            self.session.get().work.subagent(&self.agent_id()?)?.clone();
        Some((Subagent::new(name, kind, task), parent))
    }

    pub(super) fn subagent_stop(&mut self, response: Option<&str>) {
        let Some((subagent, parent)) = self.known_subagent() else { return };
        let response = response.unwrap_or_default();
        if self.continues(response) {
            return;
        }
        let feedback = self.hooks_of(parent.as_deref()).subagent_stop(subagent, response);
        let texts = feedback.into_messages().iter().map(super::attributed).collect();
        self.keep_waiting(parent.as_deref(), texts);
    }
}
