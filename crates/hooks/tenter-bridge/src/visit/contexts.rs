//! Brings contexts to the model within the host's limit, at a later event if the present one cannot carry them (B20).

use tenter_base::{private_dir, replace_file};

use super::Visit;
use crate::occurrence::Detail;
use crate::state::WaitingContext;

impl Visit<'_> {
    /// Adds the waiting contexts, or makes the contexts of this event wait.
    pub(super) fn deliver_contexts(&mut self) {
        if !(self.visitor.host.takes_context)(self.visitor.event.moment) {
            return self.postpone_contexts();
        }
        let agent = self.reader();
        let is_waiting = |context: &WaitingContext| context.agent == agent;
        if self.session.get().work.waiting.iter().any(is_waiting) {
            let mut waiting =
                self.session.update(|state| state.work.take_waiting(agent.as_deref()));
            waiting.append(&mut self.reply.contexts);
            self.reply.contexts = waiting;
        }
        self.limit();
    }

    /// Returns the agent that reads the contexts of this event. Contexts about a subagent that stops are for its caller.
    fn reader(&self) -> Option<String> {
        match self.occurrence.detail {
            Detail::SubagentStop { .. } => None,
            _ => self.agent_id(),
        }
    }

    /// Makes the contexts of this event wait for the next event that can carry them.
    pub(super) fn postpone_contexts(&mut self) {
        let contexts = std::mem::take(&mut self.reply.contexts);
        let agent = self.reader();
        self.keep_waiting(agent.as_deref(), contexts);
    }

    /// Keeps contexts for the next event that can carry them, unless no event of the host can.
    pub(super) fn keep_waiting(&mut self, agent: Option<&str>, contexts: Vec<String>) {
        if contexts.is_empty() {
            return;
        }
        let host = self.visitor.host;
        if !host.carries_contexts() {
            let name = host.name;
            return self.notice_once("contexts", || {
                format!("hooks add text for the model, but {name} does not pass it on.")
            });
        }
        let wait = |text| WaitingContext { agent: agent.map(str::to_owned), text };
        self.session.update(|state| state.work.waiting.extend(contexts.into_iter().map(wait)));
    }

    /// Cuts the contexts to the limit of the host. The whole text is kept in a private file, whose path is added.
    fn limit(&mut self) {
        let limit = self.visitor.host.context_limit;
        let Some(whole) = self.reply.context() else { return };
        if whole.chars().count() <= limit {
            return;
        }
        let place = match self.keep(&whole) {
            Ok(path) => format!("the whole text is in {}", path.display()),
            Err(error) => format!("the whole text could not be kept: {error}"),
        };
        let marker = format!("\n[the text of the hooks is longer than the host allows; {place}]");
        let room = limit.saturating_sub(marker.chars().count());
        let head: String = whole.chars().take(room).collect();
        let head = head.rsplit_once('\n').map_or(head.as_str(), |(lines, _)| lines);
        self.reply.contexts = vec![format!("{head}{marker}")];
    }

    fn keep(&self, text: &str) -> std::io::Result<std::path::PathBuf> {
        let directory = self.visitor.directories.state.join("bridge/contexts");
        private_dir::enforce(&directory)?;
        let name = crate::digest::digest(&[&self.occurrence.session, text]);
        let path = directory.join(format!("{name}.txt"));
        replace_file::replace_with_mode(&path, text.as_bytes(), Some(0o600))?;
        Ok(path)
    }
}
