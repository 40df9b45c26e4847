//! The demo as JSON lines: the stream of `tenter run --headless`, with a `demo` object for each hook before it, and one with
//! the summary before its `end`.

use std::sync::Mutex;

use serde_json::{Value, json};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_base::lock;
use tenter_engine::{AskAnswer, HookRun, Observer};
use tenter_protocol::event::Usage;
use tenter_protocol::{Diagnostic, Scope};

use super::DemoView;
use super::outcome::DemoOutcome;
use super::scratch::Scratch;
use crate::render::{Headless, Show, write_early};

/// Writes the stream. The `end` is held back, so that it stays the last object and has the status of the whole demo.
pub(super) struct JsonView {
    headless: Headless,
    end: Mutex<Option<(Scope, Usage)>>,
}

impl JsonView {
    /// Creates a view that writes to stdout.
    pub(super) fn new() -> Self {
        Self { headless: Headless::new(false), end: Mutex::default() }
    }
}

impl Watcher for JsonView {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        match update {
            SessionUpdate::SessionEnded { usage, .. } => {
                *lock(&self.end) = Some((scope.clone(), **usage));
            }
            other => self.headless.on_update(scope, other),
        }
    }
}

impl Observer for JsonView {
    fn hook_ran(&self, run: &HookRun) {
        self.headless.hook_ran(run);
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        self.headless.ask_answered(answer);
    }
}

impl Show for JsonView {
    fn finding(&self, finding: &Diagnostic) {
        self.headless.finding(finding);
    }

    fn untrusted(&self, names: &[String]) {
        self.headless.untrusted(names);
    }
}

impl DemoView for JsonView {
    fn introduce(&self, scratch: &Scratch) {
        for (hook, path) in &scratch.hooks {
            let fields = json!({"step": "hook", "name": hook.name, "event": hook.event, "path": path.to_string_lossy(), "does": hook.does});
            write_early("demo", fields);
        }
    }

    fn conclude(&self, scratch: &Scratch, outcome: &DemoOutcome) {
        write_early("demo", summary(scratch, outcome));
        if let Some((scope, usage)) = lock(&self.end).take() {
            let status = outcome.status.as_str();
            let exit_code = outcome.status.exit_code();
            self.headless.on_update(
                &scope,
                &SessionUpdate::SessionEnded { status, exit_code, usage: &usage },
            );
        }
    }
}

fn summary(scratch: &Scratch, outcome: &DemoOutcome) -> Value {
    let checks: Vec<Value> = outcome
        .checks
        .iter()
        .map(|check| json!({"name": check.name, "holds": check.holds, "text": check.text}))
        .collect();
    json!({
        "step": "summary",
        "folder": scratch.root().to_string_lossy(),
        "project": scratch.project().to_string_lossy(),
        "script": scratch.script().to_string_lossy(),
        "audit_log": scratch.audit_log().to_string_lossy(),
        "audit_lines": outcome.audit.len(),
        "journal": outcome.journal.to_string_lossy(),
        "conversations": outcome.conversations.to_string_lossy(),
        "kept": outcome.is_kept,
        "proofs": checks,
    })
}
