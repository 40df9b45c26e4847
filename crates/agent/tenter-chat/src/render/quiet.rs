//! Shows only the model's last text; problems still go to stderr.

use tenter_agent::session::Finish;
use tenter_agent::{SessionUpdate, Watcher};
use tenter_engine::{DecisionKind, HookRun, Notice, Observer};
use tenter_protocol::Scope;
use tenter_terminal::ui;

use super::lines::{self, Failures};
use super::{Show, live};

/// Shows only the result.
#[derive(Default)]
pub(crate) struct Quiet {
    failures: Failures,
}

impl Watcher for Quiet {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        live::on_update(scope, update);
        match update {
            SessionUpdate::Diagnostic(finding) => ui::diagnostics([*finding]),
            SessionUpdate::Blocked { event, hook, reason, .. } => {
                ui::note(lines::blocked_line(None, *event, hook, reason));
            }
            SessionUpdate::Retry { attempt, of, after, reason, .. } => {
                ui::note(lines::retry_line((*attempt, *of), *after, reason));
            }
            _ => {}
        }
    }
}

impl Observer for Quiet {
    fn hook_started(&self, run: &HookRun) {
        live::hook_started(run);
    }

    fn hook_stopped(&self, run: &HookRun) {
        live::hook_stopped(run);
    }

    fn hook_ran(&self, run: &HookRun) {
        if run.decision == DecisionKind::Failed {
            self.failures.lines(run).iter().for_each(ui::note);
        }
        lines::warning_lines(run).iter().for_each(ui::note);
    }

    fn noticed(&self, notice: &Notice) {
        ui::note(lines::notice_line(notice));
    }
}

impl Show for Quiet {
    fn finished(&self, finish: &Finish) {
        if !finish.response.is_empty() {
            ui::out(tenter_base::sanitize(&finish.response));
        }
    }
}
