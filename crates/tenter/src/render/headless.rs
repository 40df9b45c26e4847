//! One JSON object a line on stdout: what programs read (`docs/headless.md`).

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tenter_agent::session::Finish;
use tenter_agent::{Happening, Watcher};
use tenter_engine::{Decision, HookRun, Observer};
use tenter_protocol::{Diagnostic, Object, Scope};

use super::Show;
use crate::ui;

/// Writes the stream. Every object carries `kind`, `conversation_id` and `time`, in that order, before anything else.
pub(crate) struct Headless {
    stream_deltas: bool,
}

impl Headless {
    /// A stream, with or without the pieces of texts.
    pub(crate) fn new(stream_deltas: bool) -> Self {
        Self { stream_deltas }
    }
}

fn write(scope: &Scope, kind: &str, fields: Value) {
    let mut object = Object::new();
    object.insert("kind".to_owned(), kind.into());
    object.insert("conversation_id".to_owned(), scope.conversation_id.as_str().into());
    object.insert("time".to_owned(), scope.time.as_str().into());
    if let Some(parent) = &scope.parent_conversation_id {
        object.insert("parent_conversation_id".to_owned(), parent.as_str().into());
    }
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
    ui::out(tenter_protocol::json::to_string(&object));
}

/// An object from before there is a conversation, or beside it: there is nothing to put into its scope.
pub(crate) fn write_early(kind: &str, fields: Value) {
    let time = tenter_engine::clock::rfc3339(crate::env::now());
    let scope = Scope {
        conversation_id: String::new(),
        parent_conversation_id: None,
        cwd: std::path::PathBuf::new(),
        recipe: None,
        time,
    };
    write(&scope, kind, fields);
}

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Watcher for Headless {
    fn see(&self, scope: &Scope, happening: &Happening) {
        let (kind, fields) = match happening {
            Happening::SessionStarted { model, project, hooks } => (
                "session",
                json!({"id": scope.conversation_id, "model": model, "project": project.to_string_lossy(), "hooks": hooks}),
            ),
            Happening::TextDelta(text) if self.stream_deltas => {
                ("text-delta", json!({"delta": text}))
            }
            Happening::ReasoningDelta(text) if self.stream_deltas => {
                ("reasoning-delta", json!({"delta": text}))
            }
            // Pieces that nobody asked for; and a block, which its hook's run tells.
            Happening::TextDelta(_) | Happening::ReasoningDelta(_) | Happening::Blocked { .. } => {
                return;
            }
            Happening::Retry { attempt, of, after, reason, discarded } => (
                "retry",
                json!({"attempt": attempt, "of": of, "after_ms": milliseconds(*after), "reason": reason, "discarded": discarded}),
            ),
            Happening::Text(text) => ("text", json!({"role": "assistant", "content": text})),
            Happening::Reasoning(text) => {
                ("reasoning", json!({"role": "assistant", "content": text}))
            }
            Happening::ToolUse(call) => (
                "tool-use",
                json!({"tool_call_id": call.id, "tool_name": call.name, "input": call.input}),
            ),
            Happening::ToolResult { call_id, result } => (
                "tool-result",
                json!({"tool_call_id": call_id, "tool_name": result.tool_name, "result": value(result)}),
            ),
            Happening::FollowUp { hook, text } => {
                ("text", json!({"role": "user", "hook": hook, "content": text}))
            }
            Happening::Recipe { recipe } => ("recipe", json!({"recipe": recipe})),
            Happening::History { kind, by, before, after } => (
                "history",
                json!({"action": kind, "by": by, "messages_before": before, "messages_after": after}),
            ),
            Happening::Usage(usage) => ("usage", json!({"usage": value(usage)})),
            Happening::Diagnostic(finding) => ("diagnostic", value(finding)),
            Happening::Ended { status, exit_code, usage } => {
                ("end", json!({"status": status, "exit_code": exit_code, "usage": value(usage)}))
            }
        };
        write(scope, kind, fields);
    }
}

impl Observer for Headless {
    fn hook_ran(&self, run: &HookRun) {
        let mut fields = json!({"event": run.event.as_str(), "spelling": run.spelling, "hook": run.hook, "layer": run.layer});
        if let (Value::Object(fields), Some(call)) = (&mut fields, &run.tool_call_id) {
            fields.insert("tool_call_id".to_owned(), call.as_str().into());
        }
        if let Value::Object(fields) = &mut fields {
            fields.insert("decision".to_owned(), run.decision.as_str().into());
            if let Some(reason) = &run.reason {
                fields.insert("reason".to_owned(), reason.as_str().into());
            }
            fields.insert("duration_ms".to_owned(), milliseconds(run.duration).into());
            fields.insert("async".to_owned(), run.asynchronous.into());
            for (name, said) in [("warnings", &run.warnings), ("notes", &run.notes)] {
                if !said.is_empty() {
                    fields.insert(name.to_owned(), said.clone().into());
                }
            }
        }
        write(&run.scope, "hook", fields);
    }

    fn decided(&self, _decision: &Decision) {}
}

impl Show for Headless {
    fn finding(&self, finding: &Diagnostic) {
        write_early("diagnostic", value(finding));
    }

    fn untrusted(&self, names: &[String]) {
        write_early("end", json!({"status": "untrusted", "exit_code": 4, "untrusted": names}));
    }

    fn finished(&self, _finish: &Finish) {}
}
