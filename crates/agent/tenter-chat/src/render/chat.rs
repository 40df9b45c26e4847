//! Shows an agent's work in a chat: as `tenter run` does on a terminal, with figures for each answer.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_agent::session::{Finish, Status};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_base::format_count;
use tenter_engine::{HookRun, Notice, Observer};
use tenter_protocol::Scope;
use tenter_protocol::event::Usage;
use tenter_terminal::{FAINT, NOTICE, styled, ui};

use super::Show;
use super::terminal::Terminal;

/// Shows a chat.
pub(crate) struct ChatDisplay {
    terminal: Terminal,
    /// Number of model responses to the present message.
    turns: AtomicU64,
}

impl ChatDisplay {
    /// Creates a chat in `project`; with `debug` it also shows what successful hooks write to stderr.
    pub(crate) fn new(project: &Path, debug: bool) -> Self {
        Self { terminal: Terminal::in_chat(debug, project), turns: AtomicU64::new(0) }
    }

    /// Shows the newest output that was folded, while the agent works.
    pub(crate) fn expand(&self) {
        self.terminal.lines(self.list_folded());
    }

    /// Returns the lines of the newest output that was folded.
    pub(crate) fn list_folded(&self) -> Vec<String> {
        self.terminal.list_folded()
    }

    /// Begins the work on a message.
    pub(crate) fn asked(&self) {
        ui::note("");
        self.terminal.begin();
    }

    /// Ends the work on a message. `before` and `now` are the conversation's figures before and after it.
    pub(crate) fn answered(&self, finish: &Finish, before: &Usage, now: &Usage) {
        let turns = self.turns.swap(0, Ordering::Relaxed);
        let words = match finish.status {
            Status::Interrupted => Some("stopped; your next message continues from here"),
            Status::MaxTurns => {
                Some("stopped at the turn limit; your next message continues from here")
            }
            Status::Done | Status::Blocked | Status::Failed => None,
        };
        let label = words.map(|words| styled(NOTICE, words));
        let figures = (turns > 0).then(|| styled(FAINT, figures(turns, before, now)));
        self.terminal.last_lines(label.into_iter().chain(figures));
        ui::note("");
    }
}

/// Returns the turns, tokens and cost of one answer.
fn figures(turns: u64, before: &Usage, now: &Usage) -> String {
    let about = if now.estimated { "about " } else { "" };
    let input_tokens = now.input_tokens.saturating_sub(before.input_tokens);
    let output_tokens = now.output_tokens.saturating_sub(before.output_tokens);
    let turns = format_count(turns, "turn", "turns");
    let tokens = format!("{turns} · {about}{input_tokens} tokens in, {output_tokens} out");
    let cost = now.cost_usd.map(|cost| cost - before.cost_usd.unwrap_or(0.0));
    let share = (now.current_context_window * 100).checked_div(now.max_context_window);
    let parts = [
        Some(tokens),
        cost.map(|cost| format!("${cost:.4}")),
        share.filter(|share| *share > 0).map(|share| format!("context {share} %")),
    ];
    parts.into_iter().flatten().collect::<Vec<String>>().join(" · ")
}

impl Watcher for ChatDisplay {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        let is_subagent = scope.parent_conversation_id.is_some();
        match update {
            SessionUpdate::SessionEnded { .. } if !is_subagent => return, // the chat shows figures of its own
            SessionUpdate::Usage(_) if !is_subagent => {
                self.turns.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
        self.terminal.on_update(scope, update);
    }
}

impl Observer for ChatDisplay {
    fn hook_started(&self, run: &HookRun) {
        self.terminal.hook_started(run);
    }

    fn hook_stopped(&self, run: &HookRun) {
        self.terminal.hook_stopped(run);
    }

    fn hook_ran(&self, run: &HookRun) {
        self.terminal.hook_ran(run);
    }

    fn noticed(&self, notice: &Notice) {
        self.terminal.noticed(notice);
    }
}

impl Show for ChatDisplay {
    fn finished(&self, finish: &Finish) {
        self.terminal.finished(finish);
    }
}
